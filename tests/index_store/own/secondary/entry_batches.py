"""Batches of entries of one file group."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from index_store.own.secondary.entries import ENTRIES


def entry_batch(keys: pa.Array, records: pa.Array, group: int, *, deleted: bool = False) -> pa.RecordBatch:
    """Entries of one file group: the schema ENTRIES. ``keys`` as ``keys.encode`` gives them, records text or binary.

    Raises ``pa.ArrowInvalid`` for a record without a key.
    """
    if keys.null_count or records.null_count:
        raise pa.ArrowInvalid("an entry without a key")
    n = len(keys)
    return pa.RecordBatch.from_arrays(
        [
            keys.cast(pa.binary()),
            records.cast(pa.binary()),
            pa.array(np.full(n, group, np.int32)),
            pa.array(np.full(n, deleted, np.bool_)),
        ],
        schema=ENTRIES,
    )
