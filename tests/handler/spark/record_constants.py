"""Asks Spark for the constants of ``tests/evaluator/data/constants.json.xz``.

    python -m tests.handler.spark.record_constants            Spark 4.1: asks for all of them anew
    python -m tests.handler.spark.record_constants texts.txt  Spark 4.1: adds the texts of a file, one in each line
    python -m tests.handler.spark.record_constants            with the Python of `.venv/spark35`

Spark 4.1 gives the answers of ``constants.json.xz``. Another version writes where it differs to ``constants_3.5.json``:
by session, the index of each text and its answer. An answer is the value as text and its type, or null where Spark
refuses the text.
"""

from __future__ import annotations

import json
import logging
import lzma
import os
import sys
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

DATA = Path(__file__).parents[2] / "evaluator" / "data"
RECORDED = DATA / "constants.json.xz"
NEWEST = "4.1"
#: Texts in one query. One that Spark refuses fails the query, which is then asked in halves.
_AT_ONCE = 80


def answers(spark: SparkSession, texts: list[str]) -> list[Any]:
    """The value, as text, and the type of each text."""
    if not texts:
        return []
    columns = ", ".join(f"CAST(({text}) AS STRING) AS v{n}, typeof({text}) AS t{n}" for n, text in enumerate(texts))
    try:
        row = spark.sql(f"SELECT {columns}").collect()[0]
    except (PySparkException, Py4JJavaError):
        half = len(texts) // 2
        return [None] if not half else [*answers(spark, texts[:half]), *answers(spark, texts[half:])]
    return [[row[2 * n], row[2 * n + 1]] for n in range(len(texts))]


def set_session(spark: SparkSession, session: str) -> None:
    """``spark-ansi|Europe/Berlin``: ANSI mode, and the zone."""
    engine, _, zone = session.partition("|")
    spark.conf.set("spark.sql.ansi.enabled", str(engine == "spark-ansi").lower())
    spark.conf.set("spark.sql.session.timeZone", zone)


def all_answers(spark: SparkSession, session: str, texts: list[str]) -> list[Any]:
    """The answers to all texts in a session."""
    set_session(spark, session)
    parts = [texts[first : first + _AT_ONCE] for first in range(0, len(texts), _AT_ONCE)]
    return [answer for part in parts for answer in answers(spark, part)]


def differences(spark: SparkSession, session: str, texts: list[str], known: list[Any]) -> dict[str, Any]:
    """The answers in a session that are not those of Spark 4.1, by the index of their text."""
    set_session(spark, session)
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


def record_newest(spark: SparkSession, added: list[str]) -> None:
    """Add the answers to texts, or ask for all texts anew if none is given."""
    recorded = json.loads(lzma.decompress(RECORDED.read_bytes()))
    new = [text for text in dict.fromkeys(added) if text not in set(recorded["texts"])]
    kept = len(recorded["texts"]) if new else 0
    texts = [*recorded["texts"], *new]
    found = {
        session: [*known[:kept], *all_answers(spark, session, texts[kept:])]
        for session, known in recorded["answers"].items()
    }
    text = json.dumps({"texts": texts, "answers": found}, separators=(",", ":"))
    RECORDED.write_bytes(lzma.compress(text.encode(), preset=9))


def record_differences(spark: SparkSession) -> None:
    """Write where this version differs from the newest one."""
    recorded = json.loads(lzma.decompress(RECORDED.read_bytes()))
    found = {
        session: differences(spark, session, recorded["texts"], known) for session, known in recorded["answers"].items()
    }
    document = {"spark": spark.version, "texts": len(recorded["texts"]), "differences": found}
    (DATA / f"constants_{spark.version[:3]}.json").write_text(json.dumps(document) + "\n", encoding="utf-8")


def main() -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    logging.disable()  # of what Spark refuses
    if spark.version.startswith(NEWEST):
        record_newest(spark, [line for path in sys.argv[1:] for line in Path(path).read_text("utf-8").splitlines()])
    else:
        record_differences(spark)
    spark.stop()


if __name__ == "__main__":
    main()
