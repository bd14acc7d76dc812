"""`make torture-tables`: write random tables with real Hudi, and hold random conditions against their rows.

    python -m tests.random_tables [--tables 10] [--seed 1] [--conditions 300] [--folder FOLDER] [--columns] [--store]
    python -m tests.random_tables --extension [--tables 10] [--seed 1] [--queries 12]
    python -m tests.random_tables --meanwhile [--tables 10] [--seed 1]
    python -m tests.random_tables --lives [--tables 10] [--seed 1] [--steps 6] [--queries 12]

Needs a JDK 17, Maven and `.venv/spark35` (`make .venv/spark35/.installed`). The tables have the seeds SEED, SEED + 1,
... A table and its conditions depend on the seed alone, but for the instants. With --folder the tables stay there; one
that is there already is not written again. --columns resolves the conditions by Spark as well, as Columns are. --store
keeps them in tests/data/random_tables. The exit code is 1 when a file with a matching row would be skipped.

--extension writes the tables anew, and asks QUERIES queries through Sargo's extension of Spark after each commit
(``extension``). --meanwhile asks queries through it as long as another process writes the table (``meanwhile``).
--lives makes other tables, which are upgraded from one release of Hudi to the next, STEPS steps with each, with what
operators do to them; it asks through the extension, ``read``, ``aggregate`` and ``prune`` after each step (``lives``).
The exit code is 1 when a query has other rows than without Sargo, or rows of no commit that it may see.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.conformance.paths import Resolved
from tests.random_tables.check import Outcome, check
from tests.random_tables.extension import Asked
from tests.random_tables.recipe import Recipe
from tests.tables.releases import PYTHON, RELEASES, ROOT, session

STORED = ROOT / "tests" / "data" / "random_tables"


def write(seeds: Sequence[int], conditions: int, folder: Path) -> None:
    """The tables that are not there yet, all of a release in one session of Spark."""
    missing = [seed for seed in seeds if not (folder / str(seed) / "truth.json").exists()]
    for release, some in _by_release(missing).items():
        _on_spark("write", str(folder), str(conditions), release, *some)


def _by_release(seeds: Sequence[int]) -> dict[str, list[str]]:
    found = defaultdict(list)
    for seed in seeds:
        found[Recipe.of(seed).release].append(str(seed))
    for release in found:
        RELEASES[release].fetch()
    return found


def _on_spark(module: str, *given: str) -> None:
    """Run a module beside this one with the Python that has Spark 3.5."""
    command = [str(PYTHON), "-m", f"tests.random_tables.{module}", *given]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "TZ": "UTC"})


def asked_through_extension(seeds: Sequence[int], queries: int, folder: Path) -> Asked:
    """So many queries after each commit, of tables written anew."""
    return _asked("extension", seeds, folder, str(queries))


def asked_meanwhile(seeds: Sequence[int], folder: Path) -> Asked:
    """As many queries as there is time for, while the tables are written."""
    return _asked("meanwhile", seeds, folder)


def asked_of_lives(seeds: Sequence[int], steps: int, queries: int, folder: Path) -> Asked:
    """So many queries after each of so many steps with each release, one after the other."""
    for release in RELEASES.values():
        release.fetch()
    given = str(steps), str(queries), *map(str, seeds)
    return _merged("lives", folder, dict.fromkeys(RELEASES, given))


def _asked(module: str, seeds: Sequence[int], folder: Path, *given: str) -> Asked:
    return _merged(module, folder, {release: (*given, *some) for release, some in _by_release(seeds).items()})


def _merged(module: str, folder: Path, given: Mapping[str, Sequence[str]]) -> Asked:
    """What a module found with each release."""
    found = Asked()
    for release, arguments in given.items():
        out = folder / f"{module}-{release}.json"
        _on_spark(module, str(folder), str(out), release, *arguments)
        found.update(Asked(**json.loads(out.read_text(encoding="utf-8"))))
    return found


def report(outcome: Outcome) -> Table:
    table = Table("asked by", "plans", "file groups kept", "with a row", "ratio")
    for path, plans in sorted(outcome.asked.items()):
        kept, ideal = outcome.kept[path], outcome.ideal[path]
        table.add_row(path, f"{plans:,}", f"{kept:,}", f"{ideal:,}", f"{kept / ideal:.2f}" if ideal else "")
    return table


def store(home: Path) -> None:
    """The table, the truth, and the rows after the last commit, for the tests of every run."""
    latest = json.loads((home / "truth.json").read_text(encoding="utf-8"))["instants"][-1]

    def kept(item: tarfile.TarInfo) -> tarfile.TarInfo | None:
        item.uid = item.gid = item.mtime = 0
        item.uname = item.gname = ""
        is_old = item.name.startswith("rows/") and latest not in item.name
        return None if is_old or "/.temp" in item.name else item

    STORED.mkdir(exist_ok=True)
    with tarfile.open(STORED / f"{home.name}.tar.xz", "w:xz", preset=9) as archive:
        for name in ("table", "truth.json", "rows"):
            archive.add(home / name, name, filter=kept)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.random_tables")
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--conditions", type=int, default=300)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--store", action="store_true", help="pack the tables into tests/data/random_tables")
    parser.add_argument("--columns", action="store_true", help="resolve the conditions by Spark, too")
    parser.add_argument("--extension", action="store_true", help="ask through Sargo's extension of Spark instead")
    parser.add_argument("--meanwhile", action="store_true", help="ask through it while the tables are written")
    parser.add_argument("--lives", action="store_true", help="ask about tables that live through releases of Hudi")
    parser.add_argument("--steps", type=int, default=6, help="with --lives: with each release")
    parser.add_argument("--queries", type=int, default=12, help="with --extension, --lives: after each commit or step")
    given = parser.parse_args(arguments)
    seeds = range(given.seed, given.seed + given.tables)
    if given.extension:
        return _report_asked(lambda folder: asked_through_extension(seeds, given.queries, folder))
    if given.lives:
        return _report_asked(lambda folder: asked_of_lives(seeds, given.steps, given.queries, folder))
    if given.meanwhile:
        return _report_asked(lambda folder: asked_meanwhile(seeds, folder))
    console, begun, whole, failed = Console(), time.monotonic(), Outcome(), 0
    with tempfile.TemporaryDirectory(prefix="sargo-random-") as scratch:
        folder = given.folder or Path(scratch) / "tables"
        folder.mkdir(parents=True, exist_ok=True)
        write(seeds, given.conditions, folder.resolve())
        resolved = Resolved(session(None, Path(scratch))) if given.columns else None
        for seed in seeds:
            if not (folder / str(seed) / "truth.json").exists():
                failed += 1
                continue
            found = check(folder / str(seed), Path(scratch) / f"own{seed}", resolved)
            recipe = Recipe.of(seed)
            kind = "MERGE_ON_READ" if recipe.writer["mor"] else "COPY_ON_WRITE"
            console.print(
                f"table {seed}: Hudi {recipe.release}, {kind}, {len(recipe.commits)} commits: "
                f"{sum(found.asked.values()):,} plans, {len(found.lost)} lost"
            )
            whole.update(found)
            if given.store:
                store(folder / str(seed))
    console.print(report(whole))
    for lost in whole.lost[:50]:
        console.print(lost, style="red", highlight=False)
    console.print(
        f"{sum(whole.asked.values()):,} plans of {len(seeds) - failed} tables, {len(whole.lost)} lost, "
        f"{failed} tables that Hudi itself fails at, {time.monotonic() - begun:.0f} s"
    )
    return 1 if whole.lost or failed == len(seeds) else 0


def _report_asked(ask: Callable[[Path], Asked]) -> int:
    with tempfile.TemporaryDirectory(prefix="sargo-random-") as folder:
        found = ask(Path(folder))
    console = Console()
    for query, why in found.wrong.items():
        console.print(f"{query}: {why}", style="red", highlight=False)
    console.print(str(found), highlight=False)
    return 1 if found.wrong or not found.asked else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
