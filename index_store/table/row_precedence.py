"""When a later version of a row hides an earlier one from every reader of a table, whatever engine and version it is.

    table                                          a record in a log file hides the base row of its key
    ---------------------------------------------  ---------------------------------------------------------------
    event time, or version 6 by its payloads       when its ordering value is not smaller
    commit time                                    always
    anything else                                  refused: custom merges, partial updates, several ordering fields

Readers of Hudi do not agree on everything: some let a record in a log file win over the base file whatever its ordering
value is, some merge log files first. What stands above holds for all of them, so it says which rows are hidden, and not
which row is shown. A log file counts only when it is certain that its blocks are committed:

    version 8, 9   a log file is written once, by the instant in its name, which has to have a completion time
    version 6      a log file is appended to: every block has to be of an instant that the timeline lists as completed

Source: ``HoodieRecordMerger``, ``HoodieMergedLogRecordScanner``, ``DefaultHoodieRecordPayload``.
Facts: docs/facts/hudi-merging.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluator.language.errors import UnsupportedError
from evaluator.language.records import frozen
from index_store.table.file_slices import parse_log_name
from index_store.table.merge_rule import (
    COMMIT_TIME_STRATEGY,
    EVENT_TIME_STRATEGY,
    PAYLOAD_PACKAGE,
    merges_whole_records,
)
from index_store.table.properties import names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_store.table.table import Table
    from index_store.table.timeline import Timeline

__all__ = ["RowPrecedence", "row_precedence", "why_not_committed"]

_LATEST, _DEFAULT = f"{PAYLOAD_PACKAGE}.OverwriteWithLatestAvroPayload", f"{PAYLOAD_PACKAGE}.DefaultHoodieRecordPayload"
_EVENT_PAYLOADS = frozenset({"", _LATEST, _DEFAULT})
#: From version 9 on the payload of the writers is no rule of merging any more; the merge mode is.
_LEGACY_PAYLOADS = _EVENT_PAYLOADS | {f"{PAYLOAD_PACKAGE}.EventTimeAvroPayload"}
_COMMIT_PAYLOADS = frozenset({"", _LATEST})


@frozen
class RowPrecedence:
    """How versions of a row are compared. It is small, and pickled to executors.

    ordering    the ordering field; "" if the table has none
    by_commit   a record in a log file hides the base row whatever its ordering value is
    completed   of table version 6: the instants whose blocks are known to be committed; None: each log file is of the
                one instant in its name
    """

    ordering: str
    by_commit: bool
    completed: frozenset[str] | None = None


def row_precedence(table: Table) -> RowPrecedence:
    """The rule of a table. Raises UnsupportedError for a table of which it is not known."""
    properties = table.properties
    why = _why_not(table)
    if why:
        raise UnsupportedError(why)
    fields = names(properties.get("hoodie.table.ordering.fields") or properties.get("hoodie.table.precombine.field"))
    if len(fields) > 1:
        raise UnsupportedError(f"rows with several ordering fields ({', '.join(fields)})")
    ordering = fields[0] if fields else ""
    mode = properties.get("hoodie.record.merge.mode", "").upper()
    payloads = {
        properties.get("hoodie.compaction.payload.class", ""),
        properties.get("hoodie.table.legacy.payload.class", ""),
    }
    if table.version >= 8 and mode == "COMMIT_TIME_ORDERING" and payloads <= _COMMIT_PAYLOADS:
        return RowPrecedence(ordering, by_commit=True)
    by_event = mode == "EVENT_TIME_ORDERING" if table.version >= 8 else not mode
    known = _LEGACY_PAYLOADS if table.version >= 9 else _EVENT_PAYLOADS
    if not by_event or not payloads <= known or not ordering or "." in ordering:
        texts = ", ".join(filter(None, [mode, *sorted(payloads)])) or "nothing said of merging"
        raise UnsupportedError(
            f"rows merged by the rule of this table (version {table.version}, {texts}, "
            f"{f'ordering field {ordering}' if ordering else 'no ordering field'})"
        )
    completed = frozenset(one.requested for one in table.timeline.writes) if table.version < 8 else None
    return RowPrecedence(ordering, by_commit=False, completed=completed)


def _why_not(table: Table) -> str:
    properties = table.properties
    strategy = (
        properties.get("hoodie.record.merge.strategy.id")
        or properties.get("hoodie.compaction.record.merger.strategy", "")
    ).lower()
    by_commit = properties.get("hoodie.record.merge.mode", "").upper() == "COMMIT_TIME_ORDERING"
    if table.disputed:
        return "rows on whose commits Hudi's readers do not agree"
    if properties.get("hoodie.table.base.file.format", "PARQUET").upper() != "PARQUET":
        return f"base files of format {properties['hoodie.table.base.file.format']}"
    if properties.get("hoodie.populate.meta.fields", "true").lower() == "false":
        return "rows without Hudi's own columns"
    if not merges_whole_records(properties):
        return "rows that are merged column by column, or by a payload or merger of the user's own"
    if strategy not in ("", COMMIT_TIME_STRATEGY if by_commit else EVENT_TIME_STRATEGY):
        return f"rows merged by the strategy {strategy}"
    if table.schema.resolve("_hoodie_operation", case_sensitive=True) is not None:
        return "files that keep changes as rows (_hoodie_operation)"
    return ""


def why_not_committed(log_files: Sequence[str], timeline: Timeline, version: int) -> str:
    """Why it is not certain that these log files of a slice (paths) are committed and on top of its base; "" if it is.

    Blocks of table version 6 are checked when they are read.
    """
    for path in log_files if version >= 8 else ():
        name = parse_log_name(path.rpartition("/")[2])
        if name is None or timeline.completion(name.instant) is None:
            return f"nothing tells when {path.rpartition('/')[2]} was completed"
    return ""
