"""Random conditions, as SQL text and as Columns: real Spark's value for every row is in the outcome of that row.

Each row is a slice of its own, so the test covers rules, conversions and functions, not bounds. ANSI is on and off,
with two time zones. Spark evaluates many conditions in one job.
"""

from __future__ import annotations

import pyspark
import pytest
from hypothesis import Phase, given, settings
from pyspark.errors import AnalysisException

from evaluator.evaluation.evaluate import StatisticsProvider
from evaluator.language.expression import to_text
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import STRING
from evaluator.statistics.columns import from_values
from handler import open_table
from handler import prune as prune_as_on_the_command_line
from handler.spark.catalyst.conditions import engine_of, time_zone_of, to_expression
from handler.spark.catalyst.sessions import line_of
from handler.spark.pruning.prune import prune
from handler.spark.pruning.schemas import spark_schema
from handler.sql.parsing import parse
from tests.evaluator.strategies import TYPES, filters, slices
from tests.handler.one_row_slices import contradictions, one_row_slices
from tests.handler.planning.test_random_conditions import CONDITIONS
from tests.handler.spark.expression_columns import column_of, spark_name, value_of
from tests.handler.spark.real_tables import unpack
from tests.handler.spark.spark_answers import answers_of
from tests.sampling import examples, share

SETTINGS = [
    ("false", "America/New_York"),
    ("true", "UTC"),
    *(
        pytest.param(ansi, zone, marks=pytest.mark.spark_full)
        for ansi, zone in (("false", "UTC"), ("true", "America/New_York"))
    ),
]
#: Of the first two, one by day.
ONE_BY_DAY = [("true", "UTC"), pytest.param("false", "America/New_York", marks=pytest.mark.spark_full)]
OF_SPARK_4 = (
    "zeroifnull(an) < 50",
    "zeroifnull(an) = 0",
    "nullifzero(an % 10) IS NULL",
    "nullifzero(d) > 0.5",
    "zeroifnull(nullifzero(l)) >= i",
)
#: Forms that ``CONDITIONS`` does not draw.
MORE = (
    "CASE WHEN i > 100 THEN l WHEN i IS NULL THEN 0 ELSE -l END > 1000000000",
    "if(b, i, an) > 100",
    "(i > 100) IS TRUE",
    "(i > 100) IS NOT TRUE",
    "(i > 100) = b",
    "(an > 100) IS NULL",
    "coalesce(b, an > 100)",
    "NOT coalesce(an = 100, FALSE)",
    "i BETWEEN an AND an * 10",
    "nullif(an, 100) > 50",
    "nvl2(an, i, u) > 100",
    "decode(i, 10, 'a', 20, 'b', 'c') = 'c'",
    "TRY_CAST(s AS INT) IS NULL",
    "TRY_CAST(i AS TINYINT) = 4",
    "try_add(i, 2147483000) > 0",
    "split(s, '-')[0] < 'b'",
    "split(s, '-')[1] < 'b'",
    "element_at(split(s, '[-]'), 1) = 'banana'",
    "(i, s) IN ((10, 'banana-010'), (100, 'apple-100'))",
    "an < i AND an > i",
    "an <= i OR an > i",
    "t > '2020-1-5'",
    "t > DATE'2020-01-20'",
    "dt > TIMESTAMP'2020-06-01 10:00:00'",
    "t BETWEEN '2020-01-05' AND '2020-01-25 10:00:00'",
    "dt IN ('2020-01-01', '2020-01-11')",
    "to_timestamp(dt) < t",
    "unix_timestamp(t) > 1579000000",
    "date_trunc('month', t) = TIMESTAMP'2020-01-01 00:00:00'",
    "month(t) = 1",
    "date_format(t, 'yyyy-MM-dd HH') > '2020-01-15 10'",
    "hour(t) IN (3, 4, 5)",
    "last_day(dt) = DATE'2020-01-31'",
    "trunc(dt, 'YEAR') = DATE'2021-01-01'",
    "datediff(DATE'2020-01-01', dt) < -600",
    "dt + 3 > DATE'2021-01-01'",
    "s LIKE ANY ('a%', 'b%')",
    "s NOT LIKE ALL ('a%', NULL)",
    "s LIKE 'a/%%' ESCAPE '/'",
    "s NOT LIKE 'b_n%'",
    "endswith(s, '1')",
    "contains(s, 'an')",
    "startswith(s, 'Ch')",
    "s RLIKE '^gr'",
    "s RLIKE '^(gr|b)'",
    "s RLIKE '^a|^ch'",
    "s ILIKE 'GR%'",
    "s NOT ILIKE '%N%'",
    "md5(s) > '8'",
    "sha2(s, 224) > '8'",
    "crc32(s) > 2000000000",
    "hex(i) > '64'",
    "bin(an) > '11'",
    "ascii(s) > 99",
    "pow(d, 2) > 100",
    "cbrt(an) > 5",
    "sin(d) > 0.5",
    "degrees(d) > 100",
    "factorial(an) > 100",
    "months_between(dt, DATE'2020-02-29') > 1.5",
    "months_between(t, dt) > 0",
    "next_day(dt, 'TU') > DATE'2020-06-01'",
    "i IN (10, 11, 12, 13, 14, 15)",
    "id || s > 'k0100'",
    "bin IN (X'62313836', X'62303331')",
    "bin > X'62303331'",
    "st.x IN (1, 50, 100)",
    "st.y < 'y5' OR st IS NULL",
    "dec IN (1, 2.5, 100.00)",
    "dec30 > 1e12",
    "f = 1.5",
    "f < 10.1",
    "d / 0 IS NULL",
    "isnan(d)",
    "d != 0.25",
    "i DIV 7 = 3",
    "i % 7 = 3",
    "pmod(i, 7) = 3",
    "round(d, 1) > 10.5",
    "floor(d) = 10",
    "sqrt(d) > 3",
    "i = '100'",
    "s = 5",
    "l > 3000000000",
    "i < 1000.5",
    "CAST(i AS STRING) = '100'",
    "CAST(t AS STRING) > '2020-01-10'",
    "greatest(i, an, u) > 1000",
    "p = 'p1' AND i > 0",
    "_hoodie_record_key = 'k0042'",
    "i IS DISTINCT FROM an",
    "rand() >= 0 AND i > 100",
    "i > 100 OR current_date() < DATE'2000-01-01'",
)


