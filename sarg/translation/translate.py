"""Translates the typed Hive tree into a HudiExpression. A node that is not understood is unknown *at its node* (C1).

    ===============================  ==========================================================================
    Hive                             HudiExpression
    ===============================  ==========================================================================
    AND, OR (any nesting), NOT       And, Or (n-ary), Not
    = <> <=> < <= > >=               Compare, with the types as they are: binding converts (C7)
    x BETWEEN a AND b                x >= a AND x <= b; NOT of it when the invert flag is TRUE
    x IN (...)                       In, or field by field for structs (``sarg.translation.membership``)
    IS [NOT] NULL                    IsNull, Not
    IS [NOT] TRUE / FALSE            ``sarg.translation.boolean_tests``
    LIKE, LIKE ANY, LIKE ALL         Like, Or, And; literal patterns over STRING and VARCHAR
    RLIKE                            Like of the text that the pattern starts with; the rest is Unknown
    column, struct field             Column with its path; virtual columns are Opaque
    casts                            Cast to the node's type; number <-> timestamp is Opaque (zone and settings)
    IF, CASE, nullif                 If, nested for CASE
    other functions                  Call by SQL name; run-time and users' functions are Opaque
    dynamic value                    Opaque
    ===============================  ==========================================================================

Hive's own SearchArgument is not used here: it truncates literals, and so it loses rows.

Facts: docs/facts/hive-expressions.md.
"""

from __future__ import annotations

from evaluator.language.construction import TRUE, as_compared, as_condition, as_operand, case_when, truth_of
from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import (
    And,
    Call,
    Cast,
    Column,
    Compare,
    Constant,
    HudiExpression,
    If,
    IsNull,
    Like,
    Literal,
    Node,
    Not,
    Opaque,
    Operand,
    Or,
    Unknown,
)
from evaluator.language.function_names import HIVE_COMPARISONS, MIRRORED
from evaluator.language.regular_expression import matches
from evaluator.language.types import BOOLEAN, Kind, Type
from sarg.hive_tree.exprnode import (
    ColumnNode,
    ConstantNode,
    DynamicNode,
    ExprNode,
    FieldNode,
    FunctionNode,
    OtherNode,
    fold_tree,
)
from sarg.translation.boolean_tests import is_false, is_null, is_true
from sarg.translation.bounded_constants import compare_with_range
from sarg.translation.calls import call, exactly, only
from sarg.translation.function_names import VIRTUAL_COLUMNS, sql_name
from sarg.translation.literals import literal_of, range_of, type_of
from sarg.translation.membership import membership

__all__ = ["translate"]

_NO_ZONE = "the writer's time zone is not in the bytes of this constant"


def translate(root: ExprNode) -> HudiExpression:
    """The condition of a tree of any depth. Never fails: a node that is not understood becomes unknown."""
    return _condition(fold_tree(root, _children, _translate))


def _children(node: ExprNode) -> tuple[ExprNode, ...]:
    """The children of a node; for an AND (or OR) the children of all nested ANDs (or ORs), left to right."""
    if not (isinstance(node, FunctionNode) and node.simple_name in ("GenericUDFOPAnd", "GenericUDFOPOr")):
        return node.children_of()
    flat: list[ExprNode] = []
    stack = list(reversed(node.children))
    while stack:
        child = stack.pop()
        if isinstance(child, FunctionNode) and child.java == node.java:
            stack.extend(reversed(child.children))
        else:
            flat.append(child)
    return tuple(flat)


def _translate(node: ExprNode, children: list[Node]) -> Node:
    match node:
        case FunctionNode():
            try:
                return _function(node, children)
            except UnsupportedError as error:
                return Unknown(error.what) if node.type == "boolean" else Opaque(error.what)
        case ColumnNode(name=name):
            if name.upper() in VIRTUAL_COLUMNS:
                return Opaque(f"{name} is a virtual column")
            return Column((name,), type_of(node.type))
        case ConstantNode(value=value):
            return literal_of(value, type_of(node.type))
        case FieldNode(field=field):
            parent = children[0]
            if node.is_list or not isinstance(parent, Column):
                return Opaque(f"field {field} of something that is not a struct column")
            return Column((*parent.path, field), type_of(node.type))
        case DynamicNode(id=name):
            return Opaque(f"dynamic value {name} is not in the bytes")
        case OtherNode(java=java):
            return Opaque(f"a {java.rpartition('.')[2]} is not understood")
        case _:
            raise TypeError(f"not a node: {node!r}")


