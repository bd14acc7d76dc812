"""JSON of a table's files, within bounds: of its bytes, of its lists and objects, of its values, of its depth.

A list costs three bytes of JSON and 64 bytes of memory, a text five bytes and 60, a new key up to 100. So containers,
commas and colons are counted before the text is parsed. Real metadata has one container for 250 bytes or more, and one
comma or colon for 14 bytes, a schema one for 7.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from index_store.storage.errors import FormatError

__all__ = [
    "MAX_COMMIT",
    "MAX_DOCUMENT",
    "MAX_ITEMS",
    "MAX_SCHEMA",
    "MOST_ITEMS",
    "check_depth",
    "parse_json",
    "parse_schema",
]

#: Bytes of a document: 700 for each file that a commit wrote (250 in Avro), other documents have a few kilobytes.
MAX_COMMIT, MAX_DOCUMENT, MAX_SCHEMA = 256 << 20, 64 << 20, 16 << 20
#: So many containers, and one more for each CONTAINER_BYTES of the text.
MAX_CONTAINERS, CONTAINER_BYTES = 1_000_000, 16
#: So many commas and colons, and one more for each ITEM_BYTES, but never more than MOST_ITEMS.
MAX_ITEMS, ITEM_BYTES, MOST_ITEMS = 1_000_000, 8, 24_000_000
#: Levels of a schema. Each nested record takes four.
MAX_DEPTH = 200
#: Lists, objects and names in a schema. A schema of 10,000 columns has about 60,000.
MAX_NODES = 1_000_000
#: So many schemas are kept, of at most so many bytes: that of a metadata table's records has 13 KB.
KEPT_SCHEMAS, KEPT_SCHEMA = 16, 64 << 10


def parse_json(text: bytes | str, what: str, limit: int = MAX_DOCUMENT) -> Any:
    """The values of a document; ``what`` names it in errors. Raises FormatError."""
    if len(text) > limit:
        raise FormatError(f"{what} has {len(text)} bytes, at most {limit} are read")
    found = _count(text, "[{")
    if found > MAX_CONTAINERS + len(text) // CONTAINER_BYTES:
        raise FormatError(f"{what} has {found} lists and objects in {len(text)} bytes")
    items = _count(text, ",:")
    if items > min(MAX_ITEMS + len(text) // ITEM_BYTES, MOST_ITEMS):
        raise FormatError(f"{what} has {items} commas and colons in {len(text)} bytes")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{what} is not JSON: {error}") from error


def _count(text: bytes | str, marks: str) -> int:
    if isinstance(text, str):
        return sum(text.count(mark) for mark in marks)
    return sum(text.count(mark.encode()) for mark in marks)


def parse_schema(text: bytes | str, what: str = "the Avro schema") -> Any:
    """A schema, whose depth is bounded, to be read only. Raises FormatError.

    Every file of a metadata table repeats the schema of its records: the latest are kept.
    """
    return _kept_schema(text, what) if len(text) <= KEPT_SCHEMA else _parsed_schema(text, what)


@functools.lru_cache(KEPT_SCHEMAS)
def _kept_schema(text: bytes | str, what: str) -> Any:
    return _parsed_schema(text, what)


def _parsed_schema(text: bytes | str, what: str) -> Any:
    schema = parse_json(text, what, MAX_SCHEMA)
    check_depth(schema, what)
    return schema


def check_depth(plain: Any, what: str) -> int:
    """How many values are below these. Raises FormatError for values that recursion could not walk."""
    level = [plain]
    nodes = 0
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for one in level:
            if isinstance(one, dict | Mapping):
                below.extend(one.values())
            elif isinstance(one, list):
                below.extend(one)
        if not below:
            return nodes
        nodes += len(below)
        if nodes > MAX_NODES:
            raise FormatError(f"{what} has more than {MAX_NODES} parts")
        level = below
    raise FormatError(f"{what} has more than {MAX_DEPTH} levels")
