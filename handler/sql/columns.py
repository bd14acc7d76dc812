"""The columns that a condition names, also those in parts that are not decided: so a misspelt one is found.

a[0] = 1 AND nope > 2        a, nope
exists(xs, x -> x > low)     xs           a parameter of a lambda is no column, so none is looked for inside
a IN (SELECT b FROM t)       a            columns of a subquery are those of other tables
dateadd(DAY, 1, d)           d            a unit is no column
current_timestamp            none         a function without parentheses
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from evaluator.language.function_names import WITHOUT_PARENTHESES

__all__ = ["columns_of", "drop_leading_parts"]

#: The places of a column's parts in sqlglot's tree, the last part first.
_PLACES = ("this", "table", "db", "catalog")

#: Functions whose first argument may be a unit.
_WITH_UNIT = frozenset(["dateadd", "date_add", "datediff", "date_diff", "timestampadd", "timestampdiff", "timediff"])


def columns_of(tree: exp.Expr) -> tuple[str, ...]:
    """The columns by dotted name, each once, in order of appearance; found without recursion."""
    return tuple(dict.fromkeys(name for name, _ in _named(tree)))


def drop_leading_parts(tree: exp.Expr, leading: Mapping[str, int]) -> None:
    """Take the qualifier off columns: of each name among ``leading``, so many parts. Changes the tree."""
    for name, column in list(_named(tree)):
        parts = [*column.parts][leading.get(name, 0) :]
        if name in leading and parts:
            for place, part in zip(_PLACES, (*reversed(parts), None, None, None), strict=False):
                column.set(place, part)


def _named(tree: exp.Expr) -> Iterator[tuple[str, exp.Column]]:
    """Each column with its dotted name, which may go on with fields below it."""
    stack: list[exp.Expr] = [tree]
    while stack:
        node = stack.pop()
        named = _dotted_name(node)
        if named is not None:
            if named[0].lower() not in WITHOUT_PARENTHESES:
                yield named
            continue
        if isinstance(node, exp.Query | exp.Subquery | exp.Lambda | exp.DataType | exp.Interval | exp.Star | exp.Kwarg):
            continue
        children = list(node.iter_expressions())
        if isinstance(node, exp.Anonymous) and node.name.lower() in _WITH_UNIT and len(children) == 3:
            children = children[1:]
        stack.extend(reversed(children))


def _dotted_name(node: exp.Expr) -> tuple[str, exp.Column] | None:
    """The name of a column or of a field below one, and the column; None for another node."""
    fields: list[str] = []
    while isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
        fields.append(node.expression.name)
        node = node.this
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        return None
    return ".".join([*(part.name for part in node.parts), *reversed(fields)]), node
