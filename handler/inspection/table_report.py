"""The state of a table, for ``sargo inspect``: version, instants, slices, indexes, coverage and distrust."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, replace

from evaluator.language.errors import SargoError
from evaluator.language.records import frozen
from evaluator.statistics.distrust import Trust, reason
from handler.planning.plan import coverage_as_dict
from index_store import Coverage, IndexInfo, Table
from index_store.kinds.base import faults_of
from index_store.kinds.index_info import EXPRESSION_PREFIX, SECONDARY_PREFIX
from index_store.opened_table import OpenTable, TableAtInstant
from index_store.table.listing import FROM_METADATA

__all__ = ["Distrust", "SlicesReport", "TableReport", "TimelineReport", "report_table"]


@frozen
class Distrust:
    """Statistics of one column that are missing or not used, the reason, and the number of slices."""

    kind: str
    column: str
    reason: str
    slices: int


@frozen
class TimelineReport:
    """The instants of a table: how many are completed and pending, the first and the last completed one."""

    completed: int
    pending: int
    first: str | None
    last: str | None


@frozen
class SlicesReport:
    """The file slices of a table at an instant.

    source         what they were listed from; ``note``: why not from the metadata table, or ""
    by_partition   the number of slices of each partition
    """

    count: int
    log_files: int
    source: str
    note: str
    by_partition: Mapping[str, int]


@frozen(kw_only=True)
class TableReport:
    """A table at an instant. ``failures``: the indexes that cannot be read, and why."""

    path: str
    name: str
    version: int
    table_type: str
    instant: str | None
    timeline: TimelineReport
    record_key: tuple[str, ...]
    partition_fields: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    slices: SlicesReport
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
                "completed": self.timeline.completed,
                "pending": self.timeline.pending,
                "first": self.timeline.first,
                "last": self.timeline.last,
            },
            "record_key": list(self.record_key),
            "partition_fields": list(self.partition_fields),
            "columns": [{"name": name, "type": column_type} for name, column_type in self.columns],
            "slices": {
                "count": self.slices.count,
                "log_files": self.slices.log_files,
                "listed_from": self.slices.source,
                "note": self.slices.note,
                "by_partition": dict(self.slices.by_partition),
            },
            "indexes": [asdict(index) for index in self.indexes],
            "coverage": [coverage_as_dict(covered) for covered in self.coverage],
            "untrusted": [asdict(item) for item in self.distrust],
            "failures": list(self.failures),
        }


#: The index kind that reads a partition of the metadata table, by the prefix of the partition's name.
_READ_BY = {
    "column_stats": "column_stats",
    "record_index": "record_index",
    "bloom_filters": "bloom_filters",
    SECONDARY_PREFIX: "secondary_index",
    EXPRESSION_PREFIX: "expression_index",
}


def _as_used(info: IndexInfo, at: TableAtInstant, table: Table) -> IndexInfo:
    """An index as it is used at the instant: with the reason why not, if it could be read and is not used."""
    kind = next((kind for start, kind in _READ_BY.items() if info.name.startswith(start)), None)
    answering = {known.kind.name for known in at.cached}
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
    """Report on a table. Raises TableError when it cannot be read; ``failures`` names an index that cannot be read."""
    table = opened.table
    at = opened.at(as_of)
    failures = [] if at.failure is None else [str(at.failure)]
    coverage: list[Coverage] = []
    for known in at.cached:
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
        path=opened.path,
        name=table.name,
        version=table.version,
        table_type=table.table_type,
        instant=at.slices.instant,
        timeline=TimelineReport(
            len(completed), len(table.timeline.pending), min(completed, default=None), max(completed, default=None)
        ),
        record_key=tuple(table.record_key_fields),
        partition_fields=tuple(table.partition_fields),
        columns=tuple((field.name, str(field.type)) for field in table.schema),
        slices=SlicesReport(
            len(at.slices),
            sum(len(item.log_files) for item in at.slices),
            at.slices.source,
            at.slices.note,
            dict(Counter(item.partition for item in at.slices)),
        ),
        indexes=indexes,
        coverage=tuple(coverage),
        distrust=tuple(distrust),
        failures=tuple(failures),
    )
