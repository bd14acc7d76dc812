"""Translates a resolved condition of Spark, as Catalyst's JSON, into a HudiExpression. No JVM is needed.

    Catalyst                                      tree
    ============================================  ==========================================================
    EqualTo, LessThan, ...; EqualNullSafe         =, <, ...; <=>
    In, InSet                                     IN; of an empty list FALSE, or NULL for a NULL (3.5)
    Like, LikeAny, LikeAll, StartsWith, ...       LIKE
    ILike                                         LIKE of the text in lower case
    RLike                                         the fixed text it starts with, AND ?
    IsNull, IsNotNull, Not, And, Or               the same
    a boolean value                               value = TRUE
    a condition used as a value                   if(condition, TRUE, if(NOT condition, FALSE, NULL))
    AttributeReference, GetStructField            a column with the type that Spark gave it
    Literal, Cast                                 ``handler.catalyst.literals``
    If, CaseWhen, Coalesce, NullIfResult (4.3)    if, coalesce
    IN and = over CreateNamedStruct               ``handler.catalyst.structs``
    functions                                     ``evaluator.language.function_names``
    an expression that Spark replaces (``nvl``)   its replacement
    anything else                                 ?(reason) at that node (C1)

Names, casts and comparison types are Spark's own: the analyser has put them into the tree. ``cast`` and ``try_cast``
differ only in whether a failure is an error or NULL, and so do the operators in ANSI mode and without it. The evaluator
allows for both (``evaluator.language.semantics``, C8).

A value that depends on another time zone than the session's is unknown (``zoned_nodes``).

Facts: docs/facts/spark.md#conditions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from evaluator.language.construction import TRUE, case_when, item_of_array
from evaluator.language.expression import (
    And,
    Call,
    Cast,
    Column,
    Compare,
    Constant,
    HudiExpression,
    If,
    In,
    IsNull,
    Literal,
    Node,
    Not,
    Opaque,
    Operand,
    Or,
    Unknown,
)
from evaluator.language.function_names import CATALYST_COMPARISONS, CATALYST_FUNCTIONS, MIRRORED
from evaluator.language.types import BOOLEAN, Kind, Type
from handler.catalyst.functions import DAY_FUNCTIONS, IN_WORDS, RUN_TIME_CLASSES, TRANSPARENT
from handler.catalyst.literals import cast_of, literal_of, type_of
from handler.catalyst.moments import MOMENTS, interval_literal, moved_or_none
from handler.catalyst.node_forms import condition_form, operand_form
from handler.catalyst.patterns import PATTERNS
from handler.catalyst.sorted_keys import SortedKeys, in_sorted_keys
from handler.catalyst.structs import compared_structs, in_structs, struct_literal, struct_of
from handler.catalyst.time_zones import zone_of_java
from handler.catalyst.tree import CatalystNode, read_tree
from handler.catalyst.zoned_nodes import is_of_another_zone

__all__ = ["condition_of", "is_named"]

_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_FALSE = Literal(False, BOOLEAN)
#: Nodes that a translated condition may have. A condition used as a value is repeated, so nesting can double the tree.
MAX_NODES = 100_000


def condition_of(
    items: Sequence[Mapping[str, Any]], exact: Mapping[int, Any] | None = None, zone: str = "UTC"
) -> HudiExpression:
    """The condition of a list of Catalyst's JSON nodes.

    ``exact``: the values that the JSON leaves out, by the index of the node (``tree.missing_parts``).
    ``zone``: the session's time zone, in which the condition is evaluated.
    A part that is not understood is Unknown. Raises ValueError when the list is not a tree.

    >>> nodes = [{"class": "And", "num-children": 2}, {"class": "LessThan", "num-children": 2},
    ...          {"class": "AttributeReference", "num-children": 0, "name": "i", "dataType": "integer"},
    ...          {"class": "Literal", "num-children": 0, "value": "5", "dataType": "integer"},
    ...          {"class": "Rand", "num-children": 0}]
    >>> print(condition_of(nodes))
    (i < 5 AND ?(function rand is known only when the query runs))
    """
    return condition_form(_Translator(zone).translate(read_tree(items, exact)))


class _Translator:
    """Translates bottom-up with its own stack; a subtree with several parents is translated once."""

    def __init__(self, zone: str) -> None:
        self._zone = zone_of_java(zone)
        self._done: dict[int, tuple[Node, int]] = {}

    def translate(self, root: CatalystNode) -> Node:
        stack = [(root, False)]
        while stack:
            node, has_children_done = stack.pop()
            if id(node) in self._done:
                continue
            if not has_children_done:
                stack.append((node, True))
                stack.extend((child, False) for child in node.children)
                continue
            children = [self._done[id(child)] for child in node.children]
            size = 1 + sum(child_size * _copies(node, child) for child, child_size in children)
            if size > MAX_NODES:
                self._done[id(node)] = Opaque("the condition is too large"), 1
            else:
                self._done[id(node)] = self._node(node, [child for child, _ in children]), size
        return self._done[id(root)][0]

    def _node(self, node: CatalystNode, children: list[Node]) -> Node:
        name = node.name
        if is_of_another_zone(node, children, self._zone):
            return Opaque(f"{_sql_name(node)} is in another time zone than the session's")
        if name in CATALYST_COMPARISONS and len(children) == 2:
            return _compare(CATALYST_COMPARISONS[name], *children)
        if name in _CONDITIONS:
            return _CONDITIONS[name](node, children)
        if name in MOMENTS:
            return Call(MOMENTS[name], ())
        moved = moved_or_none(name, node.fields, [one for one in children if isinstance(one, Operand)])
        if moved is not None:
            return moved
        if name == "GetTimestamp" and node.fields.get("dataType") != "timestamp":
            return Opaque("a text read as a wall clock is not decided")
        if name in CATALYST_FUNCTIONS:
            return _call(node, [operand_form(child) for child in children])
        if name in RUN_TIME_CLASSES:
            return Opaque(f"{_sql_name(node)} is known only when the query runs")
        if len(children) == 1 and (name in TRANSPARENT or "replacement" in node.fields):
            return children[0]
        match name:
            case "AttributeReference":
                return _column((str(node.fields["name"]),), type_of(node.fields["dataType"]))
            case "GetStructField":
                return _field(node, children[0])
            case "Literal":
                special = interval_literal(node.fields) or struct_literal(node.fields)
                return special or literal_of(node.fields, node.exact, self._zone)
            case "GetArrayItem" if len(children) == 2:
                return item_of_array(children[0], children[1], 0) or Opaque(_undecided(node))
            case "ElementAt" if len(children) == 2:
                return item_of_array(children[0], children[1], 1) or Opaque(_undecided(node))
            case "CreateNamedStruct":
                return struct_of([operand_form(child) for child in children])
            case "TypedNullLiteral":
                return Literal(None, Type(Kind.VOID))
            case "Cast" if len(children) == 1:
                return cast_of(operand_form(children[0]), type_of(node.fields["dataType"]))
            case "If" if len(children) == 3:
                return If(condition_form(children[0]), operand_form(children[1]), operand_form(children[2]))
            case "NullIfResult" if len(children) == 2:
                return If(condition_form(children[0]), Literal(None, Type(Kind.VOID)), operand_form(children[1]))
            case "CaseWhen":
                return _case(children)
            case _:
                return Opaque(_undecided(node))


def _copies(node: CatalystNode, child: Node) -> int:
    """How often a child occurs in the node's translation, at most: a condition used as a value occurs twice."""
    return 2 if isinstance(child, HudiExpression) and node.name not in ("And", "Or", "Not") else 1


