"""IS NULL over a cast or arithmetic: an optimiser may test the columns instead.

    CAST(s AS int) IS NOT NULL    Hive 3 takes it for s IS NOT NULL, so it is TRUE of 'abc'
    i / i IS NULL                 Hive 4 takes it for i IS NULL, so it is FALSE of 0

The result is NULL wherever a column is. Elsewhere it depends on the optimiser, which may be off.
"""

from __future__ import annotations

from evaluator.language import expression as ex

__all__ = ["columns_tested_instead"]

_ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "div", "pmod", "negative", "positive"))


def columns_tested_instead(leaf: ex.HudiExpression) -> tuple[ex.Column, ...]:
    """The columns that an optimiser may test for NULL instead of an operand; none for any other leaf.

    >>> from evaluator.language.types import INT
    >>> s, i = ex.Column(("s",)), ex.Column(("i",))
    >>> print(*columns_tested_instead(ex.IsNull(ex.Call("/", (ex.Cast(s, INT), i)))))
    s i
    >>> columns_tested_instead(ex.IsNull(ex.Call("lower", (s,)))), columns_tested_instead(ex.IsNull(s))
    ((), ())
    """
    if not isinstance(leaf, ex.IsNull) or isinstance(leaf.operand, ex.Column):
        return ()
    columns: dict[ex.Column, None] = {}
    rest: list[ex.Node] = [leaf.operand]
    while rest:
        match rest.pop():
            case ex.Column() as column:
                columns[column] = None
            case ex.Cast(operand=operand):
                rest.append(operand)
            case ex.Call(function=function, arguments=arguments) if function in _ARITHMETIC:
                rest.extend(reversed(arguments))
            case ex.Literal():
                pass
            case _:
                return ()
    return tuple(columns)
