"""The files of many slices as one Arrow column of absolute paths or URIs, without an object for each.

    slices        paths (``log_files=True``)                     paths (``log_files=False``)
    ----------    --------------------------------------------   ---------------------------
    base          s3://lake/t/day=1/f1_0-1-0_2026.parquet        the same
    base, logs    the base file, then its log files in order     the base file
    logs          the log files in order                         nothing

A path stands as the store has it: nothing in it is percent-encoded or decoded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.arrow_arrays import to_arrow, to_binary
from evaluator.language.errors import UnsupportedError
from index_store.table.file_slices import FileSlice, FileSlices

__all__ = ["ManyPaths", "PathPart", "common_uri", "in_order", "slice_paths"]

Rows = npt.NDArray[Any]
#: Paths, and for each the position of its slice.
PathPart = tuple[pa.Array, Rows]


#: Names of Hadoop's for schemes that pyarrow, Polars and DuckDB call otherwise.
_COMMON_SCHEMES = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}


@runtime_checkable
class ManyPaths(Protocol):
    """A sequence of slices that has the names of its files as Arrow arrays."""

    def path_parts(self, rows: Rows, root: str, log_files: bool) -> list[PathPart]:
        """Paths of the slices of these rows as large binary, each with the position of its slice among the rows.

        Parts of base files stand before those of log files. ``root`` ends in a slash, or is empty.
        """
        ...


def slice_paths(slices: FileSlices, rows: Rows, root: str, *, log_files: bool = True) -> pa.Array:
    """``(k,)`` large string: the files of the slices of these rows, slice by slice.

    Raises UnsupportedError for a name that is not UTF-8.
    """
    prefix = f"{root.rstrip('/')}/" if root else ""
    items = slices.items
    if isinstance(items, ManyPaths):
        found = in_order(items.path_parts(rows, prefix, log_files))
    else:
        found = _encoded(_named(slices.some(rows), prefix, log_files))
    try:
        return found.cast(pa.large_string())
    except pa.ArrowInvalid as error:
        raise UnsupportedError(f"the name of a file is not UTF-8, so it has no URI: {error}") from None


def common_uri(root: str) -> str:
    """The root of a table as other libraries name it: ``s3://`` and ``gs://`` for their aliases; a local path stays."""
    scheme, separator, rest = root.partition("://")
    return f"{_COMMON_SCHEMES.get(scheme.lower(), scheme)}://{rest}" if separator else root


def in_order(parts: Sequence[PathPart]) -> pa.Array:
    """The paths of all parts by the position of their slice; of one position, in the order of the parts."""
    filled = [part for part in parts if len(part[0])]
    if len(filled) < 2:
        return filled[0][0] if filled else to_binary([])
    positions = np.concatenate([part[1] for part in filled])
    return pa.concat_arrays([part[0] for part in filled]).take(to_arrow(np.argsort(positions, kind="stable")))


def _named(items: Iterable[FileSlice], prefix: str, log_files: bool) -> Iterable[str]:
    for item in items:
        for path in item.files if log_files else (item.base_file,):
            if path is not None:
                yield prefix + path


def _encoded(paths: Iterable[str]) -> pa.Array:
    return to_binary([path.encode("utf-8", "surrogatepass") for path in paths])
