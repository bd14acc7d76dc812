"""Random queries over tables that live through releases of Hudi: after each step, rows and file slices are right.

    python -m tests.random_tables.lives FOLDER OUT RELEASE STEPS QUERIES SEED ...  with the Python that has Spark 3.5

A table has STEPS steps with this release (``life``), after what the releases before it left in FOLDER, and QUERIES
queries after each of them, one in six as of an earlier instant. OUT becomes the JSON of an ``Asked``. Each query is

    SQL        of the catalog's table, through the session's extension
    value      the same, by a column's least or greatest value in the rows of the query
    footers    counts, bounds and sums by SQL, from footers and own indexes where these are exact, the rest of the rows
    read       ``handler.spark.read``
    aggregate  ``handler.spark.aggregate``: the same without SQL
    prune      ``handler.prune`` by text, which must keep the file slices that the rows are in

Skipping is counted of SQL and ``prune``; of the others, where they have Hudi read narrowed slices.

The truth is the same query with the extension off, by a listing of the file system instead of Hudi's metadata table:
after a restore of an upgraded table the two differ. Where a query has other rows than that, and Hudi by its metadata
table and without skipping has them too, the difference is Hudi's.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from handler import prune
from handler.indexes.entries import IndexWorkError
from handler.indexes.operations import IndexWork
from handler.spark import aggregate, read, register
from index_store.storage.errors import TableError
from tests.conformance.extension_changes import sidecar_that_looks_once
from tests.conformance.extension_session import FAILURES, PLAIN, Answer, ExtensionSession
from tests.conformance.full_scan import first_line
from tests.random_tables.extension import Asked, collected, tried
from tests.random_tables.life import Life, Step, condition
from tests.tables.releases import BY_INDEX

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NO_SKIPPING = {"hoodie.enable.data.skipping": "false"}
_BY_LISTING = {**_NO_SKIPPING, "hoodie.metadata.enable": "false"}
#: Hudi 0.15.0 has a second reader, by a relation of its own.
_OF_RELATION = dict.fromkeys(BY_INDEX, "false")
_BY_FOOTERS = {"spark.sargo.enabled": "true", "spark.sargo.aggregates": "footers"}
#: Forms whose plan does not say what they skip.
_BY_FILES = ("value", "footers")
#: Sums are answered for fewer files, so they are asked apart.
_AGGREGATES = (
    {"many": "count(*)", "known": "count(a)", "least": "min(f)", "most": "max(a)"},
    {"many": "count(*)", "total": "sum(a)"},
    {"total": "sum(c)", "most": "max(c)"},
)


@dataclass(frozen=True)
class _Table:
    session: ExtensionSession
    life: Life
    name: str
    path: Path

    @property
    def spark(self) -> SparkSession:
        return self.session.spark

    def commits(self) -> list[str]:
        """The latest first."""
        return self._instants(f"call show_commits(table => '{self.name}', limit => 20)")

    def savepoints(self) -> list[str]:
        return self._instants(f"call show_savepoints('{self.name}')")

    def _instants(self, statement: str) -> list[str]:
        with suppress(*FAILURES):
            return [row[0] for row in self.spark.sql(statement).collect()]
        return []

    def run(self, step: Step) -> None:
        """A step that Hudi or Sargo refuses is left out: the log says so."""
        self.life.log.append(f"[{self.session.hudi}] {str(step)[:200]}")
        try:
            if step.own is None:
                self.spark.sql(step.sql).collect()
            elif step.own.column:
                IndexWork(str(self.path)).create([step.own.column], [step.own.sketch])
            else:
                IndexWork(str(self.path)).refresh()
        except (*FAILURES, TableError, IndexWorkError) as error:
            self.life.log.append(f"    fails: {first_line(error)}")
        with suppress(*FAILURES):
            self.spark.sql(f"refresh table {self.name}")

    def columns(self) -> list[str]:
        """Those that hold values, as the table has them by now: after a restore the catalog may know one more."""
        there = self.spark.read.format("hudi").load(str(self.path)).columns
        known = set(self.spark.table(self.name).columns) - {"id", "ts", "p"}
        return [name for name in there if name in known and not name.startswith("_hoodie_")]


@dataclass(frozen=True)
class _Query:
    """One condition at one time."""

    table: _Table
    text: str
    as_of: str | None

    @property
    def aggregates(self) -> dict[str, str]:
        return random.Random(self.text).choice(_AGGREGATES)

    def compare(self, what: str, found: Asked) -> None:
        """With the extension on for the first form alone: the others have nothing to do with it."""
        table, text, as_of = self.table, self.text, self.as_of
        names = [name for name in table.life.names if name != "p"]
        asked = collected(tried(lambda: self._of_catalog().select(*names)))
        with table.session.settings(PLAIN):
            whole = collected(tried(lambda: self._whole(_BY_LISTING).select(*names)))
            truth = _Truth(whole, lambda: self._whole(_NO_SKIPPING).select(*names))
            if asked.rows is None and collected(tried(lambda: self._of_catalog().select(*names))).rows is None:
                found.failing["SQL"] += 1  # so it does without the extension: rules of Hudi's come before
            else:
                truth.judge("SQL", what, asked, found)
            if whole.rows is None:
                return
            counted = collected(tried(lambda: self._aggregated(_BY_LISTING)))
            of_counted = _Truth(counted, lambda: self._aggregated(_NO_SKIPPING))
            if asked.rows is not None:
                with table.session.settings(_BY_FOOTERS):
                    by_footers = collected(tried(self._by_footers))
                of_counted.judge("footers", what, by_footers, found)
            try:
                self._kept(what, found)
            except TableError as error:  # Hudi reads what is left
                if self.as_of is None or "cleaned" not in str(error):
                    raise
                found.failing["cleaned"] += 1
                return
            path = str(table.path)
            made = collected(tried(lambda: read(table.spark, path, text, as_of=as_of).select(*names)))
            truth.judge("read", what, made, found)
            made = collected(tried(lambda: aggregate(table.spark, path, self.aggregates, text, as_of=as_of)))
            of_counted.judge("aggregate", what, made, found)

    def compare_value(self, what: str, found: Asked) -> None:
        """By the value of a subquery, which is there only while the query runs."""
        table = self.table
        asked = collected(tried(lambda: self._of_value(table.name)))
        with table.session.settings(PLAIN):
            if asked.rows is None and collected(tried(lambda: self._of_value(table.name))).rows is None:
                found.failing["value"] += 1
                return
            whole = collected(tried(lambda: self._of_whole_value(_BY_LISTING)))
            _Truth(whole, lambda: self._of_whole_value(_NO_SKIPPING)).judge("value", what, asked, found)

    def _of_value(self, table: str) -> DataFrame:
        rng = random.Random(self.text)
        names = [name for name in self.table.life.names if name != "p"]
        name, compared = rng.choice(names), rng.choice(("=", "<", "<=", ">", ">="))
        value = f"select {rng.choice(('min', 'max'))}({name}) from {table} where {self.text}"
        return self.table.spark.sql(f"select {', '.join(names)} from {table} where {name} {compared} ({value})")

    def _of_whole_value(self, options: Mapping[str, str]) -> DataFrame:
        self._all({**options, **_OF_RELATION}).createOrReplaceTempView("of_life")
        return self._of_value("of_life")

    def _whole(self, options: Mapping[str, str]) -> DataFrame:
        """By Hudi's first reader, of all files."""
        return self._by_path({**options, **_OF_RELATION})

    def _by_path(self, options: Mapping[str, str]) -> DataFrame:
        return self._all(options).where(self.text)

    def _all(self, options: Mapping[str, str]) -> DataFrame:
        given = {**options, **({"as.of.instant": self.as_of} if self.as_of else {})}
        return self.table.spark.read.format("hudi").options(**given).load(str(self.table.path))

    def _of_catalog(self) -> DataFrame:
        if self.as_of:
            return self._by_path({})
        return self.table.spark.sql(f"select * from {self.table.name} where {self.text}")

    def _aggregated(self, options: Mapping[str, str]) -> DataFrame:
        self._whole(options).createOrReplaceTempView("of_life")
        chosen = ", ".join(f"{sql} as {name}" for name, sql in self.aggregates.items())
        return self.table.spark.sql(f"select {chosen} from of_life")

    def _by_footers(self) -> DataFrame:
        return self._of_catalog().selectExpr(*(f"{sql} as {name}" for name, sql in self.aggregates.items()))

    def _kept(self, what: str, found: Asked) -> None:
        files = self._whole(_BY_LISTING).select("_hoodie_file_name").distinct()
        needed = {row[0] for row in files.collect()} - {None}
        plan = prune(str(self.table.path), self.text, engine="spark-legacy", time_zone="UTC", as_of=self.as_of)
        kept = [one.file_id for one in plan.kept]
        lost = [name for name in needed if not any(file_id in name for file_id in kept)]
        found.asked["prune"] += 1
        found.skipping["prune"] += len(kept) < len(plan.slices)
        if lost:
            found.wrong[f"prune: {what}"] = f"loses {lost}"


