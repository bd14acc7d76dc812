"""Functions that are known of single values: of a slice with one value they make what they make of a constant."""

from __future__ import annotations

import re

import pytest

from evaluator.functions.single_values import RESULTS
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, DOUBLE, INT, STRING, Type
from handler.sql.parsing import parse
from tests.evaluator.short_forms import HIVE, SPARK, outcome_of, reasons_of, stats

DAY = 18_322  # 2020-03-01, a Sunday
VARCHAR = Type(STRING.kind.VARCHAR, 20)
#: Condition on x, the type of x, its value, and another one that is not less.
CASES = [
    ("lpad(x, 2, '0') = '03'", STRING, "3", "4"),
    ("lpad(x, 2, '0') = '03'", INT, 3, 4),
    ("rpad(x, 3, '-') > '3'", STRING, "3", "4"),
    ("concat('2020-', lpad(x, 2, '0')) >= '2020-03'", INT, 3, 4),
    ("concat(x, '-01') = '2020-01'", INT, 2020, 2021),
    ("concat_ws('-', x, '03', '01') = '2020-03-01'", STRING, "2020", "2021"),
    ("cast(concat_ws('-', x, '03', '01') as date) = date'2020-03-01'", STRING, "2020", "2021"),
    ("instr(x, 'c') = 3", STRING, "abc", "abd"),
    ("locate('c', x) > 3", STRING, "abc", "abd"),
    ("locate('c', x, 2) = 3", STRING, "abc", "abd"),
    ("replace(x, '-', '') = '20200301'", STRING, "2020-03-01", "2020-03-02"),
    ("translate(x, '-', '/') < '2020/03'", STRING, "2020-03-01", "2020-03-02"),
    ("regexp_replace(x, '[0-9]', '') = '--'", STRING, "2020-03-01", "2020-03-02"),
    ("reverse(x) = 'cba'", STRING, "abc", "abd"),
    ("right(x, 2) = '01'", STRING, "2020-03-01", "2020-03-02"),
    ("trim('-' FROM x) = 'abc'", STRING, "-abc-", "-abd-"),
    ("substring_index(x, '-', 2) = '2020-03'", STRING, "2020-03-01", "2020-03-02"),
    ("split_part(x, '-', 2) = '03'", STRING, "2020-03-01", "2020-03-02"),
    ("octet_length(x) = 4", STRING, "ab\u00e9", "ac"),
    ("bit_length(x) = 24", STRING, "abc", "abd"),
    ("to_date(x, 'yyyyMMdd') = date'2020-03-01'", STRING, "20200301", "20200302"),
    ("to_date(x) >= date'2020-03-01'", STRING, "2020-03-01", "2020-03-02"),
    ("to_timestamp(x, 'yyyyMMddHH') < timestamp'2020-03-01 05:00:00'", STRING, "2020030104", "2020030105"),
    ("make_date(x, 3, 1) = date'2020-03-01'", INT, 2020, 2021),
    ("next_day(x, 'MON') = date'2020-03-02'", STRING, "2020-03-01", "2020-03-02"),
    ("dayofweek_iso(x) = 7", DATE, DAY, DAY + 1),
    ("unix_timestamp(x, 'yyyyMMdd') > 1583020799L", STRING, "20200301", "20200302"),
    ("to_unix_timestamp(x) > 1583020799L", STRING, "2020-03-01 00:00:00", "2020-03-01 00:00:01"),
]


def literal(value: object, of: Type) -> str:
    return f"DATE'2020-03-0{value - DAY + 1}'" if of == DATE else repr(value)


@pytest.mark.parametrize(("condition", "of", "value", "other"), CASES, ids=lambda one: str(one))
def test_a_slice_with_one_value_is_decided_as_a_constant(
    condition: str, of: Type, value: object, other: object
) -> None:
    constant = re.sub(r"\bx\b", literal(value, of), condition)
    expected = outcome_of(parse(constant, "spark"), {"i": stats(INT, 1, 1)})
    assert expected in ("T", "F"), constant
    for kind in {of, VARCHAR} if of == STRING else {of}:
        assert outcome_of(parse(condition, "spark"), {"x": stats(kind, value, value)}) == expected
        assert expected in outcome_of(parse(condition, "spark"), {"x": stats(kind, value, other)})
        assert outcome_of(parse(condition, "spark"), {"x": stats(kind, value, value)}, HIVE) in (expected, "TFN")


