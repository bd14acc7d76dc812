"""Filter documents as Sargo's Spark extension writes them, made of Catalyst's nodes."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["attribute", "conditions", "document", "leaf", "literal", "node"]

_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
Nodes = list[dict[str, Any]]
#: A condition: its nodes, and what they leave out by index.
Condition = tuple[Sequence[Mapping[str, Any]], Mapping[int, Any]]


def document(*parts: Condition, version: Any = 1) -> bytes:
    """The document of conditions; values of Python become those of JSON."""
    return json.dumps({"version": version, "conditions": conditions(*parts)}).encode()


def conditions(*parts: Condition) -> list[dict[str, Any]]:
    return [
        {"nodes": nodes, "exact": {str(index): _plain(nodes[index], value) for index, value in exact.items()}}
        for nodes, exact in parts
    ]


def _plain(node: Mapping[str, Any], value: Any) -> Any:
    """A value as it stands in JSON; recordings have the bytes of binary values as lists."""
    if isinstance(value, bytes | bytearray):
        return {"base64": base64.b64encode(value).decode()}
    if node.get("dataType") == "binary" and isinstance(value, list):
        return {"base64": base64.b64encode(bytes(value)).decode()}
    if isinstance(value, list | tuple):
        return [_plain({}, one) for one in value]
    return value


def leaf(class_name: str, /, **fields: Any) -> dict[str, Any]:
    return {"class": _EXPRESSIONS + class_name, "num-children": 0, **fields}


def node(class_name: str, /, *children: Nodes, **fields: Any) -> Nodes:
    head = {**leaf(class_name, **fields), "num-children": len(children)}
    return [head, *(item for child in children for item in child)]


def attribute(name: str, data_type: Any, number: int = 7) -> Nodes:
    """A column. ``number``: what the run calls it."""
    identity = {"product-class": _EXPRESSIONS + "ExprId", "id": number, "jvmId": "85a67625-786f-4c85-bc88-5ab879643aa2"}
    fields = {"nullable": True, "metadata": {}, "exprId": identity, "qualifier": "[t]"}
    return [leaf("AttributeReference", name=name, dataType=data_type, **fields)]


def literal(value: Any, data_type: Any) -> Nodes:
    return [leaf("Literal", value=None if value is None else str(value), dataType=data_type)]
