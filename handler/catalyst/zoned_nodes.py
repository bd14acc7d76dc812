"""The time zone of a node: that in which it was analysed, which may be another one than the session's by now.

A view keeps the zone in which it was made, and a frame that of its time. Facts: docs/facts/spark.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.language.expression import Cast, Column, Literal, Node
from evaluator.language.types import Kind
from handler.catalyst.literals import type_of
from handler.catalyst.node_forms import operand_form
from handler.catalyst.time_zones import zone_of_java
from handler.catalyst.tree import CatalystNode

__all__ = ["is_of_another_zone"]

#: Casts between these are the same in every time zone.
_WITHOUT_ZONE = frozenset(
    [
        *(kind for kind in Kind if kind.is_integer),
        *(Kind.VOID, Kind.BOOLEAN, Kind.FLOAT, Kind.DOUBLE, Kind.DECIMAL, Kind.STRING, Kind.BINARY),
    ]
)


def is_of_another_zone(node: CatalystNode, children: Sequence[Node], zone: str) -> bool:
    """Whether the value of a node depends on a time zone, and on another one than ``zone``.

    ``children``: the node's, translated. ``zone``: as ``zone_of_java`` gives it.
    """
    own = node.fields.get("timeZoneId")
    if not isinstance(own, str) or own == zone or zone_of_java(own) == zone:
        return False
    return not (node.name == "Cast" and len(children) == 1 and _is_cast_without_zone(node, children[0]))


def _is_cast_without_zone(node: CatalystNode, child: Node) -> bool:
    operand = operand_form(child)
    source = operand.type if isinstance(operand, Column | Cast | Literal) else None
    target = type_of(node.fields["dataType"])
    return source is not None and source.kind in _WITHOUT_ZONE and target.kind in _WITHOUT_ZONE
