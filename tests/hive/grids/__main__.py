"""Asks real Hive and records its answers: ``python -m tests.hive.grids [STAGE ...] [hive401 | hive313]``.

    declared    what Hive shows of columns that it declares otherwise   tests/handler/data/hive_declared_types.json.xz
    edges       numbers, wall clocks and constants beside their edges   tests/handler/data/hive_edges.json.xz
    date_texts  texts that are read as dates                            tests/handler/data/hive_date_texts.json.xz
    number_texts  texts beside numbers, and lists of them               tests/handler/data/hive_number_texts.json.xz
    units       timestamps of both units, and fields of structs         tests/handler/data/hive_units.json.xz
    folded      constants and moments as Hive hands them over           tests/handler/data/hive_folded.json.xz
    functions   values of functions and casts of columns                tests/evaluator/data/function_values.json.xz
    predicates  conditions over functions that are NULL of some values  tests/evaluator/data/predicates.json.xz

Needs what ``make test-hive`` needs.
"""

from __future__ import annotations

import json
import lzma
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.evaluator import function_grid, predicate_grid
from tests.hive.grids import date_texts, declared, edges, folded, functions, number_texts, predicates, units
from tests.hive.server import HIVE_3, HIVE_4, ROOT, Server

DATA = ROOT / "tests" / "handler" / "data"
STAGES: dict[str, tuple[Path, Callable[[Server, Path], Iterator[Any]]]] = {
    "declared": (DATA / "hive_declared_types.json.xz", declared.ask),
    "edges": (DATA / "hive_edges.json.xz", edges.ask),
    "folded": (DATA / "hive_folded.json.xz", folded.ask),
    "functions": (function_grid.DATA, functions.ask),
    "predicates": (predicate_grid.DATA, predicates.ask),
    "number_texts": (DATA / "hive_number_texts.json.xz", number_texts.ask),
    "date_texts": (DATA / "hive_date_texts.json.xz", date_texts.ask),
    "units": (DATA / "hive_units.json.xz", units.ask),
}
ENGINES = {"hive401": ("hive4", HIVE_4), "hive313": ("hive3", HIVE_3)}


def main(*arguments: str) -> None:
    stages = [name for name in STAGES if name in arguments] or list(STAGES)
    stacks = [name for name in ENGINES if name in arguments] or list(ENGINES)
    for name in stacks:
        engine, stack = ENGINES[name]
        with tempfile.TemporaryDirectory(prefix="sargo-grids-") as folder:
            home = Path(folder)
            server = Server(stack, home, {"hive.local.time.zone": "UTC"})
            server.start()
            try:
                for stage in stages:
                    begun = time.monotonic()
                    file, ask = STAGES[stage]
                    (home / stage).mkdir()
                    for answers in ask(server, home / stage):
                        _write(file, answers if stage in ("functions", "predicates") else {engine: answers})
                    print(f"{name} {stage}: {time.monotonic() - begun:.0f} s", flush=True)
            finally:
                server.stop()


def _write(file: Path, answers: dict[str, Any]) -> None:
    """The answers by engine, beside those of other engines."""
    before = json.loads(lzma.decompress(file.read_bytes())) if file.exists() else {}
    text = json.dumps({**before, **answers}, ensure_ascii=False, separators=(",", ":"))
    file.write_bytes(lzma.compress(text.encode(), preset=9))


if __name__ == "__main__":
    main(*sys.argv[1:])
