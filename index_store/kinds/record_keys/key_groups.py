"""A partition of the metadata table in which a hash of the key picks the file group, such as ``record_index``.

A key counts as missing only when its file group was read. So all groups must exist, numbered without a gap, and so must
every file that a commit says it wrote. The groups of a partitioned record index are
numbered within each partition of the table, whose escaped path stands in their file ids:

    record-index-0003-0            group 3
    record-index-p%3Dp0-0001-0     group 1 of partition p=p0     (``HoodieTableMetadataUtil.getFileIDForFileGroup``)

A delete block says which keys are gone, and has no checksum: a changed byte makes it name another key. It is believed
where keys are counted or compared with other indexes. It is not believed where a key is looked up without such a proof:
then the record below it counts, so that at most a file too many is kept (``past_deletes``).

A group stays open after a look-up, its log files in memory, until later ones need the room.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from itertools import islice
from urllib.parse import unquote

from index_store.formats.hfile import HFile, entries
from index_store.formats.hfile_search import BlockCache, HFileSearch
from index_store.storage.errors import FormatError, TableError, naming_table
from index_store.storage.storage import READ_WHOLE
from index_store.table.file_slices import FileSlice
from index_store.table.metadata_table import Deletes, MetadataTable, Records

__all__ = ["KeyGroups", "OpenGroup"]

_GROUP = re.compile(r".*?-(\d{4,})(?:-\d+)?")
_GROUP_OF_PARTITION = re.compile(r"record-index-([^-]*)-(\d{4,})-\d+")
#: Inflated blocks that are kept, and stored bytes of open groups, for one index.
BLOCK_BYTES, OPEN_BYTES = 64 << 20, 256 << 20

#: Which partition of the table a group is for ("" unless the index is partitioned), and its number there.
GroupName = tuple[str, int]


class OpenGroup:
    """One open file group: looks up keys in its base file and log files. Methods raise TableError, FormatError."""

    def __init__(self, metadata: MetadataTable, group: FileSlice, cache: BlockCache) -> None:
        self._stack = ExitStack()
        self._cache = cache
        self.bytes = 0
        self.base: HFileSearch | None = None
        if group.base_file:
            path = metadata.storage.absolute(group.base_file)
            source = self._stack.enter_context(metadata.storage.open(group.base_file))
            with naming_table(path):
                self.base = HFileSearch(HFile.open(source), cache, path)
            self.bytes += source.size if source.size <= READ_WHOLE else 200 * len(self.base.hfile.index)
        #: What lies on top of the base file, the latest first: records, or the keys that are deleted.
        self.logs: list[HFileSearch | frozenset[bytes]] = []
        for layer in metadata.layers(replace(group, base_file=None)):
            if isinstance(layer, Deletes):
                self.logs.append(frozenset(key.encode("utf-8", "surrogatepass") for key in layer.keys))
            else:
                self.logs.append(HFileSearch(layer.hfile, cache, layer.path))
                self.bytes += layer.hfile.source.size
        self.logs.reverse()

    def find(self, key: bytes, *, past_deletes: bool = False) -> tuple[HFileSearch, bytes, int, int] | None:
        """The file, block and position of the group's last record of a key; None when it has none.

        ``past_deletes``: the record below a delete block counts. A key in such a block has no checksum.
        """
        for layer in self.logs if self.base is None else (*self.logs, self.base):
            if isinstance(layer, frozenset):
                if key in layer and not past_deletes:
                    return None
                continue
            try:
                place = layer.find(key)
            except FormatError as error:
                raise TableError(layer.path, str(error)) from error
            if place is not None:
                return None if place[1] == place[2] else (layer, *place)
        return None

    def starting_with(self, prefix: bytes, most: int, *, past_deletes: bool = False) -> set[bytes] | None:
        """The live keys with a prefix; None when a file has more than ``most`` of them.

        ``past_deletes``: with those that a delete block removes.
        """
        found: set[bytes] = set()
        gone: set[bytes] = set()
        for layer in self.logs if self.base is None else (*self.logs, self.base):
            if isinstance(layer, frozenset):
                gone.update(() if past_deletes else layer - found)
                continue
            with naming_table(layer.path):
                last = {key: end > start for key, _, start, end in islice(layer.starting_with(prefix), most + 1)}
            if len(last) > most:
                return None
            found.update(key for key, live in last.items() if live and key not in gone)
            gone.update(key for key, live in last.items() if not live and key not in found)
        return found

    def forget(self) -> None:
        """Drop the group's blocks. The base file is closed with the last reference to the group."""
        for layer in self.logs if self.base is None else (*self.logs, self.base):
            if isinstance(layer, HFileSearch):
                self._cache.forget(layer)


