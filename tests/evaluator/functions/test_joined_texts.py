"""C7: the bounds of texts that are joined, beside every text that can be joined."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from evaluator.functions.base import Argument
from evaluator.functions.text import joined
from evaluator.language.interval import Interval
from evaluator.language.types import STRING
from tests.sampling import examples

_TEXTS = st.text("abc", max_size=6)


@given(st.lists(_TEXTS, min_size=2, max_size=5, unique=True), st.lists(_TEXTS, min_size=1, max_size=4))
@example(["aaaa", "aa"], ["ab"])
@example(["aab", "c"], ["aac", ""])
@settings(max_examples=examples(300, at_night=20_000), deadline=None)
def test_the_greatest_text_of_two_is_a_prefix_of_one_with_the_other(first: list[str], then: list[str]) -> None:
    lo, hi = min(first), max(first)
    found = joined(
        Argument(STRING, Interval(lo, hi, null=False)), Argument(STRING, Interval(min(then), max(then), null=False))
    ).interval
    assert found.hi == max(hi[:end] + max(then) for end in range(len(hi) + 1))
    assert found.lo == lo
    assert all(found.lo <= one + other <= found.hi for one in first for other in then)
