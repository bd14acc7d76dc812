"""Random queries over random tables through Sargo's extension, after each commit: their rows are those without it.

    python -m tests.random_tables.extension FOLDER OUT RELEASE COUNT SEED ...      with the Python that has Spark 3.5

Each table has the seed of its recipe, and gets COUNT queries after each commit. Two sidecars answer in turns: that of
the process, which follows the table, and one that knows only the first commit. OUT becomes the JSON of an ``Asked``.

``register`` brings the extension, and its jar to executors: ``meanwhile`` starts with both.

An own index has the sums of the files, and is refreshed after every other commit.

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

from handler.indexes.operations import IndexWork
from handler.spark import register
from index_store.own.sketches import parse_sketch
from tests.conformance.extension_changes import sidecar_that_looks_once
from tests.conformance.extension_session import FAILURES, PLAIN, Answer, ExtensionSession, said
from tests.conformance.full_scan import first_line
from tests.handler.spark.extension.sessions import files_read, scans
from tests.random_tables.conditions import conditions
from tests.random_tables.queries import FORMS, OF_FRAMES, HudiTable, Query, drawn_settings
from tests.random_tables.recipe import Recipe
from tests.random_tables.write import committed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass
class Asked:
    """Counts of queries by form, but for ``wrong``.

    asked       compared
    skipping    of them, with a scan that skips a file slice, by its condition or by the keys of a join
    of_hudi     of them, rows are lost by Hudi's own skipping, with the extension, which does not answer, and without it
    failing     fail with the extension and without it, or without it alone, in Hudi's merge of a slice that is skipped
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

        def of(query: Query) -> _Made:
            return _Made(session, table, recipe, query)

        def settings(number: int) -> dict[str, str]:
            return drawn_settings(rng, recipe.release) | (looks_once if number % 2 else {})

        for instant in committed(session.spark, recipe, table):
            seen.append(instant)
            if len(seen) == 1 or rng.random() < 0.5:
                keep_sums(table)
            made = [of(Query.drawn(rng, texts, keys, seen, OF_FRAMES)) for _ in range(count)]
            for number, one in enumerate(held + made):
                held_since = f", made at {seen[-2]}" if number < len(held) else ""
                with session.settings(settings(number)):
                    one.compare(f"table {recipe.seed} at {instant}{held_since}: {one.query}", found)
            held = [of(Query.drawn(rng, texts, keys, seen, OF_FRAMES)) for _ in range(count // 4)]


def keep_sums(table: Path) -> None:
    """Make an own index of the sums of all columns that have some, or refresh it."""
    work = IndexWork(str(table))
    opened = work.open()
    names = [one.name for one in opened.schema if not parse_sketch("sum").why_not(one.type) and "." not in one.name]
    if work.locations(opened):
        work.refresh()
    elif names:
        work.create(names, ["sum"], name="totals")


class _Made:
    """The frames of a query: as its user has it, and without Hudi's skipping. To collect one lists the files."""

    def __init__(self, session: ExtensionSession, table: Path, recipe: Recipe, query: Query) -> None:
        def made(options: dict[str, str]) -> DataFrame:
            return FORMS[query.form](HudiTable(session.spark, table, {**recipe.read_options, **options}), query)

        self.query = query
        self._session = session
        self._made = made
        self._asked = tried(lambda: made({}))
        self._whole = tried(lambda: made({"hoodie.enable.data.skipping": "false"}))

    def compare(self, what: str, found: Asked) -> None:
        form = self.query.form
        asked = collected(self._asked)
        with self._session.settings(PLAIN):
            whole = collected(self._whole)
            if asked.rows is not None and asked.rows == whole.rows:
                found.asked[form] += 1
                found.skipping[form] += asked.skips or asked.files < whole.files
                return
            plain = collected(tried(lambda: self._made({})))
        fails_too = asked.rows is None and (whole.rows is None or plain.rows is None)
        fails_in_merge = whole.rows is None and "ClassCastException" in whole.failure
        if fails_too or (fails_in_merge and plain.rows in (None, asked.rows)):
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


def tried(make: Callable[[], DataFrame]) -> DataFrame | Answer:
    """What is made, or the answer of a query that fails by then."""
    try:
        return make()
    except FAILURES as error:
        return Answer(None, failure=first_line(error))


def collected(frame: DataFrame | Answer) -> Answer:
    if isinstance(frame, Answer):
        return frame
    try:
        rows = tuple(sorted(map(repr, frame.collect())))
    except FAILURES as error:
        return Answer(None, failure=first_line(error))
    return Answer(rows, says=said(scans(frame)), files=files_read(frame))


def main(folder: Path, out: Path, release: str, count: int, seeds: Sequence[int]) -> None:
    session, whole = ExtensionSession(release, folder), Asked()
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
