"""The benefit of a secondary index: in how many file groups a key is, over a random sample of its entries.

    left     the mean number of file groups that have a drawn key: an equality on all columns of the key leaves these
    score    100 * (1 - (left - 1) / (groups - 1))

    1,000 groups, each key in one       left 1        score 100
    1,000 groups, each key in all       left 1,000    score 0

Every entry is drawn with the same probability. Some dozen blocks are read, however large the index is.
"""

from __future__ import annotations

import numpy as np

from evaluator.language import arrow_functions as pc
from index_store.own.advice.benefit import Benefit
from index_store.own.advice.selectivity_score import ABOUT, SelectivityScore
from index_store.own.definition import SECONDARY_INDEX, Entry
from index_store.own.secondary.generation import live_groups
from index_store.own.secondary.search import Search
from index_store.own.secondary.slice_entries import key_columns
from index_store.own.secondary.sorted_table import SortedTable
from index_store.own.store.own_index import OwnIndex

__all__ = ["benefits_of_keys"]

#: How many blocks are drawn, and how many keys of each are looked up.
BLOCKS, KEYS_OF_A_BLOCK = 48, 8


def benefits_of_keys(index: OwnIndex) -> list[Benefit]:
    """The benefit of the key of a secondary index; empty for one without entries. Raises TableError."""
    generations = index.version.generations
    groups = live_groups(index.folder, generations).num_rows if generations else 0
    counts = [count for key, shard in _drawn(index) if (count := len(shard.groups([key])))] if groups else []
    if not counts:
        return []
    left = float(np.mean(counts))
    score = 100.0 * (1.0 - (left - 1.0) / (groups - 1)) if groups > 1 else 0.0
    entry = Entry(", ".join(key_columns(index.definition)), SECONDARY_INDEX)
    return [Benefit(entry, SelectivityScore(score, left, groups, ABOUT, len(counts)), groups)]


def _drawn(index: OwnIndex) -> list[tuple[bytes, Search]]:
    """Keys of drawn entries, with the shard of each. Deleted keys may be among them: these are in no group."""
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
    blocks = [(table, shard, block) for table, shard in tables for block in range(len(table.rows))]
    rows = np.array([table.rows[block] for table, _, block in blocks], np.float64)
    if not rows.sum():
        return []
    random = np.random.default_rng(0)
    drawn: list[tuple[bytes, Search]] = []
    for chosen in random.choice(len(blocks), BLOCKS, p=rows / rows.sum()).tolist():
        table, shard, block = blocks[chosen]
        (batch,) = table.read(range(block, block + 1), ["key"])
        keys = batch.column("key").take(random.integers(0, batch.num_rows, KEYS_OF_A_BLOCK))
        drawn += [(key, shard) for key in pc.unique(keys).to_pylist()]
    return drawn
