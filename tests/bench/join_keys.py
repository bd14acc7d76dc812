"""A million keys of a join among six million entries of an own secondary index: one pass, beside other ways.

    entries      6,000,000 in 1,000 file groups; whole numbers, and texts of 15 characters
    skipping     1,000,000 keys, none of which is in a tenth of the groups: every block is read
    spread       1,000,000 keys that all groups have: reading ends when each group is found
    refreshed    skipping, with five generations on top, half of whose entries are tombstones
    one by one   the same keys as a range each (the look-up of short lists)
    pyarrow      a semi join of the same entries in memory with the keys: ``Table.join``, one thread

From the keys as the driver has them (an Arrow array) to the groups; CPU time of the process, the best of three. The
files are in the memory of the operating system. They are made once, in the folder for temporary files.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.key_set import KeySet
from evaluator.language.schema import Field
from evaluator.language.types import BIGINT, STRING, Type
from index_store.own.secondary.constraints import pieces_of_many
from index_store.own.secondary.entries import ENTRIES
from index_store.own.secondary.key_merge import SortedPieces
from index_store.own.secondary.keys import encode, key_range
from index_store.own.secondary.runs import EntrySorter, sort_entries
from index_store.own.secondary.search import Search
from index_store.own.secondary.shards import shard_count, shard_of, write_shards
from index_store.own.store.folder import Folder
from index_store.own.store.stored_table import StoredTable

ENTRIES_IN_ALL, GROUPS, KEYS, AT_ONCE = 6_000_000, 1_000, 1_000_000, 500_000
GENERATIONS, CHANGED = 5, 20_000
GOAL = 3.0

Row = tuple[str, str, str]
Numbers = npt.NDArray[np.int64]
Tables = list["StoredTable | None"]


def run() -> Iterator[Row]:
    """CPU seconds, blocks read, and the ratio to the other ways."""
    for of in (BIGINT, STRING):
        shards = _made(of)
        base = [tables[:1] for tables in shards]
        skipping, spread = _keys(of, skipping=True), _keys(of, skipping=False)
        entries = _entries_in_memory(of)
        peer, expected = _best(lambda entries=entries, keys=skipping: _semi_join(entries, keys))
        first, found = _one_by_one(of, base, skipping)
        assert found == expected
        for name, tables, keys in (
            ("skipping", base, skipping),
            ("spread", base, spread),
            ("skipping, refreshed", shards, skipping),
        ):
            seconds, (groups, blocks) = _best(
                lambda of=of, tables=tables, keys=keys: _in_one_pass(of, tables, keys), times=3
            )
            assert name != "skipping" or groups == expected
            compared = ""
            if name == "skipping":
                compared = (
                    f"{first / seconds:.0f} x as fast as one by one ({first:.0f} s), "
                    f"{seconds / peer:.1f} x pyarrow's semi join ({peer:.2f} s); goal {GOAL:.0f} s"
                )
            yield (
                f"{of}, {name}: {len(keys):,} keys, {blocks:,} blocks read, {GROUPS - len(groups)} of {GROUPS} "
                "groups skipped",
                f"{seconds:.2f} s of CPU",
                compared,
            )
        yield f"{of}, pyarrow: semi join in memory", f"{peer:.2f} s of CPU", ""


def _in_one_pass(of: Type, shards: Sequence[Tables], keys: KeySet) -> tuple[list[int], int]:
    pieces = pieces_of_many(keys, Field("key", of))
    assert pieces is not None
    numbers, sought, blocks = shard_of(pieces.array, len(shards)), np.ones(GROUPS, np.bool_), 0
    for shard, tables in enumerate(shards):
        search, some = Search(_folder(of), tables), pieces.chosen(numbers == shard)
        search.find(some, search.spans(some), sought)
        blocks += search.blocks_read
    return np.flatnonzero(~sought).tolist(), blocks


def _one_by_one(of: Type, shards: Sequence[Tables], keys: KeySet) -> tuple[float, list[int]]:
    """The ranges of the keys in one call of ``Search.groups`` for each shard, as short lists are looked up."""
    start = time.process_time()
    pieces = list(SortedPieces.of(encode([_plain(keys.array)], [of])))
    by_shard: list[list[tuple[bytes, bytes | None]]] = [[] for _ in shards]
    for piece in pieces:
        by_shard[shard_of(piece, len(shards))].append(key_range(piece))
    groups: set[int] = set()
    for tables, ranges in zip(shards, by_shard, strict=True):
        groups.update(Search(_folder(of), tables).groups(ranges).tolist())
    return time.process_time() - start, sorted(groups)


def _semi_join(entries: pa.Table, keys: KeySet) -> list[int]:
    found = entries.join(pa.table({"key": keys.array}), "key", join_type="left semi", use_threads=False)
    return sorted(found.column("group").unique().to_pylist())


def _best(call: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    spent, result = [], None
    for _ in range(times):
        start = time.process_time()
        result = call()
        spent.append(time.process_time() - start)
    return min(spent), result


# -- entries and keys


def _values(of: Type, numbers: Numbers) -> pa.Array:
    if of == BIGINT:
        return pa.array(numbers, pa.int64())
    return pa.array([f"user-{number:010d}" for number in numbers.tolist()], pa.large_string())


def _plain(values: pa.Array) -> pa.Array:
    return values.cast(pa.large_binary()) if pa.types.is_large_string(values.type) else values


def _keys(of: Type, *, skipping: bool) -> KeySet:
    """A number's group is its remainder: keys that skip leave out a tenth of the remainders."""
    numbers = np.random.default_rng(5).permutation(ENTRIES_IN_ALL)
    numbers = numbers[numbers % GROUPS < GROUPS * 9 // 10] if skipping else numbers
    return KeySet.of(of, _values(of, numbers[:KEYS].astype(np.int64)))


def _drawn(start: int, rows: int) -> Numbers:
    return np.random.default_rng(start).integers(0, ENTRIES_IN_ALL, rows)


def _entries_in_memory(of: Type) -> pa.Table:
    numbers = np.concatenate([_drawn(start, AT_ONCE) for start in range(0, ENTRIES_IN_ALL, AT_ONCE)])
    return pa.table({"key": _values(of, numbers), "group": (numbers % GROUPS).astype(np.int32)})


def _batch(of: Type, start: int, rows: int, *, deleted: bool = False) -> pa.RecordBatch:
    numbers = _drawn(start, rows)
    return pa.RecordBatch.from_arrays(
        [
            encode([_plain(_values(of, numbers))], [of]),
            pa.array([f"{start + row:012d}" for row in range(rows)]).cast(pa.binary()),
            pa.array((numbers % GROUPS).astype(np.int32)),
            pa.array(np.full(rows, deleted, np.bool_)),
        ],
        schema=ENTRIES,
    )


def _place(of: Type) -> Path:
    return Path(tempfile.gettempdir()) / f"sargo-bench-{os.getuid()}-join-keys-{of}-{ENTRIES_IN_ALL}"


def _folder(of: Type) -> Folder:
    return Folder.at(_place(of))


def _made(of: Type) -> list[Tables]:
    """By shard: the table of the base, and of each later generation."""
    place, n = _place(of), shard_count(ENTRIES_IN_ALL)
    if not (place / "made.json").exists():
        shutil.rmtree(place, ignore_errors=True)
        folder = Folder.at(place)
        with EntrySorter("key", 512 << 20) as sorter:
            for start in range(0, ENTRIES_IN_ALL, AT_ONCE):
                sorter.add(_batch(of, start, AT_ONCE))
            generations = [write_shards(folder, "base-{}".format, sorter.sorted(), n)]
        for number in range(1, GENERATIONS + 1):
            half = CHANGED // 2
            gone = _batch(of, (number - 1) * AT_ONCE, AT_ONCE).slice(0, half)
            gone = gone.set_column(3, ENTRIES.field("deleted"), pa.array(np.ones(half, np.bool_)))
            later = sort_entries([gone, _batch(of, ENTRIES_IN_ALL + number, half)], order="key")
            generations.append(write_shards(folder, f"{number}-{{}}".format, later, n))
        plain = [[table and table.to_dict() for table in tables] for tables in zip(*generations, strict=True)]
        (place / "made.json").write_text(json.dumps(plain))
    return [
        [table and StoredTable.from_dict(table) for table in tables]
        for tables in json.loads((place / "made.json").read_text())
    ]
