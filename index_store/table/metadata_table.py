"""Hudi's metadata table: a Hudi table of HFiles inside the table, one directory ("partition") for each index.

These parts of it are read (docs/facts/hudi-metadata-table.md#which-log-blocks-count,
``HoodieTableMetadataUtil.getValidInstantTimestamps``):

* a partition that ``hoodie.table.metadata.partitions`` names and ``...partitions.inflight`` does not;
* of each file group, the latest committed base file and the log files on top of it (``file_slices``);
* of each log file, the blocks whose instant is completed in the table's own timeline, or completed in the metadata
  table's and not pending in the table's (index builds), and which no later rollback block takes back.

Every log file and base file that the metadata table's commits name must exist; ``check_complete`` raises otherwise.
Instants and numbers of records are cross-checked (``log_checks``, C10).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

from evaluator.language.records import frozen
from index_store.formats.file_map import records_of
from index_store.formats.hfile import HFile
from index_store.formats.keys import NON_PARTITIONED
from index_store.storage.errors import FormatError, TableError, naming_table
from index_store.storage.storage import Storage
from index_store.table.file_slices import FileSlice, build_slices, file_id_of, parse_base_name, parse_log_name
from index_store.table.listing_checks import missing_saved
from index_store.table.log_checks import (
    Deletes,
    LoggedBlock,
    Records,
    Written,
    check_counts,
    read_layers,
    refuse_deletes,
    without_rolled_back,
)
from index_store.table.properties import HOODIE
from index_store.table.timeline import END_OF_TIME, WRITE_ACTIONS, Instant, Timeline, read_timeline

__all__ = ["MAX_LOG", "METADATA", "Deletes", "MetadataTable", "Records", "timeline_directory"]

METADATA = f"{HOODIE}/metadata"
ALL_PARTITIONS = "__all_partitions__"
#: Bytes of a log file. Those of real tables have some megabytes; a larger one is not held in memory.
MAX_LOG = 512 << 20
#: How instants begin that make a partition of the metadata table from what is there.
_INITIAL = "0" * 14


def timeline_directory(version: int, path: str = "") -> str:
    """Where a table of this version keeps its timeline, relative to its root."""
    return f"{HOODIE}/{path or 'timeline'}" if version >= 8 else HOODIE


@frozen(slots=False)
class MetadataTable:
    """The committed state of one table's metadata table, read when it is used. Methods raise TableError.

    ``upgraded``: the table may have log files of version 6, whose names do not carry the instants of their blocks.
    """

    storage: Storage
    version: int
    data_timeline: Timeline
    upgraded: bool = True

    @cached_property
    def timeline(self) -> Timeline:
        """The metadata table's own timeline."""
        return read_timeline(self.storage.below(timeline_directory(self.version)))

    def lag(self) -> str:
        """Why the metadata table does not describe the table's latest commit, or "" when it does.

        After a restore one that lacks what a savepoint keeps describes none.
        """
        return self._missed() or self._unsaved

    @cached_property
    def _unsaved(self) -> str:
        why = missing_saved(self.data_timeline, self.files)
        return f"the metadata table {why}" if why else ""

    def _missed(self) -> str:
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
        """Why the metadata table lacks a commit that it once knew, or "".

        It completes a commit before the table does. So it knows what completed after its first listing, and none of
        the table's completed commits is pending in it.
        """
        writes = self.data_timeline.writes
        first = next((write.requested for write in writes if write.requested in self.timeline.by_name), "")
        built = [write.completed for write in self.timeline.writes if write.requested.startswith(_INITIAL)]
        for write in writes:
            name = write.requested
            was_known = (
                name > first
                or name in self.timeline.pending
                or (self.version >= 8 and bool(built) and write.completed > min(built))
            )
            if was_known and not self.timeline.is_committed(name):
                return f"the metadata table does not know the commit {name}, although it knows later ones"
        return ""

    def groups(self, partition: str) -> tuple[FileSlice, ...]:
        """The file groups of a partition, with the files that make up their latest state."""
        names = self._names(partition)
        if not names:
            raise TableError(self.storage.absolute(partition), "the metadata table's partition has no files")
        return build_slices(
            {partition: names},
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
        ids = map(file_id_of, self._names(partition))
        return tuple(sorted({file_id for file_id in ids if file_id is not None}))

    def _names(self, partition: str) -> list[str]:
        """The files of a partition, listed once."""
        if partition not in self._listed:
            self._listed[partition] = [entry.path.rpartition("/")[2] for entry in self.storage.files(partition)]
        return self._listed[partition]

    @cached_property
    def _listed(self) -> dict[str, list[str]]:
        return {}

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
        blocks = self._blocks(group)  # checked before anything of them is believed
        if group.base_file:
            path = self.storage.absolute(group.base_file)
            with self.storage.open(group.base_file) as source:
                with naming_table(path):
                    hfile = HFile.open(source)
                    self._check_base(group.base_file, hfile)
                yield Records(path, hfile)
        for block in blocks:
            if block.layer is not None and block.count:
                yield block.layer

    def _blocks(self, group: FileSlice) -> list[LoggedBlock]:
        """The valid blocks of a group's log files. A rollback block takes back blocks before it, and no later retry."""
        if not group.log_files:
            return []
        partition = group.log_files[0].partition("/")[0]
        read = [block for name in group.log_files for block in self.read_blocks(name)]
        found, targets = without_rolled_back(read)
        valid = [block for block in found if self.counts(block, targets)]
        self.check_complete(partition)
        files = {name.rpartition("/")[2]: self.storage.absolute(name) for name in group.log_files}
        check_counts(found, files, *self._written.get(partition, ({}, frozenset())))
        if partition == "files":
            refuse_deletes(valid)
        return valid

    def read_blocks(self, name: str) -> list[LoggedBlock]:
        """The blocks of a log file; their instant is compared with its name, where that carries it."""
        path, file = self.storage.absolute(name), name.rpartition("/")[2]
        log = parse_log_name(file)
        instant = log.instant if log is not None and not self.upgraded else ""
        return read_layers(self.storage.read(name, MAX_LOG), file, path, instant)

    def counts(self, block: LoggedBlock, rolled_back: Collection[str]) -> bool:
        """Whether a block counts. Raises TableError when nothing explains its instant."""
        if self.is_valid(block.instant):
            return True
        known = (self.data_timeline.pending, self.timeline.pending, rolled_back)
        if not block.count or any(block.instant in instants for instants in known) or self._is_new(block.instant):
            return False
        raise TableError(block.path, f"a block of instant {block.instant}, which is in no timeline")

    def _is_new(self, instant: str) -> bool:
        """Whether an instant began after the timeline was read; version 6 appends to log files that are listed."""
        return self.upgraded and any(instant in names for names in (self._newest.by_name, self._newest.pending))

    @cached_property
    def _newest(self) -> Timeline:
        """The metadata table's timeline, listed again."""
        return read_timeline(self.storage.afresh().below(timeline_directory(self.version)))

    def _check_base(self, name: str, hfile: HFile) -> None:
        """Raises FormatError when a base file has not as many records as its commit says."""
        partition, _, file = name.rpartition("/")
        base = parse_base_name(file)
        self.check_complete(partition)
        written, _ = self._written.get(partition, ({}, None))
        said = written.get(file, {}).get(base.instant) if base else None
        if said is not None and said.records not in (None, hfile.entry_count):
            raise FormatError(f"it has {hfile.entry_count} entries, its commit says {said.records}")

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
        What they say of each file is kept, to be held against its content.
        """
        if partition in self._written:
            return
        names = set(self._names(partition))
        checked = self.commits_of(partition)
        written: dict[str, dict[str, Written]] = {}
        with self.timeline.ahead([instant for instant in checked if instant.file not in self._details]):
            for instant in checked:
                for file, said in self._written_by(instant).get(partition, {}).items():
                    if file not in names:
                        path = self.storage.absolute(f"{partition}/{file}")
                        raise TableError(path, f"written by {instant.requested}, but missing")
                    written.setdefault(file, {})[instant.requested] = said
        self._written[partition] = written, frozenset(one.requested for one in checked if self._written_by(one))

    def commits_of(self, partition: str) -> list[Instant]:
        """The commits whose files in a partition must all be there."""
        since = self._begin(self._names(partition))
        return [
            instant
            for instant in self.timeline.instants
            if instant.action in WRITE_ACTIONS and instant.completed >= since
        ]

    def _begin(self, names: Collection[str]) -> str:
        """From which instant on every file that a commit wrote into a partition is there: its newest base file.

        Without one, the oldest log file: a partition that is dropped and made again starts with empty log files.
        """
        since, logged = "", []
        for name in names:
            base = parse_base_name(name)
            made = self.timeline.by_name.get(base.instant) if base else None
            if made is not None:
                since = max(since, made.completed if made.action == "deltacommit" else made.requested)
            elif name.startswith(".") and (log := parse_log_name(name)) is not None:
                logged.append(log.instant)
        return since or min(logged, default="")

    def _written_by(self, instant: Instant) -> Mapping[str, Mapping[str, Written]]:
        """What a commit says it wrote, by partition and name of the file. It is decoded once."""
        found = self._details.get(instant.file)
        if found is None:
            stats = self.timeline.details(instant).get("partitionToWriteStats") or {}
            try:
                found = {
                    partition: {
                        stat["path"].rpartition("/")[2]: Written(stat.get("numWrites"), stat.get("numDeletes"))
                        for stat in some
                        if stat.get("path")
                    }
                    for partition, some in stats.items()
                }
            except (AttributeError, KeyError, TypeError) as error:
                path = self.storage.absolute(instant.file)
                raise TableError(path, f"its write statistics cannot be understood: {error}") from error
            self._details[instant.file] = found
        return found

    @cached_property
    def _written(self) -> dict[str, tuple[dict[str, dict[str, Written]], frozenset[str]]]:
        """By partition: what the checked commits wrote, by file and instant; the instants that say what they wrote."""
        return {}

    @cached_property
    def _details(self) -> dict[str, Mapping[str, Mapping[str, Written]]]:
        return {}

    def files(self) -> dict[str, dict[str, int]]:
        """The ``files`` partition: for each partition path ("" if the table has none) its files and their sizes."""
        self.check_complete("files")
        found: dict[str, dict[str, int]] = {}
        dropped: set[str] = set()
        for group in self.groups("files"):
            for layer in self.layers(group):
                assert isinstance(layer, Records), "refuse_deletes let none through"
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
    """Put the records of one layer on top."""
    for key, change in records_of(hfile):
        if change is None:
            found.pop(key, None)
            continue
        change.put_on(found.setdefault(key, {}))
        if key == ALL_PARTITIONS:
            for name, size in change.changes().items():
                (dropped.add if size is None else dropped.discard)(name)
