"""Writes random tables with real Hudi, and what is true of their rows after each commit.

python -m tests.random_tables.write FOLDER COUNT RELEASE SEED ...       with the Python that has Spark 3.5

FOLDER/SEED/table         the table, without checksum files
FOLDER/SEED/truth.json    {"instants": [the latest one after each commit],
                           "groups": {condition: {"legacy": [file groups with a TRUE row, after each commit]
                                                  "ansi": the same, or an error}}}
FOLDER/SEED/rows          the rows after each commit: a Parquet file each
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.conformance.full_scan import first_line
from tests.conformance.full_scan import rows as full_scan
from tests.conformance.row_truth import all_rows, truth
from tests.index_store.snapshots.rewinding import instants
from tests.random_tables.conditions import conditions, literal
from tests.random_tables.recipe import Commit, Recipe
from tests.tables.releases import RELEASES, session
from tests.tables.rows import COLUMNS
from tests.tables.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import SparkSession

#: Options that a statement of SQL takes from the session alone.
OF_TABLE = ("hoodie.metadata.", "hoodie.logfile", "hoodie.parquet.small")
PRECOMBINE = "hoodie.datasource.write.precombine.field"


def write(spark: SparkSession, recipe: Recipe, home: Path) -> dict[str, Path]:
    """The table, commit by commit: the latest instant after each, and the rows of a full scan then."""
    shutil.rmtree(home, ignore_errors=True)
    (home / "rows").mkdir(parents=True)
    found = {}
    for instant in committed(spark, recipe, home / "table"):
        found[instant] = home / "rows" / f"{instant}.parquet"
        full_scan(spark, home / "table", found[instant])
    for checksum in home.rglob("*.crc"):
        checksum.unlink()
    return found


def committed(spark: SparkSession, recipe: Recipe, table: Path) -> Iterator[str]:
    """Write the table, and stop after each commit: the latest instant."""
    writer = Writer(spark, RELEASES[recipe.release], table, **recipe.writer)
    writer.options = {name: value for name, value in writer.options.items() if value or name != PRECOMBINE}
    writer.sql("drop table if exists {table}")  # the one before it has the same name
    without = [name for name in COLUMNS if name not in recipe.columns]
    for commit in recipe.commits:
        if commit.operation == "merge":
            _run(writer, recipe.columns, _merge_into(commit))
        else:
            writer.write(commit.operation, commit.rows, without, None, **commit.options)
        _run(writer, recipe.columns, *(f"create index si_{name} on {{table}} ({name})" for name in commit.indexed))
        yield instants(table)[-1]


def _merge_into(commit: Commit) -> str:
    """The statement that changes the columns that the rows of a commit have."""
    rows = (
        ", ".join(f"cast({literal(value) or 'null'} as {COLUMNS[name]}) as {name}" for name, value in one.items())
        for one in commit.rows
    )
    changes = ", ".join(f"{name} = u.{name}" for name in commit.rows[0] if name != "id")
    source = " union all ".join(f"select {one}" for one in rows)
    return f"merge into {{table}} as t using ({source}) as u on t.id = u.id when matched then update set {changes}"


def _run(writer: Writer, columns: Sequence[str], *statements: str) -> None:
    """Run statements of Hudi's SQL with the options that the table is written with."""
    if not statements:
        return
    indexed = ",".join(name for name in writer.indexed if name.partition(".")[0] in columns)
    options = {name: value for name, value in writer.options.items() if name.startswith(OF_TABLE)}
    options["hoodie.metadata.index.column.stats.column.list"] = indexed
    for name, value in options.items():
        writer.spark.conf.set(name, value)
    writer.register()
    for statement in statements:
        writer.sql(statement)
    for name in options:
        writer.spark.conf.unset(name)


def groups_with_matches(spark: SparkSession, states: dict[str, Path], texts: list[str]) -> dict[str, Any]:
    """By condition and mode: the file groups that have a TRUE row in each state, or Spark's error."""
    import pyarrow.parquet as pq

    frame = all_rows(spark, states)
    group_of = {}
    for instant, file in states.items():
        read = pq.read_table(file, columns=["_hoodie_record_key", "_group"])
        for key, group in zip(read[0].to_pylist(), read[1].to_pylist(), strict=True):
            group_of[instant, key] = group
    answers: dict[str, Any] = {text: {} for text in texts}
    for mode, ansi in (("legacy", "false"), ("ansi", "true")):
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        for text, rows in truth(frame, texts).items():
            answers[text][mode] = (
                rows
                if isinstance(rows, dict)
                else [sorted({group_of[one] for one in rows if one[0] == instant}) for instant in states]
            )
    spark.conf.set("spark.sql.ansi.enabled", "false")
    frame.unpersist()
    return answers


def main(folder: str, count: str, release: str, *seeds: str) -> None:
    spark = session(RELEASES[release], Path(folder))
    # Its batches fail under 0.15.0 ("Index -1 out of bounds") where the partition column is a date.
    spark.conf.set("spark.sql.parquet.enableVectorizedReader", "false")
    for seed in map(int, seeds):
        begun = time.monotonic()
        recipe = Recipe.of(seed, release)
        home = Path(folder) / str(seed)
        try:
            states = write(spark, recipe, home)
        except Exception as error:  # of this release of Hudi: such a table says nothing of ours
            (home / "failed.txt").write_text(first_line(error), encoding="utf-8")
            print(f"table {seed}, Hudi {release}: Hudi fails: {first_line(error)}", flush=True)
            continue
        found = {
            "release": release,
            "instants": list(states),
            "groups": groups_with_matches(spark, states, conditions(recipe, int(count))),
        }
        (home / "truth.json").write_text(json.dumps(found, indent=0), encoding="utf-8")
        print(f"table {seed}, Hudi {release}: {len(states)} commits, {time.monotonic() - begun:.0f} s", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
