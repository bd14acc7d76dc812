"""What is read of one table: looks, which show whether it has changed, and openings. All calls block.

    part         shows                                                          is read by
    ----------   ------------------------------------------------------------   ---------------------------------
    timeline     every commit, also of table services; a table that is gone     each look
    properties   version, type, the indexes that Hudi has                       every second look, each opening
    indexes      the versions of Sargo's own indexes                            every second look, each opening

So a look at a table in an object store is two requests in one round. On a local disk each look reads all parts.

A view answers for files by their names (``request_matching``), and only a commit puts another file into a slice. The
timeline alone therefore decides whether an answer is right. Properties that change without a commit, and versions of
own indexes, decide how much is skipped: an index that appears is used a look later, and one that is taken away is used
for a look longer.

A look ends after ``look_seconds``, also one that hangs: then its threads are left behind, and the next look starts
anew. A store holds at most ``retries.MAX_LEFT_BEHIND`` such threads for a table. An opening has the patience that the
storage options give.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from evaluator.language.records import frozen
from handler.sidecar.roots.allowed_roots import AllowedTable
from index_store import Table
from index_store.own.store.locations import version_names
from index_store.storage.errors import TransientError
from index_store.storage.storage import Storage
from index_store.table.metadata_table import timeline_directory
from index_store.table.properties import read_properties
from index_store.table.reads import TIMELINE, begin_look, begin_opening

__all__ = ["Look", "Signature", "TableReader"]


@frozen
class Signature:
    """What changes with every commit to a table or its own indexes. ``folder``: where the timeline is."""

    properties: tuple[tuple[str, str], ...]
    folder: str
    timeline: tuple[tuple[str, int], ...]
    indexes: tuple[str, ...]

    @property
    def digest(self) -> bytes:
        """16 bytes that identify it."""
        return hashlib.blake2b(repr(self).encode(), digest_size=16).digest()


@frozen
class Look:
    """A look: the signature, and the storage that knows what was read for it."""

    signature: Signature
    storage: Storage


class TableReader:
    """Reads one table. ``look`` is called by one thread at a time."""

    def __init__(
        self, location: AllowedTable, options: Mapping[str, str], storage_options: Mapping[str, str], seconds: float
    ) -> None:
        """``seconds``: how long a look may take."""
        self._location = location
        self._options = options
        self._storage_options = storage_options
        self._seconds = seconds
        self._looking: Storage | None = None
        self._indexes_are_next = False

    def storage(self) -> Storage:
        """The table's folder, with the patience that the options give."""
        options = None if self._location.filesystem is not None else self._storage_options
        return Storage.at(self._location.path, self._location.filesystem, options)

    def look(self, known: Signature | None = None) -> Look:
        """What the table shows now; parts that this look does not read are those of ``known``. Raises TableError."""
        storage = self._storage_for_looks().afresh()
        is_first = known is None or storage.is_local
        reads_properties, reads_indexes = is_first or not self._indexes_are_next, is_first or self._indexes_are_next
        folder = TIMELINE if known is None else known.folder
        begin_look(storage, folder, properties=reads_properties, indexes=reads_indexes)
        properties = () if known is None else known.properties
        if reads_properties:
            found = read_properties(storage)
            properties, folder = tuple(sorted(found.items())), _folder(found)
        timeline = tuple((entry.path, entry.size) for entry in storage.files(folder))
        indexes = () if known is None else known.indexes
        if reads_indexes:
            indexes = tuple(version_names(storage, self._options))
        self._indexes_are_next = not reads_indexes
        return Look(Signature(properties, folder, timeline, indexes), storage)

    def open(self, look: Look, reading: Storage) -> tuple[Table, Signature]:
        """The table, and the signature of what was opened: not newer than the table, so that no change is missed.

        ``reading``: a ``storage()`` of its own. Raises TableError, TransientError when the timeline moves meanwhile.
        """
        storage = reading.knowing(look.storage)
        folder = look.signature.folder
        begin_opening(storage, for_filters=True)
        storage.begin([], [(folder, False)])
        timeline = tuple((entry.path, entry.size) for entry in storage.files(folder))
        indexes = tuple(version_names(storage, self._options))
        table = Table(storage, self._options, for_filters=True)
        if _folder(table.properties) != folder:
            raise TransientError(table.path, "its timeline moves to another folder")
        properties = tuple(sorted(table.properties.items()))
        return table, replace(look.signature, properties=properties, timeline=timeline, indexes=indexes)

    def _storage_for_looks(self) -> Storage:
        """One for all looks: connections are kept, and the store's time-outs end requests that hang."""
        if self._looking is None:
            location, options = self._location, dict(self._storage_options)
            if location.filesystem is not None:
                options = {}
            elif location.path.startswith("s3://"):
                options |= {"request_timeout": str(self._seconds), "connect_timeout": str(self._seconds)}
            given = {name.lower(): value for name, value in options.items()}.get("deadline")
            options = {name: value for name, value in options.items() if name.lower() != "deadline"}
            options["deadline"] = str(min(self._seconds, _number(given, self._seconds)))
            self._looking = Storage.at(location.path, location.filesystem, options)
        return self._looking


def _folder(properties: Mapping[str, str]) -> str:
    version = properties.get("hoodie.table.version", "")
    return timeline_directory(int(version) if version.isdecimal() else 0, properties.get("hoodie.timeline.path", ""))


def _number(text: str | None, otherwise: float) -> float:
    try:
        return otherwise if text is None else float(text)
    except ValueError:  # the storage refuses it
        return otherwise
