"""Which texts have a given lower or upper case: ranges that hold all of them, in any locale."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.binding.leaves import IntervalSets
from evaluator.functions.letter_case import INITCAP, LOWER, UPPER, LetterCase
from evaluator.language import outcome
from evaluator.language.schema import Field, Schema
from evaluator.language.types import BOOLEAN, DATE, INT, STRING, Kind, Type
from handler.sql.parsing import parse
from tests.evaluator.short_forms import HIVE, SPARK, outcome_of, stats

LETTERS = "aAbBchCHiIjJkKsStT ~09\u00df\u0130\u0131\u017f\u01f0\u0307\u212a\u1e96\ufb00\ufb06\u00cc\U0001d11e"
TEXTS = st.text(st.sampled_from(LETTERS), max_size=6)


def in_turkish(text: str, *, upper: bool) -> str:
    if upper:
        return text.replace("i", "\u0130").upper()
    return text.replace("I\u0307", "i").replace("I", "\u0131").replace("\u0130", "i").lower()


def in_lithuanian(text: str, *, upper: bool) -> str:
    for soft in "ijIJ":
        text = text.replace(soft + "\u0307", soft) if upper else text
    return text.upper() if upper else text.lower()


@pytest.mark.parametrize(("letters", "upper"), [(LOWER, False), (UPPER, True)], ids=["lower", "upper"])
@given(text=TEXTS, length=st.integers(0, 6))
def test_the_sources_of_an_image_hold_every_text_that_has_it(
    letters: LetterCase, upper: bool, text: str, length: int
) -> None:
    images = [text.upper() if upper else text.lower(), *(f(text, upper=upper) for f in (in_turkish, in_lithuanian))]
    for image in images:
        ranges = letters.sources(image[:length])
        assert any(lo <= text < hi for lo, hi in ranges)


@given(text=TEXTS, length=st.integers(0, 6))
def test_the_sources_of_a_capitalised_text_hold_every_text_that_has_it(text: str, length: int) -> None:
    for small in (text.lower(), *(f(text, upper=False) for f in (in_turkish, in_lithuanian))):
        for large in (
            str.title,
            lambda one: in_turkish(one, upper=True),
            lambda one: in_lithuanian(one, upper=True),
            lambda one: one,  # Hive leaves a letter as it is whose large form is two
        ):
            image = re.sub("(^| ).\u0307?", lambda found, large=large: large(found[0]), small)
            assert any(lo <= text < hi for lo, hi in INITCAP.sources(image[:length]))


def test_a_dot_that_turkish_drops_is_in_the_sources() -> None:
    """It was not: such a text was taken for one that no text in small letters comes from."""
    assert in_turkish("I\u0307x", upper=False) == "ix"
    assert any(lo <= "I\u0307x" < hi for lo, hi in LOWER.sources("ix"))


def test_the_sources_of_a_plain_text_are_its_forms() -> None:
    assert sorted(UPPER.sources("CZ")) == [("CZ", "C["), ("Cz", "C{"), ("cZ", "c["), ("cz", "c{")]
    assert ("S\u0131", "S\u0132") in UPPER.sources("SI")  # a dotless i
    assert sorted(LOWER.sources("1b")) == [("1B", "1C"), ("1b", "1c")]
    assert LOWER.sources("B") == []
    assert sorted(INITCAP.sources("Bc")) == [("BC", "BD"), ("Bc", "Bd"), ("bC", "bD"), ("bc", "bd")]
    assert len(LOWER.sources("abcdefghijkl")) <= 24


#: Condition, bounds of the text, outcome.
CASES = [
    ("upper(s) = 'CHERRY'", "apple", "banana", "F"),
    ("upper(s) = 'CHERRY'", "Banana", "banana", "TF"),
    ("upper(s) = 'CHERRY'", "Cherry", "Cherry", "T"),
    ("lower(s) = 'cherry'", "Date", "Zebra", "F"),
    ("lower(s) IN ('cherry', 'fig')", "Date", "Elder", "F"),
    ("lower(s) IN ('cherry', 'fig')", "Date", "Fig", "TF"),
    ("upper(s) LIKE 'CH%'", "Date", "banana", "F"),
    ("upper(s) LIKE 'CH%'", "Date", "cherry", "TF"),
    ("lower(s) = 'Cherry'", "A", "z", "F"),
    ("initcap(s) = 'Cherry Pie'", "date", "zebra", "F"),
    ("initcap(s) = 'Cherry Pie'", "Banana", "Cz", "TF"),
    ("initcap(s) = 'Cherry Pie'", "cherry pie", "cherry pie", "TF"),
    ("initcap(s) IN ('Cherry', 'Fig')", "Date", "Elder", "F"),
    ("initcap(s) LIKE 'Ch%'", "Date", "banana", "F"),
    ("NOT (upper(s) = 'CHERRY')", "apple", "banana", "T"),
    ("upper(s) = 'CHERRY' IS NULL", "apple", "banana", "F"),
]


@pytest.mark.parametrize("semantics", [SPARK, HIVE], ids=["spark", "hive"])
@pytest.mark.parametrize(("condition", "lo", "hi", "expected"), CASES)
def test_a_condition_on_the_case_of_a_text(condition, lo, hi, expected, semantics) -> None:
    assert outcome_of(parse(condition, "spark"), {"s": stats(STRING, lo, hi)}, semantics) == expected


def test_nulls_stay_null_and_a_null_in_a_list_hides_false() -> None:
    known = {"s": stats(STRING, "apple", "banana", nulls=3), "i": stats(INT, 1, 2)}
    assert outcome_of(parse("upper(s) = 'CHERRY'", "spark"), known) == "FN"
    assert outcome_of(parse("upper(s) <=> 'CHERRY'", "spark"), known) == "F"
    assert outcome_of(parse("upper(s) IN ('CHERRY', NULL)", "spark"), known) == "N"


def pieces(condition: str, of=STRING):
    """The ranges in which the implied condition is TRUE, and those beside them; None without such a condition."""
    bound = bind(parse(condition, "spark"), Schema([Field("s", of)]), SPARK)
    found = [leaf.test for leaf in bound.leaves if isinstance(leaf.test, IntervalSets)]
    if not found:
        return None
    [test] = found
    assert (test.operand.field.name, test.of_null, test.null) == ("s", outcome.NULL, ())
    ends = [
        [(one.lo and one.lo.value, one.hi and one.hi.value, one.lo_open, one.hi_open) for one in some]
        for some in (test.true, test.false)
    ]
    return tuple(ends)


def test_the_implied_condition_is_on_ranges_of_the_column() -> None:
    """From the first text on, and below the second one; the rest of all texts beside them."""
    assert pieces("lower(s) = 'b'") == (
        [("B", "C", False, True), ("b", "c", False, True)],
        [(None, "B", False, True), ("C", "b", False, True), ("c", None, False, True)],
    )
    assert pieces("lower(s) IN ('b', 'c')")[1] == [
        (None, "B", False, True),
        ("D", "b", False, True),
        ("d", None, False, True),
    ]


@pytest.mark.parametrize(
    "condition",
    [
        "lower(s) IN ('a', 'b', 'c', 'd', 'e')",  # too many
        "lower(s) IN ('a', NULL)",
        "lower(s) = ''",
        "lower(s) <> 'b'",
        "lower(s) > 'b'",
        "length(s) = 3",
        "trim(s) = 'b'",
        "lower(trim(s)) = 'b'",
        "s = 'b'",
    ],
)
def test_nothing_is_implied_by_other_conditions(condition: str) -> None:
    assert pieces(condition) is None


def test_four_members_imply_ranges_and_char_columns_none() -> None:
    assert pieces("lower(s) IN ('a', 'b', 'c', 'd')") is not None
    assert pieces("lower(s) = 'b'", Type(Kind.VARCHAR, 5)) is not None


@pytest.mark.parametrize("of", [Type(Kind.CHAR, 5), INT, DATE, BOOLEAN], ids=str)
@pytest.mark.parametrize("text", ["s", "cast(s as string)"])
def test_columns_of_other_types_imply_no_ranges_of_texts(of: Type, text: str) -> None:
    bound = bind(parse(f"lower({text}) = 'b'", "spark"), Schema([Field("s", of)]), SPARK)
    assert not [leaf for leaf in bound.leaves if isinstance(leaf.test, IntervalSets) and len(leaf.test.true) > 1]
