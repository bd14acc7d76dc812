"""Asks another version of Spark for the constants of ``tests/evaluator/data/constants.json.xz``.

    python -m tests.handler.spark.record_constants      with the Python of `.venv/spark35`

It writes where that version differs from Spark 4.1 to ``constants_3.5.json``: by session, the index of each text and
its answer, which is its value as text and its type, or null where Spark refuses it.
"""

from __future__ import annotations

import json
import lzma
import os
import sys
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

DATA = Path(__file__).parents[2] / "evaluator" / "data"
#: Texts in one query. One that Spark refuses fails the query, which is then asked in halves.
_AT_ONCE = 80


def answers(spark: SparkSession, texts: list[str]) -> list[Any]:
    """The value, as text, and the type of each text."""
    if not texts:
        return []
    columns = ", ".join(f"CAST(({text}) AS STRING) AS v{n}, typeof({text}) AS t{n}" for n, text in enumerate(texts))
    try:
        row = spark.sql(f"SELECT {columns}").collect()[0]
    except PySparkException:
        half = len(texts) // 2
        return [None] if not half else [*answers(spark, texts[:half]), *answers(spark, texts[half:])]
    return [[row[2 * n], row[2 * n + 1]] for n in range(len(texts))]


def differences(spark: SparkSession, session: str, texts: list[str], known: list[Any]) -> dict[str, Any]:
    """The answers in a session that are not those of Spark 4.1, by the index of their text."""
    engine, _, zone = session.partition("|")
    spark.conf.set("spark.sql.ansi.enabled", str(engine == "spark-ansi").lower())
    spark.conf.set("spark.sql.session.timeZone", zone)
    found: dict[str, Any] = {}
    for accepted in (True, False):  # apart, so that few queries fail
        asked = [n for n, answer in enumerate(known) if (answer is not None) == accepted]
        step = _AT_ONCE if accepted else 1
        for first in range(0, len(asked), step):
            part = asked[first : first + step]
            for n, answer in zip(part, answers(spark, [texts[n] for n in part]), strict=True):
                if answer != known[n]:
                    found[str(n)] = answer
    return found


def main() -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    recorded = json.loads(lzma.decompress((DATA / "constants.json.xz").read_bytes()))
    found = {
        session: differences(spark, session, recorded["texts"], known) for session, known in recorded["answers"].items()
    }
    document = {"spark": spark.version, "texts": len(recorded["texts"]), "differences": found}
    (DATA / f"constants_{spark.version[:3]}.json").write_text(json.dumps(document) + "\n", encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main()
