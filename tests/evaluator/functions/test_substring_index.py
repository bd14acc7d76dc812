"""``split(s, '-')[0]`` and ``substring_index(s, '-', 1)``: what stands before the first separator."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.functions import FUNCTIONS
from evaluator.functions.base import Argument
from evaluator.language.expression import to_text
from evaluator.language.interval import Interval, point
from evaluator.language.regular_expression import plain_text
from evaluator.language.types import INT, STRING
from handler.sql.parsing import parse
from tests.evaluator.short_forms import HIVE, SPARK, outcome_of, stats
from tests.sampling import examples

TEXTS = "ab-~"


def before(lo: str | None, hi: str | None, separator: str) -> Interval:
    arguments = [Argument(STRING, Interval(lo, hi, False, True)), *(Argument(*one) for one in given_by(separator))]
    return FUNCTIONS["substring_index"].compute(arguments, STRING, SPARK)


def given_by(separator: str) -> list[tuple[object, Interval]]:
    return [(STRING, point(separator)), (INT, point(1))]  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("lo", "hi", "separator", "least", "greatest"),
    [
        ("2020-01-05", "2020-01-05", "-", "2020", "2020"),
        ("2020-01-05", "2020-03-01", "-", "2020", "2020-03-01"),
        ("eu_1", "eu_9", "_", "eu", "eu_9"),
        ("eu|1", "us|9", "|", "e", "us|9"),  # 'e|x' lies between them
        ("eu|1", "eu|9", "|", "eu", "eu|9"),
        ("ab", "ab", "-", "ab", "ab"),
        (None, "b", "-", None, "b"),
        ("a", None, "-", "a", None),
    ],
)
def test_it_is_a_prefix_of_a_text_of_the_range(lo, hi, separator, least, greatest) -> None:
    got = before(lo, hi, separator)
    assert (got.lo, got.hi) == (least, greatest)


@settings(max_examples=examples(195, at_night=10_000))
@given(
    st.text(TEXTS, max_size=5),
    st.text(TEXTS, max_size=5),
    st.text(TEXTS, max_size=5),
    st.text(TEXTS, min_size=1, max_size=2),
)
def test_the_range_holds_the_part_of_every_text_between(one: str, other: str, third: str, separator: str) -> None:
    lo, text, hi = sorted((one, other, third))
    got = before(lo, hi, separator)
    part = text.partition(separator)[0]
    assert got.lo is None or got.lo <= part
    assert got.hi is None or part <= got.hi


@pytest.mark.parametrize("semantics", [SPARK, HIVE], ids=["spark", "hive"])
@pytest.mark.parametrize(
    ("text", "ends", "expected"),
    [
        ("split(s, '_')[0] = 'us'", ("eu_1", "eu_9"), "F"),
        ("split(s, '_')[0] = 'eu'", ("eu_1", "eu_9"), "TF"),
        ("split(s, '_')[0] = 'eu'", ("eu_1", "eu_1"), "T"),
        ("split(s, '\\\\|')[0] = 'us'", ("eu|1", "eu|9"), "F"),
        ("split(s, '[.]')[0] < 'b'", ("c.1", "d.1"), "F"),
        ("substring_index(s, '-', 1) >= '2021'", ("2020-01-01", "2020-12-31"), "F"),
        ("split(s, '_')[1] = 'us'", ("eu_1", "eu_9"), "TFN"),
        ("split(s, '.')[0] = 'us'", ("eu_1", "eu_9"), "TFN"),
        ("split(s, '_', 2)[0] = 'us'", ("eu_1", "eu_9"), "TFN"),
        ("s[0] = 'us'", ("eu_1", "eu_9"), "TFN"),
    ],
)
def test_the_first_item_of_a_split_text(text, ends, expected, semantics) -> None:
    assert outcome_of(parse(text, semantics.engine), {"s": stats(STRING, *ends)}, semantics) == expected


def test_element_at_counts_from_one() -> None:
    assert to_text(parse("element_at(split(s, '-'), 1) = 'a'", "spark")) == "substring_index(s, '-', 1) = 'a'"
    assert "substring_index" not in to_text(parse("element_at(split(s, '-'), 2) = 'a'", "spark"))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("-", "-"), ("\\|", "|"), ("[|]", "|"), ("::", "::"), ("\\.", "."), ("\\\\", "\\"), ("a b", "a b")],
)
def test_patterns_of_one_text(pattern: str, text: str) -> None:
    assert plain_text(pattern) == text


@pytest.mark.parametrize("pattern", ["", ".", "|", "a+", "[ab]", "\\d", "(a)", "^a", "[^a]", "\\s", "a|b", "é"])
def test_other_patterns(pattern: str) -> None:
    assert plain_text(pattern) is None
