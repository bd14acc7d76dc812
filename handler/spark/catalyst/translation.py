"""Spark's resolved condition -> HudiExpression of the same meaning, from Catalyst's JSON alone.

    Catalyst                                      tree
    ============================================  ==========================================================
    EqualTo, LessThan, ...; EqualNullSafe         =, <, ...; <=>
    In, InSet                                     IN; of an empty list FALSE, or NULL for a NULL (3.5)
    Like, LikeAny, LikeAll, StartsWith, ...       LIKE
    RLike                                         the fixed text it starts with, AND ?
    IsNull, IsNotNull, Not, And, Or               the same
    a boolean value                               value = TRUE
    a condition used as a value                   if(condition, TRUE, if(NOT condition, FALSE, NULL))
    AttributeReference, GetStructField            a column with the type that Spark gave it
    Literal, Cast                                 ``handler.spark.catalyst.values``
    If, CaseWhen, Coalesce                        if, coalesce
    functions                                     ``evaluator.language.function_names``
    an expression that Spark replaces (``nvl``)   what it is replaced with
    anything else                                 ?(reason) at that node

Names, casts and the types in which things are compared are Spark's own: its analyser has written them into the tree.
``cast`` and ``try_cast`` differ only in what is an error and what is NULL, which the evaluator's casts allow for
(``evaluator.language.semantics``), and so do ANSI and other arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

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
    Like,
    Literal,
    Node,
    Not,
    Opaque,
    Operand,
    Or,
    Unknown,
)
from evaluator.language.function_names import CATALYST_COMPARISONS, CATALYST_FUNCTIONS, MIRRORED
from evaluator.language.regular_expression import matches
from evaluator.language.types import BOOLEAN, Kind, Type
from handler.spark.catalyst.functions import MOMENTS, OF_DAYS, TRANSPARENT
from handler.spark.catalyst.tree import CatalystNode, read_tree
from handler.spark.catalyst.values import cast_of, literal_of, type_of

__all__ = ["condition_of"]

TRUE, FALSE, NULL = Literal(True, BOOLEAN), Literal(False, BOOLEAN), Literal(None, BOOLEAN)
#: Nodes that a translated condition may have: what is nested and stands twice at each level would double it.
LARGEST_TREE = 100_000


def condition_of(
    items: Sequence[Mapping[str, Any]], exact: Mapping[int, Any] | None = None, zone: str = "UTC"
) -> HudiExpression:
    """The condition whose nodes Catalyst listed as JSON.

    ``exact``: what the JSON does not tell, by the place of the node (``tree.missing_parts``).
    ``zone``: the session's time zone, for what a constant timestamp shows.
    Never fails for what is not understood, which is Unknown; raises ValueError when the list is no tree.

    >>> nodes = [{"class": "And", "num-children": 2}, {"class": "LessThan", "num-children": 2},
    ...          {"class": "AttributeReference", "num-children": 0, "name": "i", "dataType": "integer"},
    ...          {"class": "Literal", "num-children": 0, "value": "5", "dataType": "integer"},
    ...          {"class": "Rand", "num-children": 0}]
    >>> print(condition_of(nodes))
    (i < 5 AND ?(Rand is known only when the query runs))
    """
    return _condition(_Translator(zone).translate(read_tree(items, exact)))


class _Translator:
    """Translates bottom-up with its own stack; a subtree that stands in several places is translated once."""

    def __init__(self, zone: str) -> None:
        self._zone = zone
        self._done: dict[int, tuple[Node, int]] = {}

    def translate(self, root: CatalystNode) -> Node:
        stack = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if id(node) in self._done:
                continue
            if not ready:
                stack.append((node, True))
                stack.extend((child, False) for child in node.children)
                continue
            parts = [self._done[id(child)] for child in node.children]
            size = 1 + sum(part[1] * _copies(node, part[0]) for part in parts)
            if size > LARGEST_TREE:
                self._done[id(node)] = Opaque("the condition is too large"), 1
            else:
                self._done[id(node)] = self._node(node, [part[0] for part in parts]), size
        return self._done[id(root)][0]

    def _node(self, node: CatalystNode, children: list[Node]) -> Node:
        name = node.name
        if name in CATALYST_COMPARISONS and len(children) == 2:
            return _compare(CATALYST_COMPARISONS[name], *children)
        if name in _CONDITIONS:
            return _CONDITIONS[name](node, children)
        if name in CATALYST_FUNCTIONS:
            return _call(node, [_operand(child) for child in children])
        if name in MOMENTS:
            return Opaque(f"{name} is known only when the query runs")
        if len(children) == 1 and (name in TRANSPARENT or "replacement" in node.fields):
            return children[0]
        match name:
            case "AttributeReference":
                return _column((str(node.fields["name"]),), type_of(node.fields["dataType"]))
            case "GetStructField":
                return _field(node, children[0])
            case "Literal":
                return literal_of(node.fields, node.exact, self._zone)
            case "TypedNullLiteral":
                return Literal(None, Type(Kind.VOID))
            case "Cast" if len(children) == 1:
                return cast_of(_operand(children[0]), type_of(node.fields["dataType"]))
            case "If" if len(children) == 3:
                return If(_condition(children[0]), _operand(children[1]), _operand(children[2]))
            case "CaseWhen":
                return _case(children)
            case _:
                return Opaque(_undecided(node))


def _copies(node: CatalystNode, part: Node) -> int:
    """How often a part stands in what becomes of the node, at most: a condition as a value stands there twice."""
    return 2 if isinstance(part, HudiExpression) and node.name not in ("And", "Or", "Not") else 1


def _undecided(node: CatalystNode) -> str:
    if node.name in ("PythonUDF", "ScalaUDF", "HiveSimpleUDF", "HiveGenericUDF"):
        return "a user's function is not decided"
    if "plan" in node.fields or node.name == "InSubquery":
        return "a subquery is not decided"
    return f"{node.name} is not decided"


def _condition(node: Node) -> HudiExpression:
    """A node as a condition: a boolean value is compared with TRUE."""
    match node:
        case HudiExpression():
            return node
        case Literal(value=bool() | None as value):
            return Constant(value)
        case Opaque(reason=reason):
            return Unknown(reason)
        case Operand():
            return Compare("=", node, TRUE)
        case _:
            raise TypeError(f"neither a condition nor a value: {node!r}")


def _operand(node: Node) -> Operand:
    """A node as a value: a condition is TRUE, FALSE or NULL."""
    match node:
        case Operand():
            return node
        case Constant(value=value):
            return Literal(value, BOOLEAN)
        case Unknown(reason=reason):
            return Opaque(reason)
        case Compare(op="=", left=value, right=right) if right is TRUE:
            return value
        case HudiExpression():
            return If(node, TRUE, If(Not(node), FALSE, NULL))
        case _:
            raise TypeError(f"neither a condition nor a value: {node!r}")


def _column(path: tuple[str, ...], of: Type) -> Column:
    return Column(path, None if of.kind is Kind.OTHER else of)


def _field(node: CatalystNode, parent: Node) -> Operand:
    """A field of a struct column; of a struct that is computed nothing is known."""
    fields = _struct_fields(node.children[0])
    place = node.fields.get("ordinal")
    if not isinstance(parent, Column) or not isinstance(place, int) or not 0 <= place < len(fields):
        return Opaque("a field of a computed value is not decided")
    field = fields[place]
    return _column((*parent.path, field["name"]), type_of(field["type"]))


def _struct_fields(node: CatalystNode) -> Sequence[Mapping[str, Any]]:
    """The fields of the struct that a column, or a field of one, holds."""
    path = []
    while node.name == "GetStructField":
        path.append(node.fields.get("ordinal"))
        node = node.children[0]
    of = node.fields.get("dataType")
    for place in reversed(path):
        of = of["fields"][place]["type"] if isinstance(of, Mapping) and isinstance(place, int) else None
    return of["fields"] if isinstance(of, Mapping) and of.get("type") == "struct" else ()


def _compare(op: str, left: Node, right: Node) -> HudiExpression:
    if isinstance(left, Literal) and isinstance(right, HudiExpression):
        left, right = right, left  # both ways are the same for = and <=> of conditions
        op = MIRRORED[op]
    if isinstance(left, HudiExpression) and isinstance(right, Literal) and isinstance(right.value, bool):
        inner = left if right.value else Not(left)
        if op == "=":
            return inner
        if op == "<=>":  # FALSE, not NULL, where the condition is NULL
            return And((inner, Compare("=", If(inner, TRUE, FALSE), TRUE)))
    a, b = _operand(left), _operand(right)
    return Compare(op, _beside(a, b), _beside(b, a))


def _beside(operand: Operand, other: Operand) -> Operand:
    """A text that Spark casts to what it is compared with, as the text itself: ``language.literal`` reads more forms.

    Only beside a date, a timestamp or an integer column of that very type, for which the two mean the same.
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
            return Not(_condition(child))


