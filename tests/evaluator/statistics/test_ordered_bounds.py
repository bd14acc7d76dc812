"""The members of a long list are found by the order of the lower bounds as they are found slice by slice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.evaluation import flat_scan
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language import expression as ex
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, BINARY, DOUBLE, STRING, Type, decimal_type
from evaluator.statistics.columns import array_dtype, from_values
from evaluator.statistics.ordered_bounds import AscendingOrder, OrderedBound
from evaluator.statistics.ranges import MaskedBound, Members, plain_is_one_of, plain_meets
from evaluator.statistics.stored_bounds import StoredBounds, is_storable
from tests.sampling import examples

WIDE = decimal_type(38, 0)
VALUES: dict[Type, st.SearchStrategy[Any]] = {
    BIGINT: st.integers(-4, 4) | st.sampled_from([-(2**63), 2**63 - 1]),
    DOUBLE: st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 2.5, np.inf]),
    STRING: st.text(st.sampled_from("aA\ud800\uffff\U0001f600\0"), max_size=3),
    BINARY: st.binary(max_size=2),
    WIDE: st.integers(-3, 3) | st.sampled_from([2**63, -(10**30)]),
}


def as_array(values: list[Any], of: Type) -> Any:
    array = np.empty(len(values), array_dtype(of))
    array[:] = values
    return array


@settings(max_examples=examples(58, at_night=5000))
@given(data=st.data())
def test_members_are_found_as_they_are_in_one_slice(data: st.DataObject) -> None:
    of = data.draw(st.sampled_from(list(VALUES)))
    lower, upper, constants = (data.draw(st.lists(VALUES[of], min_size=1, max_size=9)) for _ in range(3))
    lower, upper = lower * len(upper), upper * len(lower)
    members = Members.of(constants, array_dtype(of), has_null=False)
    lo, hi = as_array(lower, of), as_array(upper, of)
    within = [plain_meets(a, b, members) for a, b in zip(lower, upper, strict=True)]
    is_member = [plain_is_one_of(a, b, members) for a, b in zip(lower, upper, strict=True)]
    for bounds in (lo, *([StoredBounds.of(lo, of)] if is_storable(of) else [])):
        ordered = OrderedBound(bounds, False, AscendingOrder.of(bounds))
        assert ordered.meets(MaskedBound(hi, False), members).tolist() == within
        assert ordered.is_one_of(MaskedBound(hi, False), members).tolist() == is_member


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("is_nan", [False, True])
def test_unknown_bounds_and_nan_change_nothing(share: float, is_nan: bool) -> None:
    draw = np.random.default_rng(int(share * 10) + is_nan)
    lo = draw.integers(-500, 500, 4000) / 2
    hi = lo + draw.integers(0, 3, 4000)
    unknown, unknown_hi = draw.random(4000) < share, draw.random(4000) < share
    if is_nan:
        lo[unknown] = np.nan
    members = Members.of(draw.integers(-400, 400, 70).tolist(), np.float64, has_null=False)
    plain, upper = MaskedBound(lo, unknown), MaskedBound(hi, unknown_hi)
    ordered = OrderedBound(lo, unknown, AscendingOrder.of(lo))
    assert ordered.meets(upper, members).tolist() == plain.meets(upper, members).tolist()
    assert ordered.is_one_of(upper, members).tolist() == plain.is_one_of(upper, members).tolist()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("is_negated", [False, True])
def test_no_slice_is_lost_that_holds_a_row(monkeypatch: pytest.MonkeyPatch, seed: int, is_negated: bool) -> None:
    """Each row of each slice is asked; ``n`` and the list are long enough for the order to be made."""
    made: list[int] = []
    of_bounds = AscendingOrder.of
    monkeypatch.setattr(AscendingOrder, "of", lambda bounds: made.append(len(bounds)) or of_bounds(bounds))
    draw, n = np.random.default_rng(seed), flat_scan._MANY_SLICES + 100
    rows = np.sort(draw.integers(0, 3000, (n, 3)), axis=1)
    rows[: n // 2] = rows[: n // 2, :1]  # of one value each
    known = draw.random((2, n)) > 0.01 * seed
    lo, hi = (
        [v if k else None for v, k in zip(e, f, strict=True)]
        for e, f in zip(rows[:, ::2].T.tolist(), known.tolist(), strict=True)
    )
    constants = draw.choice(3000, flat_scan._MANY_MEMBERS + 30, replace=False).tolist()
    listed: ex.HudiExpression = ex.In(ex.Column(("i",)), tuple(ex.Literal(value, BIGINT) for value in constants))
    condition = ex.Not(listed) if is_negated else listed
    schema, semantics = Schema([Field("i", BIGINT)]), Semantics.named("spark", "UTC")
    column = from_values(BIGINT, lo=lo, hi=hi)
    evaluation = evaluate(bind(condition, schema, semantics), n, [StatisticsProvider("x", {"i": column})])
    kept = set(evaluation.kept_rows.tolist())
    assert made == [n]
    assert 0 < len(kept) < n
    asked = set(constants)
    holding = {k for k, row in enumerate(rows.tolist()) if any((value in asked) != is_negated for value in row)}
    assert holding <= kept
    assert kept == set(np.flatnonzero(evaluation.outcomes & 1).tolist())
