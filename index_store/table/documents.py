"""Small files beside a table's data, such as the definitions of its indexes. Each is read once, also when it fails."""

from __future__ import annotations

from index_store.formats.bounded.json_text import MAX_DOCUMENT
from index_store.storage.errors import TableError
from index_store.storage.storage import Storage

__all__ = ["Documents"]


class Documents:
    """The documents of one table, by path. ``faults``: why some could not be read."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._read: dict[str, bytes | TableError | None] = {}

    def read(self, path: str) -> bytes | None:
        """The bytes of a document; None when there is none. Raises TableError, the same one each time."""
        if path not in self._read:
            try:
                self._read[path] = self._storage.read_if_there(path, MAX_DOCUMENT)
            except TableError as error:
                self._read[path] = error
        found = self._read[path]
        if isinstance(found, TableError):
            raise found
        return found

    @property
    def faults(self) -> list[TableError]:
        return [found for found in self._read.values() if isinstance(found, TableError)]
