"""Staged entries: the slices that an operation has read, kept on disk so that no attempt reads a slice twice.

    add        slices -> runs of raw entries on disk, and for each slice its statistics, or why it is unknown
    entries    the staged entries of some slices, with the numbers of their file groups

A slice is identified by its file group and its exact files: after a conflict, the slices of the table that have not
changed are still staged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from evaluator.language.records import frozen
from index_store.own.builder import Progress
from index_store.own.maintenance.table_files import table_files
from index_store.own.secondary.entries import ENTRIES
from index_store.own.secondary.slice_entries import RAW, SLICES, About, SliceReader, check_batch, files_in
from index_store.storage.errors import StatsError, TableError
from index_store.table.table import Table

__all__ = ["SliceName", "StagedEntries", "TableSlices", "lines_of", "slice_name"]

#: A file group's partition and id, as ``partition/id``, and its files, as lines (``slice_entries.SLICES``).
SliceName = tuple[str, str]


def slice_name(partition: str, file_id: str) -> str:
    """The name of a file group: partition and file id."""
    return f"{partition}/{file_id}"


def lines_of(files: tuple[str, ...], sizes: Mapping[str, int] | None) -> str:
    """The files of a slice as lines, with the sizes of log files where these may grow."""
    return "\n".join(
        sorted(f"{path}\t{sizes[path]}" if sizes is not None and _is_log(path) else path for path in files)
    )


def _is_log(path: str) -> bool:
    return path.rpartition("/")[2].startswith(".")


@frozen
class TableSlices:
    """The slices of a table as of its latest completed instant: ``files`` by name, and all files with their sizes.

    A slice with a file that the listing does not have is left out and stays unknown to the index.
    """

    files: Mapping[str, str]
    listed: pa.Table
    sizes: Mapping[str, int]
    instant: str | None

    @classmethod
    def of(cls, table: Table) -> TableSlices:
        """Raises TableError."""
        listed, instant = table_files(table)
        sizes = dict(zip(listed.column("path").to_pylist(), listed.column("size").to_pylist(), strict=True))
        grows = sizes if table.version < 8 else None
        files = {
            slice_name(one.partition, one.file_id): lines_of(one.files, grows)
            for one in (table.slices() if instant is not None else ())
            if all(path in sizes for path in one.files)
        }
        return cls(files, listed, sizes, instant)


class StagedEntries:
    """Staged entries in a directory, which the caller removes."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._runs: list[Path] = []
        self._read: dict[SliceName, tuple[int, int, About]] = {}
        #: How many entries were read, with duplicates.
        self.entries_read = 0

    def about(self, name: SliceName) -> About | None:
        """What is known of a slice beside its entries; None when it is not staged."""
        staged = self._read.get(name)
        return None if staged is None else staged[2]

    @property
    def failed(self) -> dict[str, str]:
        """The slices that were read and are unknown, and why."""
        return {name: about.why for (name, _), (_, _, about) in self._read.items() if about.why}

    def files(self, *, known: bool) -> list[str]:
        """The files of the slices that were read and are known, or that are unknown."""
        return [
            path
            for (_, lines), (_, _, about) in self._read.items()
            if bool(about.why) is not known
            for path in files_in(lines)
        ]

    def add(
        self,
        names: list[SliceName],
        reader: SliceReader,
        path: str,
        sizes: Mapping[str, int],
        progress: Progress | None = None,
    ) -> None:
        """Read slices and stage their entries. ``path``: of the index, for messages; ``sizes``: of all files.

        Raises TableError, and StatsError for output that a correct reader of these slices never gives.
        """
        slices = pa.table(
            [
                list(range(len(names))),
                [lines for _, lines in names],
                [sum(sizes[one] for one in files_in(lines)) for _, lines in names],
            ],
            schema=SLICES,
        )
        run, file = len(self._runs), self._directory / f"read{len(self._runs)}.arrow"
        self._runs.append(file)
        abouts: dict[int, About] = {}
        if progress is not None:
            progress("slices", 0, len(names))
        try:
            with (
                pa.OSFile(str(file), "wb") as sink,
                pa.ipc.new_stream(sink, RAW, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer,
            ):
                for batch in reader.read(slices) if names else ():
                    check_batch(batch, len(names), path)
                    ended = batch.column("about").is_valid().to_numpy(zero_copy_only=False)
                    for row in np.flatnonzero(ended).tolist():
                        abouts[batch.column(0)[row].as_py()] = About.from_text(batch.column("about")[row].as_py())
                    if not ended.all():
                        entries = batch.filter(pa.array(~ended)) if ended.any() else batch
                        self.entries_read += entries.num_rows
                        writer.write_batch(entries)
                    if progress is not None and ended.any():
                        progress("slices", len(abouts), len(names))
        except OSError as error:
            raise TableError(str(file), f"cannot be written: {error.strerror or error}") from error
        if len(abouts) < len(names):
            raise StatsError(path, "slice", f"the reader gave {len(abouts)} of {len(names)} slices")
        self._read.update((name, (run, number, abouts[number])) for number, name in enumerate(names))

    def entries(self, groups: Mapping[SliceName, int]) -> Iterator[pa.RecordBatch]:
        """The staged entries of slices (the schema ENTRIES), in any order. ``groups``: the file group of each slice."""
        numbers = [np.full(0, -1, np.int32) for _ in self._runs]
        for (run, number, about), group in ((self._read[name], group) for name, group in groups.items()):
            assert not about.why
            if number >= len(numbers[run]):
                numbers[run] = np.append(numbers[run], np.full(max(number + 1, len(numbers[run])), -1, np.int32))
            numbers[run][number] = group
        for run, file in enumerate(self._runs):
            if (numbers[run] >= 0).any():
                with pa.OSFile(str(file), "rb") as source, pa.ipc.open_stream(source) as reader:
                    for batch in reader:
                        yield from _numbered(batch, numbers[run])


def _numbered(batch: pa.RecordBatch, numbers: np.ndarray[tuple[int], np.dtype[np.int32]]) -> Iterator[pa.RecordBatch]:
    local = batch.column(0).to_numpy()
    inside = local < len(numbers)
    group = np.where(inside, numbers[np.where(inside, local, 0)], -1).astype(np.int32)
    wanted = group >= 0
    if wanted.any():
        entries = pa.RecordBatch.from_arrays(
            [batch.column("key"), batch.column("record"), pa.array(group), pa.array(np.zeros(len(group), np.bool_))],
            schema=ENTRIES,
        )
        yield entries if wanted.all() else entries.filter(pa.array(wanted))
