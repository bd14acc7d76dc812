"""Random queries over random tables through Sargo's extension, after each commit: their rows are those without it.

    python -m tests.random_tables.extension FOLDER OUT RELEASE COUNT SEED ...      with the Python that has Spark 3.5

Each table has the seed of its recipe, and gets COUNT queries after each commit. Two sidecars answer in turns: that of
the process, which follows the table, and one that knows only the first commit. OUT becomes the JSON of an ``Asked``.

The truth is the same query with the extension off and without Hudi's own skipping.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from handler.shipped.artefacts import spark_jar
from handler.spark import register
from tests.conformance.extension_changes import sidecar_that_looks_once
from tests.conformance.extension_session import FAILURES, PLAIN, Answer, ExtensionSession, said
from tests.conformance.full_scan import first_line
from tests.handler.spark.extension.sessions import files_read, scans
from tests.random_tables.conditions import conditions
from tests.random_tables.recipe import Recipe
from tests.random_tables.write import committed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Drawn for each query: how keys of a join narrow a scan, and whether rows are read in batches.
_DRAWN = {
    "spark.sql.adaptive.enabled": ("true", "false"),
    "spark.sql.parquet.enableVectorizedReader": ("true", "false"),
    "spark.sargo.dynamic": ("broadcast", "subquery"),
    "spark.sargo.batches": ("true", "true", "false"),
}
#: The tables are small: a subquery of keys runs all the same.
_FIXED = {"spark.sargo.dynamic.subquery.min.bytes": "0"}
#: Batches of this release fail ("Index -1 out of bounds") where the partition column is a date.
_FIXED_OF = {"0.15.0": {"spark.sql.parquet.enableVectorizedReader": "false"}}


@dataclass
class Asked:
    """Counts of queries by form, but for ``wrong``.

    asked       compared
    skipping    of them, with a scan that skips a file slice, by its condition or by the keys of a join
    of_hudi     of them, rows are lost by Hudi's own skipping, with the extension, which does not answer, and without it
    failing     fail with the extension and without it
    failed      tables that Hudi fails to write: why
    wrong       query: why
    """

    asked: Counter[str] = field(default_factory=Counter)
    skipping: Counter[str] = field(default_factory=Counter)
    of_hudi: Counter[str] = field(default_factory=Counter)
    failing: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)

    def update(self, other: Asked) -> None:
        for mine, theirs in (
            (self.asked, other.asked),
            (self.skipping, other.skipping),
            (self.of_hudi, other.of_hudi),
            (self.failing, other.failing),
        ):
            mine.update(theirs)
        self.failed |= other.failed
        self.wrong |= other.wrong

    def __str__(self) -> str:
        forms = ", ".join(f"{form} {self.skipping[form]} of {many}" for form, many in sorted(self.asked.items()))
        return (
            f"{self.asked.total()} queries, {len(self.wrong)} wrong. Skipping: {forms}. With the extension and without "
            f"it {self.failing.total()} fail, and {self.of_hudi.total()} lose rows by Hudi's own skipping. "
            f"{len(self.failed)} tables that Hudi itself fails at"
        )


@dataclass(frozen=True)
class Query:
    """``form``: one of ``FORMS``. ``as_of``: an instant that the table has had."""

    form: str
    first: str
    second: str
    keys: tuple[str, ...]
    as_of: str

    @classmethod
    def drawn(cls, rng: random.Random, texts: Sequence[str], keys: Sequence[str], instants: Sequence[str]) -> Query:
        first, second = rng.sample(texts, 2)
        return cls(rng.choice(list(FORMS)), first, second, tuple(rng.sample(keys, 2)), rng.choice(instants))

    def __str__(self) -> str:
        of_form = {"semi join": f", {self.keys}", "union": f", {self.second}", "time travel": f", {self.as_of}"}
        return f"{self.form}: {self.first}{of_form.get(self.form, '')}"


@dataclass(frozen=True)
class _Tables:
    """The table as the queries of a form read it. ``options`` are those of the reader."""

    session: ExtensionSession
    path: Path
    options: dict[str, str]

    def frame(self, **more: str) -> DataFrame:
        named = {name.replace("__", "."): value for name, value in more.items()}
        return self.session.spark.read.format("hudi").options(**self.options, **named).load(str(self.path))

    def where(self, query: Query) -> DataFrame:
        return self.frame().where(query.first)

    def count(self, query: Query) -> DataFrame:
        return self.where(query).groupBy().count()

    def view(self, query: Query) -> DataFrame:
        self.frame().createOrReplaceTempView("random_view")
        return self.session.spark.sql(f"SELECT * FROM random_view WHERE {query.first}")

    def union(self, query: Query) -> DataFrame:
        return self.where(query).unionByName(self.frame().where(query.second))

    def semi_join(self, query: Query) -> DataFrame:
        """Which narrows the table by the keys of the smaller side."""
        keys = self.session.spark.createDataFrame([(key,) for key in query.keys], "id string").where("id > ''")
        return self.frame().join(keys.hint("broadcast"), "id", "left_semi")

    def time_travel(self, query: Query) -> DataFrame:
        return self.frame(as__of__instant=query.as_of).where(query.first)

    def read_optimized(self, query: Query) -> DataFrame:
        return self.frame(hoodie__datasource__query__type="read_optimized").where(query.first)


FORMS: dict[str, Callable[[_Tables, Query], DataFrame]] = {
    "where": _Tables.where,
    "count": _Tables.count,
    "view": _Tables.view,
    "union": _Tables.union,
    "semi join": _Tables.semi_join,
    "time travel": _Tables.time_travel,
    "read optimized": _Tables.read_optimized,
}


def asked_after_each_commit(session: ExtensionSession, recipe: Recipe, count: int, table: Path, found: Asked) -> None:
    """Write the table of a recipe, and ask ``count`` queries after each of its commits.

    A quarter as many are frames that were made before the commit: they have the rows of that time.
    """
    rng = random.Random(f"extension {recipe.seed}")
    texts = conditions(recipe, 200)
    keys = sorted({one["id"] for commit in recipe.commits for one in commit.rows})
    seen: list[str] = []
    held: list[_Made] = []
    with sidecar_that_looks_once() as looks_once:

        def settings(number: int) -> dict[str, str]:
            drawn = {name: rng.choice(values) for name, values in _DRAWN.items()}
            return drawn | _FIXED | _FIXED_OF.get(recipe.release, {}) | (looks_once if number % 2 else {})

        for instant in committed(session.spark, recipe, table):
            seen.append(instant)
            made = [_Made(session, table, Query.drawn(rng, texts, keys, seen)) for _ in range(count)]
            for number, one in enumerate(held + made):
                held_since = f", made at {seen[-2]}" if number < len(held) else ""
                with session.settings(settings(number)):
                    one.compare(f"table {recipe.seed} at {instant}{held_since}: {one.query}", found)
            held = [_Made(session, table, Query.drawn(rng, texts, keys, seen)) for _ in range(count // 4)]


class _Made:
    """The frames of a query: as its user has it, and without Hudi's skipping. To collect one lists the files."""

    def __init__(self, session: ExtensionSession, table: Path, query: Query) -> None:
        def made(options: dict[str, str]) -> DataFrame:
            return FORMS[query.form](_Tables(session, table, options), query)

        self.query = query
        self._session = session
        self._made = made
        self._asked = self._try(lambda: made({}))
        self._whole = self._try(lambda: made({"hoodie.enable.data.skipping": "false"}))

    def compare(self, what: str, found: Asked) -> None:
        form = self.query.form
        asked = _collected(self._asked)
        with self._session.settings(PLAIN):
            whole = _collected(self._whole)
            if asked.rows is not None and asked.rows == whole.rows:
                found.asked[form] += 1
                found.skipping[form] += asked.skips or asked.files < whole.files
                return
            plain = _collected(self._try(lambda: self._made({})))
        if asked.rows is None and (whole.rows is None or plain.rows is None):
            found.failing[form] += 1
        elif asked.rows is None:
            found.wrong[what] = f"fails with the extension alone: {asked.failure}"
        elif asked.rows == plain.rows and not asked.is_answered:
            found.asked[form] += 1
            found.of_hudi[form] += 1
        else:
            rows = "fails" if whole.rows is None else f"has {len(whole.rows)} rows"
            says = asked.says or "not answered"
            found.wrong[what] = f"{len(asked.rows)} rows ({says}); without the extension it {rows}"

    @staticmethod
    def _try(make: Callable[[], DataFrame]) -> DataFrame | Answer:
        try:
            return make()
        except FAILURES as error:
            return Answer(None, failure=first_line(error))


def _collected(frame: DataFrame | Answer) -> Answer:
    if isinstance(frame, Answer):
        return frame
    try:
        rows = tuple(sorted(map(repr, frame.collect())))
    except FAILURES as error:
        return Answer(None, failure=first_line(error))
    return Answer(rows, says=said(scans(frame)), files=files_read(frame))


def main(folder: Path, out: Path, release: str, count: int, seeds: Sequence[int]) -> None:
    session, whole = ExtensionSession(release, folder, spark_jar("3.5.5")), Asked()
    register(session.spark)
    for seed in seeds:
        found, table = Asked(), folder / f"table_{seed}"
        shutil.rmtree(table, ignore_errors=True)
        try:
            asked_after_each_commit(session, Recipe.of(seed, release), count, table, found)
        except FAILURES as error:  # of this release of Hudi, which fails to write; what was asked before counts
            found.failed[f"table {seed}"] = first_line(error)
        print(f"table {seed}, Hudi {release}: {found}", *found.failed.values(), flush=True)
        whole.update(found)
    out.write_text(json.dumps(vars(whole)), encoding="utf-8")
    session.spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), [int(one) for one in sys.argv[5:]])
