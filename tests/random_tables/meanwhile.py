"""Random queries through Sargo while another process writes the table: each has the rows of one commit.

    python -m tests.random_tables.meanwhile FOLDER OUT RELEASE SEED ...            with the Python that has Spark 3.5

The writer is ``write``, which leaves the rows after each commit. A query may see the last commit that was done when its
frame was made, the one that was under way when it ended, and those between. A time travel sees the one it names.

They go through the session's extension, or are read by ``handler.spark.read``. Two sidecars answer in turns: one that
follows the table, and one that knows its first look alone. OUT becomes the JSON of an ``Asked``.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from handler.shipped.artefacts import spark_jar
from handler.spark import register
from tests.conformance.extension_changes import sidecar_that_looks_once
from tests.conformance.extension_session import PLAIN, Answer, ExtensionSession
from tests.random_tables.conditions import conditions
from tests.random_tables.extension import Asked, collected, tried
from tests.random_tables.queries import FORMS, HudiTable, Query, Tables, drawn_settings
from tests.random_tables.recipe import Recipe
from tests.tables.releases import ROOT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Of a read-optimized read nobody knows the rows, and the two sides of a union may be of two commits.
_FORMS = ("where", *(form for form in FORMS if form not in ("read optimized", "union")))
#: What compaction and clustering change of a row.
_OF_FILE = "_hoodie_file_name"


@dataclass(frozen=True)
class State(Tables):
    """The rows after a commit."""

    rows: Path

    def frame(self, **_: str) -> DataFrame:
        return self.spark.read.parquet(str(self.rows)).drop("_group")


@dataclass(frozen=True)
class Seen:
    """A query, the session's settings, and its answer. ``first``, ``last``: the numbers of the commits that it may see.

    ``of_hudi``: of a query that fails, what Hudi says to it right after, without the extension.
    """

    query: Query
    settings: Mapping[str, str]
    answer: Answer
    first: int
    last: int
    of_hudi: Answer | None


class Writing:
    """A process that writes the table of a recipe, and what it has done so far."""

    def __init__(self, recipe: Recipe, folder: Path) -> None:
        self.home = folder / str(recipe.seed)
        given = [str(folder), "0", recipe.release, str(recipe.seed)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.random_tables.write", *given], cwd=ROOT, env={**os.environ, "TZ": "UTC"}
        )

    def __enter__(self) -> Writing:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def goes_on(self) -> bool:
        """Whether it writes: what comes after the last commit takes the table's checksums away."""
        return self._process.poll() is None

    def states(self) -> list[Path]:
        """The rows after each commit that is done."""
        return sorted((self.home / "rows").glob("*.parquet"))

    def wait(self) -> None:
        self._process.wait()

    @property
    def failure(self) -> str:
        """Why Hudi did not write all commits; "" where it did."""
        why = self.home / "failed.txt"
        return why.read_text(encoding="utf-8") if why.exists() else ""


def asked_meanwhile(session: ExtensionSession, recipe: Recipe, folder: Path, found: Asked) -> None:
    with Writing(recipe, folder) as writing:
        seen = _asked(session, recipe, writing)
        writing.wait()
        states = [State(session.spark, rows) for rows in writing.states()]
        if writing.failure:
            found.failed[f"table {recipe.seed}"] = writing.failure
    for number, one in enumerate(seen):
        what = f"table {recipe.seed}, query {number}, commits {one.first + 1} to {one.last + 1}: {one.query}"
        if one.last < len(states):  # what a commit would have left at which Hudi fails is not known
            with session.settings({**one.settings, **PLAIN}):
                _compare(what, one, states, found)


def _asked(session: ExtensionSession, recipe: Recipe, writing: Writing) -> list[Seen]:
    """Query after query, until the last commit is done."""
    rng, seen = random.Random(f"meanwhile {recipe.seed}"), []
    texts = conditions(recipe, 200)
    keys = sorted({one["id"] for commit in recipe.commits for one in commit.rows})
    many = len(recipe.commits)
    with sidecar_that_looks_once() as looks_once:
        while writing.goes_on() and len(states := writing.states()) < many:
            if not states:
                time.sleep(0.1)
                continue
            query = Query.drawn(rng, texts, keys, [rows.stem for rows in states], _FORMS)
            settings = drawn_settings(rng, recipe.release) | (looks_once if len(seen) % 2 else {})
            table = HudiTable(session.spark, writing.home / "table", recipe.read_options)
            with session.settings(settings):
                answer = _collected(table, query)
            first, last = len(states) - 1, min(len(writing.states()), many - 1)
            if query.form == "time travel":
                first = last = [rows.stem for rows in states].index(query.as_of)
            of_hudi = None
            if answer.rows is None:
                with session.settings(settings | PLAIN):
                    of_hudi = _collected(table, replace(query, form="where") if query.form == "read" else query)
            seen.append(Seen(query, settings, answer, first, last, of_hudi))
    return seen


def _collected(tables: Tables, query: Query) -> Answer:
    """The columns by name: Hudi 0.15.0 has those of partitions at the end, ``read`` has them in the table's order."""

    def made() -> DataFrame:
        frame = FORMS[query.form](tables, query).drop(_OF_FILE)
        return frame.select(*sorted(frame.columns))

    return collected(tried(made))


def _compare(what: str, seen: Seen, states: Sequence[State], found: Asked) -> None:
    form, answer = seen.query.form, seen.answer
    true = [_collected(states[number], seen.query).rows for number in range(seen.first, seen.last + 1)]
    if answer.rows is not None and answer.rows in true:
        found.asked[form] += 1
        found.skipping[form] += answer.skips
    elif answer.rows is None and (None in true or (seen.of_hudi is not None and seen.of_hudi.rows is None)):
        found.failing[form] += 1
    elif answer.rows is None:
        found.wrong[what] = f"fails: {answer.failure}"
    else:
        says = answer.says or "not answered"
        many = ", ".join("none" if rows is None else str(len(rows)) for rows in true)
        known = [set(rows) for rows in true if rows is not None]
        strange = [row for row in answer.rows if not any(row in rows for rows in known)]
        lost = [row for row in set.intersection(*known) if row not in answer.rows] if known else []
        found.wrong[what] = (
            f"{len(answer.rows)} rows ({says}); {many} in those commits; of no commit: {strange[:2]}; lost: {lost[:2]}"
        )


def main(folder: Path, out: Path, release: str, seeds: Sequence[int]) -> None:
    session, whole = ExtensionSession(release, folder, spark_jar("3.5.5")), Asked()
    register(session.spark)
    for seed in seeds:
        found = Asked()
        asked_meanwhile(session, Recipe.of(seed, release), folder, found)
        print(f"table {seed}, Hudi {release}: {found}", *found.failed.values(), flush=True)
        whole.update(found)
    out.write_text(json.dumps(vars(whole)), encoding="utf-8")
    session.spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], [int(one) for one in sys.argv[4:]])
