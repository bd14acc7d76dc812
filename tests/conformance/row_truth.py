"""Row truth (a): on which rows each predicate is TRUE, by Spark, for all tables in one pass.

    python -m tests.conformance.row_truth rows OUT          OUT is the output of `full_scan`
    python -m tests.conformance.row_truth skipping OUT      only add what Hudi's data skipping keeps

Writes tests/data/conformance/<release>_<table>.json.xz:

    groups      the file groups (file ids) that have a row
    rows        [record key, place in groups] of every row of the full scan, in the order of the keys
    predicates  SQL -> Spark's answer with ANSI off and on: numbers of the rows where it is TRUE (``spans``), or
                {"error": why Spark refuses it, or fails on a row of some table}; one word when both are the same:
                {"rows": ...} or {"legacy": ..., "ansi": ...}
                "hudi": file groups that Hudi's data skipping hands to the scan (places; -1: a group without a row),
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
TrueRows = dict[str, frozenset[tuple[str, str]] | dict[str, str]]


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


def true_rows(frame: DataFrame, texts: list[str]) -> TrueRows:
    """(table, key) where each condition is TRUE; a list that fails is halved until the failing condition is found."""
    try:
        columns = [f"({text}) as c{n}" for n, text in enumerate(texts)]
        rows = frame.selectExpr("_table", "_hoodie_record_key as k", *columns).collect()
    except Exception as error:
        if len(texts) == 1:
            return {texts[0]: {"error": first_line(error)}}
        middle = len(texts) // 2
        return {**true_rows(frame, texts[:middle]), **true_rows(frame, texts[middle:])}
    return {text: frozenset((row[0], row[1]) for row in rows if row[n + 2] is True) for n, text in enumerate(texts)}


def truth(frame: DataFrame, texts: list[str]) -> TrueRows:
    rows_of: TrueRows = {}
    for start in range(0, len(texts), AT_ONCE):
        rows_of |= true_rows(frame, texts[start : start + AT_ONCE])
    return rows_of


def applies(sql: str, columns: set[str]) -> bool:
    """Whether a table with these columns has all columns of the predicate."""
    return not any(re.search(rf"\b{name}\b", sql) for name in COLUMNS.keys() - columns)


def document(name: str, file: Path, modes: dict[str, TrueRows]) -> dict[str, Any]:
    import pyarrow.parquet as pq

    release = name.partition("_")[0]
    table = pq.read_table(file)
    rows = sorted(zip(table["_hoodie_record_key"].to_pylist(), table["_group"].to_pylist(), strict=True))
    groups = sorted({group for _, group in rows})
    place = {group: n for n, group in enumerate(groups)}
    row_of = {key: n for n, (key, _) in enumerate(rows)}
    if len(row_of) != len(rows):
        raise ValueError(f"{name}: a record key stands twice")

    def answer_text(answer: frozenset[tuple[str, str]] | dict[str, str]) -> str | dict[str, str]:
        if isinstance(answer, dict):
            return answer
        return to_text(row_of[key] for table_name, key in answer if table_name == name)

    predicates = {}
    for case in CASES:
        if not applies(case.sql, set(table.column_names)):
            continue
        legacy, ansi = (answer_text(modes[mode][case.sql]) for mode in ("legacy", "ansi"))
        predicates[case.sql] = {"rows": legacy} if legacy == ansi else {"legacy": legacy, "ansi": ansi}
    return {
        "hudi": release,
        "table_version": RELEASES[release].table_version,
        "table": name.partition("_")[2],
        "groups": groups,
        "rows": [[key, place[group]] for key, group in rows],
        "predicates": predicates,
    }


def add_skipping(out: str) -> None:
    """Add the answers of `full_scan skipping` to the stored documents of its tables."""
    for file in sorted(Path(out).glob("*.kept.json")):
        stored = DATA / file.name.replace(".kept.json", ".json.xz")
        with lzma.open(stored, "rt", encoding="utf-8") as opened:
            content = json.load(opened)
        place = {group: n for n, group in enumerate(content["groups"])}
        for sql, answer in json.loads(file.read_text(encoding="utf-8")).items():
            if sql in content["predicates"]:
                ids = answer if isinstance(answer, list) else None
                content["predicates"][sql]["hudi"] = (
                    answer if ids is None else sorted({place.get(file_id, -1) for file_id in ids})
                )
        store(stored, content)


def store(file: Path, content: dict[str, Any]) -> None:
    with lzma.open(file, "wt", encoding="utf-8", preset=9) as opened:
        opened.write(json.dumps(content, ensure_ascii=False, indent=0))


def keep_skipping(name: str, before: Truth, after: Truth) -> None:
    """Copy the answers about Hudi's data skipping from the former document, if the file groups are the same."""
    if before.groups != after.groups:
        return
    stored = DATA / f"{name}.json.xz"
    with lzma.open(stored, "rt", encoding="utf-8") as opened:
        content = json.load(opened)
    for sql, answer in content["predicates"].items():
        if "hudi" in before.predicates.get(sql, {}):
            answer["hudi"] = before.predicates[sql]["hudi"]
    store(stored, content)


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
