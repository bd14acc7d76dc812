"""A partition of the metadata table in which a hash of the key picks the file group, such as ``record_index``.

Nobody can tell a key that is missing from a key that is in a file group nobody looked into. So all groups must be
there, numbered without a gap, and every file that a commit says it wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from index_store.errors import TableError
from index_store.file_slices import FileSlice
from index_store.formats.hfile import entries
from index_store.metadata_table import Deletes, MetadataTable, Records

__all__ = ["KeyGroups"]

_GROUP = re.compile(r".*?-(\d{4,})(?:-\d+)?")


class KeyGroups:
    """The file groups of one partition. Methods raise TableError and FormatError."""

    def __init__(self, metadata: MetadataTable, partition: str) -> None:
        self._metadata = metadata
        self.partition = partition

    def __len__(self) -> int:
        return len(self.numbered)

    @property
    def path(self) -> str:
        """Where the partition is, for messages."""
        return self._metadata.storage.absolute(self.partition)

    @cached_property
    def numbered(self) -> Mapping[int, FileSlice | None]:
        """The file groups by number; a group of which nothing is committed is empty."""
        self._metadata.check_complete(self.partition)
        committed = {group.file_id: group for group in self._metadata.groups(self.partition)}
        groups: dict[int, FileSlice | None] = {}
        for file_id in self._metadata.group_ids(self.partition):
            match = _GROUP.fullmatch(file_id)
            if match:
                groups[int(match[1])] = committed.get(file_id)
        if not groups or sorted(groups) != list(range(len(groups))):
            raise TableError(self.path, f"file groups of {self.partition} are missing")
        return groups

    def layers(self, number: int) -> Iterator[Records | Deletes]:
        """The records and deletions of one group, oldest first."""
        group = self.numbered[number]
        return iter(()) if group is None else self._metadata.layers(group)

    def keys(self, limit: int) -> Iterator[tuple[int, set[bytes]]]:
        """Each group's number and its live keys; ends early, after the group that takes the sum above ``limit``."""
        total = 0
        for number in self.numbered:
            live: set[bytes] = set()
            for layer in self.layers(number):
                if isinstance(layer, Deletes):
                    live.difference_update(key.encode("utf-8", "surrogatepass") for key in layer.keys)
                else:
                    for block in layer.hfile.blocks():
                        for key, start, end in entries(block):
                            (live.add if end > start else live.discard)(key)
                if total + len(live) > limit:
                    break
            total += len(live)
            yield number, live
            if total > limit:
                return
