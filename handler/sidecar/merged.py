"""The merged rows of a file slice with log files, read by hudi-rs for audits (the extra ``audit``).

hudi-rs shares no code with Sargo, and refuses tables that it does not merge as Hudi does. Its file system follows
links, so it reads a local table only when no file or folder that it opens is a link or lies outside of the root.

Not read: anything without the package, tables that are not local, slices without a base file, and more than
``MAX_LOG_BYTES`` of log files, because they are merged in memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from evaluator.language.errors import SargoError, UnsupportedError
from handler.hudi_rs.rust_panic import panic

__all__ = ["MAX_LOG_BYTES", "Unread", "merged_batches"]

MAX_LOG_BYTES = 256 << 20


class Unread(SargoError):  # noqa: N818 - a state, not a fault of the caller
    """There is no reader for such files."""


def merged_batches(
    table: str, root: str | None, base_file: str | None, log_files: Sequence[str], columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """The rows of a slice, these columns only. Raises Unread, and UnsupportedError when they cannot be merged."""
    try:
        from hudi import HudiFileGroupReader, HudiReadOptions
    except ImportError as error:
        raise Unread("log files are read with the extra 'audit'") from error
    if root is None:
        raise Unread("log files of tables that are not local are not read")
    if base_file is None:
        raise Unread("slices without a base file are not read")
    paths = [os.path.join(table, name) for name in (base_file, *log_files)]
    _check(table, root, paths)
    if sum(os.path.getsize(path) for path in paths[1:]) > MAX_LOG_BYTES:
        raise Unread("the log files are too large to merge")
    try:
        reader = HudiFileGroupReader(table)
        options = HudiReadOptions(projection=list(columns))
        stream: Any = reader.read_file_slice_from_paths_stream(base_file, list(log_files), options)
        for batch in stream:
            rows = pa.record_batch(batch)
            if not set(columns) <= set(rows.schema.names):
                raise UnsupportedError("a column of the filter is not in the files")
            yield rows
    except UnsupportedError:
        raise
    except (Exception, panic()) as error:  # errors of the package have no common base class
        raise UnsupportedError(f"the slice cannot be merged: {type(error).__name__}") from error


def _check(table: str, root: str, paths: Sequence[str]) -> None:
    """Raises UnsupportedError when a file that the package opens is a link, or lies outside of the root."""
    below = root.rstrip("/") + "/"
    folders = [os.path.join(table, ".hoodie"), os.path.join(table, ".hoodie", "timeline")]
    for path in (*folders, *paths):
        if os.path.lexists(path) and not os.path.realpath(path).startswith(below):
            raise UnsupportedError("a file leads out of the table roots")
    for folder in filter(os.path.isdir, folders):
        with os.scandir(folder) as entries:
            if any(entry.is_symlink() for entry in entries):
                raise UnsupportedError("the timeline holds links")
