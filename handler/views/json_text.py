"""JSON text of any depth, because a filter may have 10,000 levels and the standard encoder recurses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

__all__ = ["json_text"]

#: Deeper levels are written on one line, because their indentation would be most of the text.
INDENTED = 24


def json_text(document: object) -> str:
    """A document of dicts, lists and plain values as JSON; anything else is written as its ``str``."""
    return "".join(_pieces(document))


def _pieces(document: object) -> Iterator[str]:
    stack: list[tuple[bool, object, int]] = [(False, document, 0)]
    while stack:
        is_text, item, depth = stack.pop()
        if is_text:
            yield str(item)
        elif isinstance(item, Mapping) and item:
            yield "{"
            labels = (f"{json.dumps(str(key), ensure_ascii=False)}: " for key in item)
            _push(stack, list(zip(labels, item.values(), strict=True)), depth, "}")
        elif isinstance(item, list | tuple) and item:
            yield "["
            _push(stack, [("", value) for value in item], depth, "]")
        elif isinstance(item, Mapping | list | tuple):
            yield "{}" if isinstance(item, Mapping) else "[]"
        else:
            yield json.dumps(item, ensure_ascii=False, default=str)


def _push(stack: list[tuple[bool, object, int]], entries: list[tuple[str, object]], depth: int, closing: str) -> None:
    """Put the entries of a dict or list on the stack, the last one first."""
    inner = "\n" + "  " * (depth + 1) if depth < INDENTED else " "
    outer = "\n" + "  " * depth if depth < INDENTED else " "
    stack.append((True, outer + closing, depth))
    for position in range(len(entries) - 1, -1, -1):
        label, value = entries[position]
        stack.append((False, value, depth + 1))
        stack.append((True, ("," if position else "") + inner + label, depth))
