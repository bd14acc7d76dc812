"""A record is a slotted dataclass: it shows, compares, copies and pickles like one that `dataclasses` makes."""

from __future__ import annotations

import copy
import inspect
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, dataclass, field, replace
from functools import cached_property
from threading import Barrier

import pytest

from evaluator.language.records import entity, frozen, record


@record
class Point:
    x: int
    names: tuple[object, ...] = ()
    secret: str = field(default="s3cret", repr=False)


@dataclass(frozen=True, slots=True)
class PlainPoint:
    x: int
    names: tuple[object, ...] = ()
    secret: str = field(default="s3cret", repr=False)


@entity
class Place:
    x: int
    inside: list[Place] = field(default_factory=list)


@record
class Shown:
    x: int

    def __repr__(self) -> str:
        return f"<{self.x}>"


@frozen
class Named:
    name: str
    lengths: list[int] = field(default_factory=list, compare=False)
    total: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", sum(self.lengths))


@frozen
class Dated(Named):
    day: int = 0


@frozen(slots=False, eq=False, kw_only=True)
class Cached:
    x: int

    @cached_property
    def twice(self) -> int:
        return 2 * self.x


@frozen(shown=False)
class Secret:
    key: str


@frozen
class AnyCase:
    text: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyCase) and self.text.lower() == other.text.lower()

    def __hash__(self) -> int:
        return hash(self.text.lower())


def test_the_text_is_that_of_a_dataclass() -> None:
    assert "Plain" + repr(Point(3, ("a", None))) == repr(PlainPoint(3, ("a", None)))
    assert repr(Point(3)) == "Point(x=3, names=())"
    assert repr(Shown(3)) == "<3>"


def test_a_record_in_itself_is_shown_once() -> None:
    place = Place(1)
    place.inside.append(place)
    assert repr(place) == "Place(x=1, inside=[...])"


def test_a_record_equals_by_value_and_an_entity_is_itself() -> None:
    assert Point(1) == Point(1) != Point(2)
    assert hash(Point(1)) == hash(Point(1))
    assert Place(1) != Place(1)


def test_what_is_frozen_refuses_changes() -> None:
    for one in (Named("a"), Dated("a"), Secret("a")):
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
            one.name = "b"  # type: ignore[misc, union-attr]
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'key'"):
            del one.key  # type: ignore[union-attr]
    cached = Cached(x=2)
    assert cached.twice == cached.twice == 4
    with pytest.raises(FrozenInstanceError):
        cached.x = 3  # type: ignore[misc]


def test_what_is_frozen_has_what_its_fields_say() -> None:
    assert (Named("a", [1, 2]).total, Named("a").lengths, Dated("a", [3], 4).total) == (3, [], 3)
    assert Named("a", [1, 2]) == Named("a", [3]), "lengths are not compared"
    assert Named("a", [1]) != Named("a", [2]), "their totals are"
    assert hash(Named("a", [1, 2])) == hash(Named("a", [3]))
    assert Dated("a") != Named("a")
    assert Dated("a", day=1) != Dated("a")
    assert Cached(x=1) != Cached(x=1)
    assert AnyCase("A") == AnyCase("a")
    assert len({AnyCase("A"), AnyCase("a")}) == 1
    assert repr(Dated("a", [1], 2)) == "Dated(name='a', lengths=[1], total=1, day=2)"
    assert "hidden" not in repr(Secret("hidden"))
    for wrong in (lambda: Named(), lambda: Named("a", [], 3), lambda: Cached(1), lambda: Dated("a", other=1)):  # type: ignore[call-arg]
        with pytest.raises(TypeError):
            wrong()


def test_the_signature_is_that_of_a_dataclass() -> None:
    assert inspect.signature(Point) == inspect.signature(PlainPoint)
    assert Point.__match_args__ == PlainPoint.__match_args__ == ("x", "names", "secret")


def test_threads_may_make_the_first_objects_at_the_same_time() -> None:
    for _ in range(20):

        @frozen
        class Fresh:
            x: int
            y: tuple[int, ...] = ()

        together = Barrier(4)

        def first(x: int, fresh: type[Fresh] = Fresh, together: Barrier = together) -> Fresh:
            together.wait()
            return fresh(x, (x,))

        with ThreadPoolExecutor(4) as threads:
            assert [(one.x, one.y) for one in threads.map(first, range(4))] == [(x, (x,)) for x in range(4)]


@pytest.mark.parametrize("one", [Named("a", [1]), Dated("a", [1], 2), Secret("k")])
def test_what_is_frozen_is_pickled_and_copied(one: Named | Secret) -> None:
    assert pickle.loads(pickle.dumps(one)) == copy.copy(one) == copy.deepcopy(one) == one
    if isinstance(one, Named):
        assert pickle.loads(pickle.dumps(one)).total == 1


@pytest.mark.parametrize("one", [Point(1, ("a",), "b"), Shown(2)])
def test_a_record_is_pickled_and_changed_by_copies(one: Point | Shown) -> None:
    assert pickle.loads(pickle.dumps(one)) == one
    assert replace(one, x=7).x == 7
    with pytest.raises(AttributeError):
        one.other = 1  # type: ignore[union-attr]
