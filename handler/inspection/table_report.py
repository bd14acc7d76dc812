"""What there is to know of a table before any filter: version, instants, slices, indexes, coverage, distrust."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from evaluator.language.errors import SargoError
from evaluator.statistics.distrust import Trust, reason
from handler.planning.plan import coverage_as_dict
from index_store import Coverage, IndexInfo, Table
from index_store.kinds.base import faults_of
from index_store.kinds.index_info import EXPRESSION_PREFIX, SECONDARY_PREFIX
from index_store.opened_table import OpenTable, TableAt
from index_store.table.listing import FROM_METADATA

__all__ = ["Distrust", "TableReport", "report_table"]


@dataclass(frozen=True, slots=True)
class Distrust:
    """Statistics of one column that are missing or not used: why, and in how many slices."""

    kind: str
    column: str
    reason: str
    slices: int


@dataclass(frozen=True, slots=True)
class TableReport:
    """A table at an instant. ``partitions`` counts slices; ``failures`` says which indexes cannot be read."""

    path: str
    name: str
    version: int
    table_type: str
    instant: str | None
    instants: int
    pending: int
    first_instant: str | None
    last_instant: str | None
    record_key: tuple[str, ...]
    partition_fields: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    slices: int
    log_files: int
    source: str
    note: str
    partitions: Mapping[str, int]
    indexes: tuple[IndexInfo, ...]
    coverage: tuple[Coverage, ...]
    distrust: tuple[Distrust, ...]
    failures: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON (docs/reference/json.md)."""
        return {
            "table": self.path,
            "name": self.name,
            "version": self.version,
            "type": self.table_type,
            "instant": self.instant,
            "timeline": {
                "completed": self.instants,
                "pending": self.pending,
                "first": self.first_instant,
                "last": self.last_instant,
            },
            "record_key": list(self.record_key),
            "partition_fields": list(self.partition_fields),
            "columns": [{"name": name, "type": of} for name, of in self.columns],
            "slices": {
                "count": self.slices,
                "log_files": self.log_files,
                "listed_from": self.source,
                "note": self.note,
                "by_partition": dict(self.partitions),
            },
            "indexes": [asdict(index) for index in self.indexes],
            "coverage": [coverage_as_dict(covered) for covered in self.coverage],
            "untrusted": [asdict(item) for item in self.distrust],
            "failures": list(self.failures),
        }


#: The index kind that reads a partition of the metadata table, by the start of its name.
_READ_BY = {
    "column_stats": "column_stats",
    "record_index": "record_index",
    "bloom_filters": "bloom_filters",
    SECONDARY_PREFIX: "secondary_index",
    EXPRESSION_PREFIX: "expression_index",
}


def _as_used(info: IndexInfo, at: TableAt, table: Table) -> IndexInfo:
    """An index that could be read, as not read where the table or the instant does not allow it."""
    kind = next((kind for start, kind in _READ_BY.items() if info.name.startswith(start)), None)
    answering = {known.kind.name for known in at.knowledge}
    if not info.read or kind in answering or (kind is None and at.slices.source == FROM_METADATA):
        return info
    if not table.metadata_is_current:
        why = "the metadata table does not describe the latest commit"
    elif at.failure is not None:
        why = f"the indexes cannot be read: {at.failure}"
    elif table.timeline.last is not None and at.slices.instant != table.timeline.last.requested:
        why = "it knows the table as it is, not as it was"
    else:
        why = "another index that it needs is not there"
    return replace(info, read=False, why_not=why)


def report_table(opened: OpenTable, as_of: str | None = None) -> TableReport:
    """Look at a table. Raises TableError when it cannot be read; an index that cannot be is named in ``failures``."""
    table = opened.table
    at = opened.at(as_of)
    failures = [] if at.failure is None else [str(at.failure)]
    coverage: list[Coverage] = []
    for known in at.knowledge:
        try:
            coverage.append(known.kind.coverage(table.schema.fields))
            failures += [f"{known.kind.name}: {fault}" for fault in faults_of(known.kind)]
        except SargoError as error:
            failures.append(f"{known.kind.name}: {error}")
    try:
        indexes = tuple(_as_used(info, at, table) for info in table.indexes())
    except SargoError as error:
        indexes = ()
        failures.append(str(error))
    complete = {
        name for covered in coverage for name, column in covered.columns.items() if column.usable == covered.slices
    }
    distrust = [
        Distrust(covered.kind, name, reason(trust), count)
        for covered in coverage
        for name, column in covered.columns.items()
        for trust, count in column.reasons.items()
        if trust and not (trust is Trust.NO_RECORD and name in complete)
    ]
    completed = [instant.requested for instant in table.timeline.instants]
    return TableReport(
        opened.path,
        table.name,
        table.version,
        table.table_type,
        at.slices.instant,
        len(completed),
        len(table.timeline.pending),
        min(completed, default=None),
        max(completed, default=None),
        tuple(table.record_key_fields),
        tuple(table.partition_fields),
        tuple((f.name, str(f.type)) for f in table.schema),
        len(at.slices),
        sum(len(item.log_files) for item in at.slices),
        at.slices.source,
        at.slices.note,
        dict(Counter(item.partition for item in at.slices)),
        indexes,
        tuple(coverage),
        tuple(distrust),
        tuple(failures),
    )
