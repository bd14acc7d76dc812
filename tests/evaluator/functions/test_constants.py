"""C7, C8: a function of constants has the value that the engine gives it, or none.

``data/constants.json.xz`` holds 1,601 texts drawn from a seed: dates and timestamps moved by intervals of all units and
spellings, functions of dates, numbers and text. 5,713 texts in analysts' spellings follow, with arguments at their
edges: ``timestampdiff``, ``date_part``, ``next_day``, ``try_cast``, ``split_part``, ``unix_timestamp``,
``date_format`` and the like. Beside each stands the value, as text, and its type in Spark 4.1, in ANSI mode and without
it, and with the session in Europe/Berlin. None: Spark refuses the text or its value.
``data/constants_3.5.json`` holds what Spark 3.5 answers otherwise (``tests.handler.spark.record_constants``).
"""

from __future__ import annotations

import datetime
import json
import lzma
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.binding.bind import bind, bind_operand
from evaluator.binding.interval_evaluation import evaluate_slice
from evaluator.binding.operands import BoundConstant
from evaluator.language import expression as ex
from evaluator.language.epoch import EPOCH, MICROSECOND
from evaluator.language.errors import UnsupportedError
from evaluator.language.literal import nearest_float
from evaluator.language.outcome import of_value
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.time_spans import TIME_SPAN, TimeSpan
from evaluator.language.types import DATE, DOUBLE, INT, STRING, TIMESTAMP, Kind
from evaluator.language.zones import wall_clock_of
from evaluator.reference.row_oracle import value_of
from handler.sql import SqlError, parse
from tests.evaluator.short_forms import lit, outcome_of, stats
from tests.sampling import share

ANSWERS = json.loads(lzma.decompress((Path(__file__).parents[1] / "data" / "constants.json.xz").read_bytes()))
OF_3_5 = json.loads((Path(__file__).parents[1] / "data" / "constants_3.5.json").read_text("utf-8"))
OTHERWISE = {"4.1": {}, "3.5": OF_3_5["differences"]}
ASKED = {"4.1": len(ANSWERS["texts"]), "3.5": OF_3_5["texts"]}
NOTHING = Schema(())
#: The texts that were drawn come first.
DRAWN = 1_601


def constant_of(operand: ex.Operand, semantics: Semantics) -> BoundConstant | None:
    """The constant that an operand is; None where it is not decided."""
    try:
        bound = bind_operand(operand, NOTHING, semantics)
    except UnsupportedError:
        return None
    assert isinstance(bound, BoundConstant)
    return bound


def constant_in(text: str, engine: str, zone: str = "UTC") -> BoundConstant | None:
    comparison = parse(f"({text}) = 1", engine)  # type: ignore[arg-type]
    assert isinstance(comparison, ex.Compare)
    return constant_of(comparison.left, Semantics.named(engine, zone))


def is_same(constant: BoundConstant, value: str | None, type_name: str, zone: str = "UTC") -> bool:
    """Whether a constant is what Spark writes as this text, of this type."""
    if not constant.interval.value or value is None:
        return value is None and not constant.interval.value
    if constant.is_range:
        return type_name == "double" and constant.interval.lo <= float(value) <= constant.interval.hi
    own: Any = constant.interval.lo
    match constant.type.kind:
        case Kind.DATE:
            return type_name == "date" and EPOCH.date() + datetime.timedelta(days=own) == datetime.date.fromisoformat(
                value
            )
        case Kind.TIMESTAMP | Kind.TIMESTAMP_LTZ as kind:
            if kind is Kind.TIMESTAMP_LTZ:
                own = wall_clock_of(own, zone)
            text = value if "." not in value else value.ljust(26, "0")
            return type_name.startswith("timestamp") and EPOCH + own * MICROSECOND == datetime.datetime.fromisoformat(
                text
            )
        case Kind.BOOLEAN:
            return type_name == "boolean" and str(bool(own)).lower() == value
        case Kind.FLOAT:
            return type_name == "float" and nearest_float(float(value)) == own
        case kind if kind.is_fractional:
            return type_name in ("double", "float") and float(value) == own
        case kind if kind.is_number:
            return Fraction(value) == own
        case _:
            return str(own) == value


@pytest.mark.parametrize("version", OTHERWISE)
@pytest.mark.parametrize("session", list(ANSWERS["answers"]))
def test_every_computed_constant_is_what_spark_computes(session: str, version: str) -> None:
    wrong, decided = compared(session, version, range(DRAWN))
    assert wrong == []
    assert decided >= (1425 if session.endswith("UTC") else 1410)


@pytest.mark.parametrize("version", OTHERWISE)
@pytest.mark.parametrize("session", list(ANSWERS["answers"]))
def test_every_constant_in_an_analysts_spelling_is_what_spark_computes(session: str, version: str) -> None:
    asked = share(range(DRAWN, ASKED[version]), 28, seed=len(session + version))
    wrong, decided = compared(session, version, asked)
    assert wrong == []
    assert decided >= len(asked) * 0.7


