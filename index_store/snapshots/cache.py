"""The folder of snapshots: the states of tables that are stored, within a limit of bytes.

    <folder>/<table>/<state>.json     a manifest: the state, and the folders that hold its arrays
    <folder>/<table>/<name>/...       arrays of a base, or of a delta

Processes may share a folder, for every file is replaced atomically: a reader finds a whole manifest or none. Arrays
that another process removes are mapped already, or the reader reads the table instead. The digest of a file is compared
before the file is used. When the folder grows over its limit, the least recently used tables are removed.
"""

from __future__ import annotations

import json
import os
import re
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from evaluator.language.records import record
from index_store.snapshots.manifest import Manifest
from index_store.snapshots.private_folder import Entry, PrivateFile, PrivateFolder, UntrustedFolderError
from index_store.snapshots.shared_folder import SharedFolder
from index_store.snapshots.sharing import Sharing
from index_store.snapshots.state import State, table_digest

__all__ = ["DEFAULT_LIMIT", "KeptTable", "SnapshotCache", "is_column_file"]

DEFAULT_LIMIT = 4 << 30
#: Smaller tables are read as fast as a snapshot of them is opened.
MIN_SLICES = 2_000
#: How many states of a table stay in the folder; another process may still open an older one.
_STATES = 2
#: Files younger than this belong to a writer that has not published them yet.
_GRACE_SECONDS = 600.0
#: A process measures the folder at its first write, and then at most once in so many seconds.
_SECONDS_BETWEEN_MEASURES = 60.0
#: Bytes of a manifest: a timeline of a million instants has 50 MB.
_MAX_MANIFEST = 256 << 20
#: Names of what the cache writes, and so removes: folders of tables, bases and deltas, manifests, unfinished files.
_DIGEST, _MANIFEST = re.compile(r"[0-9a-f]{32}"), re.compile(r"[0-9a-f]{32}\.json")
_TEMPORARY = re.compile(r"\.[0-9a-f]{32}\.json\..+\.tmp")
#: Why folders were refused, each of which is said once.
_warned: set[str] = set()


@record
class KeptTable:
    """What the folder holds of one table: ``size`` in bytes, ``used`` (last use) in seconds since 1970."""

    table: str
    instant: str | None
    columns: int
    size: int
    used: float


