"""The LIKE condition of a regular expression that starts with fixed text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.language import expression as ex
from evaluator.language.regular_expression import matches
from evaluator.language.schema import Field, Schema
from evaluator.language.types import STRING
from evaluator.reference.row_oracle import value_of
from tests.evaluator.short_forms import SPARK, col

SCHEMA = Schema([Field("s", STRING)])


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^ba", "s LIKE 'ba%'"),
        ("^50%_", "s LIKE '50\\%\\_%'"),
        ("^it's", "s LIKE 'it''s%'"),
        ("^ba.*n", "(s LIKE 'ba%' AND ?(the rest of a regular expression is not decided))"),
        ("^bab?", "(s LIKE 'ba%' AND ?(the rest of a regular expression is not decided))"),
        ("^bab*", "(s LIKE 'ba%' AND ?(the rest of a regular expression is not decided))"),
        ("^bab{0,2}", "(s LIKE 'ba%' AND ?(the rest of a regular expression is not decided))"),
        ("^ba+", "(s LIKE 'ba%' AND ?(the rest of a regular expression is not decided))"),
        ("^ba$", "(s LIKE 'ba%' AND ?(the rest of a regular expression is not decided))"),
        (r"^ba\d", "(s LIKE 'ba%' AND ?(the rest of a regular expression is not decided))"),
        ("^a|^b", "(s LIKE 'a%' OR s LIKE 'b%')"),
        ("^ab$|^b", "((s LIKE 'ab%' AND ?(the rest of a regular expression is not decided)) OR s LIKE 'b%')"),
        ("^(ba)", "s LIKE 'ba%'"),
        ("^(a|b|50%)", "(s LIKE 'a%' OR s LIKE 'b%' OR s LIKE '50\\%%')"),
        ("^(a|b)c", "((s LIKE 'a%' OR s LIKE 'b%') AND ?(the rest of a regular expression is not decided))"),
        ("^(a|b)+", "((s LIKE 'a%' OR s LIKE 'b%') AND ?(the rest of a regular expression is not decided))"),
    ],
    ids=str,
)
def test_a_fixed_start_is_a_prefix(pattern, text):
    assert ex.to_text(matches(col("s"), pattern)) == text


@pytest.mark.parametrize(
    "pattern", ["ba", "^", "^b?", "^.a", "^a|b", "(?i)^ba", "^ba(?i)x", "", "^[b]", r"^\Qa", "^ä", "\\^a"]
)
def test_a_pattern_without_a_fixed_start_is_unknown(pattern):
    assert isinstance(matches(col("s"), pattern), ex.Unknown)


@pytest.mark.parametrize(
    "pattern",
    [
        *("^(a|b)?", "^(a|b)*", "^(a|b){0,1}", "^(a|)", "^(|a)", "^(a|.b)", "^(a|b)|c", "^(a|b)c|d", "^((a|b))"),
        *("^a[|]b", r"^a\|^b", "^a|(^b)", "^(a|b?)", "(?i)^(a|b)", "^(?:a|b)", "a|^b", "^a||^b"),
    ],
)
def test_alternatives_without_a_fixed_start_are_unknown(pattern):
    assert isinstance(matches(col("s"), pattern), ex.Unknown)


@given(st.text(st.sampled_from("$ab.?*+{}1|()[]\\%_"), max_size=7), st.text(st.sampled_from("ab1%_\n"), max_size=4))
def test_what_a_pattern_is_found_in_starts_as_it_says(rest, text):
    pattern = "^" + rest
    try:
        actual = re.search(pattern, text) is not None
    except (re.error, FutureWarning):
        return
    match matches(col("s"), pattern):
        case ex.And(children=(prefix, _)):
            assert not actual or value_of(prefix, {"s": text}, SCHEMA, SPARK) is True
        case ex.Like() as prefix:
            assert actual is value_of(prefix, {"s": text}, SCHEMA, SPARK)
        case ex.Or() as starts if not any(isinstance(node, ex.Unknown) for node in ex.walk(starts)):
            assert actual is value_of(starts, {"s": text}, SCHEMA, SPARK)
        case ex.Or() as starts:
            assert not actual or value_of(starts, {"s": text}, SCHEMA, SPARK) is not False
        case other:
            assert isinstance(other, ex.Unknown)
