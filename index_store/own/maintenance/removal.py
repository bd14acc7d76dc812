"""The removal of versions of an own index, and of whole indexes.

    vacuum     removes versions that were superseded before the retention, and files that no other version names
    drop       removes the versions, then everything else

Nothing brings back what was removed, so a doubt removes nothing: a version that cannot be fetched is an error, one that
is damaged keeps every file that it may name, and a listing that may be late keeps young files that no version names.
Files are removed one by one, under names that were listed: what a writer adds meanwhile is its own.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from evaluator.language.records import frozen
from index_store.own.store.folder import VERSIONS, Folder, age_of
from index_store.own.store.versions import (
    DamagedVersionError,
    NoIndexError,
    Version,
    latest_versions,
    read_version,
    version_files,
    version_numbers,
)
from index_store.storage.errors import TableError
from index_store.storage.storage import SIDE_BY_SIDE

__all__ = ["LATE_LISTING", "RETENTION", "Removed", "drop", "vacuum"]

#: How long superseded versions, and files that no version names, are kept: readers and builders may be using them.
RETENTION = timedelta(days=7)
#: A file that no listed version names may be of one that a late listing of a store does not show yet.
LATE_LISTING = timedelta(minutes=15)


@frozen
class Removed:
    """How many versions and other files were removed, and the bytes of all of them."""

    versions: int
    files: int
    size: int


def vacuum(folder: Folder, retention: timedelta = RETENTION) -> Removed:
    """Remove versions that were superseded before the retention, and older files that no other version names.

    Younger files stay in any case: an operation that is under way may be about to name them. Raises TableError.
    """
    latest = latest_versions(folder)
    latest.check_complete()
    now, keep = time.time(), retention.total_seconds()
    stats = {stat.path: stat for stat in folder.stats()}
    if max(version_numbers(stats).values(), default=0) < latest.number:
        raise NoIndexError(folder.path, "the index was dropped meanwhile; nothing was removed")
    needed: set[str] = set()
    superseding: set[str] = set()
    gone: dict[str, Version | None] = {}
    superseded, unsure = now, False
    for file, number in version_numbers({*latest.files, *stats}).items():  # the newest first
        whole: Version | None = None
        try:
            whole = read_version(folder, file)
        except DamagedVersionError:
            unsure |= number >= latest.current.number
        except TableError:
            if folder.exists(file):  # otherwise another vacuum has removed it
                raise
        named = {one.file for one in whole.stored} if whole else set()
        if number >= latest.current.number or now - superseded < keep:
            needed.update((file, *named))
        else:
            gone[file] = whole
            superseding.update(named)
        superseded = min(superseded, whole.written) if whole else superseded
    unnamed = keep if folder.creates_atomically else max(keep, LATE_LISTING.total_seconds())
    old = [
        path
        for path, stat in stats.items()
        if not path.startswith(f"{VERSIONS}/")
        and path not in needed
        and not unsure
        and age_of(stat) >= (keep if path in superseding else unnamed)
    ]
    leftover = [
        path
        for path, stat in stats.items()
        if path.startswith(f"{VERSIONS}/") and age_of(stat) >= keep and not path.endswith(".json")
    ]
    for file in reversed(gone):  # versions before what they name
        if not folder.creates_atomically or _is_still(folder, file, gone[file]):
            folder.remove(file)
    _remove(folder, [*old, *leftover])
    return Removed(len(gone), len(old), sum(stats[one].size for one in (*gone, *old, *leftover) if one in stats))


def drop(folder: Folder) -> Removed:
    """Remove an index: its versions from the oldest to the newest, then the rest. Raises NoIndexError for none.

    Only what was there at the beginning is removed, and what writers have added to this index meanwhile: another index
    that is created here as soon as the versions are gone stays.
    """
    stats = {stat.path: stat for stat in folder.stats()}
    versions = version_numbers(stats)
    if not versions:
        raise NoIndexError(folder.path, "there is no index here")
    removed: set[str] = set()
    while versions:
        files = set(stats) if not removed else {one for file in versions for one in _named_by(folder, file)}
        for file in reversed(versions):
            folder.remove(file)
        _remove(folder, sorted(files - set(versions)))
        removed.update(files, versions)
        versions = version_files(folder)
        if versions.keys() <= removed or 1 in versions.values():  # only a new index has the version 1
            break
    folder.remove_directories()
    return Removed(
        len(version_numbers(removed)),
        len(removed) - len(version_numbers(removed)),
        sum(stats[one].size for one in removed if one in stats),
    )


def _is_still(folder: Folder, file: str, version: Version | None) -> bool:
    """Whether a file is that of this version; where a number is the name, an index created since has the same names."""
    try:
        return read_version(folder, file) == version
    except DamagedVersionError:
        return version is None
    except TableError:
        return False


def _named_by(folder: Folder, file: str) -> list[str]:
    """The files of a version; none when it cannot be read."""
    try:
        return [one.file for one in read_version(folder, file).stored]
    except TableError:
        return []


def _remove(folder: Folder, files: list[str]) -> None:
    """Remove files; where each costs a round trip, side by side."""
    if folder.storage.is_local or len(files) < 2:
        for file in files:
            folder.remove(file)
        return
    with ThreadPoolExecutor(min(SIDE_BY_SIDE, len(files)), "sargo-remove") as pool:
        list(pool.map(folder.remove, files))
