"""The files that came and went between two states of a table, read from the instants that completed in between.

    completed in between                                    result
    ------------------------------------------------------  -----------------------------------------------------------
    commit, deltacommit, replacecommit, clean, savepoint    a ``TimelineDiff``: the files they wrote, replaced, removed
    anything else (rollback, restore, indexing, ...)        ``NotIncremental``: the caller reads everything again

Names of files come from the blocks that these instants wrote into the ``files`` partition of the metadata table;
replaced file groups come from the instants themselves. A block that is missing or unexpected raises ``NotIncremental``.

Facts: docs/facts/hudi-metadata-table.md, docs/facts/hudi-timeline.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from index_store.formats.file_map import FileMap, records_of
from index_store.formats.hfile import HFile
from index_store.formats.keys import NON_PARTITIONED
from index_store.formats.log_file import CDC, COMMAND, DELETE, HFILE_DATA, LogBlock, deleted_keys, read_log_blocks
from index_store.snapshots.state import State
from index_store.storage.byte_source import Bytes
from index_store.storage.errors import naming_table
from index_store.table.file_slices import file_id_of, parse_log_name
from index_store.table.files_partition import PARTITION as FILES
from index_store.table.metadata_table import ALL_PARTITIONS, MAX_LOG, Deletes, MetadataTable, Records
from index_store.table.reads import begin_changes
from index_store.table.timeline import WRITE_ACTIONS

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["NotIncremental", "TimelineDiff", "new_layers", "timeline_diff"]

_KNOWN = WRITE_ACTIONS | {"clean", "savepoint"}
#: The services of a metadata table change no record.
_KNOWN_OF_METADATA = WRITE_ACTIONS | {"clean", "compaction", "logcompaction"}

Group = tuple[str, str]


class NotIncremental(Exception):  # noqa: N818  (no error: everything is read again)
    """Why the changes between two states do not follow from the instants between them."""


@dataclass(slots=True)
class TimelineDiff:
    """Names of files by file group (partition, file id), and the file groups that were replaced.

    ``instants`` completed after the earlier state; savepoints are left out.
    """

    instants: frozenset[str]
    added: dict[Group, list[str]] = field(default_factory=dict)
    removed: dict[Group, set[str]] = field(default_factory=dict)
    replaced: set[Group] = field(default_factory=set)


def timeline_diff(old: State, new: State, table: Table) -> TimelineDiff:
    """The changes from one state to the other. Raises NotIncremental, and TableError where reading fails."""
    if (old.table, old.fixed) != (new.table, new.fixed):
        raise NotIncremental("the table's properties, schema or options changed")
    metadata = table.metadata
    assert metadata is not None
    completed = _completed_since(old.instants, new.instants, table.timeline.start, _KNOWN)
    in_metadata = _completed_since(
        old.metadata_instants, new.metadata_instants, metadata.timeline.start, _KNOWN_OF_METADATA
    )
    names = {name for name, action in completed if action != "savepoint"}
    if any(action == "deltacommit" and name not in names for name, action in in_metadata):
        raise NotIncremental("an index was built")
    diff = TimelineDiff(frozenset(names))
    if not names:
        return diff
    if not names <= {name for name, _ in in_metadata}:
        raise NotIncremental("an instant is not in the metadata table's timeline")
    begin_changes(metadata, [one for one in (FILES, "column_stats") if one in table.available_indexes], names)
    _add_files(diff, metadata, names)
    for instant in table.timeline.instants:
        if instant.requested in names and instant.action == "replacecommit":
            replaced = table.timeline.details(instant).get("partitionToReplaceFileIds") or {}
            diff.replaced |= {(partition, file_id) for partition, ids in replaced.items() for file_id in ids}
    return diff


def _completed_since(
    old: tuple[tuple[str, str, str], ...],
    new: tuple[tuple[str, str, str], ...],
    start: str,
    known: frozenset[str] | set[str],
) -> set[tuple[str, str]]:
    """Name and action of each instant that completed in between; a savepoint has the name of the write it saves."""
    vanished = set(old) - set(new)
    if any(requested >= start for requested, _, _ in vanished):
        raise NotIncremental("an instant is gone that was not archived")
    completed = {(requested, action) for requested, _, action in set(new) - set(old)}
    unknown = sorted({action for _, action in completed} - known)
    if unknown:
        raise NotIncremental(f"there was a {unknown[0]}")
    return completed


def new_layers(metadata: MetadataTable, partition: str, instants: frozenset[str]) -> list[Records | Deletes]:
    """The records that these instants wrote into a partition of the metadata table, oldest first.

    Raises NotIncremental when an instant has no block in a log file: it was compacted, or wrote none.
    """
    layers: list[Records | Deletes] = []
    missing = set(instants)
    for path, block in _blocks(metadata, partition, instants):
        missing.discard(block.instant)
        with naming_table(path):
            if block.type == DELETE:
                layers.append(Deletes(path, tuple(deleted_keys(block.content))))
            elif block.type == HFILE_DATA:
                if block.content:
                    layers.append(Records(path, HFile.open(Bytes(block.content))))
            else:
                raise NotIncremental(f"a block of type {block.type} in {path}")
    if missing:
        raise NotIncremental(f"{partition} has no block of {min(missing)}")
    return layers


def _blocks(metadata: MetadataTable, partition: str, instants: frozenset[str]) -> Iterator[tuple[str, LogBlock]]:
    """The valid blocks of these instants, by instant; from version 8 on, the name of a log file carries its instant."""
    blocks: list[tuple[str, str, LogBlock]] = []
    for entry in metadata.storage.files(partition):
        name = parse_log_name(entry.path.rpartition("/")[2])
        if name is None or (metadata.version >= 8 and name.instant not in instants):
            continue
        path = metadata.storage.absolute(entry.path)
        with naming_table(path):
            for block in read_log_blocks(metadata.storage.read(entry.path, MAX_LOG)):
                if block.type == COMMAND:
                    if block.target in instants:
                        raise NotIncremental(f"{path} takes something back")
                elif block.type != CDC and block.instant in instants and metadata.is_valid(block.instant):
                    blocks.append((block.instant, path, block))
    blocks.sort(key=lambda one: one[0])
    yield from ((path, block) for _, path, block in blocks)


def _add_files(diff: TimelineDiff, metadata: MetadataTable, instants: set[str]) -> None:
    for layer in new_layers(metadata, FILES, frozenset(instants)):
        if isinstance(layer, Deletes):
            raise NotIncremental("a partition was removed")
        with naming_table(layer.path):
            for key, change in records_of(layer.hfile):
                _add_record(diff, key, change)


def _add_record(diff: TimelineDiff, key: str, change: FileMap | None) -> None:
    if change is None or (key == ALL_PARTITIONS and change.deleted.any()):
        raise NotIncremental("a partition was removed")
    if key == ALL_PARTITIONS:
        return
    partition = "" if key == NON_PARTITIONED else key
    for name, is_deleted in zip(change.names, change.deleted.tolist(), strict=True):
        file_id = file_id_of(name)
        if file_id is None:
            continue
        group = partition, file_id
        if is_deleted:
            diff.removed.setdefault(group, set()).add(name)
            if name in diff.added.get(group, ()):
                diff.added[group].remove(name)
        elif name in diff.removed.get(group, ()):
            raise NotIncremental(f"{name} was removed and written again")
        else:
            diff.added.setdefault(group, []).append(name)
