"""One secondary key among ten million entries: the cost of a look-up in an index of our own, beside SQLite.

    entries     10,000,000 of 5,000,000 keys (text), in 10,000 file groups, in as many shards as such an index has
    cold        everything is read that a look-up needs: the index of the key's shard, and the block
    open        the shard's index was read before
    in memory   so was the block
    refreshed   on top of the base ten generations of 10,000 entries each, half of them tombstones
    SQLite      the same entries, ``primary key (key, record, grp)``, without row ids: one search in one tree

A look-up goes from the text of a key to the numbers of the file groups. No key is asked for twice, but for "in memory";
the files are in the memory of the operating system. CPU time of this thread, median and what 99 of 100 stay below, in
batches that take turns. The entries are sorted and written once, with a budget of 64 MB, in the folder for temporary
files, which takes some minutes.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from evaluator.language.types import STRING
from index_store.own.secondary.entries import ENTRIES
from index_store.own.secondary.keys import encode, encode_value, ranges_of
from index_store.own.secondary.runs import EntrySorter, sort_entries
from index_store.own.secondary.search import Search
from index_store.own.secondary.shards import shard_count, shard_of, write_shards
from index_store.own.store.folder import Folder
from index_store.own.store.stored_table import StoredTable
from tests.index_store.own.secondary.entry_batches import entry_batch

ENTRIES_IN_ALL, KEYS, FILES, ROWS_AT_ONCE = 10_000_000, 5_000_000, 10_000, 100_000
GENERATIONS, CHANGED, BUDGET = 10, 10_000, 64 << 20
ROUNDS, BATCH = 40, 25

Row = tuple[str, str, str]
Tables = list[StoredTable | None]


@dataclass(frozen=True)
class Made:
    """What was built: of each shard the base and the later generations, and what building the base took."""

    folder: Folder
    shards: list[Tables]
    seconds: float
    runs: int

    @property
    def base_bytes(self) -> int:
        return sum(tables[0].size for tables in self.shards if tables[0])


def run() -> Iterator[Row]:
    """The figures, each with its ratio to what it is compared with."""
    made, database = _made(), sqlite3.connect(_sqlite())
    yield (
        f"sort {ENTRIES_IN_ALL:,} entries in {BUDGET >> 20} MB ({made.runs} runs), write {len(made.shards)} shards",
        f"{made.seconds:.0f} s of CPU",
        f"{ENTRIES_IN_ALL / made.seconds / 1e6:.2f} million entries/s",
    )
    sqlite_bytes = os.path.getsize(_sqlite())
    yield (
        f"bytes of them ({made.base_bytes / ENTRIES_IN_ALL:.1f} an entry)",
        f"{made.base_bytes / 1e6:,.0f} MB",
        f"{made.base_bytes / sqlite_bytes:.2f} x SQLite's {sqlite_bytes / 1e6:,.0f} MB",
    )
    draw = random.Random(11)
    numbers = iter(draw.sample(range(KEYS), 8 * ROUNDS * BATCH))
    opened = [Search(made.folder, tables[:1]) for tables in made.shards]
    refreshed = [Search(made.folder, tables) for tables in made.shards]
    blocks: dict[str, list[int]] = {"open": [], "memory": [], "absent": [], "refreshed": []}
    lately = deque[int](maxlen=BATCH)

    def look_up(name: str, searches: Sequence[Search], ending: str = "") -> Callable[[int], None]:
        def call(number: int) -> None:
            piece = encode_value(_key(number) + ending, STRING)
            search = searches[shard_of(piece, len(searches))]
            before = search.blocks_read
            search.groups([piece])
            blocks[name].append(search.blocks_read - before)
            lately.append(number)

        return call

    def cold(number: int) -> None:
        piece = encode_value(_key(number), STRING)
        tables = made.shards[shard_of(piece, len(made.shards))]
        Search(made.folder, tables[:1]).groups([piece])

    def ask(number: int) -> None:
        database.execute("select distinct grp from entries where key = ?", (_key(number),)).fetchall()

    for number in range(0, KEYS, KEYS // 100):  # both say the same
        expected = sorted(
            group for [group] in database.execute("select distinct grp from entries where key = ?", (_key(number),))
        )
        piece = encode_value(_key(number), STRING)
        assert opened[shard_of(piece, len(opened))].groups([piece]).tolist() == expected
    look_up_again = look_up("memory", opened)
    plan = {
        "SQLite": ask,
        "look up, open": look_up("open", opened),
        "look up, in memory": lambda _: look_up_again(lately[0]),
        "look up what is absent": look_up("absent", opened, "x"),
        "look up, refreshed": look_up("refreshed", refreshed),
        "look up, cold": cold,
    }
    spent: dict[str, list[float]] = {name: [] for name in plan}
    for _ in range(ROUNDS):
        for name, call in plan.items():
            for _ in range(BATCH):
                spent[name].append(_seconds(lambda call=call: call(next(numbers))))
    sqlite = _median(spent.pop("SQLite"))
    yield "SQLite, the groups of a key", f"{sqlite * 1e6:.0f} us", ""
    for name, seconds in spent.items():
        read = blocks.get(name.rpartition(" ")[2], blocks["open"])
        yield (
            f"{name} (99 of 100: {_at(seconds, 99) * 1e6:,.0f} us; blocks read: {np.mean(read):.2f}, at most "
            f"{max(read)})",
            f"{_median(seconds) * 1e6:,.0f} us",
            f"{_median(seconds) / sqlite:.0f} x SQLite",
        )
    yield from _many(opened, database)


def _many(opened: Sequence[Search], database: sqlite3.Connection) -> Iterator[Row]:
    chosen = random.Random(12).sample(range(KEYS), 1000)
    pieces = [encode_value(_key(number), STRING) for number in chosen]
    shards = [shard_of(piece, len(opened)) for piece in pieces]
    sets = [
        [piece for piece, of_it in zip(pieces, shards, strict=True) if of_it == shard] for shard in range(len(opened))
    ]
    texts = json.dumps([_key(number) for number in chosen])
    low, high = _key(KEYS // 2), _key(KEYS // 2 + KEYS // 100)
    ranges = ranges_of(STRING, low, high, hi_inclusive=False)
    for name, look_up, query, given in (
        (
            "IN of 1,000 keys",
            lambda: [search.groups(some) for search, some in zip(opened, sets, strict=True)],
            "select distinct grp from entries where key in (select value from json_each(?))",
            (texts,),
        ),
        (
            "a range of 1 % of the keys",
            lambda: [search.groups(ranges) for search in opened],
            "select distinct grp from entries where key >= ? and key < ?",
            (low, high),
        ),
    ):
        expected = sorted(group for [group] in database.execute(query, given))
        assert np.unique(np.concatenate(look_up())).tolist() == expected
        ours = _median([_seconds(look_up) for _ in range(7)])
        theirs = _median(
            [_seconds(lambda query=query, given=given: database.execute(query, given).fetchall()) for _ in range(7)]
        )
        yield name, f"{ours * 1e3:.0f} ms", f"{ours / theirs:.1f} x SQLite ({theirs * 1e3:.0f} ms)"


def _key(number: int) -> str:
    return f"user-{number:010d}"


def _columns(seed: int, rows: int) -> tuple[list[str], list[str], np.ndarray]:
    draw = np.random.default_rng(seed)
    digits = draw.bytes(16 * rows).hex()
    return (
        [_key(number) for number in draw.integers(0, KEYS, rows).tolist()],
        [digits[start : start + 32] for start in range(0, 32 * rows, 32)],
        draw.integers(0, FILES, rows),
    )


def _batches(rows: int, seed: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, rows, ROWS_AT_ONCE):
        keys, records, groups = _columns(seed + start, min(rows, ROWS_AT_ONCE))
        encoded = encode([pa.array(keys).cast(pa.large_binary())], [STRING])
        batch = entry_batch(encoded, pa.array(records), 0)
        yield batch.set_column(2, ENTRIES.field("group"), pa.array(groups.astype(np.int32)))


def _changes(number: int) -> Iterator[pa.RecordBatch]:
    """Tombstones of entries of the base, and as many new entries."""
    half = CHANGED // 2
    gone = next(_batches(ROWS_AT_ONCE, number * ROWS_AT_ONCE)).slice(0, half)
    yield gone.set_column(3, ENTRIES.field("deleted"), pa.array(np.ones(half, np.bool_)))
    yield from _batches(half, ENTRIES_IN_ALL + number)


def _place(ending: str) -> Path:
    return Path(tempfile.gettempdir()) / f"sargo-bench-{os.getuid()}-secondary-{ENTRIES_IN_ALL}{ending}"


def _made() -> Made:
    place = _place("")
    if not (place / "made.json").exists():
        shutil.rmtree(place, ignore_errors=True)
        folder, n = Folder.at(place), shard_count(ENTRIES_IN_ALL)
        spent, batches = 0.0, _batches(ENTRIES_IN_ALL, 0)
        with EntrySorter("key", BUDGET) as sorter:
            for batch in batches:
                start = time.process_time()
                sorter.add(batch)
                spent += time.process_time() - start
            runs = sorter.runs + 1  # the last one is still in memory
            start = time.process_time()
            generations = [write_shards(folder, "base-{}".format, sorter.sorted(), n)]
            spent += time.process_time() - start
        for number in range(1, GENERATIONS + 1):
            later = sort_entries(_changes(number), order="key")
            generations.append(write_shards(folder, f"{number}-{{}}".format, later, n))
        (place / "made.json").write_text(
            json.dumps(
                {
                    "seconds": spent,
                    "runs": runs,
                    "shards": [
                        [table and table.to_dict() for table in tables] for tables in zip(*generations, strict=True)
                    ],
                }
            )
        )
    plain = json.loads((place / "made.json").read_text())
    return Made(
        Folder.at(place),
        [[table and StoredTable.from_dict(table) for table in tables] for tables in plain["shards"]],
        plain["seconds"],
        plain["runs"],
    )


def _sqlite() -> Path:
    path = _place(".sqlite")
    if not path.exists():
        unfinished = path.with_suffix(f".{os.getpid()}")
        with sqlite3.connect(unfinished) as database:
            database.execute("create temp table unsorted (key text, record text, grp integer)")
            for start in range(0, ENTRIES_IN_ALL, ROWS_AT_ONCE):
                keys, records, groups = _columns(start, ROWS_AT_ONCE)
                rows = zip(keys, records, groups.tolist(), strict=True)
                database.executemany("insert into unsorted values (?, ?, ?)", rows)
            database.execute(
                "create table entries (key text, record text, grp integer, "
                "primary key (key, record, grp)) without rowid"
            )
            database.execute("insert into entries select * from unsorted order by key, record, grp")
        unfinished.replace(path)
    return path


def _seconds(call: Callable[[], object]) -> float:
    start = time.thread_time()
    call()
    return time.thread_time() - start


def _at(seconds: Sequence[float], share: int) -> float:
    return sorted(seconds)[len(seconds) * share // 100]


def _median(seconds: Sequence[float]) -> float:
    return _at(seconds, 50)