@pytest.mark.parametrize(("condition", "of", "value", "other"), CASES, ids=lambda one: str(one))
def test_null_gives_null_but_where_nulls_are_skipped(condition: str, of: Type, value: object, other: object) -> None:
    del other
    expression = parse(condition, "spark")
    one, none = (outcome_of(expression, {"x": stats(of, *ends)}) for ends in ((value, value, 3), (None, None, 10)))
    if "concat_ws" in condition:
        assert (one, none) == ("TFN", "TFN")
    else:
        assert (one in ("TN", "FN"), none) == (True, "N")


#: Condition on x, its value, and what it is in Hive, whose classes were asked.
HIVE_CASES = [
    ("reverse(x) = 'cba'", "abc", "T"),
    ("reverse(x) = 'b\U0001f600a'", "a\U0001f600b", "T"),
    ("replace(x, '.', '$1') = 'a$1b'", "a.b", "T"),
    ("replace(x, '', '-') = 'abc'", "abc", "TFN"),
    ("translate(x, 'ab', 'x') = 'xcxc'", "abcabc", "T"),
    ("lpad(x, 5, 'xy') = 'xyabc'", "abc", "T"),
    ("rpad(x, 2, 'xy') = 'ab'", "abc", "T"),
    ("lpad(x, 5, '') = 'abc'", "abc", "TFN"),
    ("lpad(x, -1, 'x') = ''", "abc", "TFN"),
    ("lpad(x, 3) = ' ab'", "ab", "TFN"),
    ("regexp_replace(x, '[0-9]+', '-') = 'a-b-'", "a1b22", "T"),
    ("substring_index(x, '.', -2) = 'b.c'", "a.b.c", "T"),
    ("instr(x, 'b') = 2", "abcb", "T"),
    ("instr(x, 'a') = 1", "", "F"),
    ("locate('b', x, 3) = 4", "abcb", "T"),
    ("octet_length(x) = 2", "\u00e9", "T"),
    ("concat_ws('-', x, 'b') = 'a-b'", "a", "T"),
    ("right(x, 1) = 'c'", "abc", "TFN"),
    ("split_part(x, '-', 1) = 'a'", "a-b", "TFN"),
    ("btrim(x) = 'a'", " a ", "TFN"),
    ("to_date(x, 'yyyyMMdd') = date'2020-03-01'", "20200301", "TFN"),
]


@pytest.mark.parametrize(("condition", "value", "expected"), HIVE_CASES, ids=lambda one: str(one))
@pytest.mark.parametrize("engine", ["hive", "hive3", "hive4"])
def test_functions_of_one_text_that_hive_has_too(condition: str, value: str, expected: str, engine: str) -> None:
    hive = Semantics.named(engine, "UTC")
    assert outcome_of(parse(condition, "hive"), {"x": stats(STRING, value, value)}, hive) == expected
    several = outcome_of(parse(condition, "hive"), {"x": stats(STRING, value, value + "z")}, hive)
    assert several == "TFN" if expected == "TFN" else expected in several


def test_a_number_is_no_text_of_these_functions_in_hive() -> None:
    assert outcome_of(parse("lpad(x, 2, '0') = '03'", "hive"), {"x": stats(INT, 3, 3)}, HIVE) == "TFN"


def test_each_function_is_tried() -> None:
    names = {name for name in RESULTS if any(f"{name}(" in condition for condition, *_ in CASES)}
    assert set(RESULTS) - names == {"ltrim", "rtrim", "btrim"}  # as trim with characters


def test_a_wrong_number_or_type_of_arguments_is_a_reason() -> None:
    assert reasons_of(parse("lpad(x) = 'a'", "spark"), [("x", STRING)], SPARK)
    assert reasons_of(parse("lpad(x, 2, '0', 'b') = 'a'", "spark"), [("x", STRING)], SPARK)
    assert reasons_of(parse("instr(x, 'a') = 1", "spark"), [("x", DOUBLE)], SPARK)
    assert reasons_of(parse("split_part(x, 'a', 1) = 'b'", "spark"), [("x", STRING)], HIVE)


def test_several_columns_of_one_value_each() -> None:
    known = {"y": stats(INT, 2020, 2020), "m": stats(INT, 3, 3), "d": stats(INT, 1, 1)}
    condition = "concat(y, '-', lpad(m, 2, '0'), '-', lpad(d, 2, '0')) {} '2020-03-01'"
    assert [outcome_of(parse(condition.format(op), "spark"), known) for op in ("=", "<", ">=")] == ["T", "F", "T"]
    assert outcome_of(parse("make_date(y, m, d) > date'2020-03-01'", "spark"), known) == "F"
    known["d"] = stats(INT, 1, 2)
    assert [outcome_of(parse(condition.format(op), "spark"), known) for op in ("=", ">=", "<")] == ["TF", "T", "F"]
