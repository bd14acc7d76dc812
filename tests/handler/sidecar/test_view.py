"""What a view caches is limited, and its weight is that of what it caches."""

import pytest

from handler import open_table
from handler.sidecar import view as view_module
from handler.sidecar.names import ListedNames
from handler.sidecar.request_matching import SelectedNames
from handler.sidecar.view import FilterQuery, View
from tests.handler.sidecar import hostile_filters as hostile
from tests.index_store.synthetic import write_table


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    root = tmp_path_factory.mktemp("view") / "table"
    write_table(root, 20)
    return open_table(root)


def listed(*names):
    return ListedNames("\n".join(names).encode(), False, len(names), 1 << 20)


def query(seed):
    return FilterQuery(hostile.encoded(hostile.less(seed)).encode(), "hive4", "UTC")


def test_lists_are_weighed_and_limited_by_number_and_by_bytes(opened):
    view = View(opened)
    first = view.match(listed("the first list has the look-up table made"))
    empty = view.nbytes - first.nbytes
    for round_ in range(2):  # the second time they are known
        matched = [view.match(listed(*(f"name-{n}" for n in range(count)))) for count in range(1, 40)]
        assert view.nbytes - empty == first.nbytes + sum(one.nbytes for one in matched), round_
    view._lists.most = 10
    last = view.match(listed("another"))
    assert len(view._lists) == 10
    view._lists.most_bytes = 0
    last = view.match(listed("and", "another"))
    assert view.nbytes - empty == last.nbytes


def test_decisions_are_weighed_and_limited_by_number(opened, monkeypatch):
    monkeypatch.setattr(view_module, "MAX_DECISIONS", 5)
    view = View(opened)
    view.decide(query(1))
    view._weigh_table()
    weights = []
    for seed in range(40):
        view.decide(query(seed % 8))
        assert view._decisions.nbytes == sum(one.nbytes for one in view._decisions.latest(100))
        weights.append(len(view._decisions))
    assert max(weights) == 5
    assert view.latest_queries(2) == [query(6), query(7)]


def test_answers_are_kept_with_their_decision_and_within_limits(opened):
    view = View(opened)
    decisions = [view.decide(query(seed)) for seed in range(4)]
    assert view._selections.nbytes == 0
    for decision in decisions:
        for count in range(1, 6):
            names_ = listed(*(f"name-{number}" for number in range(count)))
            selected = SelectedNames.of(view.match(names_), decision.skipped, decision.planned.full, "snapshot")
            view.keep_selection(decision, names_, "snapshot", selected)
            view.keep_selection(decision, names_, "snapshot", selected)
            assert view.known_selection(decision, names_, "snapshot") is selected
            assert view.known_selection(decision, names_, "incremental") is None
    assert len(view._selections) == 20
    assert view._selections.nbytes == sum(one.nbytes for one in view._selections.latest(100))
    view._decisions.most = 2
    view.decide(query(9))
    assert {key[0] for key in view._selections} == {decisions[3]}
    view._selections.most = 3
    kept = listed("another")
    selected = SelectedNames.of(view.match(kept), decisions[3].skipped, decisions[3].planned.full, "snapshot")
    view.keep_selection(decisions[3], kept, "snapshot", selected)
    assert len(view._selections) == 3
    view.keep_selection(decisions[0], kept, "snapshot", selected)  # a decision that is not cached
    assert view.known_selection(decisions[0], kept, "snapshot") is None
    view._selections.most_bytes = 0
    more = listed("one", "more")
    view.keep_selection(decisions[3], more, "snapshot", selected)
    assert (len(view._selections), view._selections.nbytes) == (0, 0)


def test_explanations_that_are_kept_are_weighed_and_limited(opened):
    view = View(opened)
    empty = view.nbytes
    for seed in range(20):
        view.keep_explanation(query(seed), "x" * 100_000)
    assert view.cached_explanation(query(0)) is None
    assert view.cached_explanation(query(19)) == "x" * 100_000
    assert 8 * 100_000 <= view.nbytes - empty < 8 * 101_000
