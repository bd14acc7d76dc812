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
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from index_store.snapshots.arrays_file import replacing
from index_store.snapshots.state import FORMAT, State

__all__ = ["DEFAULT_LIMIT", "KeptTable", "Manifest", "SnapshotCache", "default_cache"]

DEFAULT_LIMIT = 4 << 30
#: Smaller tables are read as fast as a snapshot of them is opened.
MIN_SLICES = 2_000
#: Names a folder for snapshots, or "off".
VARIABLE, LIMIT_VARIABLE = "SARGO_CACHE", "SARGO_CACHE_BYTES"
#: How many states of a table stay in the folder; another process may still open an older one.
_STATES = 2
#: Files younger than this belong to a writer that has not published them yet.
_GRACE_SECONDS = 600.0
#: A process measures the folder at its first write, and then at most once in so many seconds.
_SECONDS_BETWEEN_MEASURES = 60.0


@dataclass(frozen=True, slots=True)
class Manifest:
    """A state of a table, and the folders of its base and of its delta (None: the state has none).

    ``instant`` is that of its slices, ``source`` where the list of files came from.
    """

    state: State
    base: str
    delta: str | None
    instant: str | None
    source: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "format": FORMAT,
            "state": self.state.to_dict(),
            "base": self.base,
            "since": self.delta,
            "instant": self.instant,
            "source": self.source,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Manifest:
        """The reverse of ``to_dict``. Raises KeyError, TypeError or ValueError."""
        if plain["format"] != FORMAT:
            raise ValueError("another format")
        names = [plain["base"], *([] if plain["since"] is None else [plain["since"]])]
        if not all(isinstance(name, str) and name.isalnum() for name in names):
            raise ValueError("no name of a folder")
        return cls(
            State.from_dict(plain["state"]), plain["base"], plain["since"], plain["instant"], str(plain["source"])
        )


@dataclass(frozen=True, slots=True)
class KeptTable:
    """What the folder holds of one table: ``size`` in bytes, ``used`` (last use) in seconds since 1970."""

    table: str
    instant: str | None
    columns: int
    size: int
    used: float


class SnapshotCache:
    """A folder of snapshots. Reading never raises; writing raises OSError."""

    def __init__(
        self, folder: str | os.PathLike[str], limit: int = DEFAULT_LIMIT, min_slices: int = MIN_SLICES
    ) -> None:
        """``limit``: bytes that the folder may hold. Tables of fewer than ``min_slices`` slices are not stored."""
        self.folder = Path(folder)
        self.limit = limit
        self.min_slices = min_slices
        self._made_room = float("-inf")

    def __repr__(self) -> str:
        return f"SnapshotCache({os.fspath(self.folder)!r}, limit={self.limit})"

    def of_table(self, state: State) -> Path:
        """The folder of a table."""
        return self.folder / state.table_digest

    def find(self, state: State) -> Manifest | None:
        """The manifest of this very state."""
        path = self.of_table(state) / f"{state.digest}.json"
        manifest = _read(path)
        if manifest is None or manifest.state != state:
            return None
        with suppress(OSError):
            os.utime(path)
        return manifest

    def latest(self, state: State) -> Manifest | None:
        """The newest manifest of the table in any state."""
        for path in _by_age(self.of_table(state)):
            manifest = _read(path)
            if manifest is not None and manifest.state.table == state.table:
                return manifest
        return None

    def publish(self, manifest: Manifest) -> None:
        """Write the manifest of a state whose arrays are written, and make room."""
        folder = self.of_table(manifest.state)
        with replacing(folder / f"{manifest.state.digest}.json") as temporary:
            Path(temporary).write_text(json.dumps(manifest.to_dict()), "utf-8")
        self.tidy(folder)
        if time.monotonic() - self._made_room > _SECONDS_BETWEEN_MEASURES:
            self._made_room = time.monotonic()
            self.make_room(folder)

    def tidy(self, folder: Path) -> None:
        """Remove all states of a table but the newest, and the folders that no state needs."""
        manifests = list(_by_age(folder))
        for path in manifests[_STATES:]:
            _remove(path)
        needed = {
            name
            for path in manifests[:_STATES]
            if (found := _read(path)) is not None
            for name in (found.base, found.delta)
        }
        for path in folder.iterdir():
            if path.suffix != ".json" and path.name not in needed and _age(path) > _GRACE_SECONDS:
                _remove(path)

    def make_room(self, keep: Path) -> None:
        """Remove the least recently used tables until the rest fits; ``keep`` stays."""
        sizes = {path: _bytes(path) for path in self.folder.iterdir() if path.is_dir()}
        total = sum(sizes.values())
        for path in sorted(sizes, key=_last_use):
            if total <= self.limit:
                break
            if path != keep:
                _remove(path)
                total -= sizes[path]

    def tables(self) -> list[KeptTable]:
        """What the folder holds, by table; folders without a snapshot are left out."""
        found = []
        for folder in sorted(self.folder.iterdir()) if self.folder.is_dir() else ():
            manifests = [manifest for path in _by_age(folder) if (manifest := _read(path)) is not None]
            if manifests:
                columns = sum(1 for _ in (folder / manifests[0].base).glob("*-*.arrow"))
                found.append(
                    KeptTable(
                        manifests[0].state.table, manifests[0].instant, columns, _bytes(folder), _last_use(folder)
                    )
                )
        return found

    def clear(self, table: str | None = None) -> int:
        """Remove the snapshots of one table, or of all; returns the number of tables removed."""
        removed = 0
        for folder in sorted(self.folder.iterdir()) if self.folder.is_dir() else ():
            manifest = next((one for path in _by_age(folder) if (one := _read(path)) is not None), None)
            if manifest is not None and table in (None, manifest.state.table):
                _remove(folder)
                removed += 1
        return removed


def default_cache() -> SnapshotCache | None:
    """The folder that SARGO_CACHE names, by default the user's cache folder; None when SARGO_CACHE is "off"."""
    named = os.environ.get(VARIABLE, "")
    if named.lower() == "off":
        return None
    try:
        limit = int(os.environ.get(LIMIT_VARIABLE, "") or DEFAULT_LIMIT)
    except ValueError:
        limit = DEFAULT_LIMIT
    return SnapshotCache(named or user_cache_path("sargo") / "snapshots", limit)


def _read(path: Path) -> Manifest | None:
    try:
        return Manifest.from_dict(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _by_age(folder: Path) -> Iterator[Path]:
    """The manifests of a table, newest first."""
    try:
        found = sorted(((path.stat().st_mtime_ns, path) for path in folder.glob("*.json")), reverse=True)
    except OSError:
        return
    yield from (path for _, path in found)


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _last_use(folder: Path) -> float:
    try:
        return max((path.stat().st_mtime for path in folder.glob("*.json")), default=0.0)
    except OSError:
        return 0.0


def _bytes(folder: Path) -> int:
    total = 0
    for root, _, files in os.walk(folder):
        for name in files:
            with suppress(OSError):
                total += os.stat(os.path.join(root, name)).st_size
    return total


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