def _undecided(node: CatalystNode) -> str:
    if node.name in ("PythonUDF", "ScalaUDF", "HiveSimpleUDF", "HiveGenericUDF"):
        return "a user's function is not decided"
    if "plan" in node.fields or node.name == "InSubquery":
        return "a subquery is not decided"
    return f"{_sql_name(node)} is not decided"


def is_named(name: str) -> bool:
    """Whether a class has a place of its own here; reasons give any other by its name in SQL."""
    return name in _KNOWN


def _sql_name(node: CatalystNode) -> str:
    """What reasons say of a node: its name in SQL, which the JVM tells, and never Catalyst's."""
    if node.name in IN_WORDS:
        return IN_WORDS[node.name]
    if isinstance(node.exact, str) and node.exact.isprintable():
        return f"function {node.exact}"
    return "function " + _HUMPS.sub("_", node.name).lower()


def _column(path: tuple[str, ...], column_type: Type) -> Column:
    return Column(path, None if column_type.kind is Kind.OTHER else column_type)


def _field(node: CatalystNode, parent: Node) -> Operand:
    """A field of a struct column; Opaque for a field of a computed struct."""
    fields = _struct_fields(node.children[0])
    ordinal = node.fields.get("ordinal")
    if not isinstance(parent, Column) or not isinstance(ordinal, int) or not 0 <= ordinal < len(fields):
        return Opaque("a field of a computed value is not decided")
    field = fields[ordinal]
    return _column((*parent.path, field["name"]), type_of(field["type"]))


