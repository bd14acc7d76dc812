"""LIKE patterns: prefix, form and match (P5).

Pitfall P5 is described in docs/facts/pitfalls.md#p5.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.language.errors import UnsupportedError
from evaluator.language.like import Form, parse_like


@pytest.mark.parametrize(
    ("pattern", "prefix", "form"),
    [
        ("abc", "abc", Form.EQUALS),
        ("", "", Form.EQUALS),
        ("50\\%", "50%", Form.EQUALS),
        ("a\\\\b", "a\\b", Form.EQUALS),
        ("abc%", "abc", Form.STARTS),
        ("a%%", "a", Form.STARTS),
        ("%", "", Form.STARTS),
        ("a\\_b%", "a_b", Form.STARTS),
        ("ab_", "ab", Form.LONGER),
        ("a%z", "a", Form.LONGER),
        ("_", "", Form.LONGER),
        ("%z", "", Form.LONGER),
    ],
)
def test_the_prefix_ends_at_the_first_wildcard(pattern: str, prefix: str, form: Form) -> None:
    parsed = parse_like(pattern, "\\")
    assert (parsed.prefix, parsed.form) == (prefix, form)


@pytest.mark.parametrize("pattern", ["a\\", "a\\b"])
def test_an_escape_before_an_ordinary_character_is_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedError):
        parse_like(pattern, "\\")


@given(st.text("ab%_", max_size=6), st.text("ab\n\U0001f600", max_size=8))
def test_a_text_matches_as_the_regular_expression_says(pattern: str, text: str) -> None:
    regex = "".join({"%": ".*", "_": "."}.get(char, re.escape(char)) for char in pattern)
    assert parse_like(pattern, "\\").matches(text) is (re.fullmatch(regex, text, re.DOTALL) is not None)


def test_a_hostile_pattern_is_not_searched_for_long() -> None:
    assert parse_like("%a" * 50_000, "\\").matches("a" * 50_000) is None
    assert parse_like("%a" * 400, "\\").matches("b" * 1_000) is False


def test_a_run_of_percent_signs_costs_no_more_than_one() -> None:
    pattern = parse_like("%" * 900_000 + "z", "\\")
    assert pattern == parse_like("%z", "\\")
    assert pattern.matches("a" * 1_000) is False
    assert parse_like("\\%%%\\%", "\\").matches("% and %") is True