class SnapshotCache:
    """A folder of snapshots. Reading never raises; writing raises OSError.

    A folder that is not the caller's alone is refused (``private_folder``): nothing is read from it or written to it.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        limit: int = DEFAULT_LIMIT,
        min_slices: int = MIN_SLICES,
        shared: SharedFolder | None = None,
    ) -> None:
        """``limit``: bytes that the folder may hold. Tables of fewer than ``min_slices`` slices are not stored.

        ``shared``: a folder of a store, from which snapshots are fetched that the local one does not have.
        """
        self.folder = Path(folder)
        self.limit = limit
        self.min_slices = min_slices
        self._root = PrivateFolder(self.folder)
        self._made_room = float("-inf")
        self.shared = shared
        self.sharing = None if shared is None else Sharing(self._root, shared, limit)

    def __repr__(self) -> str:
        return f"SnapshotCache({os.fspath(self.folder)!r}, limit={self.limit})"

    def why_refused(self) -> str:
        """Why the folder, or the shared one, is not trusted, or ""."""
        if self.shared is not None and self.shared.why_refused():
            return self.shared.why_refused()
        try:
            self._root.check()
        except UntrustedFolderError as error:
            return str(error)
        except OSError:
            pass  # a folder that cannot be opened has nothing to read, and writing says why
        return ""

    def is_trusted(self) -> bool:
        """Whether the folder is the caller's alone; the first time that it is not, a warning says why."""
        why = self.why_refused()
        if why and why not in _warned:
            _warned.add(why)
            warnings.warn(f"snapshots are neither read nor stored: {why}", RuntimeWarning, stacklevel=3)
        return not why

    def of_table(self, state: State) -> PrivateFolder:
        """The folder of a table."""
        return self._root / state.table_digest

    def begin(self, table: str, columns: Iterable[str] = ()) -> None:
        """Start to fetch what is shared of a table that is about to be opened, unless some of it is here."""
        if self.sharing is None or self.why_refused() or any(_by_age(self._root / table_digest(table))):
            return
        self.sharing.begin(table, columns)

    def find(self, state: State) -> Manifest | None:
        """The manifest of this very state, here or shared."""
        found = self._found(state)
        if found is None and self._bring(state.table, state.digest):
            found = self._found(state)
        return found

    def _bring(self, table: str, state: str | None) -> bool:
        """Fetch a shared state, or the newest one; False when there is none."""
        manifest = None if self.sharing is None else self.sharing.bring(table, state)
        if manifest is not None:
            with suppress(OSError):
                self._write(manifest)
                return True
        return False

    def _found(self, state: State) -> Manifest | None:
        file = self.of_table(state).file(f"{state.digest}.json")
        manifest = _read(file)
        if manifest is None or manifest.state != state:
            return None
        with suppress(OSError):
            file.touch()
        return manifest

    def latest(self, state: State) -> Manifest | None:
        """The newest manifest of the table in any state, here or shared."""
        self._bring(state.table, None)
        for file in _by_age(self.of_table(state)):
            manifest = _read(file)
            if manifest is not None and manifest.state.table == state.table:
                return manifest
        return None

    def publish(self, manifest: Manifest) -> None:
        """Write the manifest of a state whose arrays are written, and make room."""
        self._write(manifest)

    def _write(self, manifest: Manifest) -> None:
        folder = self.of_table(manifest.state)
        with folder.file(f"{manifest.state.digest}.json").replacing() as stream:
            stream.write(json.dumps(manifest.to_dict()).encode())
        self.tidy(folder)
        if time.monotonic() - self._made_room > _SECONDS_BETWEEN_MEASURES:
            self._made_room = time.monotonic()
            self.make_room(folder)

    def tidy(self, folder: PrivateFolder) -> None:
        """Remove all states of a table but the newest, and what no state needs; nothing that has another name."""
        manifests = list(_by_age(folder))
        for file in manifests[_STATES:]:
            _remove(folder, file.name)
        needed = {
            name
            for file in manifests[:_STATES]
            if (found := _read(file)) is not None
            for name in (found.base, found.delta)
        }
        for entry in _entries(folder):
            is_ours = _DIGEST.fullmatch(entry.name) or _TEMPORARY.fullmatch(entry.name)
            if is_ours and entry.name not in needed and time.time() - entry.modified > _GRACE_SECONDS:
                _remove(folder, entry.name)

    def make_room(self, keep: PrivateFolder | None = None) -> None:
        """Remove the least recently used tables until the rest fits; ``keep`` stays."""
        sizes = {folder: _bytes(folder) for folder in self._tables()}
        total = sum(sizes.values())
        for folder in sorted(sizes, key=_last_use):
            if total <= self.limit:
                break
            if folder != keep:
                _remove(self._root, folder.name)
                total -= sizes[folder]

    def tables(self) -> list[KeptTable]:
        """What the folder holds, by table; folders without a snapshot are left out."""
        found = []
        for folder in self._tables():
            manifests = [manifest for file in _by_age(folder) if (manifest := _read(file)) is not None]
            if manifests:
                columns = sum(is_column_file(entry.name) for entry in _entries(folder / manifests[0].base))
                found.append(
                    KeptTable(
                        manifests[0].state.table, manifests[0].instant, columns, _bytes(folder), _last_use(folder)
                    )
                )
        return found

    def clear(self, table: str | None = None) -> int:
        """Remove the snapshots of one table, or of all; returns the number of tables removed."""
        removed = 0
        for folder in self._tables():
            manifest = next((one for file in _by_age(folder) if (one := _read(file)) is not None), None)
            if manifest is not None and table in (None, manifest.state.table):
                _remove(self._root, folder.name)
                removed += 1
        return removed

    def _tables(self) -> list[PrivateFolder]:
        """The folders that have the name of a table's digest, whatever else the folder holds."""
        return [self._root / entry.name for entry in _entries(self._root) if _is_table(entry)]


def is_column_file(name: str) -> bool:
    """Whether a file of this name in the folder of a base or a delta holds a column."""
    return "-" in name and name.endswith(".arrays") and not name.startswith(".")


def _is_table(entry: Entry) -> bool:
    return entry.is_folder and _DIGEST.fullmatch(entry.name) is not None


def _read(file: PrivateFile) -> Manifest | None:
    try:
        return Manifest.from_dict(json.loads(file.read_text(_MAX_MANIFEST)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _entries(folder: PrivateFolder) -> list[Entry]:
    try:
        return folder.entries()
    except OSError:
        return []


def _by_age(folder: PrivateFolder) -> Iterator[PrivateFile]:
    """The manifests of a table, newest first."""
    manifests = [entry for entry in _entries(folder) if entry.is_file and _MANIFEST.fullmatch(entry.name)]
    manifests.sort(key=lambda entry: (entry.modified, entry.name), reverse=True)
    yield from (folder.file(entry.name) for entry in manifests)


def _last_use(folder: PrivateFolder) -> float:
    return max((entry.modified for entry in _entries(folder) if _MANIFEST.fullmatch(entry.name)), default=0.0)


def _bytes(folder: PrivateFolder) -> int:
    """The size of the files of a table: manifests, and arrays one folder below."""
    entries = _entries(folder)
    below = [file for entry in entries if entry.is_folder for file in _entries(folder / entry.name)]
    return sum(entry.size for entry in (*entries, *below) if entry.is_file)


def _remove(folder: PrivateFolder, name: str) -> None:
    with suppress(OSError):
        folder.remove(name)
