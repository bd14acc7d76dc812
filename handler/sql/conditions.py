"""sqlglot's conditions as HudiExpression. A form that is not decided is ``Unknown`` at its node (C1).

========================  ===========================================================================
SQL                       tree
========================  ===========================================================================
a BETWEEN x AND y         a >= x AND a <= y
a IS NOT DISTINCT FROM b  a <=> b
b IS TRUE                 b <=> TRUE
(condition) IS TRUE       condition AND (condition as a value) <=> TRUE
(condition) IS NULL       (condition as a value) IS NULL
b = (condition)           b = (condition as a value)
(a, b) IN ((1, 2), ...)   ``handler.sql.tuples``
startswith(s, 'p')        s LIKE 'p%', with the wildcards of p escaped
s LIKE ANY ('a%', 'b%')   s LIKE 'a%' OR s LIKE 'b%'
a boolean value           value = TRUE
s RLIKE '^ab.'            s LIKE 'ab%' AND ?(reason)
s ILIKE 'Ab%'             lower(s) LIKE 'ab%'
subqueries                ?(reason)
========================  ===========================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from sqlglot import exp

from evaluator.language.construction import TRUE, any_case_like, as_compared, truth_of
from evaluator.language.expression import (
    And,
    Call,
    Compare,
    Constant,
    HudiExpression,
    In,
    IsNull,
    Like,
    Literal,
    Node,
    Not,
    Operand,
    Or,
    Unknown,
    fold,
)
from evaluator.language.function_names import SQL_COMPARISONS
from evaluator.language.like import escape_text
from evaluator.language.regular_expression import matches
from evaluator.language.types import STRING
from handler.sql.literals import LiteralError, shortened, string
from handler.sql.operands import OperandReader
from handler.sql.tuples import compared, in_tuples, is_tuple
from handler.sql.type_names import is_small

__all__ = ["condition", "is_condition"]

_COMPARISONS: Mapping[type[exp.Expr], str] = {getattr(exp, name): op for name, op in SQL_COMPARISONS.items()}

#: A reason quotes a condition of at most so many nodes, because sqlglot's generator is recursive.
_MAX_QUOTED_NODES = 50

_VALUE_CLASSES = (exp.Literal, exp.Neg, exp.Binary, exp.Star, exp.Interval, exp.Tuple, exp.HexString)


def is_condition(node: exp.Expr) -> bool:
    """False for a node that can only be a value (``a + 1``, ``'x'``). A column or a function may be boolean."""
    node = node.unnest()
    if isinstance(node, exp.Predicate | exp.Connector | exp.Not | exp.Escape):
        return True
    return not isinstance(node, _VALUE_CLASSES)


def condition(node: exp.Expr) -> HudiExpression:
    """The condition as a HudiExpression. Raises LiteralError for a literal that the engine refuses."""
    node = node.unnest()
    positive = _condition(node)
    return Not(positive) if node.args.get("negate") else positive


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
        case exp.ILike():
            return _any_case_like(node, "\\")
        case exp.RegexpLike():
            return _regular_expression((node.this, node.expression))
        case exp.Boolean():
            return Constant(bool(node.this))
        case exp.Null():
            return Constant(None)
        case exp.Exists() | exp.Query() | exp.Subquery():
            return _undecided(node, "a subquery is not decided")
        case exp.Anonymous() if (translate := _FUNCTIONS.get(node.name.lower())) is not None:
            return translate(node.expressions)
        case _ if not is_condition(node):
            return _undecided(node, "this is not a condition")
        case exp.Predicate():
            return _undecided(node, f"{node.key} is not decided")
        case _:
            return Compare("=", _operand(node), TRUE)


def _operand(node: exp.Expr) -> Operand:
    return _READER.read(node)


def _text_of(operand: Operand) -> Operand:
    """``concat('a', '%')`` and ``'a' || '%'`` as the text that they are; any other operand as it is."""

    def joined(node: Node, parts: list[Node]) -> Node:
        match node:
            case Call(function="concat"):
                texts = [part.value for part in parts if isinstance(part, Literal)]
                if len(texts) == len(parts) and all(isinstance(text, str) for text in texts):
                    return string("".join(map(str, texts)))
        return node

    text = fold(operand, joined)
    return text if isinstance(text, Literal) else operand


def _undecided(node: exp.Expr, why: str) -> Unknown:
    """Unknown, with the condition's text in its reason if it is short."""
    return Unknown(f"{shortened(node.sql('spark'))}: {why}" if is_small(node, _MAX_QUOTED_NODES) else why)


