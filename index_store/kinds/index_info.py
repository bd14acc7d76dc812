"""The indexes of a table: partitions of its metadata table, their definitions in ``index.json``, and which are read.

    hoodie.table.metadata.partitions             complete partitions, which may be read
    hoodie.table.metadata.partitions.inflight    partitions that are being built, which are not read

``partition_stats`` is never read. A writer unites the ``column_stats`` records of a partition's files. A file that was
written while the column was not listed has no record, so its values are missing from bounds that claim to be tight.
The table does not show whether there was such a writer: ``index.json`` has the columns of the last writer only,
commits do not name indexed columns, and a record with as many rows as that of the record key may belong to a file that
was replaced. The only proof is a record of the column for every file of the partition, and a reader of those records
needs no union of them. Source: ``HoodieIndexDefinition``,
docs/facts/hudi-column-stats.md#partition-statistics; the proofs are in
tests/index_store/kinds/test_partition_stats.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from evaluator.language.records import frozen
from evaluator.language.types import Type
from index_store.formats.bounded.json_text import parse_json
from index_store.kinds.expression_functions import why_not_used
from index_store.storage.errors import FormatError, TableError
from index_store.table.properties import names
from index_store.table.reads import DEFINITIONS
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

BEING_BUILT = "it is being built"
NO_DEFINITION = "index.json does not define it"
NO_SUM = (
    "its bounds leave out files that were written while the column was not listed, and nothing tells whether "
    "there are any"
)


@frozen(kw_only=True)
class IndexInfo:
    """One index. ``state`` is "available" or "inflight"; ``columns`` are its source columns if they are known.

    ``read``: whether filters use it; if not, ``why_not`` has the reason.
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
    definitions = _definitions(table, properties.get("hoodie.table.index.defs.path") or DEFINITIONS)
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
    """The reason why no filter uses a complete partition; "" if filters use it."""
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


def _definitions(table: Table, path: str) -> Mapping[str, Mapping[str, Any]]:
    path = table.storage.relative(path)
    data = table.documents.read(path)
    if data is None:
        return {}
    try:
        found = parse_json(data, "index.json").get("indexDefinitions") or {}
        return {name: body for name, body in found.items() if _has_form(body)}
    except (FormatError, AttributeError) as error:
        raise TableError(table.storage.absolute(path), f"the index definitions are not JSON: {error}") from error


def _has_form(body: Any) -> bool:
    return (
        isinstance(body, Mapping)
        and isinstance(body.get("indexOptions") or {}, Mapping)
        and isinstance(body.get("sourceFields") or [], list)
    )
