"""The index kinds of a table, in the order of their cost: the cheapest first.

A new kind is registered here: its ``make`` is imported, and added to the tuple.
"""

from __future__ import annotations

from index_store.kinds.base import MakeKind
from index_store.kinds.bucket_index.bucket_index import make as bucket_index
from index_store.kinds.column_stats.column_stats import make as column_stats
from index_store.kinds.expressions.expression_index import make as expression_index
from index_store.kinds.footer_statistics import make as footer_statistics
from index_store.kinds.partition_values import make as partition_values
from index_store.kinds.record_keys.bloom_filters import make as bloom_filters
from index_store.kinds.record_keys.key_filters import make as key_filters
from index_store.kinds.record_keys.record_index import make as record_index
from index_store.kinds.record_keys.secondary_index import make as secondary_index
from index_store.own.provider.kind import make as own_sketches
from index_store.own.provider.merged_rows import make as own_merged_rows
from index_store.own.secondary.kind import make as own_secondary_index

__all__ = ["REGISTERED_KINDS"]

REGISTERED_KINDS: tuple[MakeKind, ...] = (
    partition_values,
    column_stats,
    own_sketches,
    own_merged_rows,
    bucket_index,
    record_index,
    secondary_index,
    own_secondary_index,
    bloom_filters,
    expression_index,
    key_filters,
    footer_statistics,
)
