"""A text that is read as a number begins like one: what the texts of a slice begin with decides ``s = 94105``."""

from __future__ import annotations

import json
import lzma
import random
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.language import expression as ex
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DATE, DOUBLE, FLOAT, INT, STRING, Type, decimal_type
from handler.sql.parsing import parse
from tests.evaluator.short_forms import col, lit, outcome_of, stats
from tests.sampling import examples, share

#: Of real Hive, by ``python -m tests.hive.grids number_texts``.
ANSWERS = Path(__file__).parents[2] / "handler" / "data" / "hive_number_texts.json.xz"
DECIDED = ("spark-legacy", "spark-try", "hive3", "hive4")

TABLE = [
    ("s = 94105", "10001", "19999", False),
    ("s = 94105", "94106", "94999", False),
    ("s = 94105", "94000", "94104", True),  # 94104.99999999999999 is 94105.0 as a double
    ("CAST(s AS INT) = 94105", "941", "94104", True),  # 941.05e2 lies between them
    ("CAST(s AS INT) = 94105", "94100", "94104", False),
    ("CAST(s AS INT) = 94105", "942", "949", False),
    ("CAST(s AS INT) = 500", "501", "59", True),  # 50e1
    ("CAST(s AS INT) = 500", "51", "59", False),
    ("CAST(s AS INT) = 501", "502", "59", False),
    ("s = 94105", "94106", "95", False),
    ("s = 94105", "942", "943", False),
    ("s = 94105", "95", "99", False),
    ("s = 94105", "94105", "941059", True),
    ("s = 94105", "9", "91", True),  # 9.4105e4
    ("s = 94105", "0", "09", True),
    ("s = 94105", " ", "!", True),
    ("s = 94105", "+", "-", True),
    ("s = 94105", "a", "c", False),
    ("s = 94105", "é", "z\u0660", True),
    ("s = -5", "1", "9", False),
    ("s = -5", "-9", "-1", True),
    ("s = 0", "1", "9", True),  # 1e-999
    ("CAST(s AS DOUBLE) = 10.0D", "2", "8", False),
    ("CAST(s AS DOUBLE) = 10.0D", "9", "99", True),
    ("CAST(s AS DECIMAL(4, 1)) = 7.5", "8", "9", False),
    ("CAST(s AS DECIMAL(4, 1)) = 7.5", "73", "74", True),
    ("CAST(s AS DECIMAL(4, 1)) = 7.5", "1", "6", False),
    ("CAST(s AS INT) IN (94105, 7)", "71", "79", True),  # 7.1
    ("CAST(s AS INT) IN (94105, 71)", "72", "79", False),
    ("CAST(s AS INT) IN (94105, 71)", "94106", "95", False),
    ("CAST(s AS INT) IN (94105, 71)", "71", "9", True),
    ("CAST(s AS INT) IN (94105, -71)", "-9", "-1", True),
    ("CAST(s AS INT) IN (94105, -71)", "6", "8", False),
    ("CAST(s AS INT) IN (94105, 0)", "6", "8", True),
    ("CAST(s AS BIGINT) IN (20260501, 20260502)", "20260503", "20260531", False),
]


@pytest.mark.parametrize("engine", DECIDED)
@pytest.mark.parametrize(("text", "lo", "hi", "may_be"), TABLE, ids=str)
def test_the_beginnings_of_texts_decide_an_equality(text: str, lo: str, hi: str, may_be: bool, engine: str) -> None:
    lo, hi = sorted((lo, hi))
    got = outcome_of(parse(text, engine), {"s": stats(STRING, lo, hi)}, Semantics.named(engine, "UTC"))  # type: ignore[arg-type]
    assert ("T" in got) == may_be
    negated = parse(f"NOT ({text})", engine)  # type: ignore[arg-type]
    assert "N" in outcome_of(negated, {"s": stats(STRING, lo, hi)}, Semantics.named(engine, "UTC"))


@pytest.mark.parametrize("engine", ["spark", "spark-ansi", "hive"])
def test_where_a_bad_text_may_be_an_error_nothing_is_decided(engine: str) -> None:
    expression = parse("CAST(s AS INT) = 94105", engine)  # type: ignore[arg-type]
    assert outcome_of(expression, {"s": stats(STRING, "a", "c")}, Semantics.named(engine, "UTC")) == "TFN"


