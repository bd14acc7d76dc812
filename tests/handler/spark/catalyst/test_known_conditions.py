"""A text that was analysed before is not analysed again, and never means what it meant before something changed."""

from __future__ import annotations

import datetime
from random import Random

import pytest
from pyspark.errors import ParseException
from pyspark.sql import functions as F  # noqa: N812

from evaluator.language.expression import to_text
from handler.spark.catalyst import conditions
from handler.spark.catalyst.conditions import NO_NAMES, ConditionError, TableNames, to_expression
from handler.spark.catalyst.known_settings import known_settings
from handler.spark.catalyst.plain_texts import plain_tokens
from handler.spark.catalyst.sessions import line_of
from handler.spark.pruning.read_options import settings_of
from tests.handler.spark.catalyst.test_conditions_against_spark import MORE
from tests.sampling import examples

#: Where Spark 4.2 and later look for a session's functions: before their own, after them, or last.
FUNCTION_ORDER = "spark.sql.functionResolution.sessionOrder"
SCHEMA = "d date, t timestamp_ltz, s string, i int, l bigint, x double, b boolean"


@pytest.fixture
def session(spark):
    """A session of its own, whose settings and functions a test may change."""
    return spark.newSession()


@pytest.fixture
def analysed(monkeypatch):
    """The conditions that went through the analyser, in order."""
    texts = []
    analyse = conditions.analyse

    def recorded(spark, schema, condition, qualifier):
        texts.append(condition)
        return analyse(spark, schema, condition, qualifier)

    monkeypatch.setattr(conditions, "analyse", recorded)
    return texts


@pytest.fixture
def columns(spark):
    return spark.createDataFrame([], SCHEMA).schema


def text_of(session, condition, columns=SCHEMA, names=NO_NAMES):
    schema = session.createDataFrame([], columns).schema
    return to_text(to_expression(session, schema, condition, names))


@pytest.mark.parametrize(
    "condition",
    [
        "i = 5",
        "s LIKE 'a%' AND NOT (l BETWEEN 1 AND 5)",
        "upper(s) = 'A' OR coalesce(i, 0) > 3",
        "d >= date '1994-01-01' + interval 1 year",
        "d >= current_date() - interval 7 days",
        "x < pow(2, 10) AND d < current_date()",
        "t > timestamp '2020-01-01 10:00:00'",
        "i IN (1, 2, NULL)",
        "rand() < 0.5 AND i = 1",
    ],
)
def test_a_known_text_is_not_analysed_again(session, columns, analysed, condition):
    first = to_expression(session, columns, condition)
    assert analysed == [condition]
    assert to_expression(session, columns, condition) == first
    assert analysed == [condition]


def test_every_form_means_the_same_the_second_time(spark):
    """On sessions of their own: what is remembered by one is analysed by the other."""
    one, other = spark.newSession(), spark.newSession()
    columns = (
        "i int, l bigint, an int, u int, b boolean, s string, t timestamp, dt date, d double, f float, bin binary, "
        "dec decimal(10,2), dec30 decimal(30,5), st struct<x:int,y:string>, id string, p string, "
        "_hoodie_record_key string"
    )
    schema = spark.createDataFrame([], columns).schema
    checked = 0
    for condition in MORE:
        try:
            fresh = to_expression(one, schema, condition)
        except ConditionError:
            continue
        to_expression(other, schema, condition)
        assert to_expression(other, schema, condition) == fresh, condition
        checked += 1
    assert checked > 50


@pytest.mark.parametrize(
    ("setting", "before", "after", "condition"),
    [
        ("spark.sql.session.timeZone", "UTC", "Asia/Tokyo", "t > timestamp '2020-01-01 00:00:00+00:00'"),
        ("spark.sql.timestampType", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "t > timestamp '2020-01-01 00:00:00'"),
        ("spark.sql.ansi.enabled", "true", "false", "s = 5"),
        ("spark.sql.caseSensitive", "false", "true", "I = 5"),
        ("spark.sql.parser.escapedStringLiterals", "false", "true", r"s = 'a\\b'"),
    ],
)
def test_a_changed_setting_is_analysed_again(session, columns, analysed, setting, before, after, condition):
    def meaning():
        try:
            return repr(to_expression(session, columns, condition))
        except ConditionError as error:
            return error.why

    session.conf.set(setting, before)
    first = meaning()
    session.conf.set(setting, after)
    second = meaning()
    assert analysed == [condition] * 2
    session.conf.set(setting, before)
    assert meaning() == first
    assert second != first


