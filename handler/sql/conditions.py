"""sqlglot's conditions -> HudiExpression.

written                              tree
a BETWEEN x AND y                    a >= x AND a <= y
a IS NOT DISTINCT FROM b             a <=> b
b IS TRUE                            b <=> TRUE
(condition) IS TRUE                  condition AND ?      (FALSE where the condition is NULL: TRUE stays exact)
startswith(s, 'p')                   s LIKE 'p%', wildcards of p escaped
s LIKE ANY ('a%', 'b%')              s LIKE 'a%' OR s LIKE 'b%'
a bare boolean value                 value = TRUE
s RLIKE '^ab.'                       s LIKE 'ab%' AND ?(reason)
ILIKE, subqueries                    ?(reason)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from sqlglot import exp

from evaluator.language.expression import (
    And,
    Compare,
    Constant,
    HudiExpression,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Operand,
    Or,
    Unknown,
)
from evaluator.language.function_names import SQL_COMPARISONS
from evaluator.language.regular_expression import matches
from handler.sql.literals import LiteralError
from handler.sql.operands import TRUE, OperandReader

__all__ = ["condition", "is_condition"]

_COMPARISONS: Mapping[type[exp.Expr], str] = {getattr(exp, name): op for name, op in SQL_COMPARISONS.items()}

#: Characters of a condition that a reason quotes.
LONGEST_TEXT = 60

_VALUES = (exp.Literal, exp.Neg, exp.Binary, exp.Star, exp.Interval, exp.Tuple, exp.HexString)


def is_condition(node: exp.Expr) -> bool:
    """False for what can only be a value (``a + 1``, ``'x'``); a bare column or a function may be boolean."""
    node = node.unnest()
    if isinstance(node, exp.Predicate | exp.Connector | exp.Not | exp.Escape):
        return True
    return not isinstance(node, _VALUES)


def condition(node: exp.Expr) -> HudiExpression:
    """The condition as a HudiExpression. Raises LiteralError for a literal that the engine refuses."""
    node = node.unnest()
    result = _condition(node)
    return Not(result) if node.args.get("negate") else result


def _condition(node: exp.Expr) -> HudiExpression:
    if (op := _COMPARISONS.get(type(node))) is not None:
        return _compare(op, node.this, node.expression)
    match node:
        case exp.And():
            return And(tuple(condition(part) for part in _flat(node, exp.And)))
        case exp.Or():
            return Or(tuple(condition(part) for part in _flat(node, exp.Or)))
        case exp.Not():
            return Not(condition(node.this))
        case exp.NullSafeNEQ():
            return Not(_compare("<=>", node.this, node.expression))
        case exp.Is():
            return _is(node.this, node.expression)
        case exp.In():
            return _in(node)
        case exp.Between():
            return _between(node)
        case exp.Escape():
            return _escaped(node)
        case exp.Like():
            return _like(node, "\\")
        case exp.ILike() | exp.Escape():
            return _undecided(node, "ILIKE is not decided")
        case exp.RegexpLike():
            return _regular_expression((node.this, node.expression))
        case exp.Boolean():
            return Constant(bool(node.this))
        case exp.Null():
            return Constant(None)
        case exp.Exists() | exp.Query() | exp.Subquery():
            return _undecided(node, "a subquery is not decided")
        case exp.Anonymous() if (function := _FUNCTIONS.get(node.name.lower())) is not None:
            return function(node.expressions)
        case _ if not is_condition(node):
            return _undecided(node, "this is not a condition")
        case exp.Predicate():
            return _undecided(node, f"{node.key} is not decided")
        case _:
            return Compare("=", _operand(node), TRUE)


def _operand(node: exp.Expr) -> Operand:
    return _READER.read(node)


def _undecided(node: exp.Expr, why: str) -> Unknown:
    """Unknown, with the text of the condition for people."""
    text = node.sql("spark")
    return Unknown(f"{text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + '…'}: {why}")


def _flat(node: exp.Expr, connector: type[exp.Connector]) -> Iterator[exp.Expr]:
    """The members of ``a AND b AND c``, which sqlglot nests to the left, without recursion."""
    stack = [node]
    while stack:
        current = stack.pop().unnest()
        if type(current) is connector:
            stack += [current.args["expression"], current.this]
        else:
            yield current


def _is_truth(node: exp.Expr) -> bool:
    """True for AND, OR, NOT, comparisons and the like: what our tree holds as a condition, not as an operand."""
    node = node.unnest()
    return isinstance(node, exp.Predicate | exp.Connector | exp.Not | exp.Escape) or (
        isinstance(node, exp.Anonymous) and node.name.lower() in _FUNCTIONS
    )


def _compare(op: str, left: exp.Expr, right: exp.Expr) -> HudiExpression:
    if isinstance(left.unnest(), exp.Boolean) and isinstance(right, exp.Paren) and _is_truth(right):
        left, right = right, left
    left, right = left.unnest(), right.unnest()
    if _is_truth(left):
        if op in ("=", "!=") and isinstance(right, exp.Boolean):
            same = bool(right.this) == (op == "=")
            return condition(left) if same else Not(condition(left))
        return Unknown("a condition compared with a value is not decided")
    if isinstance(right, exp.Any | exp.All) or isinstance(left, exp.Any | exp.All):
        return Unknown("ANY and ALL are not decided")
    if isinstance(left, exp.Tuple) or isinstance(right, exp.Tuple):
        return Unknown("a comparison of tuples is not decided")
    return Compare(op, _operand(left), _operand(right))


def _is(left: exp.Expr, right: exp.Expr) -> HudiExpression:
    left, right = left.unnest(), right.unnest()
    if isinstance(right, exp.Null):
        return _is_null(left)
    if not isinstance(right, exp.Boolean):
        return Unknown(f"IS {right.sql('spark')} is not decided")
    wanted = bool(right.this)
    if not _is_truth(left):
        return Compare("<=>", _operand(left), TRUE if wanted else Literal(False, TRUE.type))
    inner = condition(left) if wanted else Not(condition(left))
    return And((inner, Unknown(f"IS {str(wanted).upper()} is FALSE where the condition is NULL")))


def _is_null(node: exp.Expr) -> HudiExpression:
    if not _is_truth(node):
        return IsNull(_operand(node))
    # Not the OR of its sides being NULL: the engine may cast a side on the way, and a cast can make NULL of a value.
    return _undecided(node, "IS NULL of a condition is not decided")


def _in(node: exp.In) -> HudiExpression:
    if node.args.get("query") is not None:
        return _undecided(node, "a subquery is not decided")
    if node.args.get("unnest") is not None or node.args.get("field") is not None:
        return Unknown("IN over an array is not decided")
    if isinstance(node.this.unnest(), exp.Tuple | exp.Struct) or _is_truth(node.this):
        return Unknown("IN over tuples is not decided")
    if not node.expressions:
        raise LiteralError("IN needs at least one member")
    return In(_operand(node.this), tuple(_operand(member) for member in node.expressions))


def _between(node: exp.Between) -> HudiExpression:
    if node.args.get("symmetric"):
        return Unknown("BETWEEN SYMMETRIC is not decided")
    value, low, high = (_operand(part) for part in (node.this, node.args["low"], node.args["high"]))
    if any(isinstance(bound, Literal) and bound.value is None for bound in (low, high)):
        return Unknown("BETWEEN with a NULL bound is not decided")  # Hive yields NULL where Spark may yield FALSE
    return And((Compare(">=", value, low), Compare("<=", value, high)))


def _escaped(node: exp.Escape) -> HudiExpression:
    inner, mark = node.this, node.expression
    if not isinstance(inner, exp.Like) or not (isinstance(mark, exp.Literal) and len(mark.name) == 1):
        return Unknown("ESCAPE is not decided here")
    result = _like(inner, mark.name)
    return Not(result) if inner.args.get("negate") else result


def _like(node: exp.Like, escape: str) -> HudiExpression:
    patterns = node.expression.unnest()
    if isinstance(patterns, exp.Any | exp.All):
        listed = patterns.this.unnest()
        members = listed.expressions if isinstance(listed, exp.Tuple) else [listed]
        children = tuple(_like_one(node.this, member, escape) for member in members)
        # NOT LIKE ANY means "some pattern does not match": the negation belongs to each pattern
        if node.args.get("negate"):
            return Unknown("NOT LIKE with ANY or ALL is not decided")
        return Or(children) if isinstance(patterns, exp.Any) else And(children)
    return _like_one(node.this, patterns, escape)


def _like_one(value: exp.Expr, pattern: exp.Expr, escape: str) -> HudiExpression:
    match _operand(pattern):
        case Literal(value=str(text)):
            return Like(_operand(value), text, escape)
        case Literal(value=None):
            return Constant(None)
        case _:
            return Unknown("a LIKE pattern that is not a constant is not decided")


def _affix(before: str, after: str, name: str) -> Callable[[Sequence[exp.Expr]], HudiExpression]:
    def build(arguments: Sequence[exp.Expr]) -> HudiExpression:
        if len(arguments) != 2:
            return Unknown(f"{name} takes two arguments")
        match _operand(arguments[1]):
            case Literal(value=str(text)):
                plain = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
                return Like(_operand(arguments[0]), before + plain + after)
            case Literal(value=None):
                return Constant(None)
            case _:
                return Unknown(f"{name} of a value that is not a constant is not decided")

    return build


def _like_function(arguments: Sequence[exp.Expr]) -> HudiExpression:
    if len(arguments) not in (2, 3):
        return Unknown("like takes two arguments")
    mark = _operand(arguments[2]) if len(arguments) == 3 else Literal("\\", TRUE.type)
    if isinstance(mark, Literal) and isinstance(mark.value, str) and len(mark.value) == 1:
        return _like_one(arguments[0], arguments[1], mark.value)
    return Unknown("ESCAPE is not decided here")


def _null_test(arguments: Sequence[exp.Expr]) -> HudiExpression:
    return _is_null(arguments[0].unnest()) if len(arguments) == 1 else Unknown("isnull takes one argument")


def _regular_expression(arguments: Sequence[exp.Expr]) -> HudiExpression:
    if len(arguments) == 2:
        match _operand(arguments[1]):
            case Literal(value=str(pattern)):
                return matches(_operand(arguments[0]), pattern)
            case Literal(value=None):
                return Constant(None)
    return Unknown("a regular expression that is not a constant is not decided")


_FUNCTIONS: dict[str, Callable[[Sequence[exp.Expr]], HudiExpression]] = {
    "startswith": _affix("", "%", "startswith"),
    "endswith": _affix("%", "", "endswith"),
    "contains": _affix("%", "%", "contains"),
    "like": _like_function,
    "isnull": _null_test,
    "isnotnull": lambda arguments: Not(_null_test(arguments)),
    "rlike": _regular_expression,
    "regexp": _regular_expression,
    "regexp_like": _regular_expression,
}

_READER = OperandReader(condition)
