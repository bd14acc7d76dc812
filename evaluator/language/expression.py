"""HudiExpression: a filter as a tree of AND / OR / NOT and leaves (Hudi's RFC-27), shared by all packages.

Two families of nodes, all frozen:

* **HudiExpression** has a truth value (TRUE, FALSE or NULL) on every row: ``And``, ``Or``, ``Not``, ``Compare``,
  ``In``, ``InKeys``, ``IsNull``, ``Like``, ``Constant``, ``Unknown``.
* **Operand** has a value on every row: ``Column``, ``Literal``, ``Cast``, ``Call``, ``If``, ``Opaque``.

    fare > 50 AND city = 'sf'

    And((
        Compare(">", Column(("fare",)), Literal(50, BIGINT)),
        Compare("=", Column(("city",)), Literal("sf", STRING)),
    ))

A front end (Hive bytes, SQL text, Spark) builds this tree and states only what the filter says. A part that the front
end does not understand becomes ``Unknown(reason)`` or ``Opaque(reason)`` *at that node*. Unknown is a value (C1), and
the other parts still prune. Type conversion, name resolution and engine differences belong to ``binding.bind``.

Trees may be 10,000 nodes deep: walk them with ``walk`` or ``fold``, which keep their own stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from evaluator.language.literal_text import key_value, keys_text, literal_text, moment_text, quoted
from evaluator.language.records import frozen
from evaluator.language.types import Kind, Type

__all__ = [
    "And",
    "Call",
    "Cast",
    "Column",
    "Compare",
    "Constant",
    "HudiExpression",
    "If",
    "In",
    "InKeys",
    "IsNull",
    "Like",
    "Literal",
    "Node",
    "Not",
    "Opaque",
    "Operand",
    "Or",
    "Unknown",
    "children_of",
    "column_names",
    "fold",
    "key_value",
    "to_dict",
    "to_text",
    "walk",
]

if TYPE_CHECKING:
    from evaluator.language.key_set import KeySet

R = TypeVar("R")


class Node:
    """Any node of the tree."""

    __slots__ = ()

    def __str__(self) -> str:
        return to_text(self)


class HudiExpression(Node):
    """A node with a truth value on every row."""

    __slots__ = ()


class Operand(Node):
    """A node with a value (or NULL) on every row."""

    __slots__ = ()


@frozen
class Column(Operand):
    """A column, or a field of a struct column: ``path`` is ``("st", "x")`` for ``st.x``, as written in the filter.

    ``type`` is the type that the filter declares; Hive's filters do, SQL text does not.
    """

    path: tuple[str, ...]
    type: Type | None = None

    @property
    def name(self) -> str:
        return ".".join(self.path)


@frozen
class Literal(Operand):
    """A constant in the value form of ``evaluator.language.types``; ``None`` is NULL."""

    value: object
    type: Type


@frozen
class Cast(Operand):
    """``CAST(operand AS type)``, written in the filter or put there by the engine's optimiser."""

    operand: Operand
    type: Type


@frozen
class Call(Operand):
    """A function or operator over operands, by its lower-case SQL name: ``+``, ``negative``, ``lower``, ``date_add``.

    A conditional without its condition holds its possible results only, as ``Call("branches", ...)``.
    """

    function: str
    arguments: tuple[Operand, ...]
    type: Type | None = None


@frozen
class If(Operand):
    """``then`` on rows where the condition is TRUE, else ``otherwise``. A CASE is an If whose ``otherwise`` is one."""

    condition: HudiExpression
    then: Operand
    otherwise: Operand
    type: Type | None = None


@frozen
class Opaque(Operand):
    """A value of which nothing is known; ``reason`` says why, for people."""

    reason: str


@frozen
class And(HudiExpression):
    """TRUE when every child is; n-ary."""

    children: tuple[HudiExpression, ...]


@frozen
class Or(HudiExpression):
    """TRUE when any child is; n-ary."""

    children: tuple[HudiExpression, ...]


@frozen
class Not(HudiExpression):
    """Swaps TRUE and FALSE; NULL stays."""

    child: HudiExpression


@frozen
class Compare(HudiExpression):
    """``left op right`` with op one of ``= != < <= > >= <=>``.

    A bare boolean column is ``Compare("=", column, TRUE)``.
    """

    op: str
    left: Operand
    right: Operand


@frozen
class In(HudiExpression):
    """``operand IN (members)``. NULL members stay in the list: they decide between FALSE and NULL."""

    operand: Operand
    members: tuple[Operand, ...]


@frozen
class InKeys(HudiExpression):
    """``operand IN (keys)`` for keys of the operand's own type, too many for a literal each."""

    operand: Operand
    keys: KeySet


@frozen
class IsNull(HudiExpression):
    """``operand IS NULL``: never NULL itself."""

    operand: Operand


@frozen
class Like(HudiExpression):
    """``operand LIKE pattern`` with ``%``, ``_`` and the escape character (backslash in Hive and Spark)."""

    operand: Operand
    pattern: str
    escape: str = "\\"


@frozen
class Constant(HudiExpression):
    """TRUE, FALSE or NULL on every row."""

    value: bool | None


@frozen
class Unknown(HudiExpression):
    """A condition that was not understood: TRUE, FALSE or NULL on any row. ``reason`` says why, for people."""

    reason: str


