"""The index kinds of a table, in the order of their cost: the cheapest first.

A new kind is registered here, as the function ``make`` of its module, in the tuple. The kinds that most tables do not
have are imported for the first table that may have them: ``_made_by`` takes the module, and what tells.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from index_store.kinds.base import IndexKind, MakeKind
from index_store.kinds.column_stats.column_stats import make as column_stats
from index_store.kinds.footer_statistics import make as footer_statistics
from index_store.kinds.index_info import EXPRESSION_PREFIX, SECONDARY_PREFIX
from index_store.kinds.partition_values import make as partition_values
from index_store.kinds.record_keys.key_filters import make as key_filters
from index_store.own.presence import may_have_indexes

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["REGISTERED_KINDS"]


def _made_by(module: str, may_have: Callable[[Table], bool]) -> MakeKind:
    """The function ``make`` of a module of ``index_store``, which is imported when ``may_have`` is true of a table."""

    def make(table: Table, slices: FileSlices) -> IndexKind | None:
        if not may_have(table):
            return None
        make_kind: MakeKind = import_module(f"index_store.{module}").make
        return make_kind(table, slices)

    return make


def _in_metadata(prefix: str) -> Callable[[Table], bool]:
    """Whether the metadata table has a partition whose name begins so."""
    return lambda table: any(name.startswith(prefix) for name in table.available_indexes)


def _is_bucketed(table: Table) -> bool:
    """Whether the options of the table name an index by buckets."""
    return {**table.properties, **table.options}.get("hoodie.index.type", "").upper() == "BUCKET"


REGISTERED_KINDS: tuple[MakeKind, ...] = (
    partition_values,
    column_stats,
    _made_by("own.provider.kind", may_have_indexes),
    _made_by("own.provider.merged_rows", may_have_indexes),
    _made_by("kinds.bucket_index.bucket_index", _is_bucketed),
    _made_by("kinds.record_keys.record_index", _in_metadata("record_index")),
    _made_by("kinds.record_keys.secondary_index", _in_metadata(SECONDARY_PREFIX)),
    _made_by("own.secondary.kind", may_have_indexes),
    _made_by("kinds.record_keys.bloom_filters", _in_metadata("bloom_filters")),
    _made_by("kinds.expressions.expression_index", _in_metadata(EXPRESSION_PREFIX)),
    key_filters,
    footer_statistics,
)
