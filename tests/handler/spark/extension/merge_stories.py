"""Slices with log files, merged by Hudi from base files that are decoded by columns: the rows without the extension."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from tests.handler.spark.extension.telling import Outcome, Stories, reasons

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["MERGED", "MERGES", "merges"]

ROWS = 400
_COLUMNS = (
    "string({key}) id",
    "int({ts}) ts",
    "int(id) i",
    "if(id % 5 = 3, null, id * 7) n",
    "float(id / 4) f",
    "double(id / 3) b",
    "id % 3 = 0 e",
    "cast(id / 7 as decimal(9, 2)) small",
    "nullif(cast(id * 1000000007 as decimal(30, 3)), 0) large",
    "date_add(DATE '2026-01-01', int(id)) day",
    "timestamp_seconds(1735689600 + id * 60) t",
    "binary(concat('raw ', id)) raw",
    "if(id % 11 = 4, null, concat('text {ts} ', id % 7)) s",
    "named_struct('x', int(id * 10), 'y', nullif(concat('y', id), 'y7'), 'z', if(id = 8, null, array(string(id)))) st",
    "if(id % 13 = 5, null, array(int(id), {ts})) a",
    "map(concat('m', id % 3), id) m",
    "concat('p', id % 2) p",
)
#: Name -> the options of all commits, and the key of a row by its number.
_TABLES: Mapping[str, tuple[Mapping[str, str], str]] = {
    "by event time": ({}, "id"),
    "without positions": ({"hoodie__write__record__positions": "false"}, "id"),
    "by commit time": ({"hoodie__write__record__merge__mode": "COMMIT_TIME_ORDERING"}, "id"),
    "by an older payload": (
        {"hoodie__datasource__write__payload__class": "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"},
        "id",
    ),
    "of keys that stand twice": ({}, "id - id % 2"),
    "with later columns": ({}, "id"),
}
#: What the first files of a table have in the place of columns; None: they lack the column.
_EARLIER = {
    "n": "int(if(id % 5 = 3, null, id * 7)) n",
    "st": "named_struct('x', int(id * 10)) st",
    "a": None,
    "large": None,
}
_READS: Mapping[str, tuple[str, ...]] = {
    "all columns": ("*",),
    "few columns": ("i", "s"),
    "parts of columns": ("st.y", "st.z", "a", "m"),
    "one part of a column": ("st.y",),
    "numbers": ("n", "f", "b", "e", "small", "large"),
    "a constant": ("1",),
}
#: Hudi 1.0 itself cannot read such a table any more after a MERGE INTO of some columns; 0.15 refuses the statement.
_WITHOUT_MERGE = ("by commit time", "by an older payload")
#: Batches of 7 rows end between and within the rows that log files change.
_SETTINGS: Mapping[str, Mapping[str, str]] = {
    "large batches": {},
    "small batches": {"spark__sql__parquet__columnarReaderBatchSize": "7"},
    "outside of the heap": {
        "spark__sql__parquet__columnarReaderBatchSize": "7",
        "spark__sql__columnVector__offheap__enabled": "true",
    },
    "by keys": {"hoodie__merge__use__record__positions": "false"},
    "flat columns": {"spark__sql__parquet__enableNestedColumnVectorizedReader": "false"},
}
MERGED = [*_TABLES]
_CASES = [
    *(("all columns", given) for given in _SETTINGS),
    *((read, given) for read in _READS for given in ("large batches", "small batches") if read != "all columns"),
]
MERGES = [f"merged {table}: {read}, {given}" for table in _TABLES for read, given in _CASES]


def merges(stories: Stories) -> None:
    """Each table has updates, later and earlier ones than its rows, deletions and new rows in log files."""
    for number, table in enumerate(_TABLES):
        name = f"merged_{number}"
        with stories.set(spark__sargo__enabled="false"):
            stories.tell(f"merged {table}", lambda n=name, t=table: _made(stories, n, t))  # type: ignore[misc]
        for read, given in _CASES:
            stories.tell(f"merged {table}: {read}, {given}", _story(stories, name, _READS[read], _SETTINGS[given]))


def _rows(
    stories: Stories, key: str, ts: int, chosen: str, earlier: Mapping[str, str | None] = MappingProxyType({})
) -> DataFrame:
    columns = [earlier.get(column.rpartition(" ")[2], column) for column in _COLUMNS]
    texts = [column.format(key=key, ts=ts) for column in columns if column is not None]
    return stories.spark.range(ROWS + 20).where(chosen).selectExpr(*texts)


def _made(stories: Stories, name: str, table: str) -> Outcome:
    spark, (options, key) = stories.spark, _TABLES[table]
    earlier = _EARLIER if table == "with later columns" else {}
    first = _rows(stories, key, 5, f"id < {ROWS}", earlier).repartitionByRange(2, "i")
    stories.write(name, first, "bulk_insert", mor=True, **options)
    for ts, chosen, operation in (
        (6, "id % 9 = 1 or id >= 400", "upsert"),
        (2, "id % 9 = 2", "upsert"),  # earlier than what there is
        (7, "id % 27 = 10 or id % 40 = 7", "upsert"),
        (8, "id % 31 = 3", "delete"),
    ):
        stories.write(name, _rows(stories, "id", ts, chosen), operation, mor=True, **options)
    if table not in _WITHOUT_MERGE and not stories.outcomes["release"]["hudi"].startswith("0."):
        spark.sql(f"CREATE TABLE {name} USING hudi LOCATION '{stories.work}/{name}'")
        spark.sql(
            f"MERGE INTO {name} t USING (SELECT string(id) id, 9 ts FROM range(400) WHERE id % 37 = 6) n "
            "ON t.id = n.id WHEN MATCHED THEN UPDATE SET s = 'merged', ts = n.ts"
        )
    logs = [path for path in (stories.work / name).rglob(".*.log.*") if ".hoodie" not in path.parts]
    return {"equal": True, "logs": len(logs)}


def _story(stories: Stories, name: str, columns: tuple[str, ...], settings: Mapping[str, str]) -> Callable[[], Outcome]:
    def told() -> Outcome:
        with stories.set(**settings):
            frame = stories.spark.read.format("hudi").load(f"{stories.work}/{name}")

            def made() -> DataFrame:
                return frame.where("i > 3").selectExpr(*columns)

            with stories.set(spark__sargo__enabled="false"):
                try:
                    made().collect()
                except Exception as error:  # with 0.15.0, of columns that came later
                    return {"fails_in_hudi": str(error)[:2000]}
            outcome = stories.compare(made)
        return outcome | {"reasons": [why for why in reasons(stories.spark) if "row by row" in why]}

    return told
