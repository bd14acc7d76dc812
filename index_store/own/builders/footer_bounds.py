"""The type, NULLs and bounds of a column that a Parquet footer proves, so that no row of the file is read.

    the row groups have                                  proven
    ---------------------------------------------------  ------------------------------------------------------
    each a null count and bounds, or only NULL           the least and greatest of them
    one without                                          nothing: the rows are read (text beyond 4 KB, P2)
    a float, not from parquet-mr                         nothing: others leave NaN out of the bounds (P1, P3)
    a float from parquet-mr, no bound NaN                the bounds: parquet-mr leaves out those beside a NaN
    another writer than parquet-mr and parquet-cpp       nothing

pyarrow itself ignores bounds in an undefined order: legacy ones of text, and those of INT96 (P17).

Pitfalls P1, P2, P3 and P17 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from evaluator.language.types import Kind, Type
from index_store.own.builders.file_rows import parquet_types
from index_store.own.sketches.min_max import cut_off, raised
from index_store.own.sketches.values import ABSENT, FileType, value_bytes

__all__ = ["FooterBounds", "footer_bounds"]

_WRITERS = ("parquet-mr", "parquet-cpp")


@dataclass(frozen=True, slots=True)
class FooterBounds:
    """One column: its type in the file, how many values are NULL, and the bytes of its bounds (None: no value)."""

    type: FileType
    nulls: int
    lo: bytes | None = None
    hi: bytes | None = None


def footer_bounds(metadata: Any, names: Sequence[str]) -> Mapping[str, FooterBounds]:
    """The columns that a footer (``pyarrow.parquet.FileMetaData``) proves, by name; others are left out.

    Raises ``pa.ArrowException`` for a schema that pyarrow does not know.
    """
    if not str(metadata.created_by or "").startswith(_WRITERS):
        return {}
    types = parquet_types(metadata, metadata.schema.to_arrow_schema(), names)
    leaf_numbers = {metadata.schema.column(number).path: number for number in range(metadata.num_columns)}
    by_name = {}
    for name, of in types.items():
        if not of.is_known:
            by_name[name] = FooterBounds(of, metadata.num_rows if of == ABSENT else -1)
        elif name in leaf_numbers:
            row_groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
            groups = [one.column(leaf_numbers[name]).statistics for one in row_groups]
            counts = [one.num_rows for one in row_groups]
            proven = _of_groups(groups, counts, of, is_mr=metadata.created_by.startswith("parquet-mr"))
            if proven is not None:
                by_name[name] = proven
    return by_name


def _of_groups(groups: Sequence[Any], counts: Sequence[int], of: FileType, *, is_mr: bool) -> FooterBounds | None:
    column_type, nulls = of.type, 0
    lows: list[Any] = []
    highs: list[Any] = []
    for statistics, rows in zip(groups, counts, strict=True):
        if statistics is None or not statistics.has_null_count:
            return None
        nulls += statistics.null_count
        if statistics.null_count == rows:
            continue
        if not statistics.has_min_max or (column_type.kind.is_fractional and not is_mr):
            return None
        try:
            low, high = (_plain(raw, of) for raw in (statistics.min_raw, statistics.max_raw))
        except (pa.ArrowException, TypeError, ValueError):
            return None
        if low != low or high != high or low > high:
            return None
        lows.append(low)
        highs.append(high)
    if not lows:
        return FooterBounds(of, nulls)
    low, high = min(lows), max(highs)
    if isinstance(low, bytes):
        return FooterBounds(of, nulls, *_bytes_of(low, high, column_type))
    if of.unit == "nanos":
        low, high = low // 1000, -(-high // 1000)
    return FooterBounds(of, nulls, value_bytes(low, column_type), value_bytes(high, column_type))


def _bytes_of(low: bytes, high: bytes, column_type: Type) -> tuple[bytes | None, bytes | None]:
    is_text = column_type.kind.is_text
    if is_text:
        low.decode("utf-8")
        high.decode("utf-8")
    return cut_off(low, is_text=is_text), raised(high, is_text=is_text)


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
