"""Which indexes a table has: the metadata table's partitions, with what ``index.json`` says of them.

``hoodie.table.metadata.partitions`` says what is complete, ``...partitions.inflight`` what is being built; only a
complete one is read. Source: hudi.md 1.1, ``HoodieIndexDefinition``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from index_store.errors import TableError
from index_store.kinds.expression_functions import is_used
from index_store.properties import HOODIE, names
from index_store.storage import Storage

__all__ = ["READ_BY_SARGO", "IndexInfo", "read_index_info"]

#: The partitions that this version of Sargo uses. partition_stats leave out files without column_stats, and lose rows.
READ_BY_SARGO = frozenset({"files", "column_stats", "record_index", "bloom_filters"})
_READ_BY_PREFIX = ("secondary_index_",)
DEFINITIONS = f"{HOODIE}/.index_defs/index.json"


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """One index. ``state`` is "available" or "inflight"; ``columns`` are its source columns if they are known."""

    name: str
    state: str
    columns: tuple[str, ...]
    read: bool
    type: str = ""
    function: str = ""
    version: str = ""


def read_index_info(storage: Storage, properties: Mapping[str, str]) -> list[IndexInfo]:
    """The indexes that ``hoodie.properties`` names, in its order; building ones last. Raises TableError."""
    definitions = _definitions(storage, properties.get("hoodie.table.index.defs.path") or DEFINITIONS)
    building = names(properties.get("hoodie.table.metadata.partitions.inflight"))
    listed = [name for name in names(properties.get("hoodie.table.metadata.partitions")) if name not in building]
    found = []
    for name in (*listed, *building):
        definition = definitions.get(name, {})
        columns = definition.get("sourceFields") or ()
        state = "inflight" if name in building else "available"
        known = name in READ_BY_SARGO or name.startswith(_READ_BY_PREFIX) or (
            name.startswith("expr_index_") and is_used(definition) and properties.get("hoodie.table.version") == "9")
        found.append(IndexInfo(name, state, tuple(map(str, columns)), state == "available" and known,
                               str(definition.get("indexType") or ""), str(definition.get("indexFunction") or ""),
                               str(definition.get("version") or "")))
    return found


def _definitions(storage: Storage, path: str) -> Mapping[str, Mapping[str, Any]]:
    path = storage.relative(path)
    data = storage.read_if_there(path)
    if data is None:
        return {}
    try:
        found = json.loads(data).get("indexDefinitions") or {}
    except (ValueError, AttributeError) as error:
        raise TableError(storage.absolute(path), f"the index definitions are not JSON: {error}") from error
    return {name: body for name, body in found.items() if isinstance(body, Mapping)}
