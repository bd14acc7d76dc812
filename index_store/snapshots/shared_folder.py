"""A folder of a store in which many processes share snapshots: ``s3://bucket/prefix`` and whatever a storage opens.

    <folder>/v<format>-<key>/<table>/<name>     objects (``shared_object``), each written once (If-None-Match)

Whoever may write into the folder could plant snapshots that skip files with rows, and a store tells nobody who wrote an
object. So the folder is used with a key only, which seals the objects, or when the operator says that all who may write
into it are trusted. Nobody else's objects are read, replaced or removed: names begin with that of the key.

Reading and writing happen in threads that the process does not wait for. A store that fails, or does not answer in
time, is left alone for a while.
"""

from __future__ import annotations

import atexit
import tempfile
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from index_store.snapshots.arrays_file import UnusableError
from index_store.snapshots.private_folder import PrivateFile
from index_store.snapshots.shared_object import SharedObject, column_of, seal, seal_prefix, states_of, unseal
from index_store.snapshots.state import FORMAT
from index_store.storage.client import Listed
from index_store.storage.errors import TableError
from index_store.storage.masking import masked_uri
from index_store.storage.storage import Storage

__all__ = ["MIN_KEY", "SharedFolder", "in_background"]

T = TypeVar("T")

#: Bytes of a key at least.
MIN_KEY = 32
#: Seconds for which a filter waits for a listing, or for objects without bytes, and the rate that their bytes add.
WAIT, SLOWEST_RATE, LONGEST_WAIT = 3.0, 20e6, 12.0
#: Seconds for which a store that failed is left alone, and for which the end of a process waits for what is written.
REST, LAST_WAIT = 60.0, 3.0
#: No larger object is read or written.
MAX_OBJECT = 1 << 30
#: A folder of a table with more objects is not read; a writer that tidies leaves less than a hundred.
_MAX_OBJECTS = 10_000
_MAX_WAITING = 256
#: How many states of a table stay, and how much older than the newest object others must be before they are removed.
_STATES, _GRACE_SECONDS, _MAX_REMOVED = 2, 600.0, 100
_warned: set[str] = set()
_MAX_WARNED = 100