class KeyGroups:
    """The file groups of one partition. Methods raise TableError and FormatError."""

    def __init__(self, metadata: MetadataTable, partition: str, *, partitioned: bool = False) -> None:
        self._metadata = metadata
        self._partitioned = partitioned
        self.partition = partition
        self._cache = BlockCache(BLOCK_BYTES)
        self._open: OrderedDict[GroupName, OpenGroup | None] = OrderedDict()

    def __len__(self) -> int:
        """The number of groups of an index that is not partitioned."""
        return self.sizes.get("", 0)

    @property
    def path(self) -> str:
        """Where the partition is, for messages."""
        return self._metadata.storage.absolute(self.partition)

    @cached_property
    def named(self) -> Mapping[GroupName, FileSlice | None]:
        """The file groups by name; a group of which nothing is committed is empty."""
        self._metadata.check_complete(self.partition)
        committed = {group.file_id: group for group in self._metadata.groups(self.partition)}
        groups: dict[GroupName, FileSlice | None] = {}
        for file_id in self._metadata.group_ids(self.partition):
            name = self._name(file_id)
            if name is None or name in groups:
                raise TableError(self.path, f"{file_id} is not the name of one of its file groups")
            groups[name] = committed.get(file_id)
        if not groups:
            raise TableError(self.path, f"file groups of {self.partition} are missing")
        return groups

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """How many groups each partition of the table has; one entry, "", unless the index is partitioned."""
        numbers: dict[str, set[int]] = {}
        for partition, number in self.named:
            numbers.setdefault(partition, set()).add(number)
        if any(found != set(range(len(found))) for found in numbers.values()):
            raise TableError(self.path, f"file groups of {self.partition} are missing")
        return {partition: len(found) for partition, found in numbers.items()}

    def _name(self, file_id: str) -> GroupName | None:
        if self._partitioned:
            match = _GROUP_OF_PARTITION.fullmatch(file_id)
            return (unquote(match[1], errors="strict"), int(match[2])) if match else None
        match = _GROUP.fullmatch(file_id)
        return ("", int(match[1])) if match else None

    def opened(self, name: GroupName) -> OpenGroup | None:
        """A group, open; None when nothing of it is committed."""
        _ = self.sizes  # a group that is missing is noticed before any answer
        if name in self._open:
            self._open.move_to_end(name)
            return self._open[name]
        group = self.named[name]
        found = self._open[name] = None if group is None else OpenGroup(self._metadata, group, self._cache)
        while len(self._open) > 1 and sum(one.bytes for one in self._open.values() if one) > OPEN_BYTES:
            _, oldest = self._open.popitem(last=False)
            if oldest is not None:
                oldest.forget()
        return found

    def begin(self) -> None:
        """Start to read the small files of all groups."""
        self._metadata.storage.begin([path for group in self.named.values() if group for path in group.files])

    def layers(self, name: GroupName) -> Iterator[Records | Deletes]:
        """The records and deletions of one group, oldest first."""
        _ = self.sizes
        group = self.named[name]
        return iter(()) if group is None else self._metadata.layers(group)

    def keys(self, limit: int) -> Iterator[tuple[GroupName, set[bytes]]]:
        """Each group's name and its live keys; ends early, after the group that takes the sum above ``limit``."""
        total = 0
        self.begin()
        for name in self.named:
            live: set[bytes] = set()
            for layer in self.layers(name):
                if isinstance(layer, Deletes):
                    live.difference_update(key.encode("utf-8", "surrogatepass") for key in layer.keys)
                else:
                    for block in layer.hfile.blocks():
                        for key, start, end in entries(block):
                            (live.add if end > start else live.discard)(key)
                if total + len(live) > limit:
                    break
            total += len(live)
            yield name, live
            if total > limit:
                return

    def sample(self, blocks: int, entries_of_block: int) -> Iterator[tuple[GroupName, bytes]]:
        """Group and key of live entries from blocks that are spread evenly over the base files."""
        self.begin()
        stored = [(name, group.base) for name in self.named if (group := self.opened(name)) is not None and group.base]
        every = [(name, base, number) for name, base in stored for number in range(len(base.hfile.index))]
        for name, base, number in every[:: max(1, len(every) // blocks)]:
            with naming_table(base.path):
                keys = [key for key, _, _ in entries(base.hfile.block(number).inflated())]
            group = self.opened(name)
            assert group is not None
            for key in keys[:: max(1, len(keys) // entries_of_block)]:
                if group.find(key) is not None:
                    yield name, key

    def count(self, most_in_logs: int) -> int | None:
        """The number of live keys, from the number of entries in each base file's trailer.

        Hudi's writers refuse a key twice in one file, and compaction leaves deletions out, so entries are live keys.
        Of the keys in log files each is looked for in the base file; None when they are more than ``most_in_logs``.
        """
        total = left = 0
        self.begin()
        for name in self.named:
            group = self.opened(name)
            if group is None:
                continue
            on_top: dict[bytes, bool] = {}
            for layer in group.logs:  # the latest first
                if isinstance(layer, frozenset):
                    for key in layer:
                        on_top.setdefault(key, False)
                    continue
                if len(on_top) + layer.hfile.entry_count > most_in_logs:
                    return None
                in_file: dict[bytes, bool] = {}
                with naming_table(layer.path):
                    for block in layer.hfile.blocks():
                        in_file.update((key, end > start) for key, start, end in entries(block))
                for key, live in in_file.items():
                    on_top.setdefault(key, live)
            left += len(on_top)
            if left > most_in_logs:
                return None
            base = group.base
            total += 0 if base is None else base.hfile.entry_count
            for key in sorted(on_top):
                before = base is not None and base.find(key) is not None
                total += on_top[key] - before
        return total
