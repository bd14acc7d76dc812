"""The calls that are timed in both checkouts.

The calls are those of the checkout that asks. What they import, also from ``tests``, is that of the checkout they run
in. So a path that the base cannot run yet has no ratio, and is no failure.
"""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

Call = Callable[[], object]
#: Makes the call, with a folder for its files.
Prepare = Callable[[Path], Call]

_FILES, _TABLE_FILES, _SMALL, _STATS_FILES, _ENTRIES = 200_000, 2_000, 20, 10_000, 50_000
_SNAPSHOT_FILES = 50_000
_SEARCHED = ("1 equality", "2-leaf range", "10-leaf AND/OR", "IN of 1,000", "prefix", "NOT range")


def _imports(_: Path) -> Call:
    code = "import sargo; sargo.prune, sargo.open_table"
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)


def _cold(folder: Path) -> Call:
    from handler import prune
    from tests.bench.column_stats_load import FILTER
    from tests.index_store.synthetic import write_table

    write_table(folder / "table", _TABLE_FILES)
    return lambda: prune(folder / "table", FILTER, time_zone="UTC").kept


def _small(folder: Path) -> Call:
    from handler import open_table, prune
    from handler.sql.parsing import parse
    from tests.bench.prune_small import CONDITION
    from tests.index_store.synthetic import write_table

    write_table(folder / "table", _SMALL)
    table, expression = open_table(folder / "table"), parse(CONDITION, "spark")
    return lambda: prune(table, expression, "spark", time_zone="UTC").kept


def _bind(_: Path) -> Call:
    from evaluator.binding.bind import bind
    from tests.bench.engines.sargo import SCHEMA, SEMANTICS
    from tests.bench.shapes import SHAPES

    [ten] = [shape for shape in SHAPES if shape.name == "10-leaf AND/OR"]
    return lambda: bind(ten.expression, SCHEMA, SEMANTICS)


def _search(name: str) -> Prepare:
    def prepare(_: Path) -> Call:
        from tests.bench.datasets import make_files
        from tests.bench.engines.sargo import Sargo
        from tests.bench.shapes import SHAPES

        files = _kept.setdefault("files", make_files("M", "random", _FILES))
        engine = _kept.setdefault("engine", Sargo(files))
        [shape] = [shape for shape in SHAPES if shape.name == name]
        call: Call = engine.prepare(shape)
        return call

    return prepare


#: What lives as long as the process: the files of the searches, which take turns, and the sidecar.
_kept: dict[str, object] = {}