def _in(_: CatalystNode, children: list[Node]) -> HudiExpression:
    if len(children) == 1:
        return _in_nothing(children[0])
    value, *members = (_operand(child) for child in children)
    return In(value, tuple(members))


def _in_set(node: CatalystNode, children: list[Node]) -> HudiExpression:
    """The optimiser's form of a long IN. ``exact``: the members as (type name, value in Spark's own form)."""
    if not isinstance(node.exact, Sequence) or not node.exact:
        return Unknown("a list whose members are not told is not decided")
    return In(_operand(children[0]), tuple(_member(type_of(of), of, value) for of, value in node.exact))


def _member(of: Type, name: str, value: Any) -> Operand:
    """Spark keeps days and microseconds as numbers."""
    if isinstance(value, int) and (of.kind is Kind.DATE or of.kind.is_timestamp):
        return Literal(value, of)
    return literal_of({"dataType": name, "value": value}, value, "UTC")


def _in_nothing(value: Node) -> HudiExpression:
    """Spark 4: FALSE. Spark 3.5: NULL where the value is NULL."""
    del value
    return Or((Constant(False), And((Constant(None), Unknown("IN of an empty list differs by version")))))


def _like(node: CatalystNode, children: list[Node]) -> HudiExpression:
    escape = node.exact
    if not isinstance(escape, str) or len(escape) != 1:
        return Unknown("LIKE with an escape character that is not told is not decided")
    return _matching(children, lambda text: text, escape)


