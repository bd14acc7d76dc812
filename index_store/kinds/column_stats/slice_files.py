"""The files of all slices side by side: the rows that statistics of single files refer to.

    slice 0   base, log, log        paths      base   log    log    base
    slice 1   base                  slice_of   0      0      0      1
                                    is_log     False  True   True   False
                                    count      3, 1

Records of the metadata table name a file by a hash of its partition and its name; ``by_name`` and ``by_partition`` find
the file's index. A name that occurs in several partitions is found by its partition as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from evaluator.language.records import frozen
from index_store.formats.keys import partition_id
from index_store.table.file_slices import FileSlices

__all__ = ["SliceFiles"]


@frozen(slots=False)
class SliceFiles:
    """The f files of all slices in one row.

    ``slice_of`` (f,) is the slice of each file, ``is_log`` (f,) whether it is a log file, ``count`` (n,) how many files
    a slice has.
    """

    AMBIGUOUS: ClassVar[int] = -2

    paths: tuple[str, ...]
    partitions: tuple[str, ...]
    slice_of: npt.NDArray[np.intp]
    is_log: npt.NDArray[np.bool_]
    count: npt.NDArray[np.intp]

    @classmethod
    def of(cls, slices: FileSlices) -> SliceFiles:
        items = list(slices)  # a snapshot makes each slice whenever it is asked for
        if not any(one.log_files for one in items):  # one base file each, as in most tables
            n = len(items)
            return cls(
                tuple([one.base_file or "" for one in items]),
                tuple([one.partition for one in items]),
                np.arange(n),
                np.zeros(n, np.bool_),
                np.ones(n, np.intp),
            )
        paths: list[str] = []
        partitions: list[str] = []
        slice_of: list[int] = []
        is_log: list[bool] = []
        count = np.zeros(len(items), np.intp)
        for i, one in enumerate(items):
            files = one.files
            count[i] = len(files)
            paths.extend(files)
            partitions.extend([one.partition] * len(files))
            slice_of.extend([i] * len(files))
            is_log.extend([False] * (one.base_file is not None) + [True] * len(one.log_files))
        return cls(tuple(paths), tuple(partitions), np.array(slice_of, np.intp), np.array(is_log, np.bool_), count)

    @property
    def slices(self) -> int:
        return len(self.count)

    @cached_property
    def has_logs(self) -> npt.NDArray[np.bool_]:
        """``(n,) bool``: the slice has log files."""
        found = np.zeros(self.slices, np.bool_)
        found[self.slice_of[self.is_log]] = True
        return found

    @cached_property
    def is_other(self) -> npt.NDArray[np.bool_]:
        """``(f,) bool``: a base file that is not Parquet."""
        return np.array([not path.endswith(".parquet") for path in self.paths], np.bool_) & ~self.is_log

    @cached_property
    def by_name(self) -> Mapping[bytes, int]:
        """Index of each file name; AMBIGUOUS for a name that occurs in several partitions."""
        names = [path[path.rfind("/") + 1 :].encode() for path in self.paths]
        found = dict(zip(names, range(len(names)), strict=True))
        if len(found) < len(names):
            found.update((name, self.AMBIGUOUS) for name, many in Counter(names).items() if many > 1)
        return found

    @cached_property
    def by_partition(self) -> Mapping[tuple[bytes, bytes], int]:
        """Index of each (partition id, file name), for names that are ambiguous."""
        return {
            (partition_id(self.partitions[file_index]), path.rpartition("/")[2].encode()): file_index
            for file_index, path in enumerate(self.paths)
            if self.by_name[path.rpartition("/")[2].encode()] == self.AMBIGUOUS
        }
