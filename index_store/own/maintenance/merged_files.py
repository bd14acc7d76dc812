"""The merged slices that an index of sketches of a table should know: those with log files whose merge is understood.

Each of its parts is one more file of the list of ``table_files``, by its name in ``store.merged_slices``. A slice is
left out, with the reason, beyond the limits, and where nothing tells which rows are hidden (``table.row_precedence``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.errors import UnsupportedError
from evaluator.language.records import frozen
from index_store.own.maintenance.table_files import TABLE_FILES, table_files
from index_store.own.store.merged_slices import SEPARATOR, merged_parts
from index_store.table.file_slices import FileSlice, parse_base_name
from index_store.table.row_precedence import row_precedence, why_not_committed

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["SketchedFiles", "sketched_files", "why_not_merged"]

#: Limits of a slice that is merged: log files, bytes of these, which are held in memory, and bytes of the base file.
MAX_LOGS, LOG_BYTES, BASE_BYTES = 200, 64 << 20, 1 << 30
#: Hudi's instant of base files that hold nothing but its own columns.
_BOOTSTRAPPED = "00000000000001"


@frozen(slots=False, eq=False)
class SketchedFiles:
    """What an index of sketches should know.

    files      the files of the latest slices, then the parts of merged slices (the schema TABLE_FILES)
    instant    the latest completed write of the table
    logged     how many slices have log files
    refused    the slices that are not merged, by a file of each, and why
    """

    files: pa.Table
    instant: str | None
    logged: int = 0
    refused: Mapping[str, str] = field(default_factory=dict)


def sketched_files(table: Table) -> SketchedFiles:
    """The files and merged slices of a table now. Raises TableError."""
    files, instant = table_files(table)
    if table.table_type != "MERGE_ON_READ" or instant is None:
        return SketchedFiles(files, instant)
    logged = [one for one in table.slices() if one.log_files]
    if not logged:
        return SketchedFiles(files, instant)
    try:
        row_precedence(table)
    except UnsupportedError as error:
        return SketchedFiles(files, instant, len(logged), {_name(one): error.what for one in logged})
    sizes = _sizes(files, logged)
    refused: dict[str, str] = {}
    names, totals = [], []
    for one in logged:
        why = why_not_merged(table, one, sizes)
        if why:
            refused[_name(one)] = why
            continue
        for part in merged_parts(one):
            names.append(part.path)
            totals.append(sum(sizes[path] for path in part.files))
    merged = pa.table([pa.array(names, pa.string()), pa.array(totals, pa.int64()), [instant] * len(names)], TABLE_FILES)
    return SketchedFiles(pa.concat_tables([files, merged]), instant, len(logged), refused)


def _name(item: FileSlice) -> str:
    """A slice for people: its base file, or its first log file."""
    return item.base_file or item.log_files[0]


def _sizes(files: pa.Table, slices: list[FileSlice]) -> dict[str, int]:
    """The bytes of the files of slices, without those that are not listed."""
    wanted = pa.array([path for one in slices for path in one.files], pa.string())
    row = pc.index_in(wanted, value_set=files.column("path"))
    sizes = files.column("size").take(row)
    return {path: size for path, size in zip(wanted.to_pylist(), sizes.to_pylist(), strict=True) if size is not None}


def why_not_merged(table: Table, item: FileSlice, sizes: Mapping[str, int]) -> str:
    """Why a slice is not merged, or ""; ``sizes``: the bytes of the files that are listed."""
    if any(path not in sizes for path in item.files):
        return "one of its files is not listed"
    if len(item.log_files) > MAX_LOGS:
        return f"{len(item.log_files):,} log files are more than the {MAX_LOGS} that are merged"
    log_bytes = sum(sizes[path] for path in item.log_files)
    if log_bytes > LOG_BYTES:
        return f"log files of {log_bytes >> 20:,} MiB are more than the {LOG_BYTES >> 20} MiB that are merged"
    base = item.base_file
    if base is not None:
        name = parse_base_name(base.rpartition("/")[2])
        if name is None or name.format != "parquet" or name.instant == _BOOTSTRAPPED:
            return "its base file has no rows of its own, or is not Parquet"
        if sizes[base] > BASE_BYTES:
            return f"a base file of {sizes[base] >> 20:,} MiB is more than the {BASE_BYTES >> 20:,} MiB that are merged"
    if any(SEPARATOR in path.rpartition("/")[2] for path in item.files):
        return f"{SEPARATOR} is in the name of a file"
    return why_not_committed(item.log_files, table.timeline, table.version)
