"""What planning asks of a tree is the same the second time, and is not kept for large ones."""

from __future__ import annotations

import pytest

from evaluator.language import expression as ex
from evaluator.language.key_set import KeySet
from evaluator.language.types import DATE, INT
from handler.planning import tree_facts
from handler.planning.arguments import check_filter
from handler.planning.by_identity import ByIdentity
from handler.planning.tree_facts import facts_of

FARE = ex.Column(("fare",))
PLAIN = ex.Compare(">", FARE, ex.Literal(5, INT))
TODAY = ex.Compare("=", ex.Column(("dt",)), ex.Call("current_date", (), DATE))


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_facts, "_KNOWN", ByIdentity(tree_facts._MAX_TREES))


@pytest.mark.parametrize(("tree", "reads_clock"), [(PLAIN, False), (TODAY, True), (ex.And((PLAIN, TODAY)), True)])
def test_a_tree_that_is_asked_about_again_has_the_same_facts(tree: ex.HudiExpression, reads_clock: bool) -> None:
    assert facts_of(tree) == ("", reads_clock)
    assert facts_of(tree) is facts_of(tree)


def test_a_mistake_is_told_each_time() -> None:
    wrong = ex.And((PLAIN, ex.Compare("~", FARE, ex.Literal(5, INT))))
    for _ in range(2):
        with pytest.raises(TypeError, match="Compare in the expression: its operator is one of"):
            check_filter(wrong)


def test_an_equal_tree_is_another_one() -> None:
    """Comparing trees costs more than walking them."""
    again = ex.Compare(">", FARE, ex.Literal(5, INT))
    assert facts_of(PLAIN) == facts_of(again)
    assert len(tree_facts._KNOWN) == 2


def test_large_trees_and_sets_of_keys_are_not_kept() -> None:
    long_list = ex.In(FARE, tuple(ex.Literal(n, INT) for n in range(300)))
    keys = ex.InKeys(FARE, KeySet.of(INT, range(10)))
    for tree in (long_list, keys, ex.Not(keys)):
        assert facts_of(tree) == ("", False)
    assert not tree_facts._KNOWN


def test_only_the_latest_trees_are_kept() -> None:
    for n in range(1_000):
        facts_of(ex.Compare("=", FARE, ex.Literal(n, INT)))
    assert len(tree_facts._KNOWN) <= tree_facts._MAX_TREES
