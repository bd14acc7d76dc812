"""Planning within limits: what is kept of a filter is small and says the same as the whole plan."""

import tracemalloc

import pytest
from bitarray import frozenbitarray

from handler import open_table, prune
from handler.sidecar import view as view_module
from handler.sidecar.decisions.planning import (
    MAX_REASON_LENGTH,
    MAX_REASONS,
    SMALL,
    FilterQuery,
    PlanningLimits,
    TooExpensive,
    cut_texts,
    explain_filter,
    plan_filter,
)
from handler.sidecar.view import View
from tests.handler.conftest import hive_filters
from tests.handler.sidecar import hostile_filters as hostile
from tests.index_store.synthetic import write_table

FILTERS = [one for one in hive_filters() if one["hive"] == "4.0.1"]
#: Limits that are reached in milliseconds.
LAST = PlanningLimits(filter_bytes=1 << 20, nodes=1_000)


def query(text):
    return FilterQuery(text.encode(), "hive4", "UTC")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    root = tmp_path_factory.mktemp("hostile") / "table"
    write_table(root, 20)
    return open_table(root)


def test_every_filter_of_real_hive_is_small_and_planned_as_by_prune(main_cow):
    opened = open_table(main_cow)
    for one in FILTERS:
        planned = plan_filter(opened, None, query(one["filter"]), SMALL)
        plan = prune(opened, one["filter"], "hive4", time_zone="UTC")
        assert planned.skipped.tolist() == [item in plan.skipped for item in plan.slices], one["sql"]
        assert planned.full.tolist() == [item in plan.fully_matched for item in plan.slices], one["sql"]
        assert planned.is_read
        assert planned.is_evaluated
        assert planned.is_complete


@pytest.mark.parametrize(
    "tree",
    [
        hostile.one_of(400),
        hostile.doubled(12),
        hostile.doubled(60),
        hostile.repeated(60),
        hostile.long_texts(3),
        hostile.undecided(300),
    ],
    ids=["long", "doubled", "doubled often", "repeated", "long texts", "undecided"],
)
def test_an_expensive_filter_is_told_apart_before_it_costs_much(table, tree):
    text = hostile.encoded(tree)
    plan_filter(table, None, query(hostile.encoded(hostile.less(3))), SMALL)
    tracemalloc.start()
    try:
        for work in (plan_filter, explain_filter):
            with pytest.raises(TooExpensive):
                work(table, None, query(text), SMALL)
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


def test_bytes_that_no_profile_reads_to_the_end_are_expensive_too(table):
    cut = hostile.encoded(hostile.one_of(250))[:-400]
    assert len(cut) < SMALL.filter_bytes
    few = PlanningLimits(filter_bytes=1 << 20, nodes=60, is_last=False)
    with pytest.raises(TooExpensive):
        plan_filter(table, None, query(cut), few)


@pytest.mark.parametrize("tree", [hostile.doubled(60), hostile.repeated(60), hostile.one_of(2_000)])
def test_beyond_the_last_limits_nothing_is_skipped_and_the_reason_says_so(table, tree):
    planned = plan_filter(table, None, query(hostile.encoded(tree)), LAST)
    assert planned.is_too_large
    assert not planned.is_read
    assert not planned.skipped.any()
    assert "the filter is too large" in planned.reasons[0]
    assert "more than" in planned.reasons[0]


def test_parts_times_slices_are_limited(table):
    text = hostile.encoded(hostile.one_of(10))
    for evaluations, skips in ((21 * 20, True), (21 * 20 - 1, False)):
        limits = PlanningLimits(filter_bytes=1 << 20, nodes=512, max_evaluations=evaluations)
        planned = plan_filter(table, None, query(text), limits)
        assert planned.skipped.any() == skips
        assert planned.is_too_large != skips


def test_functions_weigh_more_than_comparisons(tmp_path):
    write_table(tmp_path / "table", 500)
    opened = open_table(tmp_path / "table")
    assert plan_filter(opened, None, query(hostile.encoded(hostile.product(20))), SMALL).is_evaluated
    assert plan_filter(opened, None, query(hostile.encoded(hostile.one_of(150))), SMALL).is_evaluated
    with pytest.raises(TooExpensive):
        plan_filter(opened, None, query(hostile.encoded(hostile.product(60))), SMALL)


def test_texts_are_cut_when_they_are_kept(table):
    limits = PlanningLimits(filter_bytes=1 << 30, nodes=200_000)
    for tree in (hostile.undecided(100), hostile.long_texts(9), hostile.wildcards()):
        planned = plan_filter(table, None, query(hostile.encoded(tree)), limits)
        assert len(planned.reasons) <= MAX_REASONS + 1
        assert all(len(reason) <= MAX_REASON_LENGTH for reason in planned.reasons)
        assert len(planned.text) <= 4_000
        assert len(explain_filter(table, None, query(hostile.encoded(tree)), limits)) <= 200_000
    assert cut_texts(["a", "b"]) == ("a", "b")
    assert cut_texts(map(str, range(100)))[-1] == f"... and {100 - MAX_REASONS} more reasons"


@pytest.mark.nightly
def test_what_a_view_keeps_of_hostile_filters_is_weighed_and_limited(table, monkeypatch):
    """Each kept filter is weighed with all that it holds, and together they stay below a limit."""
    monkeypatch.setattr(view_module, "MAX_DECISION_BYTES", 1 << 20)
    monkeypatch.setattr(view_module, "MAX_DECISIONS", 1_000)
    view = View(table)
    texts = [hostile.any_hostile(seed, 0.1) for seed in range(16)]
    empty = view.nbytes
    view.keep(query(texts[0]), plan_filter(table, None, query(texts[0]), LAST))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for text in texts:
            asked = query(text)
            view.keep(asked, plan_filter(table, None, asked, LAST))
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    weighed = view.nbytes - empty
    assert weighed <= (1 << 20) + (1 << 18)
    assert 0 < held < 1.5 * weighed + (1 << 20)
    assert len(view._decisions) > 1


def test_a_decision_holds_the_filter_and_bits_but_no_tree(table):
    view = View(table)
    decision = view.decide(query(hostile.encoded(hostile.one_of(100))))
    assert decision.nbytes < 20_000
    assert not any(hasattr(decision.planned, name) for name in ("plan", "expression", "explanation"))
    assert isinstance(decision.skipped, frozenbitarray)