def _flat(node: exp.Expr, connector: type[exp.Connector]) -> Iterator[exp.Expr]:
    """The members of ``a AND b AND c``, which sqlglot nests to the left, without recursion."""
    stack = [node]
    while stack:
        current = stack.pop().unnest()
        if type(current) is connector:
            stack += [current.args["expression"], current.this]
        else:
            yield current


def _has_truth_value(node: exp.Expr) -> bool:
    """True for AND, OR, NOT, comparisons and the functions of ``_FUNCTIONS``: nodes that become a HudiExpression."""
    node = node.unnest()
    return isinstance(node, exp.Predicate | exp.Connector | exp.Not | exp.Escape) or (
        isinstance(node, exp.Anonymous) and node.name.lower() in _FUNCTIONS
    )


def _compare(op: str, left: exp.Expr, right: exp.Expr) -> HudiExpression:
    if isinstance(left.unnest(), exp.Boolean) and isinstance(right, exp.Paren) and _has_truth_value(right):
        left, right = right, left
    is_clear = all(isinstance(side, exp.Paren) or not _has_truth_value(side) for side in (left, right))
    left, right = left.unnest(), right.unnest()
    if _has_truth_value(left) and op in ("=", "!=") and isinstance(right, exp.Boolean):
        asks_for_true = bool(right.this) == (op == "=")
        return as_compared(condition(left)) if asks_for_true else Not(as_compared(condition(left)))
    if not is_clear:  # engines read a = b > c from the left
        return Unknown("a condition compared with a value is not decided without parentheses")
    if isinstance(right, exp.Any | exp.All) or isinstance(left, exp.Any | exp.All):
        return Unknown("ANY and ALL are not decided")
    if is_tuple(left) or is_tuple(right):
        return compared(op, left, right, _operand) or Unknown("a comparison of tuples is not decided")
    return Compare(op, _operand(left), _operand(right))


def _is(left: exp.Expr, right: exp.Expr) -> HudiExpression:
    is_clear = isinstance(left, exp.Paren)
    left, right = left.unnest(), right.unnest()
    if isinstance(right, exp.Null):
        return _is_null(left, is_clear=is_clear)
    if not isinstance(right, exp.Boolean):
        return _undecided(right, "IS of such a value is not decided")
    truth = bool(right.this)
    if not _has_truth_value(left):
        return Compare("<=>", _operand(left), TRUE if truth else Literal(False, TRUE.type))
    inner = condition(left) if truth else Not(condition(left))
    return And((as_compared(inner), Compare("<=>", truth_of(inner), TRUE)))


def _is_null(node: exp.Expr, *, is_clear: bool = True) -> HudiExpression:
    if _has_truth_value(node) and not is_clear:
        return _undecided(node, "IS NULL of a condition is not decided without parentheses")
    # "One of its sides is NULL" would be wrong: the engine may cast a side, and a cast can turn a value into NULL.
    return IsNull(_operand(node))


def _in(node: exp.In) -> HudiExpression:
    if node.args.get("query") is not None:
        return _undecided(node, "a subquery is not decided")
    if node.args.get("unnest") is not None or node.args.get("field") is not None:
        return Unknown("IN over an array is not decided")
    if is_tuple(node.this) and node.expressions:
        return in_tuples(node.this, node.expressions, _operand)
    if _has_truth_value(node.this) and not isinstance(node.this, exp.Paren):
        return Unknown("IN over a condition is not decided without parentheses")
    if not node.expressions:
        raise LiteralError("IN needs at least one member")
    return In(_operand(node.this), tuple(_operand(member) for member in node.expressions))


def _between(node: exp.Between) -> HudiExpression:
    if node.args.get("symmetric"):
        return Unknown("BETWEEN SYMMETRIC is not decided")
    value, low, high = (_operand(part) for part in (node.this, node.args["low"], node.args["high"]))
    return And((Compare(">=", value, low), Compare("<=", value, high)))


