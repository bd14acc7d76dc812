"""The bounds of a column that a Parquet footer proves (``table.footer_values``), as the bytes that sketches store.

A column of which the footer proves less is left out, and its rows are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.language.records import frozen
from index_store.own.sketches.min_max import cut_off, raised
from index_store.own.sketches.values import value_bytes
from index_store.table.file_types import FileType
from index_store.table.footer_values import FooterValues, footer_values

__all__ = ["FooterBounds", "footer_bounds"]


@frozen
class FooterBounds:
    """One column: its type in the file, how many values are NULL, and the bytes of its bounds (None: no value)."""

    type: FileType
    nulls: int
    lo: bytes | None = None
    hi: bytes | None = None


def footer_bounds(metadata: Any, names: Sequence[str]) -> Mapping[str, FooterBounds]:
    """The columns of which a footer (``pyarrow.parquet.FileMetaData``) proves type, NULLs and bounds, by name.

    Raises ``pa.ArrowException`` for a schema that pyarrow does not know.
    """
    found = {name: _stored(values) for name, values in footer_values(metadata, names).items()}
    return {name: bounds for name, bounds in found.items() if bounds is not None}


def _stored(values: FooterValues) -> FooterBounds | None:
    if not values.type.is_known:
        return FooterBounds(values.type, values.nulls)
    if values.lo is None:
        return FooterBounds(values.type, values.nulls) if values.nulls == values.rows else None
    of = values.type.type
    if isinstance(values.lo, bytes):
        is_text = of.kind.is_text
        lo, hi = cut_off(values.lo, is_text=is_text), raised(values.hi, is_text=is_text)
        return FooterBounds(values.type, values.nulls, lo, hi)
    return FooterBounds(values.type, values.nulls, value_bytes(values.lo, of), value_bytes(values.hi, of))
