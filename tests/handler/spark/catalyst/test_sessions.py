"""What a session's settings mean for conditions, and sessions without a JVM."""

from __future__ import annotations

import pytest

from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import to_text
from evaluator.language.semantics import Semantics
from handler.spark.catalyst.conditions import to_expression
from handler.spark.catalyst.sessions import engine_of, has_jvm, time_zone_of
from handler.sql.parsing import SqlError


@pytest.fixture
def setting(spark):
    before = {}

    def change(name, value):
        before.setdefault(name, spark.conf.get(name))
        spark.conf.set(name, value)

    yield change
    for name, value in before.items():
        spark.conf.set(name, value)


@pytest.mark.parametrize(
    ("ansi", "hidden", "engine"),
    [
        ("true", None, "spark-ansi"),
        ("true", "false", "spark-ansi"),
        ("true", "TRUE", "spark-try"),
        ("false", "true", "spark-legacy"),
        ("false", None, "spark-legacy"),
    ],
)
def test_ansi_mode_chooses_the_rules(spark, ansi, hidden, engine):
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", ansi)
    if hidden is not None:
        session.conf.set("spark.sargo.hide.errors", hidden)
    assert engine_of(session) == engine


@pytest.mark.parametrize(
    ("java", "here"),
    [
        ("UTC", "UTC"),
        ("Z", "UTC"),
        ("GMT", "UTC"),
        ("UTC+0", "UTC"),
        ("+00:00", "UTC"),
        ("Europe/Paris", "Europe/Paris"),
        ("+08:00", "+08:00"),
        ("-5", "-05:00"),
        ("UTC+5:30", "+05:30"),
        ("GMT-03:30", "-03:30"),
        ("+01:30:15", "+01:30:15"),
        ("PST", "America/Los_Angeles"),
        ("EST", "-05:00"),
        ("IST", "Asia/Kolkata"),
    ],
)
def test_java_and_python_mean_the_same_zone(spark, setting, java, here):
    setting("spark.sql.session.timeZone", java)
    assert time_zone_of(spark) == here
    Semantics.named("spark", here)
    moment = "timestamp_seconds(1593561600)"  # 2020-07-01 00:00:00 in UTC
    [shown] = spark.sql(f"SELECT date_format({moment}, 'yyyy-MM-dd HH:mm:ss') AS shown").first()
    setting("spark.sql.session.timeZone", here)
    assert spark.sql(f"SELECT date_format({moment}, 'yyyy-MM-dd HH:mm:ss') AS shown").first()[0] == shown


class Settings:
    """The part of a Connect session's settings that is asked for."""

    def get(self, name, otherwise=None):
        return {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"}.get(name, otherwise)


class SessionWithoutJvm:
    """A Connect session, as far as conditions see it: its class is in PySpark's Connect package."""

    conf = Settings()


SessionWithoutJvm.__module__ = "pyspark.sql.connect.session"


def test_without_a_jvm_text_is_read_as_on_the_command_line(spark):
    remote = SessionWithoutJvm()
    assert has_jvm(spark)
    assert not has_jvm(remote)
    schema = spark.range(1).schema
    assert to_text(to_expression(remote, schema, ["id > 5", "id < 9.5"])) == "(id > 5 AND id < 9.5)"
    with pytest.raises(SqlError):
        to_expression(remote, schema, "id >")


def test_without_a_jvm_a_column_is_an_error_that_says_what_to_do(spark):
    from pyspark.sql import functions as F  # noqa: N812

    class ColumnOfConnect:
        """As Spark 3.5 has it: of another class than other Columns."""

    ColumnOfConnect.__module__ = "pyspark.sql.connect.column"
    schema = spark.range(1).schema
    with pytest.raises(UnsupportedError, match="with Spark Connect give SQL text"):
        to_expression(SessionWithoutJvm(), schema, ColumnOfConnect())
    with pytest.raises(TypeError, match="this session is of Spark Connect: give SQL text"):
        to_expression(SessionWithoutJvm(), schema, F.col("id") > 5)
