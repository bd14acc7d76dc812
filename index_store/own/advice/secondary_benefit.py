"""What a secondary index is worth: how many file groups have a key, over some of its entries that are drawn.

    score    100 less the share of the other file groups that have the same key: 100 when each key is in one
    left     how many file groups an equality leaves that names a value for every column of the key

An entry is drawn from a block of some shard, every entry alike; of a large index some dozen blocks are read.
"""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from index_store.own.advice.benefit import Benefit
from index_store.own.advice.selectivity_score import ABOUT, Effectiveness
from index_store.own.definition import SECONDARY_INDEX, Entry
from index_store.own.secondary.generation import live_groups
from index_store.own.secondary.search import Search
from index_store.own.secondary.slice_entries import key_columns
from index_store.own.secondary.sorted_table import SortedTable
from index_store.own.store.own_index import OwnIndex

__all__ = ["benefits_of_keys"]

#: So many blocks are drawn, and so many keys of each are looked up.
BLOCKS, KEYS_OF_A_BLOCK = 48, 8


def benefits_of_keys(index: OwnIndex) -> list[Benefit]:
    """One for the key of a secondary index; empty for one without entries. Raises TableError."""
    generations = index.version.generations
    groups = live_groups(index.folder, generations).num_rows if generations else 0
    found = [found for key, shard in _drawn(index) if (found := len(shard.groups([key])))] if groups else []
    if not found:
        return []
    left = float(np.mean(found))
    score = 100.0 * (1.0 - (left - 1.0) / (groups - 1)) if groups > 1 else 0.0
    entry = Entry(", ".join(key_columns(index.definition)), SECONDARY_INDEX)
    return [Benefit(entry, Effectiveness(score, left, groups, ABOUT, len(found)), groups)]


def _drawn(index: OwnIndex) -> list[tuple[bytes, Search]]:
    """Keys of entries, and the shard of each. Keys that are gone are among them, and are found in no group."""
    generations = index.version.generations
    shards = [
        Search(index.folder, [one.shards[number] for one in generations])
        for number in range(len(generations[0].shards))
    ]
    tables = [
        (SortedTable.open(index.folder, stored), shard)
        for one in generations
        for stored, shard in zip(one.shards, shards, strict=True)
        if stored is not None
    ]
    places = [(table, shard, block) for table, shard in tables for block in range(len(table.rows))]
    rows = np.array([table.rows[block] for table, _, block in places], np.float64)
    if not rows.sum():
        return []
    random = np.random.default_rng(0)
    found = []
    for place in random.choice(len(places), BLOCKS, p=rows / rows.sum()).tolist():
        table, shard, block = places[place]
        (batch,) = table.read(range(block, block + 1), ["key"])
        keys = batch.column("key").take(random.integers(0, batch.num_rows, KEYS_OF_A_BLOCK))
        found += [(key, shard) for key in pc.unique(keys).to_pylist()]
    return found
