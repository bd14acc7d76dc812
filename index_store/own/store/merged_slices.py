"""The names under which an index keeps what it knows of the merged rows of a slice: the names of the slice's files.

    p=a/f1_0-1-0_2026.parquet|.f1_2027.log.1_0-2-0     the rows of the base file that are left of the slice
    p=a/|f1_0-1-0_2026.parquet|.f1_2027.log.1_0-2-0    the records of its log files
    p=a/|.f2_2027.log.1_0-2-0                          the same of a slice without a base file

To the store such a name is one more file with a row of statistics. Its size is that of the files that were read for it,
and its instant is the table's latest completed write when they were listed. A slice with one file more or less has
other names, so what was merged for one set of files says nothing of another. A reader from before merged slices never
looks for such a name, and its refresh drops it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.records import frozen
from index_store.table.file_slices import FileSlice

__all__ = ["SEPARATOR", "MergedPart", "is_merged", "merged_parts", "merged_slices"]

#: Between the names of files; a file with it in its name is never merged.
SEPARATOR = "|"
_MERGED = r"\|[^/]*$"
#: One name for each slice: that of its base file's part, or of its log files where there is no base file.
_SLICE = r"(?:^|/)(?:[^/|]+\||\|\.)[^/]*$"


@frozen
class MergedPart:
    """One of the two parts of a slice with log files: the rows of its base file, or the records of its log files.

    path    the name
    base    the base file of the slice, None without one; ``logs`` are its log files, both by path
    of_base whether the part is that of the base file
    """

    path: str
    base: str | None
    logs: tuple[str, ...]
    of_base: bool

    @classmethod
    def named(cls, path: str) -> MergedPart | None:
        """The part of a name; None for the path of a file."""
        folder, slash, names = path.rpartition("/")
        first, *others = names.split(SEPARATOR)
        if not others:
            return None
        prefix = folder + slash
        base = first or ("" if others[0].startswith(".") else others.pop(0))
        return cls(path, prefix + base if base else None, tuple([prefix + log for log in others]), bool(first))

    @property
    def files(self) -> tuple[str, ...]:
        """The files that are read for the part."""
        return (self.base, *self.logs) if self.of_base and self.base else self.logs


def merged_parts(item: FileSlice) -> tuple[MergedPart, ...]:
    """The parts of a slice with log files."""
    prefix = f"{item.partition}/" if item.partition else ""
    names = [path.rpartition("/")[2] for path in item.files]
    whole = SEPARATOR.join(names)
    logs = MergedPart(f"{prefix}{SEPARATOR}{whole}", item.base_file, item.log_files, of_base=False)
    if item.base_file is None:
        return (logs,)
    return MergedPart(prefix + whole, item.base_file, item.log_files, of_base=True), logs


def is_merged(paths: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """``(n,)``: which paths are names of parts of merged slices."""
    return _matching(paths, _MERGED)


def merged_slices(paths: pa.Array | pa.ChunkedArray) -> int:
    """How many merged slices there are among these paths."""
    return int(_matching(paths, _SLICE).sum())


def _matching(paths: pa.Array | pa.ChunkedArray, pattern: str) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.match_substring_regex(paths, pattern), np.bool_)
