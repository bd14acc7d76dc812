"""`make conformance`: every path on every predicate and table with the real engines, and the report of file groups.

    python -m tests.conformance [STAGE ...]        by default all but `skipping` (needs a JDK 17, Maven, .venv/spark35)

    truth      the full scans of the committed tables with the releases of Hudi that wrote them: the rows that match are
               those that are stored
    skipping   Hudi's own data skipping, asked anew and stored: a fifth of a CPU second for each predicate and table
    hive       the predicates as queries on a real HiveServer2 with a real sidecar, each on one table
    spark      predicates resolved by Spark with ANSI on and off, and all pruned reads
    own        our own indexes, made at the first commit and refreshed after each: all sketches, and each alone, with no
               other index; and the rows that are read with all of them
    extension  SQL over Hudi's tables on Spark 3.5 through Sargo's session extension, with three bundles of Hudi, also
               after changes that the sidecar has not seen: one predicate in 5 of each table, with EVERY=1 all
    bundle     all pruned reads on Spark 3.5, where Hudi's bundle reads the slices that Sargo does not merge itself
    report     the table

The result of a stage is also written to results/<stage>.txt, unless EVERY makes it ask less.

The exit code is 1 when a path loses a row, reads another row, or a stored answer is out of date.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from handler import open_table
from handler.spark.pruning.schemas import spark_schema
from index_store.opened_table import OpenTable
from tests.conformance import row_truth
from tests.conformance.bundle_reads import BUNDLE
from tests.conformance.extension_tally import Tally
from tests.conformance.hive_queries import wrong_answers
from tests.conformance.own_indexes import ALL, KINDS, VARIANTS, lost_groups, nothing_but, open_with, refreshed_indexes
from tests.conformance.paths import Kept, Resolved
from tests.conformance.paths import kept as kept_of
from tests.conformance.pruned_reads import READ_HERE, wrong_reads
from tests.conformance.report import report
from tests.conformance.stored_truth import MODES, TABLES, truth_of, unpack
from tests.tables.releases import PYTHON, RELEASES, ROOT, session

#: The bundles of Hudi with which the session extension is asked, and one in how many predicates.
EXTENSION_RELEASES, EXTENSION_EVERY = ("1.2.0", "1.0.2", "0.15.0"), 5
STAGES = ("truth", "skipping", "hive", "spark", "own", "bundle", "extension", "report")
RESULTS = Path(__file__).parent / "results"


class Run:
    """One run: the tables unpacked below `home`, and the failures so far."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folders = {name: unpack(name, home / "tables") for name in TABLES}
        self.opened: dict[str, OpenTable] = {name: open_table(folder) for name, folder in self.folders.items()}
        self.kept = Kept(self.opened)
        self.own: dict[str, str] = {}
        self.notes: list[str] = []
        self.wrong = 0
        self._spark: SparkSession | None = None

    def note(self, text: str, wrong: dict[str, str]) -> None:
        self.wrong += len(wrong)
        self.notes += [text, *(f"  {what}: {why}" for what, why in list(wrong.items())[:20])]
        print("\n".join(self.notes[-1 - min(len(wrong), 20) :]), flush=True)

    @property
    def spark(self) -> SparkSession:
        if self._spark is None:
            self._spark = session(None, self.home)
            self._spark.conf.set("spark.sql.ansi.enabled", "false")
        return self._spark

    def scan(self, what: str) -> Path:
        """`full_scan` with every release, on links to its tables without the release in their names."""
        out = self.home / "scans"
        out.mkdir(exist_ok=True)
        for release in RELEASES.values():
            release.fetch()
            here = self.home / release.hudi
            here.mkdir(exist_ok=True)
            for name, folder in self.folders.items():
                version, _, table = name.partition("_")
                if version == release.hudi and not (here / table).exists():
                    (here / table).symlink_to(folder)
            subprocess.run(
                [str(PYTHON), "-m", "tests.conformance.full_scan", what, release.hudi, str(here), str(out)],
                cwd=ROOT,
                check=True,
                env={**os.environ, "TZ": "UTC"},
            )
        return out

    def truth(self) -> None:
        before = {name: truth_of(name) for name in TABLES}
        row_truth.add_rows(str(self.scan("rows")), self.spark)
        truth_of.cache_clear()
        after = {name: truth_of(name) for name in TABLES}
        wrong = {
            f"{name}: {sql}": "the stored rows were others"
            for name in TABLES
            for sql in after[name].predicates
            if any(
                sql not in before[name].predicates or before[name].numbers(sql, mode) != after[name].numbers(sql, mode)
                for mode in MODES
            )
        }
        self.note(
            f"truth: full scans of {len(TABLES)} tables with Hudi {', '.join(RELEASES)}; "
            f"{len(wrong)} answers differ from those stored",
            wrong,
        )
        for name, truth in after.items():
            row_truth.keep_skipping(name, before[name], truth)
        truth_of.cache_clear()

    def skipping(self) -> None:
        row_truth.add_skipping(str(self.scan("skipping")))
        truth_of.cache_clear()

    def hive(self) -> None:
        (self.home / "hive").mkdir()
        n, wrong = wrong_answers(self.folders, self.home / "hive", self.kept, int(os.environ.get("EVERY", "1")))
        self.note(
            f"hive: {n} queries on HiveServer2 4.0.1 with a sidecar: {len(wrong)} with other rows, or other "
            "files read, than expected",
            wrong,
        )

    def by_spark(self, resolved: Resolved) -> Callable[[str, str, str], frozenset[str]]:
        """All tables have the same columns, some without `tn`: a predicate is resolved once."""
        schema = spark_schema(self.opened["1.2.0_wide_cow"].table)

        def keep(name: str, sql: str, mode: str) -> frozenset[str]:
            return kept_of(self.opened[name], resolved.expression(schema, sql, mode), f"spark-{mode}")

        return keep

    def spark_path(self) -> None:
        resolved = Resolved(self.spark)
        keep = self.by_spark(resolved)
        wrong: dict[str, str] = {}
        for name in TABLES:
            truth = truth_of(name)
            for sql in truth.predicates:
                for mode in MODES:
                    lost = truth.groups_of(truth.numbers(sql, mode) or ()) - keep(name, sql, mode)
                    if lost:
                        wrong[f"{name}, {mode}: {sql}"] = f"{len(lost)} file groups with a match are skipped"
        self.note(
            f"spark: predicates resolved by Spark {self.spark.version} with ANSI on and off, {len(TABLES)} "
            f"tables: {len(wrong)} skip a file group with a match",
            wrong,
        )
        reads = {
            f"{name}: {sql}": why
            for name in READ_HERE
            for sql, why in wrong_reads(self.spark, name, self.opened[name], self.kept).items()
        }
        n = sum(len(truth_of(name).predicates) for name in READ_HERE)
        self.note(f"spark: {n} pruned reads, {len(reads)} with other rows than the full scan", reads)

    def own_indexes(self) -> None:
        lost: dict[str, str] = {}
        reads: dict[str, str] = {}
        skipped: Counter[str] = Counter()
        for name, folder in self.folders.items():
            home = self.home / "own" / name
            home.mkdir(parents=True)
            predicates = list(truth_of(name).predicates)
            for variant, index in refreshed_indexes(folder, home, VARIANTS).items():
                lost_here, skipped_here = lost_groups(name, folder, index, predicates)
                skipped[variant] += skipped_here
                lost |= {f"{variant}, {name}: {sql}": why for sql, why in lost_here.items()}
                if variant == ALL:
                    self.own[name] = index
                if variant == ALL and name in READ_HERE:
                    with nothing_but(*KINDS):
                        opened = open_with(folder, index)
                        wrong = wrong_reads(self.spark, name, opened, Kept({name: opened}))
                    reads |= {f"{name}: {sql}": why for sql, why in wrong.items()}
        n = sum(len(truth_of(name).predicates) for name in TABLES)
        self.note(
            f"own: {n} predicates and tables, {len(VARIANTS)} indexes refreshed after every commit: {len(lost)} "
            "skip a file group with a match; file groups skipped by "
            + ", ".join(f"{variant} {many:,}" for variant, many in skipped.items()),
            lost,
        )
        self.note(f"own: {len(reads)} pruned reads by all sketches have other rows than the full scan", reads)

    def bundle_path(self) -> None:
        BUNDLE.fetch()
        out = self.home / "bundle.json"
        subprocess.run(
            [str(PYTHON), "-m", "tests.conformance.bundle_reads", str(self.home / "tables"), str(out)],
            cwd=ROOT,
            check=True,
            env={**os.environ, "TZ": "UTC"},
        )
        n = sum(len(truth_of(name).predicates) for name in TABLES)
        wrong = json.loads(out.read_text(encoding="utf-8"))
        through = len(TABLES) - len(READ_HERE)
        self.note(
            f"bundle: {n} pruned reads on Spark 3.5, of {through} of {len(TABLES)} tables through the bundle of "
            f"Hudi {BUNDLE.hudi}: {len(wrong)} with other rows than the full scan",
            wrong,
        )

    def extension(self) -> None:
        every = os.environ.get("EVERY") or str(EXTENSION_EVERY)
        for hudi in EXTENSION_RELEASES:
            RELEASES[hudi].fetch()
            out = self.home / f"extension-{hudi}.json"
            given = [str(self.home / "tables"), str(out), hudi, every]
            subprocess.run(
                [str(PYTHON), "-m", "tests.conformance.extension_reads", *given],
                cwd=ROOT,
                check=True,
                env={**os.environ, "TZ": "UTC"},
            )
            tally = Tally(**json.loads(out.read_text(encoding="utf-8")))
            share = "all predicates" if every == "1" else f"one predicate in {every}"
            self.note(f"extension: Hudi {hudi}, {share} of each table: {tally}", tally.wrong)

    def report(self) -> None:
        groups = {name: len(table.at().slices) for name, table in self.opened.items()}
        for name, folder in self.folders.items():
            if name not in self.own:
                home = self.home / "report" / name
                home.mkdir(parents=True)
                self.own[name] = refreshed_indexes(folder, home, [ALL])[ALL]
        with_own = Kept({name: open_with(folder, self.own[name]) for name, folder in self.folders.items()})
        text = report(self.kept, with_own, self.by_spark(Resolved(self.spark)), groups)
        print(text, flush=True)
        self.notes.append(text)


