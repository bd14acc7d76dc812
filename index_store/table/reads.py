"""The rounds in which a table is read where each request costs a round trip: what is asked for together.

    round   what                                                          known from
    1       hoodie.properties; listings of both timelines, and of what    their places, in versions 8 and 9
            a filter needs beside them: schemas, own indexes
    2       the latest commit, which has the schema; the definitions of   round 1
            indexes; listings of the metadata table's partitions
    3       the files of these partitions, and the commits of the         round 2
            metadata table that they are held against

A snapshot on disk needs the rounds 1 and 2 only, without the partitions; one of an earlier state needs two more, for
the listings and then for the log files that the commits since then wrote. A look-up of keys needs one or two more
(``index_store.kinds.base.begin_lookups``). A table of version 6 has its timelines elsewhere, and takes a round more
(``begin_timelines``). Nothing here reads: the first reader of a file or a folder finds it on its way
(``Storage.begin``), or reads it itself. On a local disk nothing happens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from index_store.storage.errors import TableError
from index_store.storage.storage import Storage
from index_store.table.file_slices import parse_log_name
from index_store.table.metadata_table import METADATA, MetadataTable, timeline_directory
from index_store.table.properties import HOODIE
from index_store.table.schema_history import DIRECTORY as SCHEMAS
from index_store.table.timeline import Timeline

__all__ = [
    "DEFINITIONS",
    "begin_changes",
    "begin_contents",
    "begin_folders",
    "begin_look",
    "begin_opening",
    "begin_schemas",
    "begin_timelines",
]

PROPERTIES = f"{HOODIE}/hoodie.properties"
#: Where versions 8 and 9 have it, unless a table's properties name another place.
TIMELINE = timeline_directory(8)
#: Where a table defines its indexes, unless its properties name another place.
DEFINITIONS = f"{HOODIE}/.index_defs/index.json"
#: So many commits that replaced files are begun; a reader of more of them fetches the others ahead.
MAX_REPLACING = 32
#: Folders that only a filter needs, and whether all below them is listed.
OF_FILTERS = ((SCHEMAS, False), (".sargo", True))


def begin_opening(storage: Storage, *, for_filters: bool = False) -> None:
    """Round 1."""
    beside = OF_FILTERS if for_filters else ((f"{METADATA}/files", False),)
    storage.begin([PROPERTIES], [(TIMELINE, False), (f"{METADATA}/{TIMELINE}", False), *beside])


def begin_schemas(storage: Storage) -> None:
    """The history of the schema, for whoever asks whether a column's name meant another column before."""
    storage.begin([], [(SCHEMAS, False)])


def begin_timelines(storage: Storage, version: int, *, for_filters: bool) -> None:
    """Round 2 of a version that has its timelines elsewhere: what ``begin_opening`` took for those of versions 8 and 9.

    The partitions are listed beside them.
    """
    folder = timeline_directory(version)
    if folder != TIMELINE:
        partitions = ("files", "column_stats") if for_filters else ("files",)
        below = [(f"{METADATA}/{one}", False) for one in (folder, *partitions)]
        storage.begin([], [(folder, False), *below])


def begin_look(storage: Storage, timeline: str = TIMELINE, *, properties: bool = True, indexes: bool = True) -> None:
    """What shows that an opened table has changed: its timeline, and in turn its properties and its own indexes.

    One round: two requests, or three for a table that was not looked at before.
    """
    storage.begin([PROPERTIES] if properties else [], [(timeline, False), *([(".sargo", True)] if indexes else [])])


def begin_folders(timeline: Timeline, metadata: MetadataTable | None, partitions: Iterable[str]) -> None:
    """Round 2: the latest commit, those that replaced files, and listings of partitions of the metadata table."""
    if timeline.storage is not None:
        replacing = [one.file for one in timeline.writes if one.action == "replacecommit"]
        last = [] if timeline.last is None else [timeline.last.file]
        timeline.storage.begin(file for file in (*last, *replacing[-MAX_REPLACING:]) if file)
    if metadata is not None:
        metadata.storage.begin([], [(partition, False) for partition in partitions])


def begin_contents(metadata: MetadataTable | None, partitions: Iterable[str]) -> None:
    """Round 3: the latest files of these partitions, and the commits that name them. Faults are their readers'."""
    if metadata is None or metadata.storage.is_local:
        return
    for partition in partitions:
        try:
            metadata.storage.begin([path for group in metadata.groups(partition) for path in group.files])
            commits = [instant.file for instant in metadata.commits_of(partition) if instant.file]
            if metadata.timeline.storage is not None:
                metadata.timeline.storage.begin(commits)
        except TableError:
            continue


def begin_changes(metadata: MetadataTable, partitions: Collection[str], instants: Collection[str]) -> None:
    """What these instants wrote into partitions of the metadata table: the listings, then log files named by them."""
    storage = metadata.storage
    if storage.is_local:
        return
    storage.begin([], [(partition, False) for partition in partitions])
    for partition in partitions:
        try:
            files = [entry.path for entry in storage.files(partition)]
        except TableError:
            continue
        named = ((path, parse_log_name(path.rpartition("/")[2])) for path in files)
        storage.begin([path for path, name in named if name is not None and name.instant in instants])
