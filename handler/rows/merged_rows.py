"""The merged rows of a slice with log files, read by PyPI's ``hudi`` (hudi-rs) in a Python worker.

``merge_support.why_not_merged`` decides which tables are read this way. Log blocks that hold the types of an older
schema are an error of hudi's.

Facts: docs/facts/hudi-merging.md#the-package-hudi-hudi-rs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pyarrow as pa

from evaluator.language.errors import SargoError, UnsupportedError
from handler.hudi_rs.rust_panic import panic
from handler.rows.file_columns import in_table_type
from handler.rows.merge_support import NO_PACKAGE, store_options
from handler.rows.slice_source import SliceSource
from index_store import FileSlice, TableError
from index_store.storage.storage import Storage

__all__ = ["merged_batches"]

_INSTEAD = (
    'With the Hudi bundle on the class path reader="hudi" reads it; query="read_optimized" reads only the base files'
)


def merged_batches(source: SliceSource, item: FileSlice, wanted: pa.Schema, batch_rows: int) -> Iterator[Any]:
    """Batches of a slice's merged rows with the columns wanted.

    Only for a source whose ``not_merged`` is empty. Raises TableError, UnsupportedError.
    """
    reader, options = _reader(source.path, source.instant, tuple(sorted(source.options.items())), batch_rows)
    path = item.log_files[0]
    try:
        for batch in reader.read_file_slice_from_paths_stream(item.base_file or "", list(item.log_files), options):
            names = batch.schema.names
            made = []
            for one in wanted:
                if one.name not in names:
                    raise UnsupportedError(f"{path}: the merged rows lack column {one.name}")
                made.append(in_table_type(batch.column(one.name), one.type, f"{path}, column {one.name}"))
            yield pa.RecordBatch.from_arrays(made, schema=wanted)
    except SargoError:
        raise
    except (Exception, panic()) as error:  # hudi's errors have no common base that it exports
        raise TableError(source.storage().absolute(path), f"cannot be merged here: {error}. {_INSTEAD}") from error


@lru_cache(maxsize=4)
def _reader(path: str, instant: str | None, options: tuple[tuple[str, str], ...], batch_rows: int) -> tuple[Any, Any]:
    """A reader of a table's file slices as of an instant, and its options; it reads the timeline once."""
    try:
        import hudi
    except ImportError:
        raise UnsupportedError(NO_PACKAGE) from None
    storage = Storage.at(path, None, dict(options))
    try:
        table = (
            hudi.HudiTableBuilder.from_base_uri(storage.root)
            .with_storage_options(store_options(path, dict(options)))
            .build()
        )
        asked = hudi.HudiReadOptions().with_batch_size(batch_rows)
        if instant is not None:
            asked = asked.with_as_of_timestamp(instant)
        return table.create_file_group_reader_with_options(asked), asked
    except SargoError:
        raise
    except (Exception, panic()) as error:
        raise TableError(storage.root, f"cannot be opened to merge log files: {error}") from error
