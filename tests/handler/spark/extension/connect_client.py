"""Queries of a Spark Connect client, which has nothing of Sargo, over Hudi tables: their rows and plans.

    python -m tests.handler.spark.extension.connect_client PORT FOLDER OUT     with `.venv/spark35`

OUT becomes JSON: for each query its rows, its plan, and its rows with the extension off. The last query of each table
is a join whose keys alone narrow it, run with the extension and without: the server's last executions.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812


def main(port: str, folder: Path, out: Path) -> None:
    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    keys = spark.createDataFrame([(100,), (101,)], "k int")
    found = {}
    for name in ("cow", "mor"):
        table = spark.read.format("hudi").load(str(folder / name))
        table.createOrReplaceTempView(name)
        frames = {
            "a Column": table.where((F.col("i") == 100) | F.col("s").startswith("cherry")).select("id", "i"),
            "a join": table.where(F.col("i").between(90, 110)).join(keys, table.i == keys.k).select("id", "k"),
            "SQL": spark.sql(f"SELECT id, i FROM {name} WHERE i = 100"),
        }
        for what, frame in frames.items():
            spark.conf.set("spark.sargo.enabled", "true")
            plan, rows = explained(frame), rows_of(frame)
            spark.conf.set("spark.sargo.enabled", "false")
            found[f"{name}: {what}"] = {"plan": plan, "rows": rows, "without": rows_of(frame)}
    for name in ("cow", "mor"):
        joined = spark.table(name).join(keys, F.col("i") == keys.k).select("id", "k")
        spark.conf.set("spark.sargo.enabled", "true")
        rows = rows_of(joined)
        spark.conf.set("spark.sargo.enabled", "false")
        found[f"{name}: keys of a join"] = {"rows": rows, "without": rows_of(joined)}
    out.write_text(json.dumps(found), encoding="utf-8")
    spark.stop()


def explained(frame: DataFrame) -> str:
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        frame.explain()
    return text.getvalue()


def rows_of(frame: DataFrame) -> list[list[object]]:
    return sorted(list(row) for row in frame.collect())


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
