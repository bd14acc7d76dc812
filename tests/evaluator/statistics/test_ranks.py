"""Ranks compare as the values for which they stand do, with any constant."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.language.types import BIGINT, BINARY, DOUBLE, STRING, Type, decimal_type
from evaluator.statistics.columns import from_values
from evaluator.statistics.indexing import with_ranks
from evaluator.statistics.ranks import Ranks
from evaluator.statistics.stored_bounds import StoredBounds
from tests.sampling import examples

WIDE = decimal_type(38, 0)
VALUES: dict[Type, st.SearchStrategy[Any]] = {
    STRING: st.text(st.sampled_from("aA\ud800\uffff\U0001f600\0"), max_size=3),
    BINARY: st.binary(max_size=2),
    WIDE: st.integers(-(10**30), 10**30) | st.sampled_from([0, 2**63, 2**64]),
}
OPERATORS = (operator.lt, operator.le, operator.eq)


@settings(max_examples=examples(39, at_night=3000))
@given(data=st.data())
def test_ranks_compare_as_values_do(data: st.DataObject) -> None:
    of = data.draw(st.sampled_from(list(VALUES)))
    lower, upper, constants = (data.draw(st.lists(VALUES[of], min_size=1, max_size=8)) for _ in range(3))
    lower, upper = lower * len(upper), upper * len(lower)
    arrays = [np.array([*values, None], object)[:-1] for values in (lower, upper)]
    for bounds in (arrays, [StoredBounds.of(array, of) for array in arrays]):
        ranks = Ranks.of(*bounds)
        for values, by_rank in ((lower, ranks.lo), (upper, ranks.hi)):
            assert by_rank.tolist() == [ranks.rank(value) for value in values]
            for constant in [*constants, *lower]:
                for compare in OPERATORS:
                    expected = [compare(value, constant) for value in values]
                    assert compare(by_rank, ranks.rank(constant)).tolist() == expected


@pytest.mark.parametrize("of", [BIGINT, DOUBLE, decimal_type(18, 2)], ids=str)
def test_numbers_of_a_machine_need_no_ranks(of: Type) -> None:
    statistics = from_values(of, lo=[1], hi=[2])
    assert with_ranks(statistics) is statistics


def test_ranks_are_made_once() -> None:
    ranked = with_ranks(from_values(STRING, lo=["a", None], hi=["b", "c"]))
    assert ranked.ranks is not None
    assert with_ranks(ranked) is ranked