def compared(session: str, version: str, numbers: Iterable[int]) -> tuple[list[Any], int]:
    """The computed constants that are another value in Spark, and how many were computed."""
    engine, _, zone = session.partition("|")
    otherwise = OTHERWISE[version].get(session, {})
    wrong, decided = [], 0
    for n in numbers:
        text = ANSWERS["texts"][n]
        answer = otherwise.get(str(n), ANSWERS["answers"][session][n])
        try:
            comparison = parse(f"({text}) = 1", engine)  # type: ignore[arg-type]
        except SqlError:
            continue
        if not isinstance(comparison, ex.Compare):
            continue  # a condition
        constant = constant_of(comparison.left, Semantics.named(engine, zone))
        if constant is not None:
            decided += 1
            if answer is None or not is_same(constant, *answer, zone=zone):
                wrong.append((text, constant.interval.lo, answer))
    return wrong, decided


@pytest.mark.parametrize(
    ("text", "hive", "spark"),
    [
        ("date '1994-01-01' + interval '1' year", "DATE '1995-01-01'", "DATE '1995-01-01'"),
        ("date '1993-07-01' + interval '3' month", "DATE '1993-10-01'", "DATE '1993-10-01'"),
        ("date '1998-12-01' - interval '90' day", "TIMESTAMP '1998-09-02 00:00:00'", "DATE '1998-09-02'"),
        ("date '1998-12-01' - interval 90 days", "TIMESTAMP '1998-09-02 00:00:00'", "DATE '1998-09-02'"),
        ("date '2020-01-31' + interval 1 month", "DATE '2020-02-29'", "DATE '2020-02-29'"),
        ("date '2020-02-29' + interval '1' year", "DATE '2021-02-28'", "DATE '2021-02-28'"),
        ("interval '1-2' year to month + date '2020-01-01'", "DATE '2021-03-01'", "DATE '2021-03-01'"),
        ("add_months('2020-02-29', 1)", "'2020-03-31'", "DATE '2020-03-29'"),
        ("add_months('2020-01-30', 1)", "'2020-02-29'", "DATE '2020-02-29'"),
        ("date '2020-01-01' + 30", None, "DATE '2020-01-31'"),
        ("make_date(2020, 2, 29)", None, "DATE '2020-02-29'"),
        ("make_date(2021, 2, 29)", None, None),
        ("to_date('31.12.2019', 'dd.MM.yyyy')", None, "DATE '2019-12-31'"),
        ("date_sub('2020-03-01', 1)", "DATE '2020-02-29'", "DATE '2020-02-29'"),
        ("date '2020-01-01' + interval '1 2:03:04' day to second", "TIMESTAMP '2020-01-02 02:03:04'", None),
        (
            "timestamp '2020-01-01 00:00:00' + interval '1 2:03:04' day to second",
            *["TIMESTAMP '2020-01-02 02:03:04'"] * 2,
        ),
        ("timestamp '2020-01-31 10:00:00' + interval '1' month", *["TIMESTAMP '2020-02-29 10:00:00'"] * 2),
        ("date '9999-12-31' + interval '1' day", None, None),
        ("date '2020-01-01' + interval '1 month 1 day'", None, None),
        ("date '2020-01-01' + interval '1-12' year to month", None, None),
        ("date '2020-01-01' + interval '1.5' day", None, None),
        ("pow(2, 10)", "1024.0", "1024.0"),
        ("pow(0.05, 1)", "0.05", "0.05"),
        ("round(2.45D, 1)", "2.5", "2.5"),
        ("-7 div 2", "-3", "-3"),
        ("1 div 0", None, None),
        ("upper('building')", None, "'BUILDING'"),
        ("lower('INDIA')", None, "'india'"),
        ("upper('truck')", "'TRUCK'", "'TRUCK'"),
        ("upper('straße')", None, None),
    ],
)
def test_a_constant_by_the_rules_of_the_engine(text: str, hive: str | None, spark: str | None) -> None:
    for engine in ENGINES:
        constant = constant_in(text, engine)
        shown = None if constant is None else str(ex.Literal(constant.interval.lo, constant.type))
        assert shown == (hive if engine.startswith("hive") else spark), engine