def test_other_tests_are_left_alone() -> None:
    legacy = Semantics.named("spark-legacy", "UTC")
    for text in ("CAST(s AS INT) > 5", "CAST(s AS INT) != 5", "CAST(s AS DATE) = DATE '2020-01-01'"):
        assert "F" in outcome_of(parse(text, "spark-legacy"), {"s": stats(STRING, "6", "9")}, legacy)
    assert "T" in outcome_of(parse("CAST(d AS INT) = 5", "spark-legacy"), {"d": stats(DATE, 1, 9)}, legacy)


def spellings(number: Decimal) -> st.SearchStrategy[str]:
    """Texts that an engine may read as a number: with an exponent, blanks, zeros, a sign, digits that are lost."""
    sign = "-" if number < 0 else ""
    digits = "".join(map(str, abs(number).as_tuple().digits)).lstrip("0") or "0"
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)

    def spelled(shift: int, zeros: int, before: str, after: str) -> str:
        padded = digits + "0" * zeros
        at = max(1, min(len(padded), shift))
        mantissa = padded[:at] + ("." + padded[at:] if at < len(padded) else "")
        power = exponent - zeros + len(padded) - at
        return before + (sign or "") + mantissa + (f"e{power}" if power else "") + after

    plain = format(abs(number), "f")
    return st.one_of(
        st.builds(
            spelled,
            st.integers(1, 9),
            st.integers(0, 4),
            st.sampled_from(["", " ", "\t", "\n"]),
            st.sampled_from(["", " ", "d", "f"]),
        ),
        st.sampled_from([sign + plain, sign + "0" + plain, sign + plain + ".0" * ("." not in plain)]),
        st.just(sign + plain + ("" if "." in plain else ".") + "0000000000000000000001"),
    )


def reads(text: str, target: Type) -> object:
    """What the most generous engine reads: blanks, exponents, digits that are cut off or rounded."""
    number = Decimal(text.strip().rstrip("dfDF"))
    if target.kind.is_integer:
        return int(number)
    return float(number)


@settings(max_examples=examples(30, at_night=10_000))
@given(st.data())
def test_no_text_that_is_read_as_the_number_lies_where_it_is_ruled_out(data: st.DataObject) -> None:
    target = data.draw(st.sampled_from([INT, BIGINT, DOUBLE]))
    number = data.draw(
        st.integers(-(10**9), 10**9).map(Decimal)
        if target.kind.is_integer
        else st.builds(lambda n, e: Decimal(n).scaleb(e), st.integers(-(10**6), 10**6), st.integers(-12, 12))
    )
    text = data.draw(spellings(number))
    value = reads(text, target)
    other = data.draw(st.text("0123456789.+-e ab", min_size=0, max_size=6) | st.just(text))
    lo, hi = sorted((text, other))
    others = data.draw(st.lists(st.integers(-(10**6), 10**6).map(lambda n: lit(n, BIGINT)), max_size=30))
    for expression in (
        ex.Compare("=", ex.Cast(col("s"), target), lit(value, target)),
        ex.In(ex.Cast(col("s"), target), (*others, lit(value, target))),
    ):
        for engine in DECIDED:
            assert "T" in outcome_of(expression, {"s": stats(STRING, lo, hi)}, Semantics.named(engine, "UTC"))


@settings(max_examples=examples(30, at_night=10_000))
@given(st.data())
def test_no_text_that_is_read_as_a_number_between_two_lies_where_it_is_ruled_out(data: st.DataObject) -> None:
    target = data.draw(st.sampled_from([INT, BIGINT, DOUBLE]))
    number = data.draw(st.integers(1, 10**9).map(Decimal) if target.kind.is_integer else st.decimals("1e-6", 10**9))
    away = [data.draw(st.sampled_from([0, 1, 2, 9, 90, 5_000, 10**6])) for _ in range(2)]
    text = data.draw(spellings(number))
    value = reads(text, target)
    assert isinstance(value, int | float)
    bounds = [lit(value - away[0], target), lit(value + away[1], target)]
    other = data.draw(st.text("0123456789.+-e ab", min_size=0, max_size=6) | st.just(text))
    lo, hi = sorted((text, other))
    operand = ex.Cast(col("s"), target)
    expression = ex.And((ex.Compare(">=", operand, bounds[0]), ex.Compare("<=", operand, bounds[1])))
    for engine in DECIDED:
        assert "T" in outcome_of(expression, {"s": stats(STRING, lo, hi)}, Semantics.named(engine, "UTC"))