def _struct_fields(node: CatalystNode) -> Sequence[Mapping[str, Any]]:
    """The fields of a struct column, or of a struct field of one."""
    ordinals = []
    while node.name == "GetStructField":
        ordinals.append(node.fields.get("ordinal"))
        node = node.children[0]
    data_type = node.fields.get("dataType")
    for ordinal in reversed(ordinals):
        if not isinstance(data_type, Mapping) or not isinstance(ordinal, int):
            return ()
        data_type = data_type["fields"][ordinal]["type"]
    return data_type["fields"] if isinstance(data_type, Mapping) and data_type.get("type") == "struct" else ()


def _compare(op: str, left: Node, right: Node) -> HudiExpression:
    of_structs = compared_structs(op, left, right)
    if of_structs is not None:
        return of_structs
    if isinstance(left, Literal) and isinstance(right, HudiExpression):
        left, right = right, left
        op = MIRRORED[op]
    if isinstance(left, HudiExpression) and isinstance(right, Literal) and isinstance(right.value, bool):
        condition = left if right.value else Not(left)
        if op == "=":
            return condition
        if op == "<=>":  # FALSE, not NULL, where the condition is NULL
            return And((condition, Compare("=", If(condition, TRUE, _FALSE), TRUE)))
    left_operand, right_operand = operand_form(left), operand_form(right)
    return Compare(op, _uncast_text(left_operand, right_operand), _uncast_text(right_operand, left_operand))


def _uncast_text(operand: Operand, other: Operand) -> Operand:
    """The text of ``CAST('text' AS type)`` where the other side is a date, timestamp or integer column of that type.

    The comparison with the text means the same there, and ``evaluator.language.literal`` reads more texts exactly.
    """
    match operand:
        case Cast(operand=Literal(value=str()) as text, type=to) if (
            isinstance(other, Column)
            and other.type == to
            and (to.kind is Kind.DATE or to.kind.is_timestamp or to.kind.is_integer)
        ):
            return text
        case _:
            return operand


def _not(node: CatalystNode, children: list[Node]) -> HudiExpression:
    match children[0]:
        case Compare(op="=", left=left, right=right) if node.children[0].name == "EqualTo":
            return Compare("!=", left, right)
        case child:
            return Not(condition_form(child))


#: IN of an empty list is FALSE in Spark 4; in Spark 3.5 it is NULL where the value is NULL.
_EMPTY_IN = Or((Constant(False), And((Constant(None), Unknown("IN of an empty list differs by version")))))