def skip_before_paths(session):
    if line_of(session.version) < (4, 2):
        pytest.skip("names of functions are looked up along a path from Spark 4.2 on")


def test_a_function_that_a_user_registers_under_the_name_of_sparks_own_is_not_sparks(session):
    session.conf.set(FUNCTION_ORDER, "first")
    condition = "upper(s) = 'A'"
    assert text_of(session, condition) == "upper(s) = 'A'"
    session.udf.register("upper", lambda text: text, "string")
    assert "a user's function is not decided" in text_of(session, condition)
    assert "a user's function is not decided" in text_of(session, condition)


def test_a_function_without_parentheses_in_the_text_is_looked_up_too(session):
    session.conf.set(FUNCTION_ORDER, "first")
    condition = "i BETWEEN 1 AND 5"
    own = text_of(session, condition)
    session.udf.register("between", lambda *_: True, "boolean")
    is_operator = session.version.startswith("3.")
    assert (text_of(session, condition) == own) == is_operator
    assert text_of(session.newSession(), condition) == own


@pytest.mark.parametrize("order", ["second", "last"])
def test_a_name_is_sparks_own_where_spark_looks_there_first(session, order):
    skip_before_paths(session)
    session.conf.set(FUNCTION_ORDER, order)
    own = text_of(session, "upper(s) = 'A'")
    session.udf.register("upper", lambda text: text, "string")
    assert text_of(session, "upper(s) = 'A'") == own
    assert "a user's function is not decided" in text_of(session, "session.upper(s) = 'A'")
    session.conf.set(FUNCTION_ORDER, "first")
    assert "a user's function is not decided" in text_of(session, "upper(s) = 'A'")


def test_a_path_of_the_session_changes_what_a_name_means(session):
    skip_before_paths(session)
    session.conf.set("spark.sql.path.enabled", "true")
    session.sql("CREATE DATABASE on_path")
    try:
        session.sql("CREATE FUNCTION on_path.upper(x STRING) RETURNS STRING RETURN lower(x)")
        assert text_of(session, "upper(s) = 'A'") == "upper(s) = 'A'"
        session.sql("SET PATH = spark_catalog.on_path, system.builtin")
        assert text_of(session, "upper(s) = 'A'").startswith("?(")
    finally:
        session.sql("DROP DATABASE on_path CASCADE")


PLAIN = (
    "i = 5",
    "i < 15.0 AND s > '2009-21'",
    "(i = 5 or (l) <> -7) and (b)",
    "b AND(b)",
    "i IN (1, 2, NULL) or l in\n(3)",
    "s is not null and (i == 1 or b != true)",
)
CALLING = (
    "upper(s) = 'A'",
    "s (i) = 1",
    "in(i, 5)",
    "and(b, b)",
    "b AND or(b, b)",
    "not(i = 5)",
    "b = not (b)",
    "isnull(i)",
    "true(i)",
    "i BETWEEN 1 AND 5",
    "d < current_date",
    "i + 1 = 5",
    "s = r'a'",
    "i = 5D",
)


@pytest.mark.parametrize("condition", PLAIN)
def test_comparisons_of_columns_with_constants_plainly_call_nothing(condition):
    assert plain_tokens(condition, ["D", "S", "I", "L", "B"]) is not None


@pytest.mark.parametrize("condition", [*CALLING, "other = 5"])
def test_what_may_call_a_function_is_parsed(condition):
    assert plain_tokens(condition, ["d", "s", "i", "l", "b", "and"]) is None


