"""The optimistic commit: how every operation that changes an index makes its version the current one.

An operation takes no lock. It computes its change on top of the current version and then tries to take the next
version number. When another writer took that number first, the change is rebased: it is computed again on top of the
newer version.

    refresher A    reads version 3, builds x    takes number 4
    refresher B    reads version 3, builds y    finds number 4 taken    reads version 4, adds y    takes number 5

Version 5 holds x and y: concurrent refreshes lose nothing. What an attempt built stays with the operation, so a rebase
builds only what is still missing. After ``MAX_ATTEMPTS`` attempts the operation raises ``RetriesExhaustedError`` and
the index stays as the others left it.

A commit is checked on both sides. Before it the folder is listed: the version that the change builds on is still the
latest, and every file of the new one is there. After it the folder is listed again, because vacuum, drop and, where two
writers may take one number, another commit may have come between. A version whose files are gone is taken back. A
listing that does not show the new version proves nothing, and is an error.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from evaluator.language.records import frozen
from index_store.own.store.folder import Folder, Stat
from index_store.own.store.stored_table import StoredTable
from index_store.own.store.versions import (
    Latest,
    NoIndexError,
    Version,
    latest_versions,
    read_version,
    version_files,
    version_numbers,
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
#: Seconds after which a listing that does not show a new version is asked again.
_PAUSES = (0.1, 0.5)


class IndexExistsError(TableError):
    """There is an index in the folder of a new one."""


class RetriesExhaustedError(TableError):
    """Other writers changed the index during every attempt of an operation."""

    def __init__(self, path: str) -> None:
        super().__init__(
            path,
            f"others changed the index {MAX_ATTEMPTS} times while this was at it; nothing was changed, try again",
        )


@frozen
class Change:
    """What an operation wants to commit on top of a version.

    version    the version to be written
    orphaned   those of its files that are deleted when another writer is first: no later attempt uses them
    """

    version: Version
    orphaned: tuple[StoredTable, ...]


@frozen
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

    Then there is nothing to rebase onto: the two indexes may have different definitions. So the version is taken back.
    """
    _check_files_exist(folder, change.version, folder.stats())
    file = write_version(folder, change.version)
    if file is None:
        delete(folder, change.orphaned)
    elif _is_alone(folder, file, change.version) or _is_built_on(folder, change.version):
        return
    else:
        folder.remove(file)
    raise IndexExistsError(folder.path, "another index was created here at the same time")


def commit_on_latest(
    folder: Folder, compute: Callable[[Latest], Change | None], latest: Latest | None = None
) -> Commit:
    """Commit the change that ``compute`` makes of the current version; None means that there is nothing to change.

    ``latest``: the current version as it was read a moment ago, for the first attempt.

    ``compute`` is called again on top of the newer version after a conflict, and also when it raised TableError while
    another writer committed: that writer may have removed files that it was reading. Raises NoIndexError when the
    index was dropped, RetriesExhaustedError, and what ``compute`` raises.
    """
    definition = None
    for attempt in range(1, MAX_ATTEMPTS + 1):
        latest = latest if latest is not None and attempt == 1 else latest_versions(folder)
        latest.check_complete()
        if definition not in (None, latest.current.definition):  # what was built is of the index before
            raise _dropped(folder)
        definition = latest.current.definition
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
    """Whether the version is committed; if not, its orphaned files are deleted.

    They stay where the version was written: the next writer merges both versions and may need them.
    """
    stats = folder.stats()
    file = None
    if not _is_changed(folder, latest, version_numbers(stat.path for stat in stats)):
        _check_files_exist(folder, change.version, stats)
        file = write_version(folder, change.version)
    if file is None:
        named = {stored.file for version in latest.versions for stored in version.stored}
        delete(folder, [stored for stored in change.orphaned if stored.file not in named])
        return False
    return _is_alone(folder, file, change.version)


def _is_changed(folder: Folder, latest: Latest, files: Mapping[str, int]) -> bool:
    """Whether another writer has committed. Raises NoIndexError when the index was dropped."""
    greatest = max(files.values(), default=0)
    if greatest < latest.number:
        raise _dropped(folder)
    if greatest > latest.number:
        return True
    if not {file for file, number in files.items() if number == greatest} <= latest.files:
        return True
    if folder.creates_atomically:  # a number is the name: it may be that of an index that was created since
        now = [read_version(folder, file) for file, number in files.items() if number == latest.current.number]
        if latest.current not in now:
            raise _dropped(folder)
    return False


def _is_superseded(folder: Folder, latest: Latest) -> bool:
    """Whether another writer has committed. Raises NoIndexError when the index was dropped."""
    return _is_changed(folder, latest, version_files(folder))


def _dropped(folder: Folder) -> NoIndexError:
    return NoIndexError(folder.path, "the index was dropped meanwhile; nothing was changed")


def _is_alone(folder: Folder, file: str, version: Version) -> bool:
    """Whether no other version has the number of the one in this file, or a greater one.

    Where only one writer can take a number, this is so. Raises TableError when files of the version are gone, which
    takes it back, or when the listing does not show it.
    """
    for pause in (*_PAUSES, 0.0):
        stats = folder.stats()
        files = version_numbers(stat.path for stat in stats)
        if max(files.values(), default=0) > version.number:  # another one is built on it, or knows nothing of it
            return folder.creates_atomically
        if file in files:
            break
        time.sleep(pause)
    else:
        if not folder.exists(file):
            raise _dropped(folder)
        why = "was written, but the listing does not show it: look at the index and try again"
        raise TableError(folder.storage.absolute(file), why)
    try:
        _check_files_exist(folder, version, stats)
    except TableError:
        folder.remove(file)
        raise
    return all(number < version.number or other == file for other, number in files.items())


def _is_built_on(folder: Folder, version: Version) -> bool:
    """Whether the current version is a later one with files of this one: another writer knew it."""
    own, current = {stored.file for stored in version.stored}, latest_versions(folder).current
    return current.number > version.number and not own.isdisjoint(stored.file for stored in current.stored)


def _check_files_exist(folder: Folder, version: Version, stats: Iterable[Stat]) -> None:
    """Raises TableError when a file of the version is gone: vacuum deletes files of builds beyond the retention."""
    existing = {stat.path: stat.size for stat in stats}
    for stored in version.stored:
        if stored.file not in existing and (folder.creates_atomically or not folder.exists(stored.file)):
            raise TableError(
                folder.storage.absolute(stored.file),
                "was removed before it was committed (vacuum or drop); nothing was changed, try again",
            )
        if existing.get(stored.file, stored.size) != stored.size:
            raise TableError(
                folder.storage.absolute(stored.file),
                f"has {existing[stored.file]} bytes, but {stored.size} were written; nothing was changed, try again",
            )


def _back_off(folder: Folder, attempt: int) -> None:
    """Wait a random time where two writers may take one number: in step with each other they would never commit."""
    if not folder.creates_atomically:
        time.sleep(random.uniform(0, 0.05 * attempt))
