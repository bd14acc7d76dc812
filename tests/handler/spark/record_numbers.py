"""Asks Spark 3.5 for ``data/spark_numbers_3.5.json.xz``: 700 conditions on numbers, with ANSI mode off and on.

    python -m tests.handler.spark.record_numbers        with the Python of `.venv/spark35`

The table and the forms of the conditions are those of ``record_edges``. A condition that fails on a row is "".
"""

from __future__ import annotations

import json
import lzma
import os
import random
import sys
import tempfile
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr

from tests.handler.spark import record_edges

_FILE = Path(__file__).parents[1] / "data" / "spark_numbers_3.5.json.xz"
_AT_ONCE = 100


def answers(table: DataFrame, conditions: list[str], rows: int) -> dict[str, str]:
    """T, F or N for each row; conditions of which one fails are asked in halves."""
    if not conditions:
        return {}
    try:
        found = table.select("n", *[expr(text).alias(f"x{k}") for k, text in enumerate(conditions)]).collect()
    except (PySparkException, Py4JError):
        half = len(conditions) // 2
        if not half:
            return {conditions[0]: ""}
        return answers(table, conditions[:half], rows) | answers(table, conditions[half:], rows)
    of_row = {row["n"]: row for row in found}
    letters = {True: "T", False: "F", None: "N"}
    return {text: "".join(letters[of_row[n][f"x{k}"]] for n in range(rows)) for k, text in enumerate(conditions)}


def main() -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    rows, recorded = record_edges._number_rows(), {}
    with tempfile.TemporaryDirectory() as scratch:
        table = record_edges._table(spark, f"{scratch}/numbers", rows, record_edges._NUMBERS)
        conditions = record_edges._number_conditions(random.Random(18), 700)
        for mode, ansi in (("legacy", "false"), ("ansi", "true")):
            spark.conf.set("spark.sql.ansi.enabled", ansi)
            recorded[mode] = {}
            for first in range(0, len(conditions), _AT_ONCE):
                recorded[mode] |= answers(table, conditions[first : first + _AT_ONCE], len(rows))
    _FILE.write_bytes(lzma.compress(json.dumps(recorded).encode()))
    spark.stop()


if __name__ == "__main__":
    main()