def _indexing(_: Path) -> Call:
    from evaluator.statistics.indexing import with_index
    from tests.bench.datasets import make_files
    from tests.bench.engines.sargo import statistics_of

    files = make_files("M", "random", _FILES // 4)
    column = statistics_of(files.columns["id"], files)
    return lambda: with_index(column)


def _column_stats(folder: Path) -> Call:
    from index_store.formats.hfile import HFile
    from index_store.formats.keys import column_id
    from index_store.formats.stats_reader import read_statistics
    from index_store.storage.byte_source import Bytes
    from tests.bench.large_hfile import COLUMNS, write

    write(folder / "stats.hfile", _STATS_FILES)
    hfile = HFile.open(Bytes((folder / "stats.hfile").read_bytes()))
    return lambda: [part for _, part in read_statistics(hfile, {column_id(column) for column in COLUMNS})]


def _from_snapshot(folder: Path) -> Call:
    from handler import prune
    from index_store import open_table
    from index_store.opened_table import OpenTable
    from index_store.snapshots import SnapshotCache
    from tests.bench.large_snapshot import make_base
    from tests.bench.snapshots import FILTERS

    cache = SnapshotCache(folder / "cache", 1 << 40)
    make_base(folder / "table", cache, _SNAPSHOT_FILES)
    return lambda: prune(OpenTable(open_table(folder / "table"), cache), FILTERS[1]).kept_rows


def _carried(folder: Path) -> Call:
    from index_store import open_table
    from index_store.snapshots import SnapshotCache, open_snapshot
    from index_store.snapshots.incremental_refresh import refresh_snapshot
    from index_store.snapshots.state import state_of
    from tests.bench.large_snapshot import commit, make_base

    path, cache = folder / "table", SnapshotCache(folder / "cache", 1 << 40)
    make_base(path, cache, _SNAPSHOT_FILES)
    before = open_snapshot(open_table(path), cache)
    commit(path, "20260102000000000", _SNAPSHOT_FILES)

    def carry() -> object:
        table = open_table(path)
        return refresh_snapshot(before, state_of(table), table)  # type: ignore[arg-type]

    return carry


def _secondary(folder: Path) -> Call:
    from evaluator.language.types import STRING
    from index_store.own.secondary.keys import encode_value
    from index_store.own.secondary.runs import sort_entries
    from index_store.own.secondary.search import Search
    from index_store.own.secondary.shards import write_shards
    from index_store.own.store.folder import Folder
    from tests.bench.secondary_lookup import _batches, _columns

    place = Folder.at(folder)
    tables = write_shards(place, "base-{}".format, sort_entries(_batches(_ENTRIES, 0), order="key"), 1)
    search = Search(place, tables)
    pieces = [encode_value(key, STRING) for key in _columns(0, _ENTRIES)[0][:50]]
    return lambda: [search.groups([piece]) for piece in pieces]


def _filter(_: Path) -> Call:
    from sarg import decode
    from tests.bench.sidecar import _filter as hive_filter

    sent = hive_filter(1_000)
    return lambda: decode(sent)


def _sidecar(folder: Path) -> Call:
    from handler import open_table
    from handler.sidecar.run import running
    from handler.sidecar.settings import Settings
    from handler.sidecar.wire import read_reply
    from tests.bench.sidecar import frame
    from tests.index_store.synthetic import write_table

    write_table(folder / "table", _TABLE_FILES)
    names = [item.base_file or "" for item in open_table(folder / "table").at().slices]
    sent, loop, parts = frame(folder / "table", names, _TABLE_FILES // 2), asyncio.new_event_loop(), AsyncExitStack()
    settings = Settings(roots=(str(folder),), port=0, metrics_port=-1, refresh_seconds=3600, request_seconds=60)

    async def begin() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        sidecar = await parts.enter_async_context(running(settings, io.StringIO()))
        return await asyncio.open_connection("127.0.0.1", sidecar.port)

    reader, writer = loop.run_until_complete(begin())
    _kept["sidecar"] = parts

    async def ask() -> bytes:
        writer.write(sent)
        return await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))

    assert read_reply("prune", loop.run_until_complete(ask())).success.skipped
    return lambda: loop.run_until_complete(ask())


#: The path that is a new process each time.
IMPORTS = "import of prune and open_table, new process"
#: By name.
HOT_PATHS: dict[str, Prepare] = {
    IMPORTS: _imports,
    f"open a table of {_TABLE_FILES:,} files and prune, 4 columns": _cold,
    f"prune, {_SMALL} slices, 5 conditions, loaded": _small,
    "bind 10 leaves": _bind,
    **{f"search {_FILES:,} files: {name}": _search(name) for name in _SEARCHED},
    f"index a column of {_FILES // 4:,} files": _indexing,
    f"read {4 * _STATS_FILES:,} records of column_stats": _column_stats,
    f"first filter from a snapshot of {_SNAPSHOT_FILES:,} files": _from_snapshot,
    f"carry a commit of 1,000 files into a snapshot of {_SNAPSHOT_FILES:,}": _carried,
    f"50 look-ups among {_ENTRIES:,} secondary keys": _secondary,
    "decode a filter of Hive": _filter,
    f"sidecar and client, {_TABLE_FILES:,} names, warm": _sidecar,
}

os.environ["SARGO_CACHE"] = "off"