def _matching(children: list[Node], pattern: Callable[[str], str], escape: str = "\\") -> HudiExpression:
    match children:
        case [value, Literal(value=str(text), type=Type(kind=Kind.STRING))]:
            return Like(_operand(value), pattern(text), escape)
        case [_, Literal(value=None)]:
            return Constant(None)
        case _:
            return Unknown("a pattern that is not a constant is not decided")


def _affix(before: str, after: str) -> Callable[[CatalystNode, list[Node]], HudiExpression]:
    def build(_: CatalystNode, children: list[Node]) -> HudiExpression:
        return _matching(children, lambda text: before + _plain(text) + after)

    return build


def _plain(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _like_several(some: bool, negated: bool) -> Callable[[CatalystNode, list[Node]], HudiExpression]:
    """LIKE ANY (some), LIKE ALL, NOT LIKE ANY, NOT LIKE ALL. ``exact``: the patterns, None for NULL."""

    def build(node: CatalystNode, children: list[Node]) -> HudiExpression:
        if not isinstance(node.exact, Sequence) or not node.exact:
            return Unknown("LIKE with patterns that are not told is not decided")
        tests = [Constant(None) if text is None else Like(_operand(children[0]), str(text)) for text in node.exact]
        parts = tuple(Not(test) if negated else test for test in tests)
        return Or(parts) if some else And(parts)

    return build


def _rlike(_: CatalystNode, children: list[Node]) -> HudiExpression:
    match children:
        case [value, Literal(value=str(pattern))]:
            return matches(_operand(value), pattern)
        case [_, Literal(value=None)]:
            return Constant(None)
        case _:
            return Unknown("a regular expression that is not a constant is not decided")


def _connected(kind: type[And] | type[Or]) -> Callable[[CatalystNode, list[Node]], HudiExpression]:
    def build(_: CatalystNode, children: list[Node]) -> HudiExpression:
        return kind(tuple(_flat(kind, map(_condition, children))))

    return build


def _flat(kind: type[And] | type[Or], parts: Iterable[HudiExpression]) -> Iterable[HudiExpression]:
    for part in parts:
        if isinstance(part, kind):
            yield from part.children
        else:
            yield part


def _case(children: list[Node]) -> Operand:
    """CASE WHEN: (condition, value) pairs, and a last value when there is an ELSE."""
    pairs = len(children) // 2
    found = _operand(children[-1]) if len(children) % 2 else Literal(None, Type(Kind.VOID))
    for place in reversed(range(pairs)):
        found = If(_condition(children[2 * place]), _operand(children[2 * place + 1]), found)
    return found


def _call(node: CatalystNode, arguments: list[Operand]) -> Operand:
    name = CATALYST_FUNCTIONS[node.name]
    if name == "unix_timestamp" and len(arguments) == 2 and _is_moment(arguments[0]):
        arguments = arguments[:1]  # the pattern is for texts
    if name in OF_DAYS:
        arguments = [_uncast(argument) for argument in arguments]
    return Call(name, tuple(arguments))


def _uncast(operand: Operand) -> Operand:
    """A timestamp without the cast to its day: the function takes the day itself."""
    match operand:
        case Cast(operand=inner, type=Type(kind=Kind.DATE)) if _is_moment(inner):
            return inner
        case _:
            return operand


def _is_moment(operand: Operand) -> bool:
    of = operand.type if isinstance(operand, Column | Cast | Literal) else None
    return of is not None and (of.kind is Kind.DATE or of.kind.is_timestamp)


_CONDITIONS: Mapping[str, Callable[[CatalystNode, list[Node]], HudiExpression]] = {
    "And": _connected(And),
    "Or": _connected(Or),
    "Not": _not,
    "IsNull": lambda _, children: IsNull(_operand(children[0])),
    "IsNotNull": lambda _, children: Not(IsNull(_operand(children[0]))),
    "In": _in,
    "InSet": _in_set,
    "Like": _like,
    "LikeAny": _like_several(True, False),
    "LikeAll": _like_several(False, False),
    "NotLikeAny": _like_several(True, True),
    "NotLikeAll": _like_several(False, True),
    "StartsWith": _affix("", "%"),
    "EndsWith": _affix("%", ""),
    "Contains": _affix("%", "%"),
    "RLike": _rlike,
}
