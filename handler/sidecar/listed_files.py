"""The files of a view as a listing: their lengths, and the partition of each slice.

Only a listing that is certain is given to an engine, which cannot know what is not in it. The names must come from the
table's metadata table, without a doubt (``FileSlices.note``); every file must have a length there; and no base file may
be of a bootstrap, whose other columns are in files elsewhere.

Facts: docs/facts/hudi-metadata-table.md#merging-records-of-the-metadata-table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evaluator.language.errors import SargoError
from evaluator.language.records import frozen
from handler.sidecar.request_matching import ViewFiles
from index_store import Table
from index_store.table.file_slices import FileSlice
from index_store.table.files_partition import read_partitions
from index_store.table.listing import FROM_METADATA

__all__ = ["ListedFiles", "NotListed"]

#: Properties of a table that a bootstrap made.
_BOOTSTRAP = ("hoodie.bootstrap.base.path",)


class NotListed(SargoError):  # noqa: N818 - a state, not a fault of the caller
    """The files of this table are for the engine to list. ``why``: without data values."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@frozen(slots=False, eq=False)
class ListedFiles:
    """The f files of the n slices of a view, in its order.

    lengths        ``(f,) int64``: bytes
    partition_of   ``(n,) int32``: the number of the slice's partition
    numbers        the number of each partition of the table, those without a file as well
    """

    lengths: npt.NDArray[np.int64]
    partition_of: npt.NDArray[np.int32]
    numbers: Mapping[str, int]

    @classmethod
    def of(cls, files: ViewFiles, table: Table) -> ListedFiles:
        """Raises NotListed, and TableError when the metadata table cannot be read."""
        slices = files.slices
        if slices.note:
            raise NotListed(f"its files are in doubt: {slices.note}")
        if slices.source != FROM_METADATA:
            raise NotListed("it has no metadata table")
        if any(table.properties.get(name) for name in _BOOTSTRAP) or bool((files.count < 0).any()):
            raise NotListed("it was bootstrapped")
        metadata = table.metadata
        assert metadata is not None, "the slices are from it"
        numbers = {partition: number for number, partition in enumerate(read_partitions(metadata))}
        lengths, partition_of = _of_slices(slices, metadata.files(), numbers)
        if len(lengths) and int(lengths.min()) <= 0:  # no file of rows is empty
            raise NotListed("the metadata table has no length of some of its files")
        if len(slices) and int(partition_of.min()) < 0:
            raise NotListed("the metadata table does not list some of its partitions")
        return cls(lengths, partition_of, numbers)

    @property
    def nbytes(self) -> int:
        """Bytes of memory; 200 for each partition."""
        return self.lengths.nbytes + self.partition_of.nbytes + 200 * len(self.numbers)

    @cached_property
    def _parents(self) -> frozenset[str]:
        """The folders that partitions lie below, without the base path."""
        parents: set[str] = set()
        for partition in self.numbers:
            parent = partition.rpartition("/")[0]
            while parent and parent not in parents:
                parents.add(parent)
                parent = parent.rpartition("/")[0]
        return frozenset(parents)

    def unknown(self, asked: Iterable[str]) -> list[str]:
        """Those of these folders that are no partitions of the table, and have none below them.

        The base path is never among them, nor a text that is no folder's name: ``of_partitions`` does not accept these.
        """
        return [
            name
            for name in asked
            if name not in self.numbers
            and name not in self._parents
            and not any(segment in ("", ".", "..") for segment in name.split("/"))
        ]

    def of_partitions(self, asked: list[str]) -> npt.NDArray[np.bool_]:
        """``(n,) bool``: the slices of these partitions. Raises NotListed when one is not the table's.

        And when partitions lie below one: Hudi lists these with it. The base path, "", stands for itself alone.
        """
        wanted = np.zeros(len(self.numbers), np.bool_)
        for name in asked:
            number = self.numbers.get(name)
            if number is None:
                raise NotListed("the metadata table does not know one of the partitions that are asked for")
            if name in self._parents:
                raise NotListed("partitions lie below one that is asked for")
            wanted[number] = True
        chosen: npt.NDArray[np.bool_] = wanted[self.partition_of]
        return chosen


def _of_slices(
    slices: Iterable[FileSlice], known: Mapping[str, Mapping[str, int]], numbers: Mapping[str, int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """``(f,)`` lengths of the files of all slices, 0 of one that is not known; ``(n,)`` partitions of slices, or -1."""
    lengths: list[int] = []
    partition_of: list[int] = []
    for item in slices:  # a snapshot makes each slice whenever it is asked for
        sizes = known.get(item.partition, {})
        name = len(item.partition) + 1 if item.partition else 0
        lengths += [sizes.get(path[name:], 0) for path in item.files]
        partition_of.append(numbers.get(item.partition, -1))
    return np.array(lengths, np.int64), np.array(partition_of, np.int32)