#: The direct children of the nodes that have some, by class: most nodes are columns and literals.
_CHILDREN: Mapping[type[Node], Callable[[Any], tuple[Node, ...]]] = {
    And: attrgetter("children"),
    Or: attrgetter("children"),
    Not: lambda node: (node.child,),
    Compare: attrgetter("left", "right"),
    In: lambda node: (node.operand, *node.members),
    InKeys: lambda node: (node.operand,),
    IsNull: lambda node: (node.operand,),
    Like: lambda node: (node.operand,),
    Cast: lambda node: (node.operand,),
    Call: attrgetter("arguments"),
    If: attrgetter("condition", "then", "otherwise"),
}


def children_of(node: Node) -> tuple[Node, ...]:
    """The direct children of a node, operands included, in the order in which they are written."""
    children = _CHILDREN.get(type(node))
    return () if children is None else children(node)


def walk(node: Node) -> Iterator[Node]:
    """Every node of the tree, parents first, left to right, without recursion."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(children_of(current)))


def walk_distinct(node: Node, children: Callable[[Node], tuple[Node, ...]] = children_of) -> Iterator[Node]:
    """As ``walk``, but a node that stands in several places comes once: what it costs does not grow with the text."""
    stack: list[Node] = [node]
    seen: set[int] = set()
    while stack:
        current = stack.pop()
        if id(current) not in seen:
            seen.add(id(current))
            yield current
            below = children(current)
            if below:
                stack.extend(reversed(below))


def fold(
    node: Node, combine: Callable[[Node, list[R]], R], children: Callable[[Node], tuple[Node, ...]] = children_of
) -> R:
    """Compute a value bottom-up: ``combine(node, values of its children)``, without recursion."""
    stack: list[tuple[Node, list[R], Iterator[Node]]] = [(node, [], iter(children(node)))]
    while True:
        current, values, pending = stack[-1]
        child = next(pending, None)
        if child is not None:
            stack.append((child, [], iter(children(child))))
            continue
        result = combine(current, values)
        stack.pop()
        if not stack:
            return result
        stack[-1][1].append(result)


def column_names(node: Node) -> tuple[str, ...]:
    """The columns of the tree by dotted name, each once, in order of appearance."""
    return tuple(dict.fromkeys(n.name for n in walk(node) if isinstance(n, Column)))


_JOINERS = {And: " AND ", Or: " OR "}
_OPERATORS = frozenset(["+", "-", "*", "/", "%", "&", "|", "^"])


def to_text(node: Node) -> str:
    """The tree as one line of SQL-like text, for people and logs; an unknown part is ``?(reason)``."""
    return fold(node, _text)


def _text(node: Node, parts: list[str]) -> str:
    match node:
        case And() | Or():
            return "(" + _JOINERS[type(node)].join(parts) + ")"
        case Not():
            return f"NOT {parts[0]}"
        case Compare(op=op):
            return f"{parts[0]} {op} {parts[1]}"
        case In():
            shown = parts[1:] if len(parts) <= 9 else [*parts[1:9], f"... {len(parts) - 9} more"]
            return f"{parts[0]} IN ({', '.join(shown)})"
        case InKeys(keys=keys):
            return f"{parts[0]} IN ({keys_text(keys)})"
        case IsNull():
            return f"{parts[0]} IS NULL"
        case Like(pattern=pattern):
            return f"{parts[0]} LIKE {quoted(pattern)}"
        case Constant(value=value):
            return "NULL" if value is None else str(value).upper()
        case Unknown(reason=reason) | Opaque(reason=reason):
            return f"?({reason})"
        case Column():
            return node.name
        case Literal(value=value, type=literal_type):
            return literal_text(value, literal_type)
        case Cast(type=target):
            return f"CAST({parts[0]} AS {target})"
        case If(condition, Literal(value=True), If(Not(child=child), Literal(value=False), Literal(value=None))) if (
            child is condition
        ):  # a condition as a value
            return parts[0] if isinstance(condition, And | Or) else f"({parts[0]})"
        case If():
            return f"if({', '.join(parts)})"
        case Call(function=name):
            if name in _OPERATORS and len(parts) == 2:
                return f"({parts[0]} {name} {parts[1]})"
            return f"{name}({', '.join(parts)})"
        case _:
            raise TypeError(f"not a node: {node!r}")


def to_dict(node: Node) -> dict[str, object]:
    """The tree as plain dicts and lists, ready for JSON: ``{"node": "Compare", "op": "=", "children": [...]}``."""
    return fold(node, _as_dict)


def _as_dict(node: Node, children: list[dict[str, object]]) -> dict[str, object]:
    fields: dict[str, object] = {"node": type(node).__name__}
    match node:
        case Compare(op=op):
            fields["op"] = op
        case Like(pattern=pattern, escape=escape):
            fields |= {"pattern": pattern, "escape": escape}
        case InKeys(keys=keys):
            fields |= {"keys": len(keys), "type": str(keys.type)}
        case Constant(value=constant):
            fields["value"] = constant
        case Unknown(reason=reason) | Opaque(reason=reason):
            fields["reason"] = reason
        case Column(type=kind):
            fields |= {"column": node.name, "type": None if kind is None else str(kind)}
        case Literal(value=value, type=literal_type):
            plain = value if value is None or isinstance(value, bool | int | str) else str(value)
            if value is not None and (literal_type.kind is Kind.DATE or literal_type.kind.is_timestamp):
                plain = moment_text(value, literal_type)
            fields |= {"value": plain, "type": str(literal_type)}
        case Cast(type=target):
            fields["type"] = str(target)
        case Call(function=name):
            fields["function"] = name
        case _:
            pass
    if children:
        fields["children"] = children
    return fields