def _in(_: CatalystNode, children: list[Node]) -> HudiExpression:
    if len(children) == 1:
        return _EMPTY_IN
    value, *members = (operand_form(child) for child in children)
    return in_structs(value, members) or In(value, tuple(members))


def _in_set(node: CatalystNode, children: list[Node]) -> HudiExpression:
    """The optimiser's form of a long IN. ``exact`` has the members as (type name, value in Spark's internal form)."""
    if isinstance(node.exact, SortedKeys):
        return in_sorted_keys(operand_form(children[0]), node.exact)
    if not isinstance(node.exact, Sequence) or not node.exact:
        return Unknown("a list whose members are not told is not decided")
    return In(operand_form(children[0]), tuple(_member(name, value) for name, value in node.exact))


def _member(type_name: str, value: Any) -> Operand:
    """A member of InSet; Spark's internal form of dates and timestamps is a number of days or microseconds."""
    member_type = type_of(type_name)
    if isinstance(value, int) and (member_type.kind is Kind.DATE or member_type.kind.is_timestamp):
        return Literal(value, member_type)
    return literal_of({"dataType": type_name, "value": value}, value, "UTC")


def _connector(kind: type[And] | type[Or]) -> Callable[[CatalystNode, list[Node]], HudiExpression]:
    def build(_: CatalystNode, children: list[Node]) -> HudiExpression:
        return kind(tuple(_flat(kind, map(condition_form, children))))

    return build


def _flat(kind: type[And] | type[Or], parts: Iterable[HudiExpression]) -> Iterable[HudiExpression]:
    for part in parts:
        if isinstance(part, kind):
            yield from part.children
        else:
            yield part


def _case(children: list[Node]) -> Operand:
    """CASE WHEN: conditions and results in turn, and the ELSE value if there is one."""
    branches = [
        (condition_form(condition), operand_form(result))
        for condition, result in zip(children[::2], children[1::2], strict=False)
    ]
    return case_when(branches, operand_form(children[-1]) if len(children) % 2 else Literal(None, Type(Kind.VOID)))


def _call(node: CatalystNode, arguments: list[Operand]) -> Operand:
    name = CATALYST_FUNCTIONS[node.name]
    if name == "unix_timestamp" and len(arguments) == 2 and _is_date_or_timestamp(arguments[0]):
        arguments = arguments[:1]  # the pattern applies to texts only
    if name in DAY_FUNCTIONS:
        arguments = [_uncast_day(argument) for argument in arguments]
    return Call(name, tuple(arguments))


def _uncast_day(operand: Operand) -> Operand:
    """A timestamp without the cast to its day, which the function implies."""
    match operand:
        case Cast(operand=inner, type=Type(kind=Kind.DATE)) if _is_date_or_timestamp(inner):
            return inner
        case _:
            return operand


def _is_date_or_timestamp(operand: Operand) -> bool:
    operand_type = operand.type if isinstance(operand, Column | Cast | Literal) else None
    return operand_type is not None and (operand_type.kind is Kind.DATE or operand_type.kind.is_timestamp)


_CONDITIONS: Mapping[str, Callable[[CatalystNode, list[Node]], HudiExpression]] = {
    "And": _connector(And),
    "Or": _connector(Or),
    "Not": _not,
    "IsNull": lambda _, children: IsNull(operand_form(children[0])),
    "IsNotNull": lambda _, children: Not(IsNull(operand_form(children[0]))),
    "In": _in,
    "InSet": _in_set,
    **PATTERNS,
}

_KNOWN = frozenset(
    [
        *(*CATALYST_COMPARISONS, *CATALYST_FUNCTIONS, *MOMENTS, *TRANSPARENT, *_CONDITIONS),
        *(
            "AttributeReference",
            "GetStructField",
            "Literal",
            "TypedNullLiteral",
            "Cast",
            "If",
            "NullIfResult",
            "CaseWhen",
            "CreateNamedStruct",
        ),
        *("CreateNamedStruct", "With", "CommonExpressionDef", "CommonExpressionRef"),
    ]
)
