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
    ],
    ids=str,
)
def test_a_fixed_start_is_a_prefix(pattern, text):
    assert ex.to_text(matches(col("s"), pattern)) == text


@pytest.mark.parametrize(
    "pattern", ["ba", "^", "^b?", "^.a", "^a|b", "(?i)^ba", "^ba(?i)x", "", "^(ba)", "^[b]", r"^\Qa", "^ä", "\\^a"]
)
def test_a_pattern_without_a_fixed_start_is_unknown(pattern):
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
        case other:
            assert isinstance(other, ex.Unknown)