#: Settings that change what Spark computes, and that are no part of a condition's tree.
LEGACY = [
    {"spark.sql.legacy.timeParserPolicy": "LEGACY", "spark.sql.legacy.sizeOfNull": "false"},
    {"spark.sql.legacy.typeCoercion.datetimeToString.enabled": "true"},
    {
        "spark.sql.decimalOperations.allowPrecisionLoss": "false",
        "spark.sql.legacy.literal.pickMinimumPrecision": "false",
    },
    {
        "spark.sql.legacy.allowNegativeScaleOfDecimal": "true",
        "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "true",
    },
    {"spark.sql.legacy.followThreeValuedLogicInArrayExists": "false", "spark.sql.timestampType": "TIMESTAMP_NTZ"},
    {"spark.sql.legacy.interval.enabled": "true", "spark.sql.parser.escapedStringLiterals": "true"},
]
#: Conditions that they are about.
OF_SETTINGS = (
    "to_date(CAST(dt AS STRING), 'yyyy-MM-dd') > DATE'2020-02-01'",
    "unix_timestamp(CAST(dt AS STRING), 'yyyy-MM-dd') > 1580000000",
    "from_unixtime(an, 'yyyy-MM-dd') = '1970-01-01'",
    "date_format(dt, 'yyyy-MM') = '2020-01'",
    "date_format(t, 'yyyy-MM-dd') < '2020-01-09'",
    "NOT (size(split(s, '-')) > 0)",
    "size(split(s, '-')) = -1",
    "dt > '2020-01-05'",
    "dt < '2020-1-9'",
    "dt <= '2020'",
    "dt = '2020-01-05 10:00:00'",
    "t > '2020'",
    "t < '2020-01-05'",
    "t = '2020-01-05 00:00'",
    "dt BETWEEN '2020-1-1' AND '2020-1-9'",
    "dt IN ('2020-1-1', '2020-1-11')",
    "s = dt",
    "s < t",
    "dec * 1.5 > 3",
    "dec / 3 > 1",
    "dec30 * dec30 > 1e20",
    "dec30 * 1.123456789012345678 > 5",
    "dec30 / 7 > 10",
    "dec / dec30 < 1",
    "dec30 / 3 = 33.333333",
    "dec30 * 0.00000000000000000001 > 0",
    "-dec30 / 1e5 < 0",
    "round(dec30, -1) > 10",
    "exists(array(i, an), x -> x > 30)",
    "NOT exists(array(i, an), x -> x > 30)",
    "dt + INTERVAL 1 DAY > DATE'2020-01-10'",
    "t - TIMESTAMP'2020-01-01 00:00:00' > INTERVAL '3' DAY",
    "s RLIKE '^[a-c]'",
)


