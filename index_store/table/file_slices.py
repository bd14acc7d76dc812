"""File slices: the base file and the log files that hold one file group's rows as of an instant (C3, C4).

The slice of a file group is its latest committed base file and every committed log file on top of it:

    version 6      a log file's name carries the instant of its base: it is on top when that is not older
    version 8, 9   a log file's name carries its own request time: it is on top when it *completed* not before the base
                   was requested (a compaction planned later holds only what had completed by then)

A log file whose instant is archived, and in no history, counts on top of every base, so that no row is lost.

A pending compaction starts a new slice in Hudi; a reader merges it with the one before, and so do we: no log file is
lost. File groups replaced by a completed clustering or overwrite are gone. Hudi: ``HoodieFileGroup.addLogFile``,
``getLatestMergedFileSlicesBeforeOrOn``.

Facts: docs/facts/hudi-timeline.md#file-slices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy.typing as npt

from evaluator.language.records import frozen, record
from index_store.storage.errors import TableError
from index_store.table.timeline import Timeline

__all__ = [
    "BaseName",
    "FileSlice",
    "FileSlices",
    "LogName",
    "build_slices",
    "file_id_of",
    "instant_of",
    "parse_base_name",
    "parse_log_name",
]

_BASE = re.compile(r"([^._][^_]*)_(\d+-\d+-\d+)_(\d+)\.(parquet|orc|hfile|vortex|lance)")
_OTHER_DATA = re.compile(r"[^._][^_]*_\d+-\d+-\d+_\d+\.([a-z0-9]+)|.+_hudiext")
_EXTERNAL = "_hudiext"
_LOG = re.compile(r"\.(.+?)_(\d+)\.log\.(\d+)(?:_(\d+-\d+-\d+))?")


@frozen
class FileSlice:
    """The files of one file group at an instant. Paths are relative to the table.

    partition   path of the partition as it is stored; "" in a table without partitions
    file_id     id of the file group
    base_file   the base file; None where the slice has log files only
    log_files   the log files on top of it, which a reader merges
    """

    partition: str
    file_id: str
    base_file: str | None
    log_files: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """Every file of the slice."""
        return (self.base_file, *self.log_files) if self.base_file else self.log_files


@runtime_checkable
class ManySlices(Protocol):
    """A sequence of slices that makes each object when it is used."""

    def some(self, rows: npt.NDArray[Any]) -> list[FileSlice]:
        """Those of these rows, made all at once."""
        ...


@frozen(slots=False)
class FileSlices:
    """All file slices of a table at an instant. It has a length, an order and ``[i]``.

    instant   None if the table has no commit
    source    where the list of files came from
    items     the slices
    note      why the metadata table was not used although the table has one, and what else is in doubt; "" if nothing
    """

    instant: str | None
    source: str
    items: Sequence[FileSlice]
    note: str = ""

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[FileSlice]:
        return iter(self.items)

    def __getitem__(self, index: int) -> FileSlice:
        return self.items[index]

    @cached_property
    def partitions(self) -> tuple[str, ...]:
        """The paths of the slices' partitions, each once; of a large table, perhaps of partitions without a slice."""
        known: tuple[str, ...] | None = getattr(self.items, "partitions", None)
        return known if known is not None else tuple(dict.fromkeys(one.partition for one in self.items))

    def some(self, rows: npt.NDArray[Any]) -> list[FileSlice]:
        """The slices of these rows."""
        items = self.items
        if type(items) is not tuple and isinstance(
            items, ManySlices
        ):  # asking a protocol takes longer than a few slices
            return items.some(rows)
        return [items[row] for row in rows.tolist()]


@record
class BaseName:
    """``<file id>_<write token>_<instant>.<format>``."""

    file_id: str
    token: str
    instant: str
    format: str


@record
class LogName:
    """``.<file id>_<instant>.log.<version>_<write token>``."""

    file_id: str
    instant: str
    version: int
    token: str


def parse_base_name(name: str) -> BaseName | None:
    """The parts of a base file's name, or None for another kind of file."""
    match = _BASE.fullmatch(name)
    return BaseName(match[1], match[2], match[3], match[4]) if match else None


def parse_log_name(name: str) -> LogName | None:
    """The parts of a log file's name, or None for another kind of file (change data logs end in ``.cdc``)."""
    match = _LOG.fullmatch(name)
    return LogName(match[1], match[2], int(match[3]), match[4] or "") if match else None