@dataclass(frozen=True)
class _Truth:
    """``whole``: by a listing. ``of_hudi``: by Hudi's metadata table."""

    whole: Answer
    of_hudi: Callable[[], DataFrame]

    def judge(self, form: str, what: str, asked: Answer, found: Asked) -> None:
        if asked.rows is not None and asked.rows == self.whole.rows:
            found.asked[form] += 1
            found.skipping[form] += asked.skips or (form in _BY_FILES and asked.files < self.whole.files)
            return
        of_hudi = collected(tried(self.of_hudi))
        if asked.rows is None and None in (self.whole.rows, of_hudi.rows):
            found.failing[form] += 1
        elif asked.rows is None:
            found.wrong[f"{form}: {what}"] = f"fails: {asked.failure}"
        elif asked.rows == of_hudi.rows or not (asked.is_answered or form != "SQL"):
            found.asked[form] += 1
            found.of_hudi[form] += 1
        else:
            true = "fails" if self.whole.rows is None else f"has {len(self.whole.rows)} rows"
            found.wrong[f"{form}: {what}"] = f"{len(asked.rows)} rows ({asked.says}); the truth {true}"


def lived(session: ExtensionSession, life: Life, folder: Path, steps: int, queries: int, found: Asked) -> None:
    """So many steps of a table with the session's release, and so many queries after each."""
    rng = random.Random(f"life {life.seed} with {session.hudi}")
    table = _Table(session, life, f"life_{life.seed}", folder / f"life_{life.seed}")
    is_new = not table.path.exists()
    where = f"using hudi location '{table.path}'"
    session.spark.sql(life.created(table.name, table.path) if is_new else f"create table {table.name} {where}")
    with session.settings(life.settings | BY_INDEX), sidecar_that_looks_once() as looks_once:
        for number in range(steps):
            table.run(life.step(rng, session.hudi, table.name, table.commits(), table.savepoints()))
            life.columns = table.columns()
            commits = table.commits()
            for query in range(queries):
                as_of = rng.choice(commits[:4]) if query % 6 == 5 and len(commits) > 2 else None
                asked = _Query(table, condition(rng, life), as_of)
                what = f"life {life.seed}, {session.hudi}, step {number + 1}: {asked.text} as of {as_of or 'now'}"
                with session.settings(looks_once if query % 2 else {}):
                    asked.compare(what, found)
                    if as_of is None:
                        asked.compare_value(what, found)


def main(folder: Path, out: Path, release: str, *numbers: int) -> None:
    steps, queries, *seeds = numbers
    session, whole = ExtensionSession(release, folder), Asked()
    register(session.spark)
    for seed in seeds:
        found, life = Asked(), Life.load(seed, folder)
        try:
            lived(session, life, folder, steps, queries, found)
        except FAILURES as error:  # of this release of Hudi; what was asked before counts
            found.failed[f"life {seed}"] = first_line(error)
        life.save(folder)
        print(f"life {seed}, Hudi {release}: {found}", *found.failed.values(), flush=True)
        if found.wrong:
            print(*found.wrong.items(), *life.log, sep="\n    ", flush=True)
        whole.update(found)
    out.write_text(json.dumps(vars(whole)), encoding="utf-8")
    session.spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], *map(int, sys.argv[4:]))
