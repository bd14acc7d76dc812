"""Older instants of a table: the instant that a date means, and whether all files of that time still exist (C4).

Cleaning removes the files of older slices, and a listing of the remaining files would silently give a smaller table.
Three entries of the timeline show that files are gone:

    clean, earliestCommitToRetain   later than the instant: its slices may be gone
    clean, the files it deleted     one of them belonged to a slice of the instant (some policies retain no commit)
    a later commit, prevCommit      the base file that it rewrote was the instant's, and is not there

Source: ``HoodieCleanMetadata``, ``HoodieWriteStat``.

Facts: docs/facts/hudi-timeline.md#older-instants.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from index_store.storage.errors import TableError
from index_store.table.file_slices import build_slices, parse_base_name
from index_store.table.timeline import Instant, Timeline, parse_as_of

__all__ = ["check_not_cleaned", "instant_at"]


def instant_at(timeline: Timeline, as_of: str) -> Instant:
    """The latest completed write that is not later than an instant or a date.

    Raises ValueError for a text that is neither, LookupError when no write is that old.
    """
    if not isinstance(as_of, str):
        raise TypeError(f"as_of is text such as '2026-11-01 00:00:00' or an instant, not {type(as_of).__name__}")
    wanted = parse_as_of(as_of)
    found = [write for write in timeline.writes if write.requested <= wanted]
    if not found:
        raise LookupError(f"no commit is as old as {as_of}")
    return found[-1]


def check_not_cleaned(
    instant: str,
    files: Mapping[str, Collection[str]],
    timeline: Timeline,
    version: int,
    replaced: Mapping[tuple[str, str], str],
    table: str,
) -> None:
    """Raise TableError when a file of an older instant's slices is gone.

    ``files`` are the names in each partition of the table, ``replaced`` the groups that were replaced, and when.
    """
    gone: dict[str, set[str]] = defaultdict(set)
    for clean in timeline.instants:
        if clean.action == "clean" and clean.requested > instant:
            details = timeline.details(clean)
            kept = details.get("earliestCommitToRetain") or ""
            if kept > instant:
                raise TableError(table, f"the files of {instant} are cleaned (kept from {kept} on)")
            for partition, one in (details.get("partitionMetadata") or {}).items():
                paths = {*(one.get("successDeleteFiles") or ()), *(one.get("deletePathPatterns") or ())}
                gone[partition] |= {path.rpartition("/")[2] for path in paths}.difference(files.get(partition, ()))
    then = {partition: {*names, *files.get(partition, ())} for partition, names in gone.items() if names}
    for one in build_slices(then, timeline, version, instant, replaced):
        for path in one.files:
            if path.rpartition("/")[2] in gone[one.partition]:
                raise TableError(table, f"the files of {instant} are cleaned ({path} is gone)")
    _check_rewritten(instant, files, timeline, table)


def _check_rewritten(instant: str, files: Mapping[str, Collection[str]], timeline: Timeline, table: str) -> None:
    bases = {
        (partition, base.file_id, base.instant)
        for partition, names in files.items()
        for name in names
        if (base := parse_base_name(name)) is not None
    }
    later = sorted(_rewritten(instant, timeline))
    for partition, file_id, previous in later:
        if previous <= instant and (partition, file_id, previous) not in bases:
            raise TableError(table, f"the files of {instant} are cleaned ({file_id} of {previous} is gone)")


def _rewritten(instant: str, timeline: Timeline) -> Iterator[tuple[str, str, str]]:
    """Partition, file id and instant of each base file that a later commit put a new one on."""
    for write in timeline.writes:
        if write.requested > instant:
            for partition, stats in (timeline.details(write).get("partitionToWriteStats") or {}).items():
                for one in stats or ():
                    base = parse_base_name((one.get("path") or "").rpartition("/")[2])
                    previous = one.get("prevCommit") or ""
                    if base is not None and previous.isdigit():
                        yield partition, base.file_id, previous
