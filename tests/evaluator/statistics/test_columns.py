"""What is asked of a few slices is what all of them say."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evaluator.arrow_form import packed
from tests.evaluator.strategies import TYPES, exact_statistics, slices, weakened
from tests.sampling import examples


@settings(max_examples=examples(60, at_night=3000))
@given(data=st.data())
def test_a_few_slices_have_a_known_range_where_all_of_them_say_so(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(TYPES)))
    parts = data.draw(st.lists(slices([name]), min_size=1, max_size=6))
    for statistics in (plain := weakened(exact_statistics(name, parts), data.draw), packed(plain)):
        rows = np.array(data.draw(st.lists(st.integers(0, len(parts) - 1))), np.intp)
        lo_known, hi_known = statistics.usable_bounds
        expected = (lo_known & hi_known) | ~statistics.may_be_value
        assert statistics.knows_range(rows).tolist() == expected[rows].tolist()