def _head() -> str:
    return (
        f"{datetime.now(timezone.utc):%Y-%m-%d}, Python {platform.python_version()}, Spark {pyspark.__version__}, "
        f"Hudi {', '.join(RELEASES)}"
    )


def main(*stages: str) -> int:
    unknown = set(stages) - set(STAGES)
    if unknown:
        print(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(STAGES)}")
        return 2
    os.environ["SARGO_CACHE"] = "off"
    with tempfile.TemporaryDirectory(prefix="sargo-conformance-") as folder:
        run = Run(Path(folder))
        for stage in stages or [stage for stage in STAGES if stage != "skipping"]:
            begun, run.notes = time.monotonic(), []
            {
                "truth": run.truth,
                "skipping": run.skipping,
                "hive": run.hive,
                "spark": run.spark_path,
                "own": run.own_indexes,
                "bundle": run.bundle_path,
                "extension": run.extension,
                "report": run.report,
            }[stage]()
            took = f"{stage}: {time.monotonic() - begun:.0f} s"
            print(took, flush=True)
            if os.environ.get("EVERY", "1") in {"", "1"}:
                RESULTS.mkdir(exist_ok=True)
                (RESULTS / f"{stage}.txt").write_text("\n".join([_head(), *run.notes, took]) + "\n", encoding="utf-8")
    return int(run.wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
