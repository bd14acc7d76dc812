"""The range of an integer result has integer ends, so that functions of functions can go on with it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.functions import FUNCTIONS
from evaluator.functions.base import Argument
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, INT, SMALLINT, TINYINT, Type
from tests.prove.signatures import SIGNATURES
from tests.sampling import examples

_INTEGERS = {"number", "integer", "small", "digits?", "same", "same*", "any"}
#: Functions that can take integers alone, with the numbers of arguments that they are asked with.
OF_INTEGERS = {
    name: {len(words), sum("?" not in word for word in words)}
    for name, words in SIGNATURES.items()
    if name in FUNCTIONS and _INTEGERS.issuperset(words)
}
ENGINES = [Semantics.named(name, "UTC") for name in ("hive3", "hive4", "spark-legacy", "spark-ansi")]


@st.composite
def arguments(draw: st.DrawFn) -> Argument:
    of: Type = draw(st.sampled_from([TINYINT, SMALLINT, INT, BIGINT]))
    smallest, largest = of.integer_range()
    near = st.integers(-12, 12)
    a, b = sorted((draw(st.integers(smallest, largest) | near), draw(st.integers(smallest, largest) | near)))
    point: bool = draw(st.booleans())
    ends: list[Any] = [a, a] if point else [draw(st.sampled_from([a, None])), draw(st.sampled_from([b, None]))]
    return Argument(of, Interval(*ends, null=not point and draw(st.booleans())))


@pytest.mark.parametrize("name", sorted(OF_INTEGERS))
@settings(max_examples=examples(2, at_night=600))
@given(data=st.data())
def test_the_ends_are_integers(name: str, data: st.DataObject) -> None:
    function = FUNCTIONS[name]
    for count, semantics in itertools.product(OF_INTEGERS[name], ENGINES):
        passed = [data.draw(arguments()) for _ in range(count)]
        try:
            result = function.result([one.type for one in passed])
            found = function.compute(passed, result, semantics)
        except UnsupportedError:
            continue
        if result.kind.is_integer:
            assert all(end is None or type(end) is int for end in (found.lo, found.hi)), (passed, found)
