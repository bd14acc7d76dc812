"""The conditions of TPC-H as Spark analyses them: all spellings of the constants keep the same slices."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from handler.spark import prune
from tests.sampling import share
from tests.tpc.benchmark import benchmark
from tests.tpc.measure import tables
from tests.tpc.spellings import LITERAL, SPELLINGS
from tests.tpc.tables import unpack


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("tpch"), benchmark("tpch").archive)


@pytest.mark.parametrize("name", ["lineitem_mor", "orders", "customer", "part", "nation"])
def test_constants_that_spark_computes_keep_what_literals_keep(spark: SparkSession, home: Path, name: str) -> None:
    table = tables("tpch", home)[name]
    cases = {
        question.spelled(spelling): question
        for question in table.questions
        for spelling in SPELLINGS
        if "spark" in spelling.engines and spelling is not LITERAL
    }
    for sql in share(cases, 360):
        kept = frozenset(file_slice.file_id for file_slice in prune(spark, table.opened, sql).kept)
        assert kept == table.kept(cases[sql].literal), sql


def test_spark_changes_the_case_of_ascii_letters_without_the_locale(spark: SparkSession) -> None:
    locale = spark._jvm.java.util.Locale
    usual = locale.getDefault()
    locale.setDefault(locale("tr", "TR"))
    try:
        assert list(spark.sql("select upper('iI'), lower('iI'), lower('\\u00e9I')").first()) == [
            "II",
            "ii",
            "\u00e9\u0131",
        ]
        of_column = spark.range(1).selectExpr("upper(concat('i', id))", "lower(concat('I', id))")
        assert list(of_column.first()) == ["I0", "i0"]
    finally:
        locale.setDefault(usual)
