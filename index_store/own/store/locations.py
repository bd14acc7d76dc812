"""Where the indexes of a table are.

    <table>/.sargo/<name>            the default
    any other folder                 for a table that is only read; named by --path, or by the option sargo.index.paths
                                     of the table's catalog entry, which names folders, separated by commas

Names that begin with a dot are none of a table's data to Hudi, Hive and Spark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from index_store.own.definition import check_name
from index_store.own.store.folder import VERSIONS, Folder
from index_store.own.store.own_index import OwnIndex
from index_store.own.store.versions import NoIndexError
from index_store.storage.errors import TableError
from index_store.storage.storage import Storage

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["DIRECTORY", "OTHERS", "IndexLocation", "folder_of", "indexes_of", "may_have_indexes", "version_names"]

DIRECTORY, OTHERS = ".sargo", "sargo.index.paths"


@dataclass(frozen=True, slots=True)
class IndexLocation:
    """An index of a table: ``index`` is None when it cannot be read, and ``fault`` says why."""

    name: str
    folder: Folder
    index: OwnIndex | None
    fault: str = ""


def folder_of(table: Table, name: str, path: str = "", storage_options: Mapping[str, str] | None = None) -> Folder:
    """The folder of the index of this name, or the one at ``path``. Raises ValueError for what is no name."""
    if path:
        return Folder.at(path, None, storage_options)
    check_name(name)
    return Folder(table.storage.below(f"{DIRECTORY}/{name}"))


def may_have_indexes(table: Table) -> bool:
    """Whether it is worth looking for indexes of the table."""
    return bool(table.options.get(OTHERS)) or table.storage.exists(DIRECTORY)


def version_names(storage: Storage, options: Mapping[str, str]) -> list[str]:
    """The names of all versions of all indexes of the table there: they change whenever an index does."""
    listed = storage.below(DIRECTORY).files(recursive=True)
    found = [entry.path for entry in listed if f"/{VERSIONS}/" in entry.path]
    for path in _others(options):
        found += [f"{path}/{name}" for name in Folder(storage.elsewhere(path)).names(VERSIONS)]
    return sorted(found)


def _others(options: Mapping[str, str]) -> list[str]:
    return [path for one in options.get(OTHERS, "").split(",") if (path := one.strip())]


def indexes_of(
    table: Table, paths: Sequence[str] = (), storage_options: Mapping[str, str] | None = None
) -> list[IndexLocation]:
    """The indexes of a table, by name: beside its data, in the folders at ``paths``, and where its options say.

    Raises TableError when the table's folder cannot be listed; what is wrong with one index is said of it.
    """
    listed = table.storage.below(DIRECTORY).files(recursive=True)
    names = sorted({entry.path.split("/")[0] for entry in listed if f"/{VERSIONS}/" in entry.path})
    folders = [Folder(table.storage.below(f"{DIRECTORY}/{name}")) for name in names]
    others = dict.fromkeys(path for path in _others(table.options) if path not in paths)
    folders += [Folder.at(path, None, storage_options) for path in dict.fromkeys(filter(None, paths))]
    folders += [Folder(table.storage.elsewhere(path)) for path in others]
    found = []
    for folder in folders:
        name = folder.path.rstrip("/").rpartition("/")[2]
        try:
            index = OwnIndex.open(folder)
            found.append(IndexLocation(index.definition.name, folder, index))
        except NoIndexError:
            continue
        except TableError as error:
            found.append(IndexLocation(name, folder, None, error.why if error.path == folder.path else str(error)))
    return sorted(found, key=lambda one: one.name)
