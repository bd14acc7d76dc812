"""One record key among ten million: the cost of a look-up in ``record_index``, beside the work that none can avoid.

    cold      the key's block is not inflated yet      at most 1.5 x inflating one block, which is most of the work
    cached    the block was asked for before           at most 2 x SQLite (WITHOUT ROWID, the same keys and locations)

A look-up goes from the text of a key to the mask of the slices that may hold it (``RecordIndex.locate_keys``), for a
table of 10,000 slices; no key is asked for twice. CPU time, median and what 99 of 100 stay below, in batches that take
turns. The HFile (one file group, GZ, 64 KiB blocks) and the SQLite file are made once, in the folder for temporary
files, which takes three minutes.
"""

from __future__ import annotations

import os
import random
import sqlite3
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from index_store import open_table
from index_store.formats.hfile import HFile
from index_store.kinds.record_keys import record_index
from index_store.kinds.record_keys.record_index import RecordIndex
from index_store.storage.byte_source import Bytes
from tests.bench.large_record_index import file_at, file_id, key_at, make_table, write_hfile

KEYS, FILES = 10_000_000, 10_000
ROUNDS, BATCH, HOT_BLOCKS = 40, 100, 400

Row = tuple[str, str, str]


class Key(NamedTuple):
    """A key that is there, one near it that is not, the slice that holds it, and its block, more or less."""

    text: str
    absent: str
    place: int
    block: int


def run() -> list[Row]:
    """The figures, each with its ratio to what it is compared with and the goal for it."""
    stored, rows = _made("hfile", _write_hfile), _made("sqlite", _write_sqlite)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "table"
        make_table(root, stored, FILES)
        start = time.perf_counter()
        cold, warm = _index(root), _index(root)
        assert cold.count == warm.count == KEYS
        opened = (time.perf_counter() - start) / 2
        spent = _measured(HFile.open(Bytes(stored.read_bytes())), cold, warm, sqlite3.connect(rows))
    median = {name: sorted(seconds)[len(seconds) // 2] for name, seconds in spent.items()}
    rows_of = {
        name: (_us(median[name]), _us(sorted(seconds)[len(seconds) * 99 // 100])) for name, seconds in spent.items()
    }

    def row(name: str, ratio: str = "") -> Row:
        return f"{name} (99 of 100: {rows_of[name][1]})", rows_of[name][0], ratio

    inflated = median["inflate one block"]
    return [
        (f"open an index of {KEYS:,} keys and count them", f"{opened * 1e3:,.0f} ms", ""),
        row("inflate one block"),
        row("inflate one block with zlib"),
        row(
            "look up, cold",
            f"{median['look up, cold'] / inflated:.2f} x inflating (goal 1.5), "
            f"{median['look up, cold'] / median['inflate one block with zlib']:.2f} x with zlib",
        ),
        row("look up what is absent, cold", f"{median['look up what is absent, cold'] / inflated:.2f} x inflating"),
        row("look up, cached", f"{median['look up, cached'] / median['SQLite, the same keys']:.2f} x SQLite (goal 2)"),
        row("SQLite, the same keys"),
        row("SQLite, any key"),
    ]


def _measured(
    hfile: HFile, cold: RecordIndex, warm: RecordIndex, database: sqlite3.Connection
) -> dict[str, list[float]]:
    draw = random.Random(11)
    per_block = KEYS // len(hfile.index)
    hot = [
        key
        for number in draw.sample(range(len(hfile.index)), HOT_BLOCKS)
        for key in range(number * per_block, (number + 1) * per_block)
        if key % 4 != 3
    ]
    draw.shuffle(hot)

    order = sorted(range(FILES), key=file_id)  # as a table's slices are
    places = {file: place for place, file in enumerate(order)}

    def look_up(index: RecordIndex) -> Callable[[Key], None]:
        def call(key: Key) -> None:
            mask = index.locate_keys((key.text,))
            assert mask is not None
            assert mask[key.place]

        return call

    def miss(key: Key) -> None:
        assert cold.locate_keys((key.absent,)) is not None

    def ask(key: Key) -> None:
        assert database.execute("select file from locations where key = ?", (key.text,)).fetchone()

    def inflate(key: Key) -> None:
        assert hfile.block(key.block).inflated()

    def inflate_with_zlib(key: Key) -> None:
        assert zlib.decompress(hfile.block(key.block).data, 31)

    def keys(numbers: Iterable[int]) -> Iterator[Key]:
        return (
            Key(
                key_at(number),
                f"{key_at(number)}x",
                places[file_at(number, FILES)],
                number // per_block % len(hfile.index),
            )
            for number in numbers
        )

    hot_again, everywhere = keys(hot), keys(draw.sample(range(KEYS), 5 * ROUNDS * BATCH))
    for key in islice(hot_again, 40 * HOT_BLOCKS):  # every hot block is asked for some times
        look_up(warm)(key)
        ask(key)
    plan: dict[str, tuple[Callable[[Key], None], Iterator[Key]]] = {
        "inflate one block": (inflate, everywhere),
        "inflate one block with zlib": (inflate_with_zlib, everywhere),
        "look up, cold": (look_up(cold), everywhere),
        "look up what is absent, cold": (miss, everywhere),
        "look up, cached": (look_up(warm), hot_again),
        "SQLite, the same keys": (ask, keys(hot)),
        "SQLite, any key": (ask, everywhere),
    }
    spent: dict[str, list[float]] = {name: [] for name in plan}
    for _ in range(ROUNDS):
        for name, (call, wanted) in plan.items():
            spent[name] += _seconds(call, list(islice(wanted, BATCH)))
    return spent


def _seconds(call: Callable[[Key], None], wanted: Sequence[Key]) -> Iterator[float]:
    for key in wanted:
        start = time.thread_time()
        call(key)
        yield time.thread_time() - start


def _index(root: Path) -> RecordIndex:
    table = open_table(root)
    index = record_index.make(table, table.slices())
    assert index is not None
    return index


def _write_hfile(path: Path) -> None:
    write_hfile(path, KEYS, FILES)


def _write_sqlite(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("create table locations (key text primary key, partition text, file text) without rowid")
        database.executemany(
            "insert into locations values (?, '', ?)",
            ((key_at(number), file_id(file_at(number, FILES))) for number in range(KEYS)),
        )


def _made(ending: str, write: Callable[[Path], None]) -> Path:
    """A large file, from an earlier run if there was one."""
    path = Path(tempfile.gettempdir()) / f"sargo-bench-{os.getuid()}-record-index-{KEYS}.{ending}"
    if not path.exists():
        unfinished = path.with_suffix(f".{os.getpid()}")
        write(unfinished)
        unfinished.replace(path)
    return path


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us"
