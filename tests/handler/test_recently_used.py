"""What stays of entries that are used: by number, by bytes, and the newest one."""

from __future__ import annotations

from collections import OrderedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.recently_used import RecentlyUsed


def test_what_was_not_used_for_longest_goes_first():
    kept: RecentlyUsed[str, int] = RecentlyUsed(2)
    assert kept.put("a", 1) == []
    assert kept.put("b", 2) == []
    assert kept.get("a") == 1
    assert kept.put("c", 3) == [2]
    assert list(kept) == ["a", "c"]
    assert (kept.peek("a"), list(kept)) == (1, ["a", "c"])
    assert kept.put("a", 4) == [1]
    assert kept.latest(1) == [4]
    assert (kept.pop("b"), kept.pop("c"), len(kept)) == (None, 3, 1)


@pytest.mark.parametrize(("keeps_one", "left"), [(True, ["large"]), (False, [])])
def test_the_newest_entry_stays_though_it_is_too_large_where_it_is_told(keeps_one, left):
    kept: RecentlyUsed[str, int] = RecentlyUsed(9, 100, lambda size: size, keeps_one=keeps_one)
    kept.put("small", 60)
    assert kept.put("large", 101)[:1] == [60]
    assert list(kept) == left
    assert kept.nbytes == 101 * len(left)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 40), st.booleans())), st.integers(1, 4), st.booleans())
def test_bytes_are_those_of_the_entries_and_within_the_limits(steps, most, keeps_one):
    kept: RecentlyUsed[int, int] = RecentlyUsed(most, 60, lambda size: size, keeps_one=keeps_one)
    model: OrderedDict[int, int] = OrderedDict()
    for key, size, is_put in steps:
        if is_put:
            gone = kept.put(key, size)
            replaced = [model.pop(key)] if key in model else []
            model[key] = size
            while len(model) > most or (sum(model.values()) > 60 and len(model) > keeps_one):
                replaced.append(model.popitem(last=False)[1])
            assert gone == replaced
        else:
            assert kept.get(key) == model.get(key)
            if key in model:
                model.move_to_end(key)
        assert list(kept) == list(model)
        assert kept.nbytes == sum(model.values())