class SharedFolder:
    """One folder. Only the constructor raises: ValueError for a key that is too short."""

    def __init__(
        self,
        uri: str,
        key: bytes | None = None,
        *,
        trusts_writers: bool = False,
        storage_options: Mapping[str, str] | None = None,
        filesystem: Any = None,
        wait: float = WAIT,
        fault: str = "",
    ) -> None:
        """``key``: a secret of all who share. ``trusts_writers``: without a key, all who may write are trusted.

        ``wait``: seconds, of a filter for an answer. ``fault``: why the key that was named cannot be used.
        """
        if key is not None and len(key) < MIN_KEY:
            raise ValueError(f"the key of a shared folder has {len(key)} bytes, {MIN_KEY} are the least")
        self.name = masked_uri(uri)
        self.wait = wait
        self._uri = uri
        self._trusted = key is not None or trusts_writers
        self._key = key or b""
        self._options = {"tries": "2", "deadline": str(LONGEST_WAIT), **(storage_options or {})}
        self._filesystem = filesystem
        self._folder = f"v{FORMAT}-{seal_prefix(self._key) if self._key else 'open'}"
        self._storage: Storage | None = None
        self._resting_until = float("-inf")
        self._why = ""
        self._fault = fault
        self._changed = threading.Condition()
        self._jobs: deque[Callable[[Storage], None]] = deque()
        self._is_writing = self._ends_well = False

    def __repr__(self) -> str:
        return f"SharedFolder({self.name!r})"

    def why_refused(self) -> str:
        """Why the folder is not used, or ""."""
        if self._trusted:
            return ""
        if self._fault:
            return f"{self.name}: {self._fault}"
        return f"{self.name}: whoever may write into it decides which files are skipped, and it has no key"

    @property
    def is_resting(self) -> bool:
        """Whether the folder is left alone, because it failed."""
        return time.monotonic() < self._resting_until

    def rest(self, why: str) -> None:
        """Leave the folder alone for a while."""
        self._resting_until = time.monotonic() + REST
        self._why = why

    def warn(self) -> None:
        """Say once why the folder was left alone."""
        why, self._why = self._why, ""
        if why and why not in _warned and len(_warned) < _MAX_WARNED:
            _warned.add(why)
            warnings.warn(f"shared snapshots are not used: {why}", RuntimeWarning, stacklevel=2)

    # -- reading; in a thread of the caller

    def listed(self, table: str) -> dict[str, Listed]:
        """The objects of a table (its digest), by name. Raises TableError."""
        storage = self._opened()
        place = self._place(table)
        found = {one.path.rpartition("/")[2]: one for one in storage.listed(place)}
        if len(found) > _MAX_OBJECTS:
            raise TableError(storage.absolute(place), f"more than {_MAX_OBJECTS} objects")
        return {name: one for name, one in found.items() if states_of(name) or column_of(name)}

    def read(self, table: str, name: str, size: int) -> SharedObject:
        """An object. Raises UnusableError for one that is not sealed with the key, or too large; TableError."""
        if size > MAX_OBJECT:
            raise UnusableError(f"{name}: it has {size} bytes, at most {MAX_OBJECT} are read")
        data = self._opened().read_if_there(self._place(table, name), size)
        if data is None:
            raise UnusableError(f"{name}: it is gone")
        return unseal(self._key, f"{self._folder}/{table}/{name}", data)

    # -- writing; in one thread, behind the caller

    def offer(self, table: str, name: str, header: Mapping[str, Any], file: PrivateFile, *, again: bool) -> None:
        """Write a local file as an object, unless there is one; ``again``: in place of one whose seal is wrong."""

        def write(storage: Storage) -> None:
            with file.opened() as stream:
                body = stream.read(MAX_OBJECT + 1)
            if len(body) > MAX_OBJECT:
                return
            sealed = seal(self._key, f"{self._folder}/{table}/{name}", header, body)
            _write(storage, self._place(table, name), sealed, new=not again)

        self._enqueue(write)

    def tidy(self, table: str) -> None:
        """Remove the objects of all states of a table but the newest, after what was offered before is written."""

        def remove(storage: Storage) -> None:
            found = self.listed(table)
            for name in superseded(found)[:_MAX_REMOVED]:
                with suppress(FileNotFoundError):
                    storage.client.remove(storage.place(self._place(table, name)))

        self._enqueue(remove)

    def finish(self, seconds: float = LAST_WAIT) -> bool:
        """Wait until all that was offered is written; False when that takes longer."""
        with self._changed:
            ended = self._changed.wait_for(lambda: not self._is_writing, seconds)
        self.warn()
        return ended

    def _enqueue(self, job: Callable[[Storage], None]) -> None:
        with self._changed:
            if self.is_resting or len(self._jobs) >= _MAX_WAITING:
                return
            self._jobs.append(job)
            if not self._ends_well:
                self._ends_well = True
                atexit.register(self.finish)
            if not self._is_writing:
                self._is_writing = True
                threading.Thread(target=self._work, daemon=True, name="sargo-shares").start()

    def _work(self) -> None:
        while True:
            with self._changed:
                if not self._jobs:
                    self._is_writing = False
                    self._changed.notify_all()
                    return
                job = self._jobs.popleft()
            try:
                if not self.is_resting:
                    job(self._opened())
            except Exception as error:  # clients behind fsspec have errors of their own
                self.rest(
                    f"{self.name} cannot be written: {error if isinstance(error, TableError) else type(error).__name__}"
                )

    def _opened(self) -> Storage:
        if self._storage is None:
            self._storage = Storage.at(self._uri, self._filesystem, self._options)
        return self._storage.afresh()

    def _place(self, table: str, name: str = "") -> str:
        return f"{self._folder}/{table}/{name}".rstrip("/")


def in_background(function: Callable[[], T]) -> Future[T]:
    """The function's result, computed in a thread that the end of the process does not wait for."""
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, daemon=True, name="sargo-shared").start()
    return future


def superseded(objects: Mapping[str, Listed]) -> list[str]:
    """The names of objects that no state needs which stays, old enough that no reader is about to read them."""
    newest = max((one.written for one in objects.values()), default=0.0)
    states = [(one.written, name) for name, one in objects.items() if states_of(name)]
    needed: set[str] = set()
    kept: set[str] = set()
    for _, name in sorted(states, reverse=True):
        state, base = states_of(name) or ("", "")
        if len(kept) < _STATES:
            kept.add(name)
            needed |= {state, base}
    return sorted(
        name
        for name, one in objects.items()
        if newest - one.written > _GRACE_SECONDS
        and (place := states_of(name) or column_of(name)) is not None
        and place[0] not in needed
    )


def _write(storage: Storage, path: str, data: bytes, *, new: bool) -> None:
    client, place = storage.client, storage.place(path)
    with tempfile.NamedTemporaryFile(prefix="sargo-") as local:
        local.write(data)
        local.flush()
        if client.writes_at_once:
            client.write(place, Path(local.name), new=new)
            return
        client.create_folder(place.rpartition("/")[0])
        first = f"{place}.{uuid4().hex[:16]}.part"
        client.write(first, Path(local.name), new=True)
        client.move(first, place)