def _function(node: FunctionNode, children: list[Node]) -> Node:
    name = node.simple_name
    java = node.java
    if name == "GenericUDFBridge" and node.bridge is not None:
        name, java = node.bridge.simple_name, node.bridge.java or ""
    if sql_name(java) is None:
        raise UnsupportedError(f"function {java or name} is not one of Hive's own")
    match name:
        case "GenericUDFOPAnd" | "GenericUDFOPOr":
            return _joined(name, [_condition(child) for child in children])
        case "GenericUDFOPNot":
            return Not(_condition(only(name, children)))
        case _ if name in HIVE_COMPARISONS:
            left, right = exactly(2, name, children)
            return _comparison(HIVE_COMPARISONS[name], left, right, node.children)
        case "GenericUDFOPNotEqualNS":
            left, right = exactly(2, name, children)
            return Not(_comparison("<=>", left, right, node.children))
        case "GenericUDFBetween":
            return _between(node, children)
        case "GenericUDFIn":
            return membership(node, [_operand(child) for child in children])
        case "GenericUDFOPNull":
            return is_null(only(name, children))
        case "GenericUDFOPNotNull":
            return Not(is_null(only(name, children)))
        case "GenericUDFOPTrue":
            return is_true(_condition(only(name, children)))
        case "GenericUDFOPNotTrue":
            return Not(is_true(_condition(only(name, children))))
        case "GenericUDFOPFalse":
            return is_false(_condition(only(name, children)))
        case "GenericUDFOPNotFalse":
            return Not(is_false(_condition(only(name, children))))
        case "GenericUDFIf":
            condition, then, otherwise = exactly(3, name, children)
            return If(_condition(condition), _operand(then), _operand(otherwise), type_of(node.type))
        case "GenericUDFWhen":
            return _case([_condition(child) for child in children[:-1:2]], children, type_of(node.type))
        case "GenericUDFCase" if len(children) > 2:
            return _case(
                [
                    _comparison("=", children[0], children[i], (node.children[0], node.children[i]))
                    for i in range(1, len(children) - 1, 2)
                ],
                children[1:],
                type_of(node.type),
            )
        case "GenericUDFNullif":
            value, other = exactly(2, name, children)
            result_type = type_of(node.type)
            is_equal = _comparison("=", value, other, node.children)
            return If(is_equal, Literal(None, result_type), _operand(value), result_type)
        case "UDFLike":
            text, pattern = exactly(2, name, children)
            return _like(text, pattern)
        case "GenericUDFLikeAny" | "GenericUDFLikeAll":
            if len(children) < 2:
                raise UnsupportedError(f"{name} with {len(children)} arguments")
            if not isinstance(children[0], Column):
                raise UnsupportedError(f"{name} over something that is not a column")
            likes = [_like(children[0], pattern) for pattern in children[1:]]
            return _joined("GenericUDFOPAnd" if name.endswith("All") else "GenericUDFOPOr", likes)
        case "GenericUDFRegExp" if (
            len(children) == 2 and isinstance(children[1], Literal) and isinstance(children[1].value, str)
        ):
            return matches(_operand(children[0]), children[1].value)
        case "GenericUDFRegExp" | "GenericUDFInBloomFilter":
            raise UnsupportedError(f"function {sql_name(java)} is not decided")
        case _:
            return call(name, java, node, [_operand(child) for child in children])


def _case(conditions: list[HudiExpression], children: list[Node], result_type: Type) -> Operand:
    """CASE, from its conditions and its children: WHEN and THEN in turn, and the ELSE if there is one."""
    if not conditions:
        raise UnsupportedError("a CASE without branches")
    results = [_operand(result) for result in children[1::2]]
    otherwise = _operand(children[-1]) if len(children) % 2 else Literal(None, result_type)
    return case_when(list(zip(conditions, results, strict=True)), otherwise, result_type)


def _comparison(op: str, left: Node, right: Node, nodes: tuple[ExprNode, ...]) -> HudiExpression:
    if isinstance(left, HudiExpression) or isinstance(right, HudiExpression):
        return _compare_conditions(op, left, right)
    left_operand, right_operand = _operand(left), _operand(right)
    bounds = _bounds(nodes[1])
    if bounds is not None:
        return compare_with_range(op, left_operand, *bounds, _NO_ZONE)
    bounds = _bounds(nodes[0])
    if bounds is not None:
        return compare_with_range(MIRRORED[op], right_operand, *bounds, _NO_ZONE)
    return Compare(op, left_operand, right_operand)


def _bounds(node: ExprNode) -> tuple[Literal, Literal] | None:
    return range_of(node.value, type_of(node.type)) if isinstance(node, ConstantNode) else None


def _compare_conditions(op: str, left: Node, right: Node) -> HudiExpression:
    """A condition compared with a boolean: ``(a > 1) = true``, ``b = (a > 1)``."""
    if isinstance(left, Literal):
        left, right = right, left
    if not (isinstance(left, HudiExpression) and isinstance(right, Literal) and isinstance(right.value, bool)):
        return Compare(op, _as_value(left), _as_value(right))
    match op, right.value:
        case ("=", True) | ("!=", False):
            return as_compared(left)
        case ("=", False) | ("!=", True):
            return Not(as_compared(left))
        case "<=>", True:
            return is_true(left)
        case "<=>", False:
            return is_false(left)
        case _:
            raise UnsupportedError(f"a condition is compared by {op}")


