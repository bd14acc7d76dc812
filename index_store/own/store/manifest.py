"""The manifest: which files an index knows, as a master list and one cumulative delta (RFC-15).

    master   file_id  path  size  instant               every file when the master was written
    delta    file_id  path  size  instant  tombstone    since then: files that came, and ids of the master that are gone

    master 0 a, 1 b    delta 1 tombstone, 2 c           the index knows 0 a and 2 c

A reader opens two files, however often the table has changed. Two files are the same when their path and size are.
Everything works on whole columns, for millions of files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.records import frozen
from index_store.own.builder import FILE_ID, FILES
from index_store.own.store.folder import Folder, new_token
from index_store.own.store.stored_table import StoredTable, read_table, write_table
from index_store.own.store.versions import Build, Version
from index_store.storage.errors import TableError

__all__ = ["DELTA", "Composed", "FileList", "compose", "live_files", "row_indices_of", "write_delta", "write_master"]

DELTA = pa.schema(
    [
        FILES.field(FILE_ID),
        *(FILES.field(name).with_nullable(True) for name in FILES.names[1:]),
        pa.field("tombstone", pa.bool_(), False),
    ]
)
MAX_IDS = 2**31
#: Paths are few where there are more than so many times as many files.
_FEW = 8


@frozen
class FileList:
    """Files by ascending id (the schema FILES), and the builds that have their statistics."""

    files: pa.Table
    builds: tuple[Build, ...]


@frozen
class Composed:
    """Files chosen from several lists, with new ids. ``next_id`` is greater than every id."""

    known: FileList
    next_id: int


def live_files(folder: Folder, version: Version) -> pa.Table:
    """The files that a version knows, by id: the schema FILES. Raises TableError."""
    master = read_table(folder, version.master)
    if version.delta is None:
        return master
    delta = read_table(folder, version.delta)
    tombstone = delta.column("tombstone").to_numpy()
    gone = np.zeros(version.master_end, np.bool_)
    gone[ids_of(delta)[tombstone]] = True
    came = delta.filter(pa.array(~tombstone)).select(FILES.names).cast(FILES)
    return pa.concat_tables([master.filter(pa.array(~gone[ids_of(master)])), came])


def write_master(folder: Folder, files: pa.Table, instant: str | None) -> StoredTable:
    """Write the list of all files."""
    name = f"manifests/{instant or 0}-{new_token()}.master.parquet"
    return write_table(folder, name, files.cast(FILES), ["path"])


def write_delta(folder: Folder, files: pa.Table, base: Version, instant: str | None) -> tuple[StoredTable | None, int]:
    """Write the difference of the files from the master of a version; None if there is none. And count its tombstones.

    Files of the master have to have the ids of the master.
    """
    master = ids_of(read_table(folder, base.master, [FILE_ID]))
    ids = ids_of(files)
    old = ids < base.master_end
    gone = np.setdiff1d(master, ids[old], assume_unique=True)
    came = files.filter(pa.array(~old))
    if not len(gone) and not came.num_rows:
        return None, 0
    tombstones = pa.table(
        [
            pa.array(gone.astype(np.int32)),
            *(pa.nulls(len(gone), kind) for kind in FILES.types[1:]),
            pa.array(np.ones(len(gone), np.bool_)),
        ],
        schema=DELTA,
    )
    delta = came.append_column("tombstone", pa.array(np.zeros(came.num_rows, np.bool_))).cast(DELTA)
    name = f"manifests/{instant or 0}_{base.master_instant or 0}-{new_token()}.delta.parquet"
    return write_table(folder, name, pa.concat_tables([delta, tombstones]), ["path"]), len(gone)


def row_indices_of(
    paths: pa.ChunkedArray | pa.Array, sizes: npt.NDArray[np.int64] | None, files: pa.Table
) -> npt.NDArray[np.int64]:
    """``(n,)``: the row of each path among the files, -1 for a path that is not there, or has another size."""
    rows = _rows_of_few(paths, files) if len(paths) * _FEW < files.num_rows else None
    if rows is None:
        indices = pc.fill_null(pc.index_in(paths, value_set=files.column("path")), -1)
        rows = np.asarray(indices.to_numpy(), np.int64).copy()
    if sizes is not None and files.num_rows:
        rows[(rows >= 0) & (files.column("size").to_numpy()[rows] != sizes)] = -1
    return rows


def _rows_of_few(paths: pa.ChunkedArray | pa.Array, files: pa.Table) -> npt.NDArray[np.int64] | None:
    """The rows of few paths, without a table of all others; None where a path is given twice."""
    if len(pc.unique(paths)) < len(paths):
        return None
    numbers = pc.index_in(files.column("path"), value_set=paths)
    found = np.flatnonzero(numbers.is_valid().to_numpy())[::-1]  # of a path that stands twice the first row counts
    rows = np.full(len(paths), -1, np.int64)
    rows[numbers.take(pa.array(found)).to_numpy()] = found
    return rows


def compose(wanted: pa.Table, sources: Sequence[FileList], *, keep: int | None = None) -> Composed:
    """The wanted files (``path``, ``size``) that a source knows, each from the first source that knows it.

    ``keep``: files of the first source keep their ids, and other files get ids from ``keep`` on; None: all ids are new.
    """
    next_id = 0 if keep is None else keep
    left = np.ones(wanted.num_rows, np.bool_)
    sizes = wanted.column("size").to_numpy()
    files: list[pa.Table] = []
    builds: list[Build] = []
    for number, source in enumerate(sources):
        rows = row_indices_of(wanted.column("path"), sizes, source.files)
        chosen = left & (rows >= 0)
        left &= ~chosen
        taken = source.files.take(pa.array(np.sort(rows[chosen])))
        if number == 0 and keep is not None:
            files.append(taken)
            builds.extend(_needed(source.builds, ids_of(taken)))
            continue
        ids = ids_of(taken).copy()
        for build in _needed(source.builds, ids):
            in_build = (ids_of(taken) >= build.first_id) & (ids_of(taken) < build.first_id + build.span)
            ids[in_build] += next_id - build.first_id
            builds.append(replace(build, first_id=next_id))
            next_id += build.span
        if next_id > MAX_IDS:
            raise TableError("index", "more ids than there are: run 'sargo index optimize'")
        files.append(taken.set_column(0, FILES.field(0), pa.array(ids.astype(np.int32))))
    together = pa.concat_tables(files)
    if len(files) > 1:
        together = together.take(pa.array(np.argsort(ids_of(together), kind="stable")))
    return Composed(FileList(together, tuple(builds)), next_id)


def _needed(builds: Sequence[Build], ids: npt.NDArray[np.int64]) -> list[Build]:
    """The builds that have one of these ids, which are in ascending order."""
    starts = np.searchsorted(ids, [build.first_id for build in builds])
    ends = np.searchsorted(ids, [build.first_id + build.span for build in builds])
    return [build for build, start, end in zip(builds, starts.tolist(), ends.tolist(), strict=True) if start < end]


def ids_of(files: pa.Table) -> npt.NDArray[np.int64]:
    """``(n,)``: the column of ids."""
    ids: npt.NDArray[np.int64] = files.column(FILE_ID).to_numpy().astype(np.int64)
    return ids