@pytest.mark.parametrize("engine", DECIDED)
@pytest.mark.parametrize(
    ("text", "lo", "hi", "may_be"),
    [
        ("s BETWEEN 940 AND 955", "930", "939", False),
        ("s BETWEEN 940 AND 955", "956", "959", True),  # 95.61e1, where texts are read as doubles
        ("CAST(s AS INT) BETWEEN 940 AND 955", "96", "99", False),
        ("CAST(s AS INT) BETWEEN 940 AND 955", "9500", "9600", True),  # '951' lies between them
        ("CAST(s AS INT) BETWEEN 940 AND 955", "1000", "1200", False),
        ("CAST(s AS INT) BETWEEN 99 AND 101", "98", "99", True),
        ("CAST(s AS INT) BETWEEN 99 AND 101", "2", "89", False),
        ("CAST(s AS INT) > 940 AND i = 1 AND CAST(s AS INT) < 955", "960", "990", False),
        ("CAST(s AS INT) BETWEEN 20260501 AND 20260531", "20260401", "20260430", False),
        ("CAST(s AS INT) BETWEEN -3 AND 5", "6", "9", True),  # 6e-1
        ("CAST(s AS INT) BETWEEN 955 AND 940", "1", "9", True),
        ("CAST(s AS INT) BETWEEN 15 AND 149", "2", "9", True),
        ("CAST(s AS INT) BETWEEN 15 AND 150", "11", "12", True),  # 110 is between them, too
        ("CAST(s AS DOUBLE) BETWEEN 1e-300D AND 1e300D", "2", "9", True),
        ("CAST(s AS DOUBLE) BETWEEN 1.5D AND 1.75D", "2", "9", False),
        ("CAST(s AS DOUBLE) BETWEEN 1.5D AND 1.75D", "1499", "15", True),
        ("CAST(s AS DOUBLE) BETWEEN 1.5D AND 1.75D", "18", "19", False),
        ("NOT (CAST(s AS INT) BETWEEN 940 AND 955)", "960", "990", True),
        ("CAST(s AS INT) >= 940", "8", "9", True),  # 9999
    ],
    ids=str,
)
def test_two_bounds_decide_together(text: str, lo: str, hi: str, may_be: bool, engine: str) -> None:
    known = {"s": stats(STRING, *sorted((lo, hi))), "i": stats(INT, 1, 1, nulls=0)}
    got = outcome_of(parse(text, engine), known, Semantics.named(engine, "UTC"))  # type: ignore[arg-type]
    assert ("T" in got) == may_be or (engine.startswith("hive") and "T" in got)


@pytest.mark.parametrize("engine", ["spark-try", "hive3", "hive4"])
@pytest.mark.parametrize(
    ("lo", "hi", "may_be"),
    [("20260501", "20260501", True), ("20260503", "20260531", False), ("9", "91", False), ("2", "21", True)],
)
def test_a_list_of_numbers_reads_texts(lo: str, hi: str, may_be: bool, engine: str) -> None:
    condition = parse("s IN (20260501, 20260502)", engine)  # type: ignore[arg-type]
    assert ("T" in outcome_of(condition, {"s": stats(STRING, lo, hi)}, Semantics.named(engine, "UTC"))) == may_be


@pytest.mark.parametrize("text", ["5.254", "5.249", "5.25", "5"])
def test_spark_rounds_a_text_beside_decimals_of_a_list(text: str) -> None:
    semantics = Semantics.named("spark-try", "UTC")
    for condition in ("s IN (5, 5.25)", "s IN (5.25, 5)", "s NOT IN (5, 5.25)"):
        got = outcome_of(parse(condition, "spark-try"), {"s": stats(STRING, text, text)}, semantics)
        assert got == "TFN", condition


