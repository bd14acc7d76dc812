"""What is kept of an object is found by this object alone, and of the latest ones only."""

from __future__ import annotations

from handler.planning.by_identity import ByIdentity


def test_it_is_found_by_the_object_and_not_by_an_equal_one() -> None:
    known: ByIdentity[list[int], str] = ByIdentity(4)
    one, other = [1], [1]
    known.keep(one, "one")
    assert known.get(one) == "one"
    assert known.get(other) is None
    known.keep(other, "other")
    assert (known.get(one), known.get(other), len(known)) == ("one", "other", 2)


def test_an_object_that_is_gone_gives_its_place_to_none() -> None:
    """An object that is kept is not freed, and a new one does not get its identity."""
    known: ByIdentity[list[int], int] = ByIdentity(1_000)
    for number in range(1_000):
        assert known.get([number]) is None
        known.keep([number], number)


def test_one_more_than_the_most_and_all_are_forgotten() -> None:
    known: ByIdentity[list[int], int] = ByIdentity(3)
    lists = [[number] for number in range(4)]
    for number, one in enumerate(lists):
        known.keep(one, number)
    assert [known.get(one) for one in lists] == [None, None, None, 3]
