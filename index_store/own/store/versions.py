"""The versions of an index: small immutable files, each of which names every file that is part of the version.

    versions/0000000003.json    {"digest": ..., "version": {number, instant, definition, master, delta, builds, ...}}

The current version is the readable one with the greatest number. A damaged or half-written file is ignored and reported
as a fault; its number is not used again. Where names cannot be taken atomically, two versions may have one number. Then
one of them is current: a full refresh before a refresh, a refresh before an optimize, which knows only what a version
before it knew, else the one of the newer state of the table, else the one that knows more files. The next writer merges
the files of the others into its own version.

A version that cannot be fetched is not a damaged one. A reader answers from the version before it, which says less and
nothing false; a writer stops, because what it bases on an older version would undo the newer one.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

import xxhash

from evaluator.language.records import frozen
from index_store.formats.bounded.json_text import MAX_COMMIT, parse_json
from index_store.own.definition import Definition
from index_store.own.store.folder import VERSIONS, Folder
from index_store.own.store.stored_table import StoredTable
from index_store.storage.errors import FormatError, TableError

__all__ = [
    "Build",
    "DamagedVersionError",
    "Generation",
    "Latest",
    "NoIndexError",
    "Version",
    "latest_versions",
    "read_version",
    "version_files",
    "version_numbers",
    "write_version",
]

#: Versions with generations have the greater format, so that a reader from before generations refuses them.
FORMAT, FORMAT_OF_GENERATIONS = 1, 2
#: Which of several versions with one number is current: the smaller one. An operation that is not here has 0.
_PRECEDENCE = {"refresh": 1, "optimize": 2}
_NAME = re.compile(r"(\d{10})(?:-[0-9a-f]+)?\.json")


#: A version that vanishes while it is read was superseded and removed, so the others are listed again.
_LISTINGS = 5


class NoIndexError(TableError):
    """There is no index in this folder."""


class DamagedVersionError(TableError):
    """The bytes of a version are not those that were written."""


@frozen
class Build:
    """The output of one run of a builder, for files with ``first_id <= id < first_id + span``.

    parts        rows of statistics, a table for each set of columns and types; ids in them are relative to ``first_id``
    aggregates   rows of partitions, likewise; a partition may have several
    """

    first_id: int
    span: int
    parts: tuple[StoredTable, ...]
    aggregates: tuple[StoredTable, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "first_id": self.first_id,
            "span": self.span,
            "parts": [one.to_dict() for one in self.parts],
            "aggregates": [one.to_dict() for one in self.aggregates],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Build:
        """The reverse of ``to_dict``. Raises KeyError, TypeError or ValueError."""
        return cls(int(plain["first_id"]), int(plain["span"]), _tables(plain["parts"]), _tables(plain["aggregates"]))


@frozen
class Generation:
    """The files of one change of a secondary index (``secondary.generation``). The first of a version is the base.

    groups      the file groups that changed
    shards      added entries and tombstones, sorted by key; None for a shard without any
    reverse     the same entries, sorted by file group and record key
    next_group  greater than the number of every file group
    entries     the number of added entries; ``tombstones``: of removed ones
    """

    groups: StoredTable
    shards: tuple[StoredTable | None, ...]
    reverse: StoredTable | None
    next_group: int
    entries: int
    tombstones: int

    @property
    def stored(self) -> tuple[StoredTable, ...]:
        """The files of the generation."""
        return tuple(one for one in (self.groups, *self.shards, self.reverse) if one is not None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "groups": self.groups.to_dict(),
            "shards": [one.to_dict() if one else None for one in self.shards],
            "reverse": self.reverse.to_dict() if self.reverse else None,
            "next_group": self.next_group,
            "entries": self.entries,
            "tombstones": self.tombstones,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Generation:
        """The reverse of ``to_dict``. Raises KeyError, TypeError or ValueError."""
        shards = tuple(None if one is None else StoredTable.from_dict(one) for one in plain["shards"])
        reverse = plain["reverse"]
        return cls(
            StoredTable.from_dict(plain["groups"]),
            shards,
            None if reverse is None else StoredTable.from_dict(reverse),
            int(plain["next_group"]),
            int(plain["entries"]),
            int(plain["tombstones"]),
        )


def _tables(plain: Sequence[Mapping[str, Any]]) -> tuple[StoredTable, ...]:
    return tuple(StoredTable.from_dict(one) for one in plain)


@frozen(kw_only=True)
class Version:
    """A version of an index.

    operation   that wrote it: create, refresh, full refresh or optimize
    table       the path of the table, for people and for indexes that lie elsewhere
    instant     the latest completed write of the table when its files were listed; None: it had none
    master      the list of files (``manifest``); ids below ``master_end`` are of it
    delta       the files that came since, and tombstones
    next_id     greater than every id
    files       how many files of the table the version knows
    merged      how many merged slices (``merged_slices``) it knows beside them, and ``parts`` the parts of these; 0 in
                a version that a reader from before them wrote
    tombstones  of the delta
    written     when it was written, in seconds since 1970
    generations of a secondary index, the oldest first; such an index has no builds
    """

    number: int
    operation: str
    table: str
    definition: Definition
    instant: str | None
    master: StoredTable
    master_end: int
    master_instant: str | None
    delta: StoredTable | None
    builds: tuple[Build, ...]
    next_id: int
    files: int
    tombstones: int
    written: float = field(default_factory=time.time)
    generations: tuple[Generation, ...] = ()
    merged: int = 0
    parts: int = 0

    @property
    def stored(self) -> tuple[StoredTable, ...]:
        """Every file that the version needs."""
        return (
            self.master,
            *([self.delta] if self.delta else []),
            *self.statistics,
            *(one for build in self.builds for one in build.aggregates),
            *(one for generation in self.generations for one in generation.stored),
        )

    @property
    def statistics(self) -> tuple[StoredTable, ...]:
        """The files of statistics."""
        return tuple(one for build in self.builds for one in build.parts)

    @property
    def entries(self) -> int:
        """How many entries a secondary index has."""
        return sum(one.entries - one.tombstones for one in self.generations)

    @property
    def digest(self) -> str:
        """A hash that differs for different versions, whatever their number."""
        return _digest(self.to_dict())

    @property
    def size(self) -> int:
        """How many bytes the files of the version have."""
        return sum(one.size for one in self.stored)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        kind = (
            {"format": FORMAT_OF_GENERATIONS, "generations": [one.to_dict() for one in self.generations]}
            if self.generations
            else {"format": FORMAT}
        )
        merged = {"merged": self.merged, "parts": self.parts} if self.parts else {}
        return {
            **kind,
            **merged,
            "number": self.number,
            "operation": self.operation,
            "table": self.table,
            "definition": self.definition.to_dict(),
            "instant": self.instant,
            "master": self.master.to_dict(),
            "master_end": self.master_end,
            "master_instant": self.master_instant,
            "delta": None if self.delta is None else self.delta.to_dict(),
            "builds": [one.to_dict() for one in self.builds],
            "next_id": self.next_id,
            "files": self.files,
            "tombstones": self.tombstones,
            "written": self.written,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Version:
        """The reverse of ``to_dict``. Raises FormatError, KeyError, TypeError or ValueError."""
        if plain["format"] not in (FORMAT, FORMAT_OF_GENERATIONS):
            raise ValueError(f"format {plain['format']} is not known: it was written by a newer Sargo")
        delta = plain["delta"]
        return cls(
            number=int(plain["number"]),
            operation=str(plain["operation"]),
            table=str(plain["table"]),
            definition=Definition.from_dict(plain["definition"]),
            instant=plain["instant"],
            master=StoredTable.from_dict(plain["master"]),
            master_end=int(plain["master_end"]),
            master_instant=plain["master_instant"],
            delta=None if delta is None else StoredTable.from_dict(delta),
            builds=tuple(Build.from_dict(one) for one in plain["builds"]),
            next_id=int(plain["next_id"]),
            files=int(plain["files"]),
            tombstones=int(plain["tombstones"]),
            written=float(plain["written"]),
            generations=tuple(Generation.from_dict(one) for one in plain.get("generations", ())),
            merged=int(plain.get("merged", 0)),
            parts=int(plain.get("parts", 0)),
        )


@frozen
class Latest:
    """The readable versions with the greatest number that has one, the current one first.

    ``number`` is the greatest number that is taken, ``files`` are the files of all versions that were listed, and
    ``faults`` the errors of newer files, and of those with the same number.
    """

    versions: tuple[Version, ...]
    number: int
    files: frozenset[str]
    faults: tuple[TableError, ...] = ()

    @property
    def current(self) -> Version:
        return self.versions[0]

    @property
    def newest(self) -> Version:
        """The version that was made of the newest state of the table, for readers."""
        return max(self.versions, key=lambda version: version.instant or "")

    def check_complete(self, *, builds_nothing: bool = False) -> None:
        """Raises the error of a newer version, or one of the same number, that cannot be fetched now.

        ``builds_nothing``: also of a damaged one, of which the operation could not build again what it knew.
        """
        for fault in self.faults:
            if not isinstance(fault, DamagedVersionError):
                raise fault
            if builds_nothing:
                raise TableError(fault.path, f"{fault.why}; refresh the index first, which builds again what it knew")


def version_files(folder: Folder) -> dict[str, int]:
    """The files of versions and their numbers, the greatest number first."""
    return version_numbers(f"{VERSIONS}/{name}" for name in folder.names(VERSIONS))


def version_numbers(paths: Iterable[str]) -> dict[str, int]:
    """The same of files of the folder that are listed already."""
    inside = [(path, path.partition("/")[2]) for path in paths if path.startswith(f"{VERSIONS}/")]
    numbered = [(int(match[1]), path) for path, name in inside if (match := _NAME.fullmatch(name))]
    return {path: number for number, path in sorted(numbered, key=lambda one: (-one[0], one[1]))}


def latest_versions(folder: Folder, listed: Mapping[str, int] | None = None) -> Latest:
    """The current version, and others of its number. Raises NoIndexError, and TableError when none can be read.

    ``listed``: the files of versions and their numbers, as a listing has just shown them.
    """
    files = version_files(folder) if listed is None else listed
    for _ in range(_LISTINGS):
        if not files:
            raise NoIndexError(folder.path, "there is no index here: create one with 'sargo index create'")
        versions, faults = _newest_readable(folder, files)
        unread = [fault for fault in faults if not isinstance(fault, DamagedVersionError)]
        if not unread:
            break
        listed, files = files, version_files(folder)
        if listed == files:
            break
    if not versions:
        why = f"no version of this index is whole: {faults[0]}; drop it and create it again"
        raise unread[0] if unread else TableError(folder.path, why)
    versions.sort(key=lambda version: -version.files)
    versions.sort(key=lambda version: version.instant or "", reverse=True)
    versions.sort(key=lambda version: _PRECEDENCE.get(version.operation, 0))
    return Latest(tuple(versions), max(files.values()), frozenset(files), tuple(faults))


def _newest_readable(folder: Folder, files: Mapping[str, int]) -> tuple[list[Version], list[TableError]]:
    """The versions with the greatest number that has a readable one, and the errors on the way."""
    versions: list[Version] = []
    faults: list[TableError] = []
    for file, number in files.items():
        if versions and number != versions[0].number:
            break
        try:
            versions.append(read_version(folder, file))
        except TableError as error:
            faults.append(error)
    return versions, faults


def read_version(folder: Folder, file: str) -> Version:
    """The version in a file. Raises DamagedVersionError when it is damaged, TableError when it cannot be read."""
    try:
        return _version_of(folder, file, folder.read(file, MAX_COMMIT))
    except DamagedVersionError:  # perhaps only on its way
        return _version_of(folder, file, folder.read(file, MAX_COMMIT, again=True))


def _version_of(folder: Folder, file: str, data: bytes) -> Version:
    try:
        document = parse_json(data, "the version", MAX_COMMIT)
        plain = document["version"]
        if document["digest"] != _digest(plain):
            raise ValueError("damaged or half-written")
        version = Version.from_dict(plain)
        if int(file.rpartition("/")[2][:10]) != version.number:
            raise ValueError("not the version that its name says")
    except (FormatError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedVersionError(folder.storage.absolute(file), f"no version of an index: {error}") from error
    return version


def write_version(folder: Folder, version: Version) -> str | None:
    """Write a version that is to become the current one; its file, None when another writer has taken the number.

    Where a number can be taken twice, it is written in any case. Raises TableError.
    """
    plain = version.to_dict()
    data = json.dumps({"digest": _digest(plain), "version": plain}, sort_keys=True).encode()
    return folder.write_version(version.number, data)


def _digest(plain: Any) -> str:
    return xxhash.xxh3_128_hexdigest(json.dumps(plain, sort_keys=True).encode())
