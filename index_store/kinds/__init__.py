"""Index kinds: each file is one source of statistics about file slices. A new one is registered here."""

from __future__ import annotations

from index_store.kinds.base import MakeKind

__all__ = ["registered_kinds"]


def registered_kinds() -> tuple[MakeKind, ...]:
    """How each kind is made, the cheapest first."""
    from index_store.kinds.bucket import make as bucket
    from index_store.kinds.column_stats.column_stats import make as column_stats
    from index_store.kinds.expressions.expression_index import make as expression_index
    from index_store.kinds.partition_values import make as partition_values
    from index_store.kinds.record_keys.bloom_filters import make as bloom_filters
    from index_store.kinds.record_keys.key_filters import make as key_filters
    from index_store.kinds.record_keys.record_index import make as record_index
    from index_store.kinds.record_keys.secondary_index import make as secondary_index
    from index_store.own.provider.kind import make as own_sketches
    from index_store.own.secondary.kind import make as own_secondary_index

    return (
        partition_values,
        column_stats,
        own_sketches,
        bucket,
        record_index,
        secondary_index,
        own_secondary_index,
        bloom_filters,
        expression_index,
        key_filters,
    )
