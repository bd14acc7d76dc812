"""Whether a list of a table's files has those that the timeline says are there (C10).

    the latest commit    what it wrote
    after a restore      what the savepoints keep, for a cleaner leaves it there: Hudi 1.2.0 restored a table that came
                         from 0.15.0, and its metadata table lacked five of nine files

Larger files of instants than MAX_CHECKED are not decoded for it: that would take longer than the rest of a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from index_store.table.timeline import Timeline

__all__ = ["MAX_CHECKED", "missing_saved", "missing_written"]

#: Bytes of an instant's file.
MAX_CHECKED = 1 << 20

Files = Mapping[str, Mapping[str, int]]


def missing_written(timeline: Timeline, files: Files, has_replaced: Callable[[tuple[str, str]], bool]) -> str:
    """What the latest commit wrote and ``files`` lacks: "does not list p=1/a, which ... wrote"; "" for nothing.

    ``files``: names by partition. ``has_replaced``: whether a file group (partition, file id) was replaced. Raises
    TableError.
    """
    last = timeline.last
    if last is None or last.size > MAX_CHECKED:
        return ""
    stats = timeline.details(last).get("partitionToWriteStats") or {}
    try:
        written = [
            (partition, str(stat.get("path") or "").rpartition("/")[2], str(stat.get("fileId")))
            for partition, some in stats.items()
            for stat in some
        ]
    except (AttributeError, TypeError):
        return f"cannot be checked: what {last.requested} wrote cannot be understood"
    for partition, name, file_id in written:
        if name and name not in files.get(partition, ()) and not has_replaced((partition, file_id)):
            return f"does not list {partition}/{name}, which {last.requested} wrote"
    return ""


def missing_saved(timeline: Timeline, files: Callable[[], Files]) -> str:
    """The same for what savepoints keep, of a table that was restored; of others nothing is read."""
    savepoints = [one for one in timeline.instants if one.action == "savepoint" and one.size <= MAX_CHECKED]
    if not savepoints or not any(one.action == "restore" for one in timeline.instants):
        return ""
    listed = files()
    for savepoint in savepoints:
        for partition, name in _saved(timeline.details(savepoint)):
            if name not in listed.get(partition, ()):
                return f"does not list {partition}/{name}, which the savepoint {savepoint.requested} keeps"
    return ""


def _saved(details: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for partition, saved in (details.get("partitionMetadata") or {}).items():
        for name in saved.get("savepointDataFile") or ():
            yield partition, name
