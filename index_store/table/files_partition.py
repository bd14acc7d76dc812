"""The ``files`` partition of the metadata table, as columns: for each partition of the table its files and their sizes.

    key                    value: a map from name to (size, isDeleted)
    __all_partitions__     the partition paths
    a partition path       the files of that partition ("." for a table without partitions)

One partition costs its own record: the key is looked up in the index of each HFile, and other blocks are not read.
Records go on top of each other as in ``HoodieMetadataPayload``: a deletion removes a name, a size only grows.

Facts: docs/facts/hudi-metadata-table.md#merging-records-of-the-metadata-table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.arrow_arrays import to_arrow, to_text
from evaluator.language.records import entity, record
from index_store.formats.file_map import FileMap, records_of
from index_store.formats.keys import NON_PARTITIONED
from index_store.storage.errors import TableError, naming_table
from index_store.table.file_slices import FileSlice
from index_store.table.metadata_table import ALL_PARTITIONS, MetadataTable, Records

__all__ = ["PARTITION", "DataFile", "PartitionFiles", "read_files", "read_partitions"]

PARTITION = "files"
#: What a record says of a key; None removes it.
Change = FileMap | None


@record
class DataFile:
    """A file of a partition: its name without directory, and its size in bytes."""

    name: str
    size: int


@entity
class PartitionFiles(Sequence[DataFile]):
    """Files of one partition, by name.

    names   ``(n,) pyarrow string``, ascending
    sizes   ``(n,) int64``, bytes
    """

    names: pa.StringArray
    sizes: npt.NDArray[np.int64]

    @classmethod
    def of(cls, sizes: Mapping[str, int]) -> PartitionFiles:
        """From sizes by name, in any order."""
        names = sorted(sizes)
        return cls(to_text(names), np.fromiter([sizes[name] for name in names], np.int64, len(names)))

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, index: int) -> DataFile: ...

    @overload
    def __getitem__(self, index: slice) -> PartitionFiles: ...

    def __getitem__(self, index: int | slice) -> DataFile | PartitionFiles:
        if isinstance(index, slice):
            return PartitionFiles(self.names[index], self.sizes[index])
        return DataFile(self.names[index].as_py(), int(self.sizes[index]))

    def __iter__(self) -> Iterator[DataFile]:
        return map(DataFile, self.names.to_pylist(), self.sizes.tolist())

    def __repr__(self) -> str:
        return f"PartitionFiles({len(self)} files, {self.bytes} bytes)"

    @property
    def bytes(self) -> int:
        """The sum of the sizes."""
        return int(self.sizes.sum())

    def where(self, mask: npt.NDArray[np.bool_]) -> PartitionFiles:
        """The files at which the ``(n,)`` mask is true."""
        return self if mask.all() else PartitionFiles(self.names.filter(to_arrow(mask)), self.sizes[mask])


def read_partitions(metadata: MetadataTable) -> tuple[str, ...]:
    """The partition paths of the table, in order; ("",) for a table without partitions. Raises TableError."""
    found = dict(_merged(metadata, [ALL_PARTITIONS])).get(ALL_PARTITIONS)
    if found is None:
        if metadata.data_timeline.last is None:
            return ()
        raise TableError(metadata.storage.absolute(PARTITION), "the list of partitions is missing")
    return tuple(sorted("" if name == NON_PARTITIONED else name for name in found.names.to_pylist()))


def read_files(metadata: MetadataTable, partitions: Collection[str] | None = None) -> dict[str, PartitionFiles]:
    """The files of some partitions (None: of every one that has a record) by partition path. Raises TableError.

    A partition without a record is left out; ``read_partitions`` lists all partitions.
    """
    keys = None if partitions is None else [one or NON_PARTITIONED for one in partitions]
    return {
        "" if key == NON_PARTITIONED else key: files for key, files in _merged(metadata, keys) if key != ALL_PARTITIONS
    }


def _merged(metadata: MetadataTable, keys: Sequence[str] | None) -> Iterator[tuple[str, PartitionFiles]]:
    """Each key with its files, all layers of its file group on top of each other; one base record at a time."""
    metadata.check_complete(PARTITION)
    for group in metadata.groups(PARTITION):
        on_top: dict[str, list[Change]] = {}
        for key, change in _changes(metadata, replace(group, base_file=None), keys):
            on_top.setdefault(key, []).append(change)
        for key, change in _changes(metadata, replace(group, log_files=()), keys):
            found = _united([change, *on_top.pop(key, ())])
            if found is not None:
                yield key, found
        for key, changes in on_top.items():  # partitions that are newer than the base file
            found = _united(changes)
            if found is not None:
                yield key, found


def _united(changes: Sequence[Change]) -> PartitionFiles | None:
    """The changes on top of each other, oldest first; None when the last one removes all."""
    found: dict[str, int] | None = None
    for change in changes:
        if change is None:
            found = None
            continue
        found = {} if found is None else found
        change.put_on(found)
    return None if found is None else PartitionFiles.of(found)


def _changes(metadata: MetadataTable, group: FileSlice, keys: Sequence[str] | None) -> Iterator[tuple[str, Change]]:
    """The changes of the keys (None: all keys) in the layers of a file group, oldest first."""
    for layer in metadata.layers(group):
        assert isinstance(layer, Records), "refuse_deletes let none through"
        with naming_table(layer.path):
            yield from records_of(layer.hfile, keys)
