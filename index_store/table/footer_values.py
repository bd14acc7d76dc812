"""The type, NULLs and bounds of a column that a Parquet footer proves, so that no row of the file is read.

    the row groups have                                  proven
    ---------------------------------------------------  ------------------------------------------------------
    each a null count and bounds, or only NULL           the least and greatest of them, and the NULLs
    each a null count, one without bounds                the NULLs (text beyond 4 KB, P2)
    a float, not from parquet-mr                         the NULLs: others leave NaN out of the bounds (P1, P3)
    a float from parquet-mr, no bound NaN                the bounds: parquet-mr leaves out those beside a NaN
    another writer than parquet-mr and parquet-cpp       nothing

pyarrow itself ignores bounds in an undefined order: legacy ones of text, and those of INT96 (P17).

Pitfalls P1, P2, P3 and P17 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from evaluator.language.records import record
from evaluator.language.types import Kind
from index_store.table.file_types import ABSENT, FileType, parquet_types

__all__ = ["FooterValues", "footer_values"]

_WRITERS = ("parquet-mr", "parquet-cpp")


@record
class FooterValues:
    """One column of a file: its type there, the number of rows and of NULLs (-1: unknown), and its bounds if proven.

    The bounds are in plain form: text as bytes, decimals unscaled, timestamps in microseconds, rounded outward.
    """

    type: FileType
    rows: int
    nulls: int
    lo: Any = None
    hi: Any = None


def footer_values(metadata: Any, names: Sequence[str]) -> Mapping[str, FooterValues]:
    """What a footer (``pyarrow.parquet.FileMetaData``) proves of columns, by name; others are left out.

    Raises ``pa.ArrowException`` for a schema that pyarrow does not know.
    """
    created_by = str(metadata.created_by or "")
    if not created_by.startswith(_WRITERS):
        return {}
    types = parquet_types(metadata, metadata.schema.to_arrow_schema(), names)
    leaf_numbers = {metadata.schema.column(number).path: number for number in range(metadata.num_columns)}
    row_groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    counts = [one.num_rows for one in row_groups]
    by_name = {}
    for name, of in types.items():
        if not of.is_known:
            by_name[name] = FooterValues(of, metadata.num_rows, metadata.num_rows if of == ABSENT else -1)
        elif name in leaf_numbers:
            groups = [one.column(leaf_numbers[name]).statistics for one in row_groups]
            found = _of_groups(groups, counts, of, is_mr=created_by.startswith("parquet-mr"))
            if found is not None:
                by_name[name] = found
    return by_name


def _of_groups(groups: Sequence[Any], counts: Sequence[int], of: FileType, *, is_mr: bool) -> FooterValues | None:
    nulls = 0
    is_bounded = is_mr or not of.type.kind.is_fractional
    lows: list[Any] = []
    highs: list[Any] = []
    for statistics, rows in zip(groups, counts, strict=True):
        if statistics is None or not statistics.has_null_count or not 0 <= statistics.null_count <= rows:
            return None
        nulls += statistics.null_count
        if statistics.null_count < rows and is_bounded:
            bounds = _bounds_of(statistics, of)
            is_bounded = bounds is not None
            if bounds is not None:
                lows.append(bounds[0])
                highs.append(bounds[1])
    if not is_bounded or not lows:
        return FooterValues(of, sum(counts), nulls)
    low, high = min(lows), max(highs)
    if of.unit == "nanos":
        low, high = low // 1000, -(-high // 1000)
    return FooterValues(of, sum(counts), nulls, low, high)


def _bounds_of(statistics: Any, of: FileType) -> tuple[Any, Any] | None:
    """The bounds of a row group; None when it has none, or ones that are invalid."""
    if not statistics.has_min_max:
        return None
    try:
        low, high = (_plain(raw, of) for raw in (statistics.min_raw, statistics.max_raw))
    except (pa.ArrowException, TypeError, ValueError):
        return None
    return (low, high) if low <= high else None  # which no NaN is


def _plain(raw: Any, of: FileType) -> Any:
    """The plain form of a bound as Parquet stores it. Raises ValueError or TypeError for one that is invalid."""
    kind = of.type.kind
    if kind is Kind.DECIMAL:
        return int.from_bytes(raw, "big", signed=True) if isinstance(raw, bytes) else int(raw)
    if kind.is_text or kind is Kind.BINARY:
        if not isinstance(raw, bytes):
            raise TypeError("text is bytes")
        if kind.is_text:
            raw.decode("utf-8")
        return raw
    if kind.is_fractional:
        return float(raw)
    value = int(raw)
    return value * 1000 if of.unit == "millis" else value
