"""JSON of a table's files, within bounds: of its bytes, of its lists and objects, of its depth.

A list costs three bytes of JSON and 64 bytes of memory, so containers are counted before the text is parsed. Real
metadata has one container for 250 bytes or more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from index_store.storage.errors import FormatError

__all__ = ["MAX_COMMIT", "MAX_DOCUMENT", "MAX_SCHEMA", "check_depth", "parse_json", "parse_schema"]

#: Bytes of a document: a commit of a million files has about a gigabyte, other documents a few kilobytes.
MAX_COMMIT, MAX_DOCUMENT, MAX_SCHEMA = 1 << 30, 64 << 20, 16 << 20
#: So many containers, and one more for each CONTAINER_BYTES of the text.
MAX_CONTAINERS, CONTAINER_BYTES = 1_000_000, 16
#: Levels of a schema. Each nested record takes four.
MAX_DEPTH = 200
#: Lists, objects and names in a schema. A schema of 10,000 columns has about 60,000.
MAX_NODES = 1_000_000


def parse_json(text: bytes | str, what: str, limit: int = MAX_DOCUMENT) -> Any:
    """The values of a document; ``what`` names it in errors. Raises FormatError."""
    if len(text) > limit:
        raise FormatError(f"{what} has {len(text)} bytes, at most {limit} are read")
    found = _containers(text)
    if found > MAX_CONTAINERS + len(text) // CONTAINER_BYTES:
        raise FormatError(f"{what} has {found} lists and objects in {len(text)} bytes")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{what} is not JSON: {error}") from error


def _containers(text: bytes | str) -> int:
    if isinstance(text, str):
        return text.count("[") + text.count("{")
    return text.count(b"[") + text.count(b"{")


def parse_schema(text: bytes | str, what: str = "the Avro schema") -> Any:
    """A schema, whose depth is bounded. Raises FormatError."""
    schema = parse_json(text, what, MAX_SCHEMA)
    check_depth(schema, what)
    return schema


def check_depth(plain: Any, what: str) -> None:
    """Raise FormatError for values that recursion could not walk."""
    level = [plain]
    nodes = 0
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for one in level:
            if isinstance(one, Mapping):
                below.extend(one.values())
            elif isinstance(one, list):
                below.extend(one)
        if not below:
            return
        nodes += len(below)
        if nodes > MAX_NODES:
            raise FormatError(f"{what} has more than {MAX_NODES} parts")
        level = below
    raise FormatError(f"{what} has more than {MAX_DEPTH} levels")