def drawn(strategy, count):
    """``count`` examples of a strategy, the same ones in every run."""
    examples = []

    @settings(max_examples=count, phases=[Phase.generate])
    @given(strategy)
    def collect(example):
        examples.append(example)

    collect()
    return examples


def is_analysed(frame, text):
    """Whether Spark takes a condition in this session: ANSI mode refuses some types beside each other."""
    try:
        frame.where(text)
    except AnalysisException:
        return False
    return True


@pytest.fixture
def setting(spark):
    """``setting(name, value)`` for one test."""
    before = {}

    def change(name, value):
        before.setdefault(name, spark.conf.get(name))
        spark.conf.set(name, value)

    change("spark.sql.codegen.wholeStage", "false")
    change("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    yield change
    for name, value in before.items():
        spark.conf.set(name, value)


@pytest.fixture(scope="module")
def real(spark, tmp_path_factory):
    """A real table, its rows as Spark reads them, and one slice per row."""
    folder = unpack("1.1.1_main_cow", tmp_path_factory.mktemp("table") / "main")
    table = open_table(folder)
    schema = spark_schema(table.table)
    frame = (
        spark.read.schema(schema)
        .parquet(*(str(folder / file_slice.base_file) for file_slice in table.at().slices))
        .cache()
    )
    ids = [row[0] for row in frame.select("id").orderBy("id").collect()]
    return table, schema, frame, one_row_slices(folder, table, ids)


@pytest.mark.parametrize(("ansi", "zone"), [*ONE_BY_DAY, *SETTINGS[2:]])
def test_sql_over_a_real_table(spark, setting, real, ansi, zone):
    table, schema, frame, source = real
    setting("spark.sql.ansi.enabled", ansi)
    setting("spark.sql.session.timeZone", zone)
    more = share(MORE, 20)
    answers = answers_of(frame, (*more, *drawn(CONDITIONS, examples(5, at_night=40))), "id")
    assert len(answers) > len(more) + examples(4, at_night=20)
    semantics = Semantics.named(engine_of(spark), time_zone_of(spark))
    contradicting = {
        text: contradictions(to_expression(spark, schema, text), truths, table.table.schema, source, semantics)
        for text, truths in answers.items()
    }
    assert {text: rows[:2] for text, rows in contradicting.items() if rows} == {}


@pytest.mark.skipif(line_of(pyspark.__version__) < (4, 0), reason="functions of Spark 4")
def test_functions_of_spark_4_over_a_real_table(spark, real):
    table, _, frame, source = real
    answers = answers_of(frame, OF_SPARK_4, "id")
    assert [*answers] == [*OF_SPARK_4]
    semantics = Semantics.named(engine_of(spark), time_zone_of(spark))
    for text, truths in answers.items():
        against = (table.table.schema, source, semantics)
        assert not contradictions(parse(text, semantics.engine), truths, *against), text
        wrong = ["F" if said == "T" else "T" for said in truths]
        assert contradictions(parse(text, semantics.engine), wrong, *against), f"{text} is not decided"


@pytest.mark.spark_full
@pytest.mark.parametrize("ansi", ["false", "true"])
@pytest.mark.parametrize("changed", LEGACY, ids=lambda changed: next(iter(changed)).rpartition(".")[2])
def test_no_setting_of_a_session_makes_an_outcome_wrong(spark, setting, real, ansi, changed):
    table, schema, frame, source = real
    for name, value in {
        "spark.sql.ansi.enabled": ansi,
        "spark.sql.session.timeZone": "America/New_York",
        **changed,
    }.items():
        setting(name, value)
    answers = answers_of(frame, [text for text in (*OF_SETTINGS, *MORE) if is_analysed(frame, text)], "id")
    assert len(answers) > 100
    semantics = Semantics.named(engine_of(spark), time_zone_of(spark))
    contradicting = {
        text: contradictions(to_expression(spark, schema, text), truths, table.table.schema, source, semantics)
        for text, truths in answers.items()
    }
    assert {text: rows[:2] for text, rows in contradicting.items() if rows} == {}


@pytest.mark.parametrize(("ansi", "zone"), [*ONE_BY_DAY, *SETTINGS[2:]])
def test_columns_over_all_types(spark, setting, ansi, zone):
    setting("spark.sql.ansi.enabled", ansi)
    setting("spark.sql.session.timeZone", zone)
    rows = [row for part in drawn(slices(tuple(TYPES)), 15) for row in part.rows]
    frame = spark.createDataFrame([_python(number, row) for number, row in enumerate(rows)], _ddl())
    asked = {
        f"{number}: {to_text(condition)}": column_of(condition)
        for number, condition in enumerate(drawn(filters(tuple(TYPES)), examples(10, at_night=60)))
    }
    answers = answers_of(frame, asked, "number")
    assert len(answers) > examples(6, at_night=25)
    schema, source = _schema(), _source(rows)
    semantics = Semantics.named(engine_of(spark), time_zone_of(spark))
    contradicting = {
        text: contradictions(to_expression(spark, frame.schema, asked[text]), truths, schema, source, semantics)
        for text, truths in answers.items()
    }
    assert {text: rows[:2] for text, rows in contradicting.items() if rows} == {}


#: Conditions for which the command line keeps more slices, and why.
KEPT_BY_THE_COMMAND_LINE = {
    "s NOT LIKE ALL ('a%', NULL)": "NOT LIKE with ANY or ALL is not understood",
}


@pytest.mark.parametrize(("ansi", "zone"), ONE_BY_DAY)
def test_spark_and_the_command_line_keep_the_same_slices(spark, setting, real, ansi, zone):
    table, *_ = real
    setting("spark.sql.ansi.enabled", ansi)
    setting("spark.sql.session.timeZone", zone)
    other = set()
    asked = (*KEPT_BY_THE_COMMAND_LINE, *share(MORE, 5), *drawn(CONDITIONS, examples(12, at_night=60)))
    for text in asked:
        mine = prune(spark, table, text, strict=True).kept
        theirs = prune_as_on_the_command_line(table, text, engine_of(spark), time_zone=zone, strict=True).kept
        assert set(mine) <= set(theirs), text
        if mine != theirs:
            other.add(text)
    assert other == set(KEPT_BY_THE_COMMAND_LINE)


def _ddl():
    nested = ", ".join(
        f"{name[3:]}: {spark_name(sql_type)}" for name, sql_type in TYPES.items() if name.startswith("st.")
    )
    flat = ", ".join(f"{name} {spark_name(sql_type)}" for name, sql_type in TYPES.items() if "." not in name)
    return f"number int, {flat}, st struct<{nested}>"


def _python(number, row):
    flat = [value_of(row[name], sql_type) for name, sql_type in TYPES.items() if "." not in name]
    return (
        number,
        *flat,
        tuple(value_of(row[name], sql_type) for name, sql_type in TYPES.items() if "." in name),
    )


def _plain(sql_type):
    """The tables of these tests have no CHAR and VARCHAR in Spark."""
    return STRING if sql_type.kind.is_text else sql_type


def _schema():
    return Schema([Field(name, _plain(sql_type)) for name, sql_type in TYPES.items()])


def _source(rows):
    statistics = {}
    for name, sql_type in TYPES.items():
        values = [row[name] for row in rows]
        statistics[name] = from_values(
            _plain(sql_type), values, values, [int(v is None) for v in values], [1] * len(rows)
        )
    return StatisticsProvider("rows", statistics)