@pytest.mark.parametrize(
    ("condition", "matches"),
    [
        ("last_day('2020-01-05') = '2020-1-31'", False),
        ("add_months('2020-01-05', 1) = '2020-2-5'", False),
        ("trunc('2020-01-05', 'MM') = '2020-01-01'", True),
        ("year(add_months('2020-12-05', 1)) = 2021", True),
        ("length(last_day('2020-01-05')) = 10", True),
    ],
)
def test_hive_compares_dates_of_constants_as_text(condition: str, matches: bool) -> None:
    for engine in ("hive", "hive3", "hive4"):
        semantics = Semantics.named(engine, "UTC")
        expression = parse(condition, engine)  # type: ignore[arg-type]
        assert evaluate_slice(bind(expression, NOTHING, semantics), {}) == of_value(matches)
        assert value_of(expression, {}, NOTHING, semantics) is matches


@pytest.mark.parametrize("engine", ["spark", "hive"])
def test_a_timestamp_in_a_gap_or_moved_over_one_is_left_open(engine: str) -> None:
    """Berlin sets its clocks forward on 2021-03-28: there is no 02:30, and hours do not add up."""
    for text in (
        "timestamp '2021-03-28 02:30:00' + interval '1' day",
        "timestamp '2021-03-27 02:30:00' + interval '1' day",
        "timestamp '2021-03-28 00:00:00' + interval '5' hour",
        "timestamp '2021-10-31 02:30:00' + interval '1' year",
    ):
        assert constant_in(text, engine, "Europe/Berlin") is None
    assert constant_in("timestamp '2021-03-29 00:00:00' + interval '5' hour", engine, "Europe/Berlin") is not None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("date '1969-12-31' - interval '2-2' year to month", "DATE '1967-10-31'"),
        ("date '1969-12-31' + interval '2-2' year to month", "DATE '1972-02-29'"),
        ("interval '-2-2' year to month + date '1969-12-31'", "DATE '1967-10-31'"),
        (
            "timestamp '1969-12-31 15:59:46.674' + interval '2-2' year to month",
            "TIMESTAMP '1972-02-29 15:59:46.674000'",
        ),
        ("date '1969-12-31' - interval '99 11:22:33.5' day to second", "TIMESTAMP '1969-09-22 12:37:26.500000'"),
        ("date '1969-12-31' + interval '99 11:22:33.5' day to second", "TIMESTAMP '1970-04-09 11:22:33.500000'"),
        ("add_months('2015-01-14', 1)", "'2015-02-14'"),
        ("add_months('2015-01-31', 1)", "'2015-02-28'"),
        ("add_months('2015-02-28', 2)", "'2015-04-30'"),
        ("add_months('2015-02-28', 12)", "'2016-02-29'"),
    ],
)
def test_hive_moves_dates_as_its_own_tests_say(text: str, value: str) -> None:
    """The moves of Hive's ``interval_arithmetic.q`` and the examples of HIVE-9357."""
    for engine in ("hive", "hive3", "hive4"):
        constant = constant_in(text, engine)
        assert constant is not None
        assert str(ex.Literal(constant.interval.lo, constant.type)) == value


def test_months_before_1583_are_left_open_in_hive() -> None:
    """Hive 3.1.3 says 1582-12-01."""
    for engine in ("hive", "hive3", "hive4"):
        assert constant_in("add_months('1582-12-31', -1)", engine) is None
        assert constant_in("add_months('1583-02-28', -1)", engine) is not None


def test_a_date_of_hive_2_is_moved_in_utc_only() -> None:
    text = "date '2020-03-31' + interval '1' month"
    assert constant_in(text, "hive", "Europe/Berlin") is None
    assert constant_in(text, "hive4", "Europe/Berlin") is not None


def test_the_reason_names_the_constant_and_what_to_write() -> None:
    [leaf] = bind(
        parse("d < make_date(2021, 2, 29)", "spark"), Schema((Field("d", DATE),)), Semantics.named("spark")
    ).leaves
    assert leaf.reason is not None
    assert "make_date(2021, 2, 29)" in leaf.reason
    assert "write its value as a literal" in leaf.reason


# -- the reference

_DAYS = st.integers(-70_000, 60_000)
_SPANS = st.one_of(
    st.builds(TimeSpan, st.just("months"), st.integers(-60, 60)),
    st.builds(TimeSpan, st.just("days"), st.integers(-999, 999)),
    st.builds(TimeSpan, st.just("micros"), st.integers(-(10**13), 10**13)),
).map(lambda span: lit(span, TIME_SPAN))
_DATES = _DAYS.map(lambda day: lit(day, DATE))
_TEXTS = _DAYS.map(lambda day: lit((EPOCH + datetime.timedelta(days=day)).date().isoformat(), STRING))
_CLOCKS = st.integers(-(10**15), 10**15).map(lambda micros: lit(micros, TIMESTAMP))
_NUMBERS = st.integers(-50, 50).map(lambda number: lit(number, INT))


def _calls(name: str, *arguments: st.SearchStrategy[ex.Operand]) -> st.SearchStrategy[ex.Operand]:
    return st.builds(ex.Call, st.just(name), st.tuples(*arguments))