def _as_value(node: Node) -> Operand:
    """An operand, or the value of a condition."""
    value = as_operand(node)
    return truth_of(node) if value is None and isinstance(node, HudiExpression) else _operand(node)


def _between(node: FunctionNode, children: list[Node]) -> HudiExpression:
    """BETWEEN(invert, x, low, high).

    Hive's BETWEEN is NULL when a bound is NULL, where ``x >= low AND x <= high`` may be FALSE. So a bound that is not a
    constant adds ``OR (bound IS NULL AND ?)``. Hive's row evaluator heeds ``invert`` in every version.

    Facts: docs/facts/hive-expressions.md#what-hive-means-by-a-condition.
    """
    invert, x, low, high = exactly(4, "BETWEEN", children)
    if not (isinstance(invert, Literal) and isinstance(invert.value, bool)):
        raise UnsupportedError("BETWEEN with a flag that is not a constant")
    bounds = [
        _operand(bound)
        for bound, hive_node in zip((low, high), node.children[2:], strict=True)
        if not (isinstance(hive_node, ConstantNode) and hive_node.value is not None)
    ]
    if any(isinstance(bound, Literal) for bound in bounds):
        return _between_null(invert.value, x, (low, high), node.children)
    for bound in bounds:
        if isinstance(bound, Opaque):
            raise UnsupportedError(bound.reason)
    inside: HudiExpression = And(
        (
            _comparison(">=", x, low, (node.children[1], node.children[2])),
            _comparison("<=", x, high, (node.children[1], node.children[3])),
        )
    )
    guards = [And((IsNull(bound), Unknown("BETWEEN with a bound that may be NULL"))) for bound in bounds]
    if guards:
        inside = Or((inside, *guards))
    return Not(inside) if invert.value else inside


def _between_null(is_negated: bool, x: Node, bounds: tuple[Node, Node], nodes: tuple[ExprNode, ...]) -> HudiExpression:
    """BETWEEN with a bound that is NULL: never TRUE, and FALSE at most where x lies beyond the other bound.

    Where the NULL has a type of its own, Hive may compare in another type: then it may be FALSE anywhere.
    """
    null_or_false = And((Unknown("BETWEEN with a NULL bound"), Constant(None)))
    nulls = [bound for bound in bounds if isinstance(bound, Literal) and bound.value is None]
    if len(nulls) == 2:
        return Constant(None)
    place = 1 if bounds[0] is nulls[0] else 0
    other = bounds[place]
    kinds = {node.type.kind for node in (nulls[0], other) if isinstance(node, Literal)} - {Kind.VOID}
    inside: HudiExpression = null_or_false
    if isinstance(other, Literal) and len(kinds) == 1:
        beside = _comparison(("<=" if place else ">="), x, other, (nodes[1], nodes[2 + place]))
        inside = Or((And((beside, Constant(None))), null_or_false))
    return Not(inside) if is_negated else inside


def _like(text: Node, pattern: Node) -> HudiExpression:
    """LIKE. Hive's backslash escapes ``%`` and ``_`` only; before any other character it is an ordinary character."""
    if not (isinstance(pattern, Literal) and isinstance(pattern.value, str)):
        raise UnsupportedError("LIKE with a pattern that is not a constant text")
    operand = _operand(text)
    operand_type = None if isinstance(operand, Opaque) else getattr(operand, "type", None)
    if not isinstance(operand_type, Type) or operand_type.kind not in (Kind.STRING, Kind.VARCHAR):
        raise UnsupportedError(f"LIKE over {operand_type or 'a value of no known type'}")
    if "\\" in pattern.value.replace("\\%", "").replace("\\_", ""):
        raise UnsupportedError("LIKE with a backslash before an ordinary character")
    return Like(operand, pattern.value)


def _joined(name: str, conditions: list[HudiExpression]) -> HudiExpression:
    if not conditions:
        raise UnsupportedError(f"{name} without arguments")
    if len(conditions) == 1:
        return conditions[0]
    return And(tuple(conditions)) if name == "GenericUDFOPAnd" else Or(tuple(conditions))


def _condition(node: Node) -> HudiExpression:
    """A node as a condition: a boolean value is compared with TRUE, any other value is unknown."""
    condition = as_condition(node)
    if condition is not None:
        return condition
    if isinstance(node, Column | Cast | Call | If) and node.type == BOOLEAN:
        return Compare("=", node, TRUE)
    return Unknown("a value that is not boolean stands for a condition")


def _operand(node: Node) -> Operand:
    """A node as a value. A condition on the row is not decided as a value."""
    return as_operand(node) or Opaque("a condition stands for a value")
