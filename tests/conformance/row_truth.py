"""Row truth (a): on which rows each predicate is TRUE, by Spark, for all tables in one pass.

    python -m tests.conformance.row_truth rows OUT          OUT holds what `full_scan` wrote
    python -m tests.conformance.row_truth skipping OUT      only add what Hudi's data skipping keeps

Writes tests/data/conformance/<release>_<table>.json.xz:

    groups      the file groups (file ids) that hold a row
    rows        [record key, place in groups] of every row of the full scan, in the order of the keys
    predicates  SQL -> what Spark says with ANSI off and on: numbers of the rows where it is TRUE (``spans``), or
                {"error": why Spark refuses it, or fails on a row of some table}; one word when both are the same:
                {"rows": ...} or {"legacy": ..., "ansi": ...}
                "hudi": file groups that Hudi's data skipping hands to the scan (places; -1: one that holds no row),
                null when Spark needs no scan, or {"error"}

The predicates are columns here, not filters, so that nothing is pushed down. All tables have the same columns;
predicates of one that a table does not have are left out there.
"""

from __future__ import annotations

import json
import lzma
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.conformance.cases import CASES
from tests.conformance.full_scan import first_line
from tests.conformance.spans import to_text
from tests.conformance.stored_truth import Truth
from tests.tables.generate import DATA
from tests.tables.releases import RELEASES, session
from tests.tables.rows import COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AT_ONCE = 40
Found = dict[str, frozenset[tuple[str, str]] | dict[str, str]]


def all_rows(spark: SparkSession, files: dict[str, Path]) -> DataFrame:
    """The rows of all tables in one frame in memory, the table's name in `_table`."""
    from pyspark.sql import functions as F  # noqa: N812

    frames = [spark.read.parquet(str(file)).withColumn("_table", F.lit(name)) for name, file in files.items()]
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.unionByName(frame, allowMissingColumns=True)
    whole = whole.coalesce(1).cache()
    whole.count()
    return whole


def true_rows(frame: DataFrame, texts: list[str]) -> Found:
    """(table, key) where each condition is TRUE; what fails is cut in two until the one that fails is found."""
    try:
        columns = [f"({text}) as c{n}" for n, text in enumerate(texts)]
        found = frame.selectExpr("_table", "_hoodie_record_key as k", *columns).collect()
    except Exception as error:
        if len(texts) == 1:
            return {texts[0]: {"error": first_line(error)}}
        middle = len(texts) // 2
        return {**true_rows(frame, texts[:middle]), **true_rows(frame, texts[middle:])}
    return {text: frozenset((row[0], row[1]) for row in found if row[n + 2] is True) for n, text in enumerate(texts)}


def truth(frame: DataFrame, texts: list[str]) -> Found:
    found: Found = {}
    for start in range(0, len(texts), AT_ONCE):
        found |= true_rows(frame, texts[start : start + AT_ONCE])
    return found


def applies(sql: str, columns: set[str]) -> bool:
    """Whether a table with these columns has what the predicate names."""
    return not any(re.search(rf"\b{name}\b", sql) for name in COLUMNS.keys() - columns)


def document(name: str, file: Path, modes: dict[str, Found]) -> dict[str, Any]:
    import pyarrow.parquet as pq

    release = name.partition("_")[0]
    table = pq.read_table(file)
    rows = sorted(zip(table["_hoodie_record_key"].to_pylist(), table["_group"].to_pylist(), strict=True))
    groups = sorted({group for _, group in rows})
    place = {group: n for n, group in enumerate(groups)}
    row_of = {key: n for n, (key, _) in enumerate(rows)}
    if len(row_of) != len(rows):
        raise ValueError(f"{name}: a record key stands twice")

    def told(answer: frozenset[tuple[str, str]] | dict[str, str]) -> str | dict[str, str]:
        if isinstance(answer, dict):
            return answer
        return to_text(row_of[key] for table_name, key in answer if table_name == name)

    predicates = {}
    for case in CASES:
        if not applies(case.sql, set(table.column_names)):
            continue
        legacy, ansi = (told(modes[mode][case.sql]) for mode in ("legacy", "ansi"))
        one: dict[str, Any] = {"rows": legacy} if legacy == ansi else {"legacy": legacy, "ansi": ansi}
        predicates[case.sql] = one
    return {
        "hudi": release,
        "table_version": RELEASES[release].table_version,
        "table": name.partition("_")[2],
        "groups": groups,
        "rows": [[key, place[group]] for key, group in rows],
        "predicates": predicates,
    }


def add_skipping(out: str) -> None:
    """To the documents of those tables of which `full_scan skipping` wrote something."""
    for file in sorted(Path(out).glob("*.kept.json")):
        stored = DATA / file.name.replace(".kept.json", ".json.xz")
        with lzma.open(stored, "rt", encoding="utf-8") as opened:
            told = json.load(opened)
        place = {group: n for n, group in enumerate(told["groups"])}
        for sql, answer in json.loads(file.read_text(encoding="utf-8")).items():
            if sql in told["predicates"]:
                ids = answer if isinstance(answer, list) else None
                told["predicates"][sql]["hudi"] = answer if ids is None else sorted({place.get(one, -1) for one in ids})
        store(stored, told)


def store(file: Path, told: dict[str, Any]) -> None:
    with lzma.open(file, "wt", encoding="utf-8", preset=9) as opened:
        opened.write(json.dumps(told, ensure_ascii=False, indent=0))


def keep_skipping(name: str, before: Truth, after: Truth) -> None:
    """Into the document that was just written: what the one before said of Hudi's data skipping, of the same files."""
    if before.groups != after.groups:
        return
    stored = DATA / f"{name}.json.xz"
    with lzma.open(stored, "rt", encoding="utf-8") as opened:
        told = json.load(opened)
    for sql, one in told["predicates"].items():
        if "hudi" in before.predicates.get(sql, {}):
            one["hudi"] = before.predicates[sql]["hudi"]
    store(stored, told)


def add_rows(out: str, spark: SparkSession) -> None:
    files = {file.stem: file for file in sorted(Path(out).glob("*.parquet"))}
    frame = all_rows(spark, files)
    texts = [case.sql for case in CASES]
    modes = {}
    for mode, ansi in (("legacy", "false"), ("ansi", "true")):
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        modes[mode] = truth(frame, texts)
        failed = sum(isinstance(answer, dict) for answer in modes[mode].values())
        print(f"{mode}: {len(texts)} predicates on {len(files)} tables, {failed} with an error", flush=True)
    spark.conf.set("spark.sql.ansi.enabled", "false")
    for name, file in files.items():
        store(DATA / f"{name}.json.xz", document(name, file, modes))


def main(what: str, out: str) -> None:
    if what == "rows":
        spark = session(None, Path(out))
        add_rows(out, spark)
        spark.stop()
    add_skipping(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