_MOMENTS: st.SearchStrategy[ex.Operand] = st.recursive(
    st.one_of(_DATES, _CLOCKS),
    lambda inner: st.one_of(
        _calls("+", inner, _SPANS),
        _calls("-", inner, _SPANS),
        _calls("+", _SPANS, inner),
        _calls("-", inner, _calls("+", _SPANS, _SPANS)),
        _calls("+", inner, _calls("negative", _SPANS)),
        _calls("+", inner, _NUMBERS),
        _calls("-", inner, _NUMBERS),
        _calls("add_months", st.one_of(inner, _TEXTS), _NUMBERS),
        _calls("date_add", st.one_of(inner, _TEXTS), _NUMBERS),
        _calls("last_day", st.one_of(inner, _TEXTS)),
        _calls("trunc", st.one_of(inner, _TEXTS), st.sampled_from(["MM", "year"]).map(lambda unit: lit(unit, STRING))),
        _calls(
            "make_date",
            st.integers(1600, 2400).map(lambda y: lit(y, INT)),
            *[st.integers(1, 12).map(lambda n: lit(n, INT))] * 2,
        ),
    ),
    max_leaves=5,
)
_VALUES = st.one_of(
    _MOMENTS,
    _calls("year", st.one_of(_MOMENTS, _TEXTS)),
    _calls("datediff", *[st.one_of(_DATES, _TEXTS)] * 2),
    _calls("pow", _NUMBERS, st.integers(0, 12).map(lambda n: lit(n, INT))),
    _calls("div", _NUMBERS, _NUMBERS.filter(lambda n: n.value != 0)),
    st.builds(ex.Call, st.sampled_from(["lower", "upper"]), st.text(max_size=5).map(lambda t: (lit(t, STRING),))),
    _calls(
        "round",
        st.integers(-99_999, 99_999).map(lambda n: lit(n / 1000, DOUBLE)),
        st.integers(0, 2).map(lambda n: lit(n, INT)),
    ),
)


@pytest.mark.parametrize("engine", ENGINES)
@given(operand=_VALUES)
def test_a_computed_constant_is_what_the_reference_computes(engine: str, operand: ex.Operand) -> None:
    semantics = Semantics.named(engine, "UTC")
    constant = constant_of(operand, semantics)
    if constant is None:
        return
    equal: ex.HudiExpression = ex.Compare("<=>", operand, ex.Literal(constant.interval.lo, constant.type))
    if constant.is_range:
        ends = ((">=", constant.interval.lo), ("<=", constant.interval.hi))
        equal = ex.And(tuple(ex.Compare(op, operand, ex.Literal(end, constant.type)) for op, end in ends))
    try:
        is_equal = value_of(equal, {}, NOTHING, semantics)
    except UnsupportedError:  # it has no row form
        return
    assert is_equal is True


@pytest.mark.parametrize("engine", ["hive3", "hive4", "spark", "spark-ansi"])
@given(day=_DAYS, span=_SPANS.filter(lambda span: span.value.unit != "micros"), minus=st.booleans())
def test_a_date_moved_by_months_or_days_is_always_decided(engine: str, day: int, span: ex.Literal, minus: bool) -> None:
    moved = ex.Call("-" if minus else "+", (lit(day, DATE), span))
    semantics = Semantics.named(engine, "UTC")
    constant = constant_of(moved, semantics)
    assert constant is not None
    literal = ex.Literal(constant.interval.lo, constant.type)
    assert value_of(ex.Compare("=", moved, literal), {}, NOTHING, semantics) is True


_SPELLED = [
    ("d < date '1994-01-01' + interval '1' year", "d < date '1995-01-01'"),
    ("d >= date '1998-12-01' - interval '90' day", "d >= date '1998-09-02'"),
    ("d < date '1995-09-01' + interval '1' month", "d < date '1995-10-01'"),
    ("d < add_months('1993-07-01', 3)", "d < date '1993-10-01'"),
    ("d in (date_sub('1994-01-03', 1), last_day('1994-02-03'))", "d in (date '1994-01-02', date '1994-02-28')"),
    (
        "d between to_date('1994-01-01') and date '1994-01-01' + interval '1-1' year to month",
        "d between date '1994-01-01' and date '1995-02-01'",
    ),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("text", "with_literals"), _SPELLED)
def test_a_filter_skips_what_the_same_filter_with_literals_skips(engine: str, text: str, with_literals: str) -> None:
    semantics = Semantics.named(engine, "UTC")
    files = [{"d": stats(DATE, first, first + 8)} for first in range(8_401, 10_600, 9)]
    outcomes = [
        [outcome_of(condition, file, semantics) for file in files]
        for condition in (parse(one, engine) for one in (text, with_literals))  # type: ignore[arg-type]
    ]
    assert outcomes[0] == outcomes[1]
    assert len(set(outcomes[0])) > 1