def _escaped(node: exp.Escape) -> HudiExpression:
    like, escape = node.this, node.expression
    if not isinstance(like, exp.Like | exp.ILike) or not (isinstance(escape, exp.Literal) and len(escape.name) == 1):
        return Unknown("ESCAPE is not decided here")
    positive = _like(like, escape.name) if isinstance(like, exp.Like) else _any_case_like(like, escape.name)
    return Not(positive) if like.args.get("negate") else positive


def _like(node: exp.Like, escape: str) -> HudiExpression:
    patterns = node.expression.unnest()
    if isinstance(patterns, exp.Any | exp.All):
        pattern_list = patterns.this.unnest()
        members = pattern_list.expressions if isinstance(pattern_list, exp.Tuple) else [pattern_list]
        children = tuple(_like_pattern(node.this, member, escape) for member in members)
        # NOT LIKE ANY means "at least one pattern does not match": the negation belongs to each pattern.
        if node.args.get("negate"):
            return Unknown("NOT LIKE with ANY or ALL is not decided")
        return Or(children) if isinstance(patterns, exp.Any) else And(children)
    return _like_pattern(node.this, patterns, escape)


def _any_case_like(node: exp.ILike, escape: str) -> HudiExpression:
    match _text_of(_operand(node.expression)):
        case Literal(value=str(text)):
            return any_case_like(_operand(node.this), text, escape)
        case Literal(value=None):
            return Constant(None)
        case _:
            return Unknown("an ILIKE pattern that is not a constant is not decided")


def _like_pattern(value: exp.Expr, pattern: exp.Expr, escape: str) -> HudiExpression:
    match _text_of(_operand(pattern)):
        case Literal(value=str(text)):
            return Like(_operand(value), text, escape)
        case Literal(value=None):
            return Constant(None)
        case _:
            return Unknown("a LIKE pattern that is not a constant is not decided")


def _affix(before: str, after: str, name: str) -> Callable[[Sequence[exp.Expr]], HudiExpression]:
    """Translates ``startswith`` and its kin: the escaped text between ``before`` and ``after``."""

    def build(arguments: Sequence[exp.Expr]) -> HudiExpression:
        if len(arguments) != 2:
            return Unknown(f"{name} takes two arguments")
        match _text_of(_operand(arguments[1])):
            case Literal(value=str(text)):
                return Like(_operand(arguments[0]), before + escape_text(text) + after)
            case Literal(value=None):
                return Constant(None)
            case _:
                return Unknown(f"{name} of a value that is not a constant is not decided")

    return build


def _like_function(arguments: Sequence[exp.Expr]) -> HudiExpression:
    if len(arguments) not in (2, 3):
        return Unknown("like takes two arguments")
    escape = _operand(arguments[2]) if len(arguments) == 3 else Literal("\\", STRING)
    if isinstance(escape, Literal) and isinstance(escape.value, str) and len(escape.value) == 1:
        return _like_pattern(arguments[0], arguments[1], escape.value)
    return Unknown("ESCAPE is not decided here")


def _null_test(arguments: Sequence[exp.Expr]) -> HudiExpression:
    return _is_null(arguments[0].unnest()) if len(arguments) == 1 else Unknown("isnull takes one argument")


def _equal_null(arguments: Sequence[exp.Expr]) -> HudiExpression:
    if len(arguments) != 2:
        return Unknown("equal_null takes two arguments")
    return Compare("<=>", _operand(arguments[0]), _operand(arguments[1]))


def _regular_expression(arguments: Sequence[exp.Expr]) -> HudiExpression:
    if len(arguments) == 2:
        match _text_of(_operand(arguments[1])):
            case Literal(value=str(pattern)):
                return matches(_operand(arguments[0]), pattern)
            case Literal(value=None):
                return Constant(None)
    return Unknown("a regular expression that is not a constant is not decided")


#: Functions that are conditions, by their names in lower case.
_FUNCTIONS: dict[str, Callable[[Sequence[exp.Expr]], HudiExpression]] = {
    "startswith": _affix("", "%", "startswith"),
    "endswith": _affix("%", "", "endswith"),
    "contains": _affix("%", "%", "contains"),
    "like": _like_function,
    "equal_null": _equal_null,
    "isnull": _null_test,
    "isnotnull": lambda arguments: Not(_null_test(arguments)),
    "rlike": _regular_expression,
    "regexp": _regular_expression,
    "regexp_like": _regular_expression,
}

_READER = OperandReader(condition)
