"""The report of ``sargo files``: the partitions of a table, or the files of one, from the metadata table (RFC-15)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict

from evaluator.language import arrow_functions as pc
from evaluator.language.records import frozen
from index_store import TableError
from index_store.opened_table import OpenTable
from index_store.table.file_slices import parse_base_name, parse_log_name
from index_store.table.listing import DataFile, PartitionFiles

__all__ = ["FileRow", "ListingReport", "PartitionRow", "report_files"]


@frozen
class PartitionRow:
    """A partition: its path as stored, its path decoded for people (``name``), and the count and bytes of its files."""

    partition: str
    name: str
    files: int
    log_files: int
    bytes: int


@frozen
class FileRow:
    """A file of a partition: ``kind`` is "base" or "log"; ``instant`` is part of its name."""

    name: str
    size: int
    kind: str
    file_id: str
    instant: str


@frozen
class ListingReport:
    """The committed files of a table; with ``as_of`` only those of the file slices at ``instant``.

    ``files``: of the partition that was named; None when none was, and all partitions are listed.
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
    """Report on the files of a table, or of one partition, named by its stored or its decoded path.

    Without ``as_of`` these are all committed files that are not cleaned, with it the files of the slices at that time.
    Raises TableError.
    """
    table, listing = opened.table, opened.table.listing
    wanted = None if partition is None else listing.named(partition)
    instant = table.timeline.last.requested if table.timeline.last else None
    files_of: Mapping[str, PartitionFiles]
    if as_of is not None:
        slices = table.file_slices(as_of)
        instant = slices.instant
        names: dict[str, list[str]] = {}
        for item in slices:
            if wanted is None or item.partition == wanted:
                names.setdefault(item.partition, []).extend(path.rpartition("/")[2] for path in item.files)
        sizes = listing.load() if wanted is None else {wanted: listing.files(wanted)}
        files_of = {path: _chosen(sizes[path], names[path], opened.path) for path in sorted(names)}
    elif wanted is None:
        files_of = listing.load()
    else:
        files_of = {wanted: listing.files(wanted)}
    rows = tuple(
        PartitionRow(path, listing.decoded(path), len(files), _count_logs(files), files.bytes)
        for path, files in files_of.items()
    )
    file_rows = None if wanted is None else tuple(_file_rows(files_of.get(wanted, ())))
    return ListingReport(opened.path, instant, listing.source, listing.note, rows, file_rows)


def _chosen(files: PartitionFiles, names: Sequence[str], path: str) -> PartitionFiles:
    sizes = {file.name: file.size for file in files}
    missing = next((name for name in names if name not in sizes), None)
    if missing is not None:
        raise TableError(path, f"the listing does not know {missing}")
    return PartitionFiles.of({name: sizes[name] for name in names})


def _count_logs(files: PartitionFiles) -> int:
    return int(pc.sum(pc.starts_with(files.names, ".")).as_py() or 0)


def _file_rows(files: Iterable[DataFile]) -> Iterator[FileRow]:
    for file in files:
        name, size = file.name, file.size
        log, base = parse_log_name(name), parse_base_name(name)
        if log is not None:
            yield FileRow(name, size, "log", log.file_id, log.instant)
        elif base is not None:
            yield FileRow(name, size, "base", base.file_id, base.instant)
