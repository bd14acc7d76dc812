"""``register`` in sessions of ``newSession``, with workers that lack Sargo, and what a user reads of an error."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F  # noqa: N812

from evaluator.language.errors import UnsupportedError
from handler.spark import prune, prune_by_join, read, read_by_join, register
from handler.spark.source.scan_plans import why_workers_fail
from tests.handler.spark.real_tables import unpack
from tests.sampling import share


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return unpack("1.1.1_main_cow", tmp_path_factory.mktemp("sessions") / "main")


@pytest.mark.nightly
def test_every_entry_point_works_in_a_session_of_its_own(spark, table):
    register(spark)
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    kept = prune(spark, table, "i > 1000").kept
    assert prune(session, table, "i > 1000").kept == prune(session, table, F.col("i") > 1000).kept == kept
    rows = read(spark, table, "i > 1000").count()
    assert read(session, table, "i > 1000").count() == rows
    keys = session.createDataFrame([(1013,)], "i int")
    assert prune_by_join(session, table, "i", keys).kept == prune(session, table, "i = 1013").kept
    assert read_by_join(session, table, "i", keys).where("i = 1013").count() == read(spark, table, "i = 1013").count()
    for _ in range(2):  # again, nothing new
        assert register(session)
    frame = session.read.format("sargo").load(str(table))
    assert frame.where("i > 1000").count() == rows
    assert frame.where("i > 1000").union(frame.where("i = 100")).count() == frame.where("i > 1000 OR i = 100").count()
    assert spark.read.format("sargo").load(str(table)).where("i > 1000").count() == rows


def test_registering_leaves_the_active_session(spark):
    sessions = spark._jvm.org.apache.spark.sql.classic.SparkSession
    sessions.setActiveSession(spark._jsparkSession)
    register(spark.newSession())
    assert sessions.getActiveSession().get().equals(spark._jsparkSession)


def test_workers_without_sargo_are_told_from_spark_mixing_up_scans(spark, workers_without_sargo):
    with pytest.raises(UnsupportedError, match=r"workers \(.*\) has no module handler: install Sargo there .*PYSPARK_"):
        register(spark.newSession())


def test_other_errors_of_workers_are_not_about_modules(spark):
    assert not why_workers_fail(spark, "ValueError: no such thing")
    assert "has no module pyarrow" in why_workers_fail(spark, "ModuleNotFoundError: No module named 'pyarrow'")


@pytest.mark.parametrize(
    ("path", "options", "schema", "sentence"),
    share(
        [
            ("/nope", {}, None, "/nope: not a Hudi table"),
            (None, {"as_oof": "1"}, None, 'option as_oof of format("sargo"): is as_of meant?'),
            (None, {}, "i string", "column i is declared string, and the table has int"),
            (None, {"query": "all"}, None, "query 'all' (known: snapshot, read_optimized)"),
        ],
        4,
    ),
    ids=str,
)
def test_the_sentence_of_an_error_stands_before_any_trace_of_spark(spark, table, path, options, schema, sentence):
    register(spark)
    reader = spark.read.format("sargo").options(**options)
    with pytest.raises(Exception, match="PYTHON_DATA_SOURCE_ERROR") as raised:
        (reader.schema(schema) if schema else reader).load(path or str(table)).count()
    lines = str(raised.value).splitlines()
    assert sentence in "\n".join(lines[:5])
    assert not any("open_table" in line for line in lines[:5])
