"""What happened to a table between two states, if it can be told from the new instants alone.

    commit, deltacommit, replacecommit, clean, savepoint    what they wrote, replaced and removed is all that changed
    anything else (rollback, restore, indexing, ...)        no difference is given: everything is read again

The files come from the blocks that these instants wrote into the metadata table's ``files``, and groups that are gone
from the instants themselves. Whatever is missing, or not as expected, means that there is no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from index_store.formats.file_map import FileMap
from index_store.formats.hfile import HFile
from index_store.formats.keys import NON_PARTITIONED
from index_store.formats.log_file import CDC, COMMAND, DELETE, HFILE_DATA, LogBlock, deleted_keys, read_log_blocks
from index_store.snapshots.state import State
from index_store.storage.errors import naming_table
from index_store.storage.storage import Bytes
from index_store.table.file_slices import parse_base_name, parse_log_name
from index_store.table.files_partition import PARTITION as FILES
from index_store.table.files_partition import records_of
from index_store.table.metadata_table import ALL_PARTITIONS, Deletes, MetadataTable, Records
from index_store.table.timeline import WRITE_ACTIONS

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["Difference", "NotIncremental", "difference_of", "new_layers"]

_KNOWN = WRITE_ACTIONS | {"clean", "savepoint"}
#: What a metadata table does by itself changes no record.
_KNOWN_OF_METADATA = WRITE_ACTIONS | {"clean", "compaction", "logcompaction"}

Group = tuple[str, str]


class NotIncremental(Exception):  # noqa: N818  (no error: everything is read again)
    """Why the difference of two states cannot be told from their instants."""


@dataclass(slots=True)
class Difference:
    """Names of files by group (partition, file id), and groups that are gone, since an earlier state.

    ``instants`` are those that completed since, without savepoints.
    """

    instants: frozenset[str]
    added: dict[Group, list[str]] = field(default_factory=dict)
    removed: dict[Group, set[str]] = field(default_factory=dict)
    replaced: set[Group] = field(default_factory=set)


def difference_of(old: State, new: State, table: Table) -> Difference:
    """What happened from one state to the other. Raises NotIncremental, and TableError where reading fails."""
    if (old.table, old.fixed) != (new.table, new.fixed):
        raise NotIncremental("the table's properties, schema or options changed")
    metadata = table.metadata
    assert metadata is not None
    came = _came(old.instants, new.instants, table.timeline.start, _KNOWN)
    wrote = _came(old.metadata_instants, new.metadata_instants, metadata.timeline.start, _KNOWN_OF_METADATA)
    names = {name for name, action in came if action != "savepoint"}
    if any(action == "deltacommit" and name not in names for name, action in wrote):
        raise NotIncremental("an index was built")
    found = Difference(frozenset(names))
    if not names:
        return found
    if not names <= {name for name, _ in wrote}:
        raise NotIncremental("an instant is not in the metadata table's timeline")
    _add_files(found, metadata, names)
    for instant in table.timeline.instants:
        if instant.requested in names and instant.action == "replacecommit":
            replaced = table.timeline.details(instant).get("partitionToReplaceFileIds") or {}
            found.replaced |= {(partition, file_id) for partition, ids in replaced.items() for file_id in ids}
    return found


def _came(
    old: tuple[tuple[str, str, str], ...],
    new: tuple[tuple[str, str, str], ...],
    start: str,
    known: frozenset[str] | set[str],
) -> set[tuple[str, str]]:
    """The instants that completed since, with their actions: a savepoint has the name of the write that it saves."""
    gone = set(old) - set(new)
    if any(requested >= start for requested, _, _ in gone):
        raise NotIncremental("an instant is gone that was not archived")
    came = {(requested, action) for requested, _, action in set(new) - set(old)}
    strange = sorted({action for _, action in came} - known)
    if strange:
        raise NotIncremental(f"there was a {strange[0]}")
    return came


def new_layers(metadata: MetadataTable, partition: str, instants: frozenset[str]) -> list[Records | Deletes]:
    """What these instants wrote into a partition of the metadata table, oldest first.

    Raises NotIncremental when one of them is not found in a log file: it has been compacted, or never came.
    """
    found: list[Records | Deletes] = []
    missing = set(instants)
    for path, block in _blocks(metadata, partition, instants):
        missing.discard(block.instant)
        with naming_table(path):
            if block.type == DELETE:
                found.append(Deletes(path, tuple(deleted_keys(block.content))))
            elif block.type == HFILE_DATA:
                if block.content:
                    found.append(Records(path, HFile.open(Bytes(block.content))))
            else:
                raise NotIncremental(f"a block of type {block.type} in {path}")
    if missing:
        raise NotIncremental(f"{partition} has no block of {min(missing)}")
    return found


def _blocks(metadata: MetadataTable, partition: str, instants: frozenset[str]) -> Iterator[tuple[str, LogBlock]]:
    """The valid blocks of these instants, by instant; from version 8 on a log file's name says whose it is."""
    found: list[tuple[str, str, LogBlock]] = []
    for entry in metadata.storage.files(partition):
        name = parse_log_name(entry.path.rpartition("/")[2])
        if name is None or (metadata.version >= 8 and name.instant not in instants):
            continue
        path = metadata.storage.absolute(entry.path)
        with naming_table(path):
            for block in read_log_blocks(metadata.storage.read(entry.path)):
                if block.type == COMMAND:
                    if block.target in instants:
                        raise NotIncremental(f"{path} takes something back")
                elif block.type != CDC and block.instant in instants and metadata.is_valid(block.instant):
                    found.append((block.instant, path, block))
    found.sort(key=lambda one: one[0])
    yield from ((path, block) for _, path, block in found)


def _add_files(found: Difference, metadata: MetadataTable, instants: set[str]) -> None:
    for layer in new_layers(metadata, FILES, frozenset(instants)):
        if isinstance(layer, Deletes):
            raise NotIncremental("a partition was removed")
        with naming_table(layer.path):
            for key, change in records_of(layer.hfile):
                _add_record(found, key, change)


def _add_record(found: Difference, key: str, change: FileMap | None) -> None:
    if change is None or (key == ALL_PARTITIONS and change.deleted.any()):
        raise NotIncremental("a partition was removed")
    if key == ALL_PARTITIONS:
        return
    partition = "" if key == NON_PARTITIONED else key
    for name, is_deleted in zip(change.names.to_pylist(), change.deleted.tolist(), strict=True):
        file_id = _file_id(name)
        if file_id is None:
            continue
        group = partition, file_id
        if is_deleted:
            found.removed.setdefault(group, set()).add(name)
            if name in found.added.get(group, ()):
                found.added[group].remove(name)
        elif name in found.removed.get(group, ()):
            raise NotIncremental(f"{name} was removed and written again")
        else:
            found.added.setdefault(group, []).append(name)


def _file_id(name: str) -> str | None:
    """The file id in a data file's name; None for another kind of file."""
    parts = name.split("_")
    if len(parts) == 3 and parts[2].endswith(".parquet") and parts[2][:-8].isdecimal() and parts[0][:1] not in ".":
        return parts[0]
    parsed = parse_log_name(name) if name.startswith(".") else parse_base_name(name)
    return None if parsed is None else parsed.file_id
