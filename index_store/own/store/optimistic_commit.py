"""The optimistic commit: how every operation that changes an index makes its version the current one.

An operation takes no lock. It computes its change on top of the current version and then tries to take the next
version number. When another writer took that number first, the change is rebased: it is computed again on top of the
newer version.

    refresher A    reads version 3, builds x    takes number 4
    refresher B    reads version 3, builds y    finds number 4 taken    reads version 4, adds y    takes number 5

Version 5 holds x and y: concurrent refreshes lose nothing. What an attempt built stays with the operation, so a rebase
builds only what is still missing. After ``MAX_ATTEMPTS`` attempts the operation raises ``RetriesExhaustedError`` and
the index stays as the others left it.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from index_store.own.store.folder import Folder
from index_store.own.store.stored_table import StoredTable
from index_store.own.store.versions import (
    Latest,
    NoIndexError,
    Version,
    latest_versions,
    version_files,
    write_version,
)
from index_store.storage.errors import TableError

__all__ = [
    "MAX_ATTEMPTS",
    "Change",
    "Commit",
    "IndexExistsError",
    "RetriesExhaustedError",
    "commit_first",
    "commit_on_latest",
    "delete",
    "refuse_existing",
]

#: An operation that meets a newer version so often in a row gives up; what it built is not committed.
MAX_ATTEMPTS = 40


class IndexExistsError(TableError):
    """There is an index in the folder of a new one."""


class RetriesExhaustedError(TableError):
    """Other writers changed the index during every attempt of an operation."""

    def __init__(self, path: str) -> None:
        super().__init__(
            path,
            f"others changed the index {MAX_ATTEMPTS} times while this was at it; nothing was changed, try again",
        )


@dataclass(frozen=True, slots=True)
class Change:
    """What an operation wants to commit on top of a version.

    version    the version to be written
    orphaned   those of its files that are deleted when another writer is first: no later attempt uses them
    """

    version: Version
    orphaned: tuple[StoredTable, ...]


@dataclass(frozen=True, slots=True)
class Commit:
    """How an operation ended: the current version, the version that it was computed on, and the attempts it took.

    ``committed`` is False when there was nothing to change; then both versions are the same.
    """

    version: Version
    base: Version
    attempts: int
    committed: bool


def refuse_existing(folder: Folder) -> None:
    """Raises IndexExistsError when the folder holds an index."""
    if version_files(folder):
        why = "there is an index here already: refresh it, drop it, or choose another name"
        raise IndexExistsError(folder.path, why)


def commit_first(folder: Folder, change: Change) -> None:
    """Write the first version of an index. Raises IndexExistsError when another writer created one meanwhile.

    Then there is nothing to rebase onto: the two indexes may have different definitions.
    """
    _check_files_exist(folder, change.version)
    if not write_version(folder, change.version):
        delete(folder, change.orphaned)
        raise IndexExistsError(folder.path, "another index was created here at the same time")


def commit_on_latest(folder: Folder, compute: Callable[[Latest], Change | None]) -> Commit:
    """Commit the change that ``compute`` makes of the current version; None means that there is nothing to change.

    ``compute`` is called again on top of the newer version after a conflict, and also when it raised TableError while
    another writer committed: that writer may have removed files that it was reading. Raises NoIndexError when the
    index was dropped, RetriesExhaustedError, and what ``compute`` raises.
    """
    for attempt in range(1, MAX_ATTEMPTS + 1):
        latest = latest_versions(folder)
        try:
            change = compute(latest)
        except TableError:
            if _is_superseded(folder, latest):
                continue
            raise
        if change is None:
            return Commit(latest.current, latest.current, attempt, committed=False)
        if _try_commit(folder, latest, change):
            return Commit(change.version, latest.current, attempt, committed=True)
        _back_off(folder, attempt)
    raise RetriesExhaustedError(folder.path)


def delete(folder: Folder, stored: Iterable[StoredTable]) -> None:
    """Delete files that no version names. A file that cannot be deleted now is left to vacuum."""
    for one in stored:
        with suppress(TableError):
            folder.remove(one.file)


def _try_commit(folder: Folder, latest: Latest, change: Change) -> bool:
    """Whether the version is the current one now; if not, its orphaned files are deleted.

    They stay where two writers may take one number: the next writer merges both versions and may need them.
    """
    if not version_files(folder):
        raise _dropped(folder)
    _check_files_exist(folder, change.version)
    if write_version(folder, change.version):
        return True
    if folder.creates_atomically:
        named = {stored.file for version in latest.versions for stored in version.stored}
        delete(folder, [stored for stored in change.orphaned if stored.file not in named])
    return False


def _is_superseded(folder: Folder, latest: Latest) -> bool:
    """Whether there is a newer version. Raises NoIndexError when the index was dropped."""
    files = version_files(folder)
    if not files:
        raise _dropped(folder)
    return max(files.values()) > latest.number


def _dropped(folder: Folder) -> NoIndexError:
    return NoIndexError(folder.path, "the index was dropped meanwhile; nothing was changed")


def _check_files_exist(folder: Folder, version: Version) -> None:
    """Raises TableError when a file of the version is gone: vacuum deletes files of builds beyond the retention."""
    existing = {stat.path for stat in folder.stats()}
    for stored in version.stored:
        if stored.file not in existing:
            raise TableError(
                folder.storage.absolute(stored.file),
                "was removed before it was committed (vacuum or drop); nothing was changed, try again",
            )


def _back_off(folder: Folder, attempt: int) -> None:
    """Wait a random time where two writers may take one number: in step with each other they would never commit."""
    if not folder.creates_atomically:
        time.sleep(random.uniform(0, 0.05 * attempt))
