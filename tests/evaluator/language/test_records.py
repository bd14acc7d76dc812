"""A record is a slotted dataclass: it shows, compares, copies and pickles like one that `dataclasses` makes."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field, replace

import pytest

from evaluator.language.records import entity, record


@record
class Point:
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


def test_the_text_is_that_of_a_dataclass() -> None:
    made = dataclass(frozen=True, slots=True)(type("Point", (), {"__annotations__": {"x": int, "names": tuple}}))
    assert repr(Point(3, ("a", None))) == repr(made(3, ("a", None))) == "Point(x=3, names=('a', None))"
    assert repr(Shown(3)) == "<3>"


def test_a_record_in_itself_is_shown_once() -> None:
    place = Place(1)
    place.inside.append(place)
    assert repr(place) == "Place(x=1, inside=[...])"


def test_a_record_equals_by_value_and_an_entity_is_itself() -> None:
    assert Point(1) == Point(1) != Point(2)
    assert hash(Point(1)) == hash(Point(1))
    assert Place(1) != Place(1)


@pytest.mark.parametrize("one", [Point(1, ("a",), "b"), Shown(2)])
def test_a_record_is_pickled_and_changed_by_copies(one: Point | Shown) -> None:
    assert pickle.loads(pickle.dumps(one)) == one
    assert replace(one, x=7).x == 7
    with pytest.raises(AttributeError):
        one.other = 1  # type: ignore[union-attr]