@pytest.mark.parametrize("target", [FLOAT, DOUBLE, decimal_type(10, 2)])
def test_a_number_that_rounding_reaches_keeps_its_texts(target: Type) -> None:
    legacy = Semantics.named("spark-legacy", "UTC")
    value: object = Decimal("8.00") if target.kind.value == "decimal" else 8.0
    for text in ("8", "7.99999999999999999", "8.00000000000000001", "7999999999999999999e-18", "8e0", "80e-1"):
        expression = ex.Compare("=", ex.Cast(col("s"), target), lit(value, target))
        assert "T" in outcome_of(expression, {"s": stats(STRING, text, text + "~")}, legacy)


@pytest.mark.parametrize(
    ("value", "lo", "hi", "found"),
    [
        ("1e-20", "5", "6", "TFN"),  # zero rounds up to it, in any spelling
        ("44e-20", "5", "6", "FN"),
        ("50e-20", "42", "43", "FN"),  # a unit below is as far as rounding reaches
        ("48e-20", "5", "6", "FN"),  # and a unit above
        ("98765432105e-20", "987654329", "987654329~", "FN"),
        ("98765432105e-20", "9876543210", "9876543211", "TFN"),
        ("48e-38", "483e-39", "483e-39", "TFN"),
        ("48e-38", "477e-39", "477e-39", "TFN"),
    ],
)
def test_decimals_are_rounded_by_less_than_a_unit(value: str, lo: str, hi: str, found: str) -> None:
    legacy = Semantics.named("spark-legacy", "UTC")
    target = decimal_type(38, 38 if value.endswith("38") else 20)
    expression = ex.Compare("=", ex.Cast(col("s"), target), lit(Decimal(value), target))
    assert outcome_of(expression, {"s": stats(STRING, lo, hi)}, legacy) == found


@pytest.mark.parametrize(
    ("target", "value", "text", "found"),
    [
        (BIGINT, 123456789, "123456781", "FN"),
        (BIGINT, 123456789, "12345678", "TFN"),
        (BIGINT, 100000000, "100000001", "FN"),
        (BIGINT, 999999999, "999999991", "FN"),
        # seventeen digits are compared
        (BIGINT, 123456789012345678, "123456789012345671", "TFN"),
        (BIGINT, 123456789012345678, "123456789012345669", "FN"),
        # a float is rounded by less than a millionth, a double by less than a thousandth of that
        (FLOAT, 8.0, "799991", "FN"),
        (FLOAT, 8.0, "7999991", "TFN"),
        (FLOAT, 8.0, "800001", "TFN"),
        (FLOAT, 8.0, "80002", "FN"),
        (DOUBLE, 12345678.015, "123456771", "FN"),
        (DOUBLE, 12345678.007, "123456771", "TFN"),
        # and of very small ones nothing is known
        (FLOAT, 1.5e-30, "5", "FN"),
        (FLOAT, 0.75e-30, "8", "TFN"),
        (DOUBLE, 1.5e-300, "5", "FN"),
        (DOUBLE, 0.75e-300, "8", "TFN"),
    ],
)
def test_how_closely_texts_are_told_apart(target: Type, value: float, text: str, found: str) -> None:
    legacy = Semantics.named("spark-legacy", "UTC")
    expression = ex.Compare("=", ex.Cast(col("s"), target), lit(value, target))
    assert outcome_of(expression, {"s": stats(STRING, text, text + "~")}, legacy) == found


@pytest.mark.parametrize("engine", ["hive3", "hive4"])
def test_what_hive_says_of_a_text_is_possible_in_each_range_with_it(engine: str) -> None:
    answers = json.loads(lzma.decompress(ANSWERS.read_bytes()))[engine]
    texts, rng = answers.pop("texts"), random.Random(engine)
    semantics, by_way = Semantics.named(engine, "UTC"), list(answers.values())
    skipped = 0
    asked = share(by_way[0], 5)
    for question in asked:
        condition = parse(question, engine)  # type: ignore[arg-type]
        for place, text in enumerate(texts):
            found = {letters[question][place] for letters in by_way}
            lo, hi = max(0, place - rng.choice([0, 0, 1, 3, 9])), min(len(texts) - 1, place + rng.choice([0, 0, 1, 9]))
            got = outcome_of(condition, {"s": stats(STRING, texts[lo], texts[hi])}, semantics)
            assert found <= set(got), (question, text, texts[lo], texts[hi])
            skipped += "T" not in got
    assert skipped > len(asked) * len(texts) / 10
