"""What ``sargo files`` tells: the partitions of a table, or the files of one, without listing a directory (RFC-15)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import pyarrow.compute as pc

from index_store import TableError
from index_store.opened_table import OpenTable
from index_store.table.file_slices import parse_base_name, parse_log_name
from index_store.table.listing import DataFile, PartitionFiles

__all__ = ["FileRow", "ListingReport", "PartitionRow", "report_files"]


@dataclass(frozen=True, slots=True)
class PartitionRow:
    """A partition: its path as it is stored, the path as people read it, and its files; ``bytes`` of all of them."""

    partition: str
    name: str
    files: int
    log_files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file of a partition: ``kind`` is "base" or "log", ``instant`` the one that its name carries."""

    name: str
    size: int
    kind: str
    file_id: str
    instant: str


@dataclass(frozen=True, slots=True)
class ListingReport:
    """The committed files of a table; of the file slices of ``instant`` only when one was asked for.

    ``files`` are those of the one partition that was asked for, None when all partitions were.
    """

    path: str
    instant: str | None
    source: str
    note: str
    partitions: tuple[PartitionRow, ...]
    files: tuple[FileRow, ...] | None

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON (docs/reference/json.md)."""
        document: dict[str, object] = {
            "table": self.path,
            "instant": self.instant,
            "listed_from": self.source,
            "note": self.note,
            "partitions": [asdict(row) for row in self.partitions],
        }
        if self.files is not None:
            document["files"] = [asdict(row) for row in self.files]
        return document


def report_files(opened: OpenTable, partition: str | None = None, as_of: str | None = None) -> ListingReport:
    """Look at the files of a table, or of one partition, named by its path or as people read it.

    Without ``as_of`` every committed file is told that is not cleaned; with it the files of the slices of that time.
    Raises TableError.
    """
    table, listing = opened.table, opened.table.listing
    wanted = None if partition is None else listing.named(partition)
    instant = table.timeline.last.requested if table.timeline.last else None
    found: Mapping[str, PartitionFiles]
    if as_of is not None:
        slices = table.file_slices(as_of)
        instant = slices.instant
        names: dict[str, list[str]] = {}
        for one in slices:
            if wanted is None or one.partition == wanted:
                names.setdefault(one.partition, []).extend(path.rpartition("/")[2] for path in one.files)
        sizes = listing.load() if wanted is None else {wanted: listing.files(wanted)}
        found = {place: _chosen(sizes[place], names[place], opened.path) for place in sorted(names)}
    elif wanted is None:
        found = listing.load()
    else:
        found = {wanted: listing.files(wanted)}
    rows = tuple(
        PartitionRow(place, listing.decoded(place), len(files), _logs(files), files.bytes)
        for place, files in found.items()
    )
    shown = None if wanted is None else tuple(_file_rows(found.get(wanted, ())))
    return ListingReport(opened.path, instant, listing.source, listing.note, rows, shown)


def _chosen(files: PartitionFiles, names: Sequence[str], path: str) -> PartitionFiles:
    sizes = {file.name: file.size for file in files}
    missing = next((name for name in names if name not in sizes), None)
    if missing is not None:
        raise TableError(path, f"the listing does not know {missing}")
    return PartitionFiles.of({name: sizes[name] for name in names})


def _logs(files: PartitionFiles) -> int:
    return int(pc.sum(pc.starts_with(files.names, ".")).as_py() or 0)


def _file_rows(files: Iterable[DataFile]) -> Iterator[FileRow]:
    for file in files:
        name, size = file.name, file.size
        log, base = parse_log_name(name), parse_base_name(name)
        if log is not None:
            yield FileRow(name, size, "log", log.file_id, log.instant)
        elif base is not None:
            yield FileRow(name, size, "base", base.file_id, base.instant)
