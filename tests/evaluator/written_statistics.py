"""Statistics as read from disk: records as Hudi writes them, decoded, checked and united by ``index_store``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import ColumnStatistics
from index_store.formats.avro_columns import ColumnStatsDecoder
from index_store.formats.parquet_footers import Proof
from index_store.kinds.column_stats.file_rules import FileStatistics, believe
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.kinds.column_stats.slice_union import unite
from index_store.table.file_slices import FileSlice, FileSlices
from tests.index_store.synthetic import V9_SCHEMA, stats_value

__all__ = ["File", "stored"]

_WRAPPERS = {
    Kind.INT: ("IntWrapper", 3),
    Kind.BIGINT: ("LongWrapper", 4),
    Kind.FLOAT: ("FloatWrapper", 5),
    Kind.DOUBLE: ("DoubleWrapper", 6),
    Kind.STRING: ("StringWrapper", 7),
    Kind.BINARY: ("BytesWrapper", 8),
    Kind.DATE: ("IntWrapper", 12),
    Kind.TIMESTAMP_LTZ: ("LongWrapper", 16),
    Kind.BOOLEAN: ("BooleanWrapper", 2),
    Kind.DECIMAL: ("BytesWrapper", 10),
}


@dataclass(frozen=True)
class File:
    """What Hudi stored of one column of one file, a base file first: ``None`` for both bounds is null.

    ``of`` is the type that the file has, if it is not the column's; ``ordinal`` says another value type.
    """

    lo: Any = None
    hi: Any = None
    nulls: int | None = 0
    rows: int | None = 10
    size: int = 5000
    of: Type | None = None
    ordinal: int | None = None
    deleted: bool = False


def stored(
    column: Type,
    *files: File | None,
    proof: Proof = Proof(),  # noqa: B008
    merges: bool = True,
    unit: str = "micros",
) -> ColumnStatistics:
    """The statistics of one slice: a base file and its log files. A file that is None has no record."""
    names = ["b-0_0-1-1_2.parquet", *(f".b-0_3.log.{j}_0-1-1" for j in range(1, len(files)))]
    result = SliceFiles.of(FileSlices("3", "file listing", (FileSlice("", "b-0", names[0], tuple(names[1:])),)))
    records, places, deleted = [], [], []
    for name, file in zip(names, files, strict=True):
        if file is not None and file.deleted:
            deleted.append(result.by_name[name.encode()])
        elif file is not None:
            records.append(_decoded(name, column if file.of is None else file.of, file))
            places.append(result.by_name[name.encode()])
    rows = FileStatistics.of(records, np.array(places, np.intp), column, unit if column.kind.is_timestamp else "", 9)
    rows = believe(rows, result, lambda _: proof)
    return unite(rows, result, np.array(deleted, np.intp), custom_merge=not merges)


def _decoded(name: str, column_type: Type, file: File) -> Any:
    wrapper, ordinal = _WRAPPERS[column_type.kind]
    ordinal = file.ordinal or (ordinal if file.lo is not None else 1)
    info = (
        f"{column_type.precision},{column_type.scale}" if column_type.kind is Kind.DECIMAL and ordinal == 10 else None
    )
    lo, hi = (None if bound is None else (wrapper, _plain(bound, column_type)) for bound in (file.lo, file.hi))
    data = stats_value(name, "c", lo, hi, file.rows, file.nulls, value_type=(ordinal, info), size=file.size)
    return ColumnStatsDecoder(V9_SCHEMA).decode(data, 0, len(data))


def _plain(bound: Any, column_type: Type) -> Any:
    if column_type.kind is not Kind.DECIMAL:
        return bound
    unscaled = int(bound.scaleb(column_type.scale))
    return unscaled.to_bytes(unscaled.bit_length() // 8 + 1, "big", signed=True)
