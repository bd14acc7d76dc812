"""A scan as a ``pyarrow.dataset.Dataset``: Parquet files that pyarrow reads itself, and rows that are read here.

    a slice                                                  in the dataset
    ------------------------------------------------------   ---------------------------------------------------------
    a base file whose columns have the table's types, or     the file, which pyarrow reads when the dataset is scanned
    narrower integers, or lack columns of it
    ... of which a partition column is only in the path      the same, with the value as its partition expression
    ... whose columns must be converted otherwise            its rows, read here when the dataset is made
    with log files                                           its merged rows, read here
    with a filter that pyarrow does not decide exactly       its rows for which the filter is TRUE, read here

Rows that are read here are held in memory, up to ``MAX_HELD`` bytes. The footers of the files say what types they have,
so that each is read once, in threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from evaluator.language import arrow_functions as pc
from evaluator.language.errors import UnsupportedError
from handler.engines.conditions import to_pyarrow
from handler.engines.packages import needed
from handler.engines.slice_scan import ScanSlice, SliceScan
from handler.rows.file_columns import nullable
from handler.rows.slice_rows import check_base_file, check_names, instants_in_int96
from index_store import TableError
from index_store.storage.storage import SIDE_BY_SIDE, Storage

__all__ = ["MAX_HELD", "to_dataset"]

#: Bytes of rows that a dataset holds in memory.
MAX_HELD = 1 << 30


def to_dataset(scan: SliceScan) -> Any:
    """A dataset of the rows of a scan. Raises TableError and UnsupportedError as reading does."""
    dataset = needed("pyarrow.dataset", "")  # it loads pandas, where that is installed: 0.2 s
    scan.check()
    exact = None if scan.whole is None else scan.whole.exact
    schema = pa.schema([pa.field(one.name, nullable(one.type)) for one in scan.schema])
    schema = pa.schema([schema.field(name) for name in scan.columns]) if scan.whole is None else schema
    native: list[Any] = []
    held: list[ScanSlice] = []
    storage = scan.source.storage()
    plain = [one for one in scan.slices if _is_plain(scan, one, decided=exact is not None)]
    chosen = set(map(id, plain))
    fragments = _fragments(scan, storage, plain, schema)
    for one in scan.slices:
        fragment = fragments.get(one.item.base_file or "") if id(one) in chosen else None
        (held if fragment is None else native).append(one if fragment is None else fragment)
    parts = []
    if native or not held:
        made = dataset.FileSystemDataset(native, schema, dataset.ParquetFileFormat(), storage.filesystem)
        parts.append(made)
    if held:
        parts.append(dataset.dataset(_held(scan.part(held), schema)))
    found = parts[0] if len(parts) == 1 else dataset.dataset(parts)
    return found if exact is None else found.filter(to_pyarrow(exact))


def _is_plain(scan: SliceScan, one: ScanSlice, *, decided: bool) -> bool:
    """Whether pyarrow may read the slice, if its file's columns let it."""
    logged = one.item.log_files and not scan.read_optimized
    return bool(one.item.base_file) and not logged and (decided or one.filter is None)


def _fragments(scan: SliceScan, storage: Storage, slices: list[ScanSlice], schema: pa.Schema) -> dict[str, Any]:
    """By base file, the fragment that pyarrow reads as Hudi does."""
    reader = needed("pyarrow.dataset", "").ParquetFileFormat()
    filesystem = storage.filesystem if slices else None

    def made(one: ScanSlice) -> Any:
        path = one.item.base_file or ""
        check_base_file(path)
        try:
            with storage.input_file(path) as stream, parquet.ParquetFile(stream) as file:
                physical = file.schema_arrow
                have = instants_in_int96(file)
        except (OSError, pa.ArrowException) as error:
            raise TableError(storage.absolute(path), f"cannot be read: {error}") from error
        check_names(have, schema.names, path)
        fixed = scan.source.partitions.values(one.item.partition, schema, frozenset(have.names))
        if any(name in have.names for name in fixed):
            return None
        for column in schema:
            if column.name in have.names and not _is_read_alike(physical.field(column.name).type, column.type):
                return None
        value = None
        for name, constant in fixed.items():
            field = pc.field(name)
            is_it = field.is_null() if constant is None else field == pa.scalar(constant, schema.field(name).type)
            value = is_it if value is None else value & is_it
        return reader.make_fragment(storage.place(path), filesystem, value)

    if storage.is_local or len(slices) < 2:
        found = [made(one) for one in slices]
    else:
        with ThreadPoolExecutor(min(SIDE_BY_SIDE, len(slices)), "sargo-footers") as pool:
            found = list(pool.map(made, slices))
    return {
        one.item.base_file or "": fragment for one, fragment in zip(slices, found, strict=True) if fragment is not None
    }


def _is_read_alike(have: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether pyarrow itself makes the table's values of a file's column."""
    t = pa.types
    if t.is_integer(have) and t.is_integer(wanted):
        return bool(t.is_signed_integer(have) and t.is_signed_integer(wanted) and have.bit_width <= wanted.bit_width)
    is_same: bool = nullable(have) == wanted
    return is_same


def _held(scan: SliceScan, schema: pa.Schema) -> Any:
    """The rows of a scan in memory, in these columns."""
    batches, size = [], 0
    for batch in scan.with_columns(schema.names).to_batches():
        size += batch.nbytes
        if size > MAX_HELD:
            raise UnsupportedError(
                f"{scan.source.storage().root}: pyarrow cannot read these slices as Hudi does, and more than "
                f"{MAX_HELD >> 20} MiB of their rows would be held in memory. Read them batch by batch: "
                "plan.to_batches(), plan.scan_polars() or plan.tasks(n)"
            )
        batches.append(batch)
    return pa.Table.from_batches(batches, schema)
