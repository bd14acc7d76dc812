"""The files that an index of a table should know: those of the latest file slices, with their sizes (C3).

Superseded, replaced, cleaned and rolled-back files are not among them, even where they are still on disk, because the
slices of the latest completed instant decide. So a refresh compares two states of the table and needs no history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from evaluator.language import arrow_functions as pc
from index_store.own.builder import FILES
from index_store.own.store.versions import Version
from index_store.storage.errors import TableError

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["TABLE_FILES", "check_not_older", "partitions_of", "table_files", "with_ids"]

#: Actions after which a table may show an older state, and after which it may show no file.
_TAKES_BACK = frozenset({"rollback", "restore"})
_REMOVES = _TAKES_BACK | {"replacecommit"}
TABLE_FILES = pa.schema([FILES.field(name) for name in FILES.names[1:]])
#: The instant in the name of a base file (at its end) or a log file.
_INSTANT = r"_(?P<instant>\d+)\.(?:log\.|[a-z0-9]+$)"


def table_files(table: Table) -> tuple[pa.Table, str | None]:
    """The files by path (the schema TABLE_FILES), and the latest completed instant. Raises TableError.

    A file of a slice that the listing does not have is left out and stays unknown to the index.
    """
    slices = table.slices()
    if slices.instant is None:
        return TABLE_FILES.empty_table(), None
    names, sizes = [pa.array([], pa.string())], [pa.array([], pa.int64())]
    for partition, files in table.listing.load().items():
        names.append(
            pc.binary_join_element_wise(pa.scalar(partition), files.names, pa.scalar("/")) if partition else files.names
        )
        sizes.append(pa.array(files.sizes))
    wanted = pa.array(sorted(path for one in slices for path in one.files), pa.string())
    row = pc.index_in(wanted, value_set=pa.chunked_array(names))
    listed = pc.is_valid(row)
    paths = wanted.filter(listed)
    size = pa.chunked_array(sizes).take(row.filter(listed))
    instants = pc.fill_null(pc.struct_field(pc.extract_regex(paths, _INSTANT), "instant"), "")
    return pa.table([paths, size, instants], schema=TABLE_FILES), slices.instant


def check_not_older(table: Table, files: pa.Table, instant: str | None, known: Version) -> None:
    """Raises TableError for a table that shows an older state than a version, or no file, and nothing explains it.

    A listing that comes late, or empty, shows such a state. What it lacks would be taken for removed.
    """
    since = known.instant or ""
    later = {one.action for one in table.timeline.instants if one.requested > since}
    if (instant or "") < since and later.isdisjoint(_TAKES_BACK):
        shown = f"its timeline shows {instant or 'no completed write'} as the latest, but the index knows {since}"
    elif known.files and not files.num_rows and later.isdisjoint(_REMOVES):
        shown = f"it shows no file, but the index knows {known.files}"
    else:
        return
    raise TableError(
        table.path,
        f"{shown}, and no action since explains it: a listing may be incomplete; nothing was changed, try again",
    )


def with_ids(files: pa.Table) -> pa.Table:
    """The same files with ids from 0 on."""
    return pa.table([pa.array(range(files.num_rows), pa.int32()), *files.columns], schema=FILES)


def partitions_of(paths: pa.ChunkedArray) -> pa.ChunkedArray:
    """The partition of each path, "" for a table without partitions."""
    return pc.fill_null(pc.struct_field(pc.extract_regex(paths, r"^(?P<partition>.*)/[^/]*$"), "partition"), "")
