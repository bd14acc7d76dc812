"""The locations of a table's indexes.

    <table>/.sargo/<name>            the default
    any other folder                 for a table that is only read: given by --path, or by the option sargo.index.paths
                                     of the table's catalog entry, a list of folders separated by commas

Hudi, Hive and Spark do not read names that begin with a dot as data of a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evaluator.language.records import frozen
from index_store.own.definition import check_name
from index_store.own.presence import DIRECTORY, OTHERS
from index_store.own.store.folder import VERSIONS, Folder
from index_store.own.store.own_index import OwnIndex
from index_store.own.store.versions import NoIndexError, version_numbers
from index_store.storage.errors import TableError
from index_store.storage.storage import Storage

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["DIRECTORY", "OTHERS", "IndexLocation", "folder_of", "indexes_of", "version_names"]


@frozen
class IndexLocation:
    """The location of an index. ``index`` is None when it cannot be read; then ``fault`` says why."""

    name: str
    folder: Folder
    index: OwnIndex | None
    fault: str = ""


def folder_of(table: Table, name: str, path: str = "", storage_options: Mapping[str, str] | None = None) -> Folder:
    """The folder of the index of this name, or the one at ``path``. Raises ValueError for an invalid name."""
    if path:
        return Folder.at(path, None, storage_options)
    check_name(name)
    return Folder(table.storage.below(f"{DIRECTORY}/{name}"))


def version_names(storage: Storage, options: Mapping[str, str]) -> list[str]:
    """The names of all versions of all indexes of the table: they change whenever an index does."""
    listed = storage.below(DIRECTORY).files(recursive=True)
    names = [entry.path for entry in listed if f"/{VERSIONS}/" in entry.path]
    for path in _others(options):
        names += [f"{path}/{name}" for name in Folder(storage.elsewhere(path)).names(VERSIONS)]
    return sorted(names)


def _others(options: Mapping[str, str]) -> list[str]:
    return [path for one in options.get(OTHERS, "").split(",") if (path := one.strip())]


def indexes_of(
    table: Table, paths: Sequence[str] = (), storage_options: Mapping[str, str] | None = None
) -> list[IndexLocation]:
    """The indexes of a table, by name: beside its data, at ``paths``, and in the folders that its options name.

    Raises TableError when the table's folder cannot be listed. A fault of one index is part of its location.
    """
    listed = table.storage.below(DIRECTORY).files(recursive=True)
    names = sorted({entry.path.split("/")[0] for entry in listed if f"/{VERSIONS}/" in entry.path})
    folders = [Folder(table.storage.below(f"{DIRECTORY}/{name}")) for name in names]
    versions: dict[str, Mapping[str, int]] = {}
    for name, folder in zip(names, folders, strict=True):
        inside = [entry.path.removeprefix(f"{name}/") for entry in listed if entry.path.startswith(f"{name}/")]
        versions[folder.path] = found = version_numbers(inside)
        folder.storage.begin(list(found)[:1])
    others = dict.fromkeys(path for path in _others(table.options) if path not in paths)
    folders += [Folder.at(path, None, storage_options) for path in dict.fromkeys(filter(None, paths))]
    folders += [Folder(table.storage.elsewhere(path)) for path in others]
    locations = []
    for folder in folders:
        name = folder.path.rstrip("/").rpartition("/")[2]
        try:
            index = OwnIndex.open(folder, versions.get(folder.path) or None)
            locations.append(IndexLocation(index.definition.name, folder, index))
        except NoIndexError:
            continue
        except TableError as error:
            locations.append(IndexLocation(name, folder, None, error.why if error.path == folder.path else str(error)))
    return sorted(locations, key=lambda location: location.name)