def file_id_of(name: str) -> str | None:
    """The file id in the name of a base or a log file; None for another kind of file."""
    base = _BASE.fullmatch(name)
    if base is not None:
        return base[1]
    log = parse_log_name(name)
    return None if log is None else log.file_id


def instant_of(base_file: str) -> str:
    """The instant in the name or the path of a base file."""
    return base_file[base_file.rfind("_") + 1 :].partition(".")[0]


def build_slices(
    files: Mapping[str, Iterable[str]],
    timeline: Timeline,
    version: int,
    as_of: str,
    replaced: Mapping[tuple[str, str], str] | None = None,
    doubtful: Callable[[str, str], None] | None = None,
) -> tuple[FileSlice, ...]:
    """The slices as of an instant, by partition and file id.

    ``files`` are the names in each partition, ``timeline`` is the whole one; ``replaced`` maps (partition, file id) to
    the instant that replaced the group. ``doubtful`` is told partition and name of each log file that is counted in
    although nothing tells whether it is compacted: requested before the base file, archived, and not in the history.
    Raises TableError for a data file of a form that is not known.
    """
    gone = {group for group, instant in (replaced or {}).items() if instant <= as_of}
    counts: dict[str, bool] = {}  # most files have one of a few instants

    def is_counted(instant: str) -> bool:
        if instant not in counts:
            counts[instant] = instant <= as_of and timeline.is_committed(instant)
        return counts[instant]

    slices = []
    for partition in sorted(files):
        bases, logs = _grouped(partition, files[partition], is_counted)
        prefix = f"{partition}/" if partition else ""
        for file_id in sorted({*bases, *logs} if logs else bases):
            if gone and (partition, file_id) in gone:
                continue
            base = bases.get(file_id)
            log_files: tuple[str, ...] = ()
            if file_id in logs:
                base_instant = "" if base is None else instant_of(base)
                found, unsure = _on_top(logs[file_id], base_instant, timeline, version, as_of)
                if base is None and not found:
                    continue
                if doubtful is not None:
                    for name in unsure:
                        doubtful(partition, name)
                log_files = tuple([prefix + name for name in found])
            slices.append(FileSlice(partition, file_id, None if base is None else prefix + base, log_files))
    return tuple(slices)


def _grouped(
    partition: str, names: Iterable[str], is_counted: Callable[[str], bool]
) -> tuple[dict[str, str], dict[str, list[tuple[LogName, str]]]]:
    """By file id: the name of the latest base file that counts, and all log files."""
    bases: dict[str, str] = {}
    logs: dict[str, list[tuple[LogName, str]]] = {}
    is_base = _BASE.fullmatch
    for name in names:
        base = is_base(name)
        if base is not None:
            file_id, instant = base.group(1, 3)
            if is_counted(instant):
                known = bases.setdefault(file_id, name)
                if known is not name and (instant_of(known), known) < (instant, name):
                    bases[file_id] = name
        elif name.startswith("."):
            log = parse_log_name(name)
            if log is not None:
                logs.setdefault(log.file_id, []).append((log, name))
        else:
            _refuse_unknown_form(partition, name)
    return bases, logs


def _refuse_unknown_form(partition: str, name: str) -> None:
    """A file that is none of a table's is passed over; one that holds its rows in another form must not be."""
    match = _OTHER_DATA.fullmatch(name)
    if match:
        form = "registered from outside of Hudi" if name.endswith(_EXTERNAL) else f"of format {match[1]}"
        raise TableError(f"{partition}/{name}" if partition else name, f"data files {form} are not supported")


def _on_top(
    logs: list[tuple[LogName, str]], base: str, timeline: Timeline, version: int, as_of: str
) -> tuple[list[str], list[str]]:
    """Names of the log files on top of a base instant, in the order in which they apply, and the doubtful of them."""
    if version < 8:
        found = [
            (log.instant, log.version, log.token, name)
            for log, name in logs
            if base <= log.instant <= as_of
            and (base or log.instant not in timeline.pending or log.instant in timeline.pending_compactions)
        ]
        return [name for *_, name in sorted(found)], []
    found, unsure = [], []
    for log, name in logs:
        if log.instant > as_of or not timeline.is_committed(log.instant):
            continue
        completion = timeline.completion(log.instant)
        if (completion or base) >= base:
            found.append((completion or log.instant, log.version, log.token, name))
            if completion is None and log.instant < base:
                unsure.append(name)
    return [name for *_, name in sorted(found)], unsure
