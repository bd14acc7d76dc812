"""The name under which an index keeps what it knows of the merged rows of a slice: the names of the slice's files.

    p=a/f1_0-1-0_2026.parquet|.f1_2027.log.1_0-2-0|.f1_2028.log.1_0-3-0      a base file and two log files
    p=a/|.f2_2027.log.1_0-2-0                                                log files alone

To the store such a name is one more file with a row of statistics. Its size is that of all files together, and its
instant is the table's latest completed write when they were listed. A slice with one file more or less has another
name, so what was merged for one set of files says nothing of another. A reader from before merged slices never looks
for such a name, and its refresh drops it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from index_store.table.file_slices import FileSlice

__all__ = ["SEPARATOR", "MergedSlice", "is_merged", "merged_name"]

#: Between the names of files; a file with it in its name is never merged.
SEPARATOR = "|"
_MERGED = r"\|[^/]*$"


@dataclass(frozen=True, slots=True)
class MergedSlice:
    """The files of such a name, by path. ``path``: the name itself."""

    path: str
    base_file: str | None
    log_files: tuple[str, ...]

    @classmethod
    def named(cls, path: str) -> MergedSlice | None:
        """The slice of a name; None for the path of a file."""
        folder, slash, names = path.rpartition("/")
        base, *logs = names.split(SEPARATOR)
        if not logs:
            return None
        prefix = folder + slash
        return cls(path, prefix + base if base else None, tuple(prefix + log for log in logs))


def merged_name(item: FileSlice) -> str:
    """The name of a slice with log files."""
    base = (item.base_file or "").rpartition("/")[2]
    names = [base, *(path.rpartition("/")[2] for path in item.log_files)]
    prefix = f"{item.partition}/" if item.partition else ""
    return prefix + SEPARATOR.join(names)


def is_merged(paths: pa.Array | pa.ChunkedArray | Sequence[str]) -> npt.NDArray[np.bool_]:
    """``(n,)``: which paths are names of merged slices."""
    given = paths if isinstance(paths, pa.Array | pa.ChunkedArray) else pa.array(paths, pa.string())
    return np.asarray(pc.match_substring_regex(given, _MERGED), np.bool_)
