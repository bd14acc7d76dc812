"""A real session of Spark Connect: SQL text prunes and reads; what needs a JVM on this side skips nothing and says so.

``make test-connect`` runs it, in an environment of its own: no other session may run in the same process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from evaluator.language.errors import UnsupportedError
from handler import open_table
from handler import prune as prune_here
from handler.demo.run import unpack_table
from handler.spark import prune, prune_by_join, read
from handler.spark.catalyst.sessions import has_jvm


@pytest.fixture(scope="module")
def connected() -> Iterator[SparkSession]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.remote("local[1]").getOrCreate()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(unpack_table(tmp_path_factory.mktemp("table")))


CONDITIONS = [
    "i = 100",
    "i BETWEEN 100 AND 150 AND p = 'p1'",
    "s LIKE 'banana%' OR dt < DATE'2019-06-01'",
    "an IS NULL",
    "t < TIMESTAMP'1990-01-01 00:00:00'",
    "i > 99999",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_text_keeps_what_the_command_line_keeps_and_reads_its_rows(
    connected: SparkSession, table: str, condition: str
) -> None:
    assert not has_jvm(connected)
    plan = prune(connected, table, condition, strict=True)
    assert plan.kept == prune_here(open_table(table), condition, "spark-ansi", time_zone="UTC", strict=True).kept
    assert len(plan.kept) < len(plan.slices)
    everything = read(connected, table).where(condition).select("_hoodie_record_key").collect()
    found = read(connected, table, condition).select("_hoodie_record_key").collect()
    assert sorted(found) == sorted(everything)


def test_executors_of_the_server_answer_too(connected: SparkSession, table: str) -> None:
    assert prune(connected, table, "i = 100", distributed=True).kept == prune(connected, table, "i = 100").kept


def test_a_column_skips_nothing_and_says_what_to_do(connected: SparkSession, table: str) -> None:
    plan = prune(connected, table, F.col("i") == 100)
    assert len(plan.kept) == len(plan.slices)
    assert any("with Spark Connect give SQL text" in reason.text for reason in plan.reasons)
    with pytest.raises(UnsupportedError, match="SQL text"):
        prune(connected, table, F.col("i") == 100, strict=True)
    assert read(connected, table, F.col("i") == 100).count() == read(connected, table, "i = 100").count()


def test_a_join_skips_nothing_and_says_what_to_do(connected: SparkSession, table: str) -> None:
    keys = connected.createDataFrame([(101,), (102,)], "i int")
    plan = prune_by_join(connected, table, "i", keys)
    assert len(plan.kept) == len(plan.slices)
    assert any("with Spark Connect collect the keys" in reason.text for reason in plan.reasons)
