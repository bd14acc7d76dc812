"""Which indexes a table has: the metadata table's partitions, what ``index.json`` says of them, and which are read.

``hoodie.table.metadata.partitions`` says what is complete, ``...partitions.inflight`` what is being built; only a
complete one is read.

``partition_stats`` is never read. A writer sums up the ``column_stats`` records of a partition's files; a file that was
written while the column was not listed has none, and what it holds is missing from bounds that claim to be tight.
Nothing in the table tells whether there was such a writer: ``index.json`` names the columns of the last one only,
commits do not say what was indexed, and a record that counts as many rows as that of the record key may be an old one
of a file that was replaced. The one proof is that every file of the partition has its own record of the column; but who
has read those needs no sum of them. Source: ``HoodieIndexDefinition``,
docs/facts/hudi-column-stats.md#partition-statistics; the proofs are in
tests/index_store/kinds/test_partition_stats.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluator.language.types import Type
from index_store.kinds.expression_functions import why_not_used
from index_store.storage.errors import TableError
from index_store.storage.storage import Storage
from index_store.table.properties import HOODIE, names
from index_store.table.table import Table

__all__ = [
    "EXPRESSION_PREFIX",
    "READ_BY_SARGO",
    "SECONDARY_PREFIX",
    "SECONDARY_VERSIONS",
    "IndexInfo",
    "read_index_info",
]

#: The partitions of one name that this version of Sargo uses.
READ_BY_SARGO = frozenset({"files", "column_stats", "record_index", "bloom_filters"})
EXPRESSION_PREFIX, SECONDARY_PREFIX = "expr_index_", "secondary_index_"
#: The least table version whose expression indexes were held against the rows.
_EXPRESSIONS_SINCE = 8
#: Versions of secondary indexes, by their name in index.json; without one it is the first.
SECONDARY_VERSIONS: Mapping[str, int] = {"": 1, "V1": 1, "V2": 2}
DEFINITIONS = f"{HOODIE}/.index_defs/index.json"

BEING_BUILT = "it is being built"
NO_DEFINITION = "index.json does not define it"
NO_SUM = (
    "its bounds leave out files that were written while the column was not listed, and nothing tells whether "
    "there are any"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexInfo:
    """One index. ``state`` is "available" or "inflight"; ``columns`` are its source columns if they are known.

    ``read``: filters that need it read it; if not, ``why_not`` says why.
    """

    name: str
    state: str
    columns: tuple[str, ...]
    read: bool
    type: str = ""
    function: str = ""
    version: str = ""
    why_not: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


def read_index_info(table: Table) -> list[IndexInfo]:
    """The indexes that ``hoodie.properties`` names, in its order; building ones last. Raises TableError."""

    def type_of(column: str) -> Type | None:
        field = table.schema.resolve(column, case_sensitive=True)
        return None if field is None else field.type

    properties = table.properties
    definitions = _definitions(table.storage, properties.get("hoodie.table.index.defs.path") or DEFINITIONS)
    building = names(properties.get("hoodie.table.metadata.partitions.inflight"))
    listed = [name for name in names(properties.get("hoodie.table.metadata.partitions")) if name not in building]
    version = int(properties.get("hoodie.table.version", "0"))
    found = []
    for name in (*listed, *building):
        definition = definitions.get(name, {})
        why_not = BEING_BUILT if name in building else _why_not_read(name, definition, version, type_of)
        options = definition.get("indexOptions") or {}
        found.append(
            IndexInfo(
                name=name,
                state="inflight" if name in building else "available",
                columns=tuple(map(str, definition.get("sourceFields") or ())),
                read=not why_not,
                type=str(definition.get("indexType") or ""),
                function=str(definition.get("indexFunction") or ""),
                version=str(definition.get("version") or ""),
                why_not=why_not,
                options={str(key): str(value) for key, value in options.items()},
            )
        )
    return found


def _why_not_read(name: str, definition: Mapping[str, Any], version: int, type_of: Callable[[str], Type | None]) -> str:
    """Why no filter reads a complete partition; "" if filters that need it do."""
    if name in READ_BY_SARGO:
        return ""
    if name == "partition_stats":
        return NO_SUM
    if not name.startswith((EXPRESSION_PREFIX, SECONDARY_PREFIX)):
        return "this version of Sargo does not know it"
    if not definition:
        return NO_DEFINITION
    if name.startswith(SECONDARY_PREFIX):
        return _why_secondary_index_is_not_used(definition)
    if version < _EXPRESSIONS_SINCE:
        return f"expression indexes of table version {version} are not known"
    return why_not_used(definition, type_of)


def _why_secondary_index_is_not_used(definition: Mapping[str, Any]) -> str:
    kind, function, version = (str(definition.get(key) or "") for key in ("indexType", "indexFunction", "version"))
    if kind != "secondary_index" or function not in ("", "identity"):
        return f"a secondary index of type {kind} and of {function or 'no function'} is not known"
    if version not in SECONDARY_VERSIONS:
        return f"version {version} of secondary indexes is not known"
    return "" if len(definition.get("sourceFields") or ()) == 1 else "it is not of one column"


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
