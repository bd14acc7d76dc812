"""Brings snapshots from a shared folder into the local one, and offers those of the local one to the shared one.

    begin      the listing of a table's objects, and then those of its newest state, while the table itself is opened
    bring      the state that is asked for, or the newest one, becomes local files
    column     a column that a brought state has in the shared folder becomes a local file
    offer      a state that was stored locally, with its columns, is written behind the caller

What is brought was sealed with the key, and says its table, its state and the slices that it belongs to; these are
compared before anything becomes a local file. A filter waits for the shared folder for a few seconds at most. Tables
on a local disk are not shared: their paths name other tables on other machines. Nor are those of a file system that
does not tell its endpoint or account.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from index_store.kinds.column_stats.column_stats import ColumnStats
from index_store.kinds.partition_values import PartitionValues
from index_store.snapshots.arrays_file import ArraysFile, UnusableError
from index_store.snapshots.column_file import column_file_name
from index_store.snapshots.manifest import Manifest
from index_store.snapshots.private_folder import PrivateFile, PrivateFolder
from index_store.snapshots.shared_folder import LONGEST_WAIT, MAX_OBJECT, SLOWEST_RATE, SharedFolder, in_background
from index_store.snapshots.shared_object import SharedObject, column_name, column_of, slices_name, states_of
from index_store.snapshots.state import ELSEWHERE, State, table_digest
from index_store.storage.client import Listed
from index_store.storage.errors import TableError

__all__ = ["SHARED_KINDS", "SLICES", "Sharing"]

T = TypeVar("T")

SLICES = "slices.arrays"
#: The kinds whose columns are shared.
SHARED_KINDS = (ColumnStats.name, PartitionValues.name)
_NOT_SHARED = ("local:", ELSEWHERE)
#: Columns of a filter that are fetched before anybody asks for them.
_MAX_EXPECTED = 64


@dataclass(slots=True)
class _Table:
    """What is on its way, or here, of a table: its listing, and objects by name."""

    listing: Future[dict[str, Listed]]
    objects: dict[str, Future[SharedObject]] = field(default_factory=dict)
    expected: set[str] = field(default_factory=set)
    is_used: bool = False


class Sharing:
    """One local folder (``root``) and one shared one. Methods never raise."""

    def __init__(self, root: PrivateFolder, shared: SharedFolder, limit: int) -> None:
        """``limit``: bytes of a state that are brought at most."""
        self.shared = shared
        self._root = root
        self._limit = limit
        self._tables: dict[str, _Table] = {}
        self._bad: set[str] = set()
        self._offered: set[str] = set()
        self._lock = threading.Lock()

    # -- reading

    def begin(self, table: str, columns: Iterable[str] = ()) -> None:
        """Start to read what is shared of a table in its newest state, and these columns of it."""
        if not self._is_open(table):
            return
        names = [column_file_name(kind, column) for column in sorted(columns)[:_MAX_EXPECTED] for kind in SHARED_KINDS]
        with self._lock:
            one = self._tables.get(table)
            if one is None or one.is_used:
                one = self._tables[table] = self._listing(table)
            one.expected.update(names)
        in_background(lambda: self._fetch_newest(table, one))

    def _listing(self, table: str) -> _Table:
        return _Table(in_background(lambda: self.shared.listed(table_digest(table))))

    def _fetch_newest(self, table: str, one: _Table) -> None:
        with suppress(Exception):  # whoever needs the listing sees its error
            listed = one.listing.result()
            newest = _newest(listed)
            if newest is not None:
                self._fetch(table, one, listed, self._names(one, listed, newest))

    def bring(self, table: str, state: str | None) -> Manifest | None:
        """The shared state (its digest; None: the newest one) as local files. None when there is none.

        The caller writes the manifest, and compares the state.
        """
        if not self._is_open(table):
            return None
        with self._lock:
            one = self._tables.get(table)
            if one is None or (one.is_used and state is not None):
                one = self._tables[table] = self._listing(table)
            one.is_used = True
        listed = self._waited([one.listing], self.shared.wait)
        if not listed:
            return None
        found = [name for name in listed[0] if (states_of(name) or ("",))[0] == state] if state else []
        chosen = found[0] if found else None if state else _newest(listed[0])
        if chosen is None or (state is None and self._is_local(table, chosen)):
            return None
        return self._brought(table, one, listed[0], chosen)

    def _brought(self, table: str, one: _Table, listed: Mapping[str, Listed], chosen: str) -> Manifest | None:
        names = self._names(one, listed, chosen)
        if sum(listed[name].size for name in names) > self._limit:
            self._bad.update(name for name in names if listed[name].size > MAX_OBJECT)
            return None
        futures = self._fetch(table, one, listed, names)
        seconds = min(self.shared.wait + sum(listed[name].size for name in names) / SLOWEST_RATE, LONGEST_WAIT)
        if self._waited(list(futures.values()), seconds) is None:
            return None
        objects = {name: found for name, future in futures.items() if (found := self._sealed(name, future)) is not None}
        try:
            return self._stored(table, chosen, objects)
        except (OSError, UnusableError, KeyError, TypeError, ValueError, AttributeError):
            return None
        finally:
            self._drop(one, names)

    def _stored(self, table: str, chosen: str, objects: Mapping[str, SharedObject]) -> Manifest:
        """Write the objects as local files. Raises OSError, and the others for objects that do not fit together."""
        state, base = states_of(chosen) or ("", "")
        manifest = Manifest.from_dict(objects[chosen].header["manifest"])
        if (
            manifest.state.table != table
            or manifest.state.digest != state
            or (manifest.base, manifest.delta) != (base, None if state == base else state)
        ):
            raise UnusableError(f"{chosen}: of another state")
        slices = {base: objects[slices_name(base, base)], state: objects[chosen]}
        digests: dict[str, str] = {}
        for name, one in slices.items():
            if (one.header["table"], one.header["fixed"]) != (table, manifest.state.fixed):
                raise UnusableError(f"{name}: of another table")
            digests[name] = str(one.header["slices"])
        if state != base and slices[state].header["on"] != digests[base]:
            raise UnusableError(f"{chosen}: on another base")
        folder = self._root / table_digest(table)
        for name, one in slices.items():
            file = (folder / name).file(SLICES)
            if _digest_of(file, table) is None:  # columns beside slices that are here belong to these
                with file.replacing() as stream:
                    stream.write(one.body)
            if _digest_of(file, table) != digests[name]:
                raise UnusableError(f"{name}: not the slices that it says")
        for name, one in objects.items():
            place = column_of(name)
            if place is not None and one.header["slices"] == digests.get(place[0]):
                with suppress(OSError), (folder / place[0]).file(place[1]).replacing() as stream:
                    stream.write(one.body)
        return manifest

    def column(self, table: str, folder: str, slices_digest: str, file: str) -> bool:
        """Make a column of a base or delta with these slices a local file; False when it is not shared."""
        one = self._tables.get(table)
        if one is None or not self._is_open(table):
            return False
        listed = self._waited([one.listing], self.shared.wait)
        name = column_name(folder, slices_digest, file)
        if not listed or name not in listed[0]:
            return False
        futures = self._fetch(table, one, listed[0], [name])
        seconds = min(self.shared.wait + listed[0][name].size / SLOWEST_RATE, LONGEST_WAIT)
        if self._waited(list(futures.values()), seconds) is None:
            return False
        found = self._sealed(name, futures[name])
        self._drop(one, [name])
        if found is None or found.header.get("slices") != slices_digest or found.header.get("table") != table:
            return False
        try:
            with (self._root / table_digest(table) / folder).file(file).replacing() as stream:
                stream.write(found.body)
        except OSError:
            return False
        return True

    # -- writing

    def offer_slices(
        self, manifest: Manifest | None, state: State, folder: str, base: str, digests: tuple[str, str]
    ) -> None:
        """Offer the slices in a local folder; ``digests``: of these slices, and of the base's that they stand on."""
        header: dict[str, Any] = {
            "table": state.table,
            "fixed": state.fixed,
            "slices": digests[0],
            "on": digests[1],
            "manifest": None if manifest is None else manifest.to_dict(),
        }
        self._offer(state.table, slices_name(folder, base), folder, SLICES, header)

    def offer_column(self, table: str, folder: str, slices_digest: str, file: str) -> None:
        """Offer a column in a local folder."""
        header = {"table": table, "slices": slices_digest}
        self._offer(table, column_name(folder, slices_digest, file), folder, file, header)

    def tidy(self, table: str) -> None:
        """Remove shared states before the last ones, behind what was offered."""
        if self._is_open(table):
            self.shared.tidy(table_digest(table))

    def _offer(self, table: str, name: str, folder: str, file: str, header: Mapping[str, Any]) -> None:
        if not self._is_open(table):
            return
        one = self._tables.get(table)
        is_there = (
            one is not None and one.listing.done() and not one.listing.exception() and name in one.listing.result()
        )
        with self._lock:
            if name not in self._bad and (is_there or name in self._offered):
                return
            self._offered.add(name)
            again = name in self._bad
            self._bad.discard(name)
        digest = table_digest(table)
        local = (self._root / digest / folder).file(file)
        self.shared.offer(digest, name, header, local, again=again)

    # -- steps

    def _is_open(self, table: str) -> bool:
        self.shared.warn()
        return not (table.startswith(_NOT_SHARED) or self.shared.is_resting or self.shared.why_refused())

    def _is_local(self, table: str, chosen: str) -> bool:
        state, _ = states_of(chosen) or ("", "")
        try:
            return any(entry.name == f"{state}.json" for entry in (self._root / table_digest(table)).entries())
        except OSError:
            return False

    def _names(self, one: _Table, listed: Mapping[str, Listed], chosen: str) -> list[str]:
        """The objects of a state: its slices, those of its base, and the columns that are expected."""
        state, base = states_of(chosen) or ("", "")
        places = {(folder, file) for folder in (state, base) for file in one.expected}
        columns = [name for name in listed if column_of(name) in places]
        return [name for name in dict.fromkeys((chosen, slices_name(base, base), *columns)) if name in listed]

    def _fetch(
        self, table: str, one: _Table, listed: Mapping[str, Listed], names: Iterable[str]
    ) -> dict[str, Future[SharedObject]]:
        """The objects, each read in a thread of its own, once."""
        digest = table_digest(table)
        with self._lock:
            for name in names:
                if name not in one.objects:
                    one.objects[name] = in_background(_reading(self.shared, digest, name, listed[name].size))
            return {name: one.objects[name] for name in names}

    def _drop(self, one: _Table, names: Iterable[str]) -> None:
        """Keep no bytes of what has become local files."""
        with self._lock:
            for name in names:
                one.objects.pop(name, None)

    def _waited(self, futures: list[Future[T]], seconds: float) -> list[T] | None:
        """Wait for all; the results of those that have one, and None when the folder is left alone."""
        began = time.monotonic()
        _, late = wait(futures, seconds)
        if late:
            self.shared.rest(f"{self.shared.name}: no answer within {time.monotonic() - began:.0f} seconds")
            self.shared.warn()
            return None
        results: list[T] = []
        for future in futures:
            try:
                results.append(future.result())
            except UnusableError:
                continue
            except Exception as error:  # clients behind fsspec have errors of their own
                self.shared.rest(
                    str(error) if isinstance(error, TableError) else f"{self.shared.name}: {type(error).__name__}"
                )
                self.shared.warn()
                return None
        return results

    def _sealed(self, name: str, future: Future[SharedObject]) -> SharedObject | None:
        """The object; None, and noted, for one that nobody with the key has written."""
        try:
            return future.result()
        except UnusableError:
            self._bad.add(name)
            return None


def _reading(shared: SharedFolder, digest: str, name: str, size: int) -> Callable[[], SharedObject]:
    return lambda: shared.read(digest, name, size)


def _digest_of(file: PrivateFile, table: str) -> str | None:
    """The digest of slices in a local file; None when there are none."""
    try:
        return ArraysFile.open(file, {"what": "slices", "table": table}).digest
    except UnusableError:
        return None


def _newest(listed: Mapping[str, Listed]) -> str | None:
    """The name of the slices that were written last."""
    names = [name for name in listed if states_of(name)]
    return max(names, key=lambda name: (listed[name].written, name), default=None)