def test_no_text_that_plainly_calls_nothing_calls_a_function(session):
    """Spark's parser is asked about pieces of conditions put together at random."""
    parse = session._jsparkSession.sessionState().sqlParser().parseExpression
    pieces = [
        "i",
        "and",
        "b",
        "in",
        "AND",
        "or",
        "is",
        "not",
        "null",
        "true",
        "(",
        "(",
        ")",
        ")",
        ",",
        "=",
        "<",
        "5",
        "'x'",
    ]
    random, plain = Random(7), 0
    for _ in range(examples(195, at_night=20_000)):
        text = " ".join(random.choices(pieces, k=random.randint(3, 9)))
        if plain_tokens(text, ["i", "b", "and", "in"]) is None:
            continue
        try:
            nodes = parse(text).toJSON()
        except ParseException:
            continue
        plain += 1
        assert "UnresolvedFunction" not in nodes, text
    assert plain > examples(1, at_night=50)


def test_a_users_function_is_not_remembered(session, analysed):
    session.udf.register("mine", lambda number: number, "int")
    for _ in range(2):
        assert "?(" in text_of(session, "mine(i) = 5")
    assert len(analysed) == 2


@pytest.mark.parametrize("condition", ["i IN (SELECT 1)", "i > (SELECT max(id) FROM range(3))"])
def test_a_subquery_is_not_remembered(session, analysed, condition):
    for _ in range(2):
        assert "?(" in text_of(session, condition)
    assert len(analysed) == 2


def test_another_schema_or_alias_is_another_condition(session):
    assert text_of(session, "i = 5") == "i = 5"
    wider = "i string"
    assert text_of(session, "i = 5", wider) != "i = 5"
    with pytest.raises(ConditionError):
        text_of(session, "o.i = 5")
    assert text_of(session, "o.i = 5", names=TableNames(("o",))) == "i = 5"
    with pytest.raises(ConditionError):
        text_of(session, "o.i = 5")


def test_a_refusal_is_not_remembered(session, columns, analysed):
    for _ in range(2):
        with pytest.raises(ConditionError):
            to_expression(session, columns, "nope = 1")
    assert len(analysed) == 2


def test_a_column_is_analysed_each_time(session, analysed):
    for _ in range(2):
        assert text_of(session, F.col("i") == 5) == "i = 5"
    assert len(analysed) == 2


def test_a_session_variable_stays_unknown(session):
    if session.version.startswith("3."):
        pytest.skip("session variables came with Spark 4")
    session.sql("DECLARE OR REPLACE VARIABLE v INT DEFAULT 5")
    assert "?(" in text_of(session, "i > v")
    session.sql("SET VARIABLE v = 7")
    assert "?(" in text_of(session, "i > v")
    session.sql("DROP TEMPORARY VARIABLE v")


@pytest.mark.parametrize(
    "condition",
    [
        "d >= DATE 'today'",
        "d >= date\n' Yesterday '",
        "d >= DATE r'today'",
        'd >= DATE "tomorrow"',
        "d >= DATE /* of the query */ 'today'",
        "d >= DATE -- of the query\n 'today'",
        "d >= `date` 'today'",
        "d >= DATE '\\u0074oday'",
        "d >= DATE 'to\\144ay'",
        "t >= TIMESTAMP 'now'",
        "t >= TIMESTAMP_LTZ'today'",
        "t >= TIMESTAMP_NTZ 'now'",
    ],
)
def test_a_literal_of_the_moment_of_parsing_is_never_a_constant(session, condition):
    try:
        text = text_of(session, condition)
    except ConditionError:
        return  # not every version takes every form
    assert str(datetime.datetime.now().year) not in text
    assert "?(" in text


def test_a_name_that_only_begins_like_a_type_is_a_column(session):
    schema = "date date, timestamp timestamp, update string"
    assert text_of(session, "date > '2020-01-01' AND update = 'now'", schema).startswith("(date >")
    assert "?(" not in text_of(session, "update = 'today' AND timestamp > '2020-01-01'", schema)


def test_settings_that_hudis_reader_takes_are_read_again_when_one_changed(session):
    assert settings_of(session) == {}
    session.conf.set("spark.hoodie.datasource.query.type", "read_optimized")
    assert settings_of(session) == {"hoodie.datasource.query.type": "read_optimized"}
    session.conf.unset("spark.hoodie.datasource.query.type")
    assert settings_of(session) == {}


def test_settings_are_known_until_one_changes(session):
    known = known_settings(session)
    assert known_settings(session) is known
    session.conf.set("any.setting", "1")
    assert known_settings(session) is not known
    assert known_settings(session.newSession()) is not known_settings(session)
