"""What the directories of some partitions hold, to be held against what the metadata table says of them.

Hudi's own file view does the same where it has no metadata table. Nothing here is used to skip or to read files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from evaluator.language.records import frozen
from index_store.table.file_slices import FileSlice, build_slices
from index_store.table.table import Table

__all__ = ["ListedDirectories", "list_directories"]


@frozen(slots=False)
class ListedDirectories:
    """The file slices of the latest instant in these directories, and the bytes of each file by path."""

    slices: tuple[FileSlice, ...]
    sizes: dict[str, int]


def list_directories(table: Table, partitions: Iterable[str]) -> ListedDirectories:
    """List the directories of these partitions, and nothing below them. Raises TableError."""
    sizes = {entry.path: entry.size for partition in partitions for entry in table.storage.files(partition)}
    last = table.timeline.last
    if last is None:
        return ListedDirectories((), sizes)
    files: dict[str, list[str]] = defaultdict(list)
    for path in sizes:
        partition, _, name = path.rpartition("/")
        files[partition].append(name)
    slices = build_slices(files, table.timeline, table.version, last.requested, table.replaced)
    return ListedDirectories(slices, sizes)
