"""How a version of an index becomes the current one, or does not: what all operations that change an index share.

A commit is made on top of the version that its operation began with. When another writer was first, the operation
begins anew on top of theirs.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from contextlib import suppress

from index_store.own.store.folder import Folder
from index_store.own.store.stored_table import StoredTable
from index_store.own.store.versions import Latest, NoIndexError, Version, version_files, write_version
from index_store.storage.errors import TableError

__all__ = ["TRIES", "check_there", "commit", "forget", "given_up", "pause", "refuse_existing"]

#: A writer that finds others first so often in a row gives up; what it built is not committed.
TRIES = 40


def refuse_existing(folder: Folder) -> None:
    """Raises TableError when the folder holds an index."""
    if version_files(folder):
        raise TableError(folder.path, "there is an index here already: refresh it, drop it, or choose another name")


def commit(folder: Folder, latest: Latest, version: Version, of_no_use: Iterable[StoredTable]) -> bool:
    """Whether the version is the current one now; if not, those of its files that are ``of_no_use`` then are removed.

    Where two writers may take one number, whoever comes next may need them. Raises TableError, also when the index was
    dropped or lost files.
    """
    if not version_files(folder):
        raise NoIndexError(folder.path, "the index was dropped meanwhile; nothing was changed")
    check_there(folder, version)
    if write_version(folder, version):
        return True
    if folder.creates_atomically:
        before = {one.file for old in latest.versions for one in old.stored}
        forget(folder, [one for one in of_no_use if one.file not in before])
    return False


def check_there(folder: Folder, version: Version) -> None:
    """A build that took longer than the retention may have lost files to a vacuum: better no version than that."""
    there = {stat.path for stat in folder.stats()}
    for one in version.stored:
        if one.file not in there:
            raise TableError(
                folder.storage.absolute(one.file),
                "was removed before it was committed (vacuum or drop); nothing was changed, try again",
            )


def forget(folder: Folder, stored: Iterable[StoredTable]) -> None:
    """Remove files that no version will name."""
    for one in stored:
        with suppress(TableError):  # vacuum finds it
            folder.remove(one.file)


def pause(folder: Folder, attempt: int) -> None:
    """Two writers that always meet would do so for ever where both may take a number."""
    if not folder.creates_atomically:
        time.sleep(random.uniform(0, 0.05 * (attempt + 1)))


def given_up(folder: Folder) -> TableError:
    """What is raised after TRIES."""
    return TableError(
        folder.path, f"others changed the index {TRIES} times while this was at it; nothing was changed, try again"
    )
