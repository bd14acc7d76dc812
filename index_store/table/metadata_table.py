"""Hudi's metadata table: a Hudi table of HFiles inside the table, one directory ("partition") for each index.

These parts of it are read (docs/facts/hudi-metadata-table.md#which-log-blocks-count,
``HoodieTableMetadataUtil.getValidInstantTimestamps``):

* a partition that ``hoodie.table.metadata.partitions`` names and ``...partitions.inflight`` does not;
* of each file group, the latest committed base file and the log files on top of it (``file_slices``);
* of each log file, the blocks whose instant is completed in the table's own timeline, or completed in the metadata
  table's and not pending in the table's (index builds), and which no later rollback block takes back.

Every log file and base file that the metadata table's commits name must exist; ``check_complete`` raises otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from index_store.formats.avro_record import RecordReader, unwrap
from index_store.formats.hfile import HFile, entries
from index_store.formats.keys import NON_PARTITIONED
from index_store.formats.log_file import CDC, COMMAND, DELETE, HFILE_DATA, LogBlock, deleted_keys, read_log_blocks
from index_store.storage.errors import FormatError, TableError, naming_table
from index_store.storage.storage import Bytes, Storage
from index_store.table.file_slices import FileSlice, build_slices, parse_base_name, parse_log_name
from index_store.table.properties import HOODIE
from index_store.table.timeline import END_OF_TIME, WRITE_ACTIONS, Instant, Timeline, read_timeline

__all__ = ["METADATA", "Deletes", "MetadataTable", "Records", "timeline_directory"]

METADATA = f"{HOODIE}/metadata"
ALL_PARTITIONS = "__all_partitions__"
#: How instants begin that make a partition of the metadata table from what is there.
_INITIAL = "0" * 14


def timeline_directory(version: int, path: str = "") -> str:
    """Where a table of this version keeps its timeline, relative to its root."""
    return f"{HOODIE}/{path or 'timeline'}" if version >= 8 else HOODIE


@dataclass(frozen=True, slots=True)
class Records:
    """An HFile of one file group: the records of its base file, or of one log block. ``path`` is for messages."""

    path: str
    hfile: HFile


@dataclass(frozen=True, slots=True)
class Deletes:
    """Keys that a log block removes."""

    path: str
    keys: tuple[str, ...]


@dataclass(frozen=True)
class MetadataTable:
    """The committed state of one table's metadata table, read when it is used. Methods raise TableError."""

    storage: Storage
    version: int
    data_timeline: Timeline

    @cached_property
    def timeline(self) -> Timeline:
        """The metadata table's own timeline."""
        return read_timeline(self.storage.below(timeline_directory(self.version)))

    def lag(self) -> str:
        """Why the metadata table does not describe the table's latest commit, or "" when it does."""
        last = self.data_timeline.last
        if last is None:
            return ""
        if last.requested in self.timeline.by_name:
            return self._hole()
        if not self.timeline.writes:
            return "the metadata table has no completed commit"
        if self.version >= 8 and any(
            write.completed > last.completed and self._lists_files(write) for write in self.timeline.writes
        ):
            return ""  # built from a listing after that commit
        return f"the metadata table does not know the commit {last.requested}"

    def _lists_files(self, write: Instant) -> bool:
        """Whether a commit of the metadata table is the first of ``files``, made from a listing of the table."""
        return write.requested.startswith(_INITIAL) and "files" in (
            self.timeline.details(write).get("partitionToWriteStats") or {}
        )

    def _hole(self) -> str:
        """Why the metadata table lacks a commit between those that it knows, or ""."""
        names = [write.requested for write in self.data_timeline.writes]
        first = next((name for name in names if name in self.timeline.by_name), "")
        for name in names:
            if name > first and not self.timeline.is_committed(name):
                return f"the metadata table does not know the commit {name}, although it knows later ones"
        return ""

    def groups(self, partition: str) -> tuple[FileSlice, ...]:
        """The file groups of a partition, with the files that make up their latest state."""
        names = self._names(partition)
        if not names:
            raise TableError(self.storage.absolute(partition), "the metadata table's partition has no files")
        return build_slices(
            ((partition, name) for name in names),
            self.timeline,
            self.version,
            END_OF_TIME,
            doubtful=self._refuse_doubtful,
        )

    def _refuse_doubtful(self, partition: str, name: str) -> None:
        """Raises TableError: a log file that may be compacted could bring back records that were removed later."""
        history = self.timeline.history
        why = (history.fault if history else "") or "the history does not tell whether it is compacted"
        raise TableError(self.storage.absolute(f"{partition}/{name}"), why)

    def group_ids(self, partition: str) -> tuple[str, ...]:
        """The ids of all file groups, in order: a key's hash picks one of them (``keys.file_group``)."""
        names = self._names(partition)
        parsed = (parse_log_name(name) if name.startswith(".") else parse_base_name(name) for name in names)
        return tuple(sorted({name.file_id for name in parsed if name is not None}))

    def _names(self, partition: str) -> list[str]:
        """The files of a partition, listed once."""
        if partition not in self._listed:
            self._listed[partition] = [entry.path.rpartition("/")[2] for entry in self.storage.files(partition)]
        return self._listed[partition]

    @cached_property
    def _listed(self) -> dict[str, list[str]]:
        return {}

    @cached_property
    def _complete(self) -> set[str]:
        return set()

    def layers(self, group: FileSlice) -> Iterator[Records | Deletes]:
        """The records and deletions of a file group, oldest first: later ones go on top."""
        with self.storage.ahead(group.files):
            yield from self._layers(group)

    def all_layers(self, partition: str) -> Iterator[Records | Deletes]:
        """The layers of every file group of a partition, whose small files are fetched side by side."""
        groups = self.groups(partition)
        with self.storage.ahead([path for group in groups for path in group.files]):
            for group in groups:
                yield from self.layers(group)

    def _layers(self, group: FileSlice) -> Iterator[Records | Deletes]:
        if group.base_file:
            path = self.storage.absolute(group.base_file)
            with self.storage.open(group.base_file) as source:
                with naming_table(path):
                    hfile = HFile.open(source)
                yield Records(path, hfile)
        for path, block in self._blocks(group):
            with naming_table(path):
                if block.type == DELETE:
                    keys = tuple(deleted_keys(block.content))
                    if keys:
                        yield Deletes(path, keys)
                elif block.type == HFILE_DATA:
                    if block.content:
                        yield Records(path, HFile.open(Bytes(block.content)))
                else:
                    raise FormatError(f"a block of type {block.type} does not belong into the metadata table")

    def _blocks(self, group: FileSlice) -> Iterator[tuple[str, LogBlock]]:
        """The valid blocks of a group's log files. A rollback block takes back blocks before it, and no later retry."""
        found: list[tuple[str, LogBlock]] = []
        for name in group.log_files:
            path = self.storage.absolute(name)
            with naming_table(path):
                for block in read_log_blocks(self.storage.read(name)):
                    if block.type == COMMAND:
                        found = [one for one in found if one[1].instant != block.target]
                    elif block.type != CDC:
                        found.append((path, block))
        for path, block in found:
            if self.is_valid(block.instant):
                yield path, block

    def is_valid(self, instant: str) -> bool:
        """Whether the records that an instant wrote into the metadata table count."""
        if instant in self.data_timeline.by_name:
            return True
        if instant in self.data_timeline.pending:
            return False
        return instant in self.timeline.by_name or (
            self.timeline.is_committed(instant) and instant < self.data_timeline.start
        )

    def check_complete(self, partition: str) -> None:
        """Raise TableError when a file that a commit says it wrote into the partition is not there.

        Commits from the one that made the partition's newest base file on are checked; older files may be cleaned.
        """
        if partition in self._complete:
            return
        names = set(self._names(partition))
        since = ""
        for name in names:
            base = parse_base_name(name)
            made = self.timeline.by_name.get(base.instant) if base else None
            if made is not None:
                since = max(since, made.completed if made.action == "deltacommit" else made.requested)
        checked = [
            instant
            for instant in self.timeline.instants
            if instant.action in WRITE_ACTIONS and instant.completed >= since
        ]
        with self.timeline.ahead(checked):
            for instant in checked:
                stats = self.timeline.details(instant).get("partitionToWriteStats") or {}
                for stat in stats.get(partition, ()):
                    path = stat.get("path") or ""
                    if path and path.rpartition("/")[2] not in names:
                        raise TableError(self.storage.absolute(path), f"written by {instant.requested}, but missing")
        self._complete.add(partition)

    def files(self) -> dict[str, dict[str, int]]:
        """The ``files`` partition: for each partition path ("" if the table has none) its files and their sizes."""
        self.check_complete("files")
        found: dict[str, dict[str, int]] = {}
        dropped: set[str] = set()
        for group in self.groups("files"):
            for layer in self.layers(group):
                if isinstance(layer, Deletes):
                    for key in layer.keys:
                        found.pop(key, None)
                else:
                    with naming_table(layer.path):
                        _merge_files(layer.hfile, found, dropped)
        known = found.pop(ALL_PARTITIONS, None)
        if known is None and self.data_timeline.last is not None:
            raise TableError(self.storage.absolute("files"), "the list of partitions is missing")
        return {
            "" if partition == NON_PARTITIONED else partition: files
            for partition, files in found.items()
            if partition not in dropped
        }


def _merge_files(hfile: HFile, found: dict[str, dict[str, int]], dropped: set[str]) -> None:
    """Put the records of one layer on top: a deletion removes a name, a size only grows (HoodieMetadataPayload)."""
    reader = RecordReader(hfile.schema)
    for block in hfile.blocks():
        for raw, start, end in entries(block):
            try:
                key = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                raise FormatError("a key is not text") from error
            if start == end:
                found.pop(key, None)
                continue
            record = reader.read(block[start:end])
            files = found.setdefault(key, {})
            for name, info in (unwrap(record.get("filesystemMetadata")) or {}).items():
                deleted = info["isDeleted"]
                if deleted:
                    files.pop(name, None)
                else:
                    files[name] = max(files.get(name, 0), info["size"])
                if key == ALL_PARTITIONS:
                    (dropped.add if deleted else dropped.discard)(name)
