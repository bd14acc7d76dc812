"""A function is decided for the counts of arguments that it has in every engine, and for no other."""

from __future__ import annotations

import pytest

from evaluator.functions import FUNCTIONS
from evaluator.functions.argument_counts import ARGUMENT_COUNTS
from evaluator.language.function_names import SYNONYMS
from evaluator.language.types import DATE, DOUBLE, INT, STRING
from handler.sql import parse
from tests.evaluator.short_forms import HIVE, SPARK, outcome_of, stats
from tests.prove.signatures import SIGNATURES

KNOWN = {
    "d": stats(DOUBLE, 3.55, 3.55),
    "i": stats(INT, 8, 8),
    "s": stats(STRING, "ab", "ab"),
    "dt": stats(DATE, 18_266, 18_266),  # 2020-01-05
}


def test_every_function_has_counts() -> None:
    assert set(ARGUMENT_COUNTS) == {SYNONYMS.get(name, name) for name in FUNCTIONS}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_counts_are_those_that_the_property_tests_draw(name: str) -> None:
    least, greatest = ARGUMENT_COUNTS[SYNONYMS.get(name, name)]
    drawn = SIGNATURES[name]
    required = sum(not kind.endswith(("?", "*")) for kind in drawn)
    assert least <= required
    assert greatest is None or len(drawn) <= greatest


def test_add_months_with_a_pattern_is_a_text_in_hive_and_loses_no_row() -> None:
    """2020-01-05 and a month is 2020-02-05, which this pattern writes as 2020-05-02: the row matches."""
    condition = parse("add_months(dt, 1, 'yyyy-dd-MM') = '2020-05-02'", "hive")
    assert outcome_of(condition, KNOWN, HIVE) == "TFN"


@pytest.mark.parametrize(
    "text",
    [
        "lower(s, 'x') = 'zz'",
        "length(s, 1) = 3",
        "abs(i, i) = 9",
        "positive(i, d) = 9",
        "last_day(dt, i) = dt",
        "left(s, 1, 1) = 'z'",
        "substr(s) = 'z'",
        "date_format(dt, 'yyyy', 1) = '2021'",
        "pmod(i, 3, 3) = 1",
        "round(d, 1, 1) = 9",
        "floor(d, 1) = 3.5",
        "log(2, i) = 3",
        "least() = 1",
    ],
)
@pytest.mark.parametrize("semantics", [HIVE, SPARK], ids=["hive", "spark"])
def test_a_call_with_another_count_is_not_decided(text: str, semantics: object) -> None:
    assert outcome_of(parse(text, "spark"), KNOWN, semantics) == "TFN"
