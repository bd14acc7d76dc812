"""Bounds in Arrow give the same answers as objects, and make objects of the requested rows only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language import expression as ex
from evaluator.language.expression import column_names
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.types import BINARY, INT, STRING, Kind, Type, decimal_type
from evaluator.statistics import stored_bounds
from evaluator.statistics.codes import MAX_EDGES, Coder, sort_keys
from evaluator.statistics.columns import ColumnStatistics, PartStatistics
from evaluator.statistics.indexing import with_index
from evaluator.statistics.packing import pack_decimals, pack_texts
from evaluator.statistics.stored_bounds import StoredBounds, concatenated, taken
from tests.evaluator.arrow_form import packed, stored
from tests.evaluator.evaluation_values import all_answers
from tests.evaluator.strategies import SCHEMA, TYPES, exact_statistics, filters, slices, weakened
from tests.sampling import examples

WIDE = decimal_type(38, 4)
CHAR = Type(Kind.CHAR, 3)
TEXTS = st.text(st.characters(codec=None) | st.sampled_from("aAb\ud800\udfff\ud7ff\U0001f600\0"), max_size=5)
VALUES = {
    STRING: TEXTS,
    CHAR: TEXTS,
    BINARY: st.binary(max_size=5),
    WIDE: st.integers(-(10**40), 10**40) | st.sampled_from([0, 2**63, -(2**63), 2**64, 2**127, -(2**127)]),
}
SESSIONS = st.sampled_from([Semantics.named(engine, zone) for engine in ENGINES for zone in ("UTC", "Europe/Berlin")])


def objects(values: list[Any]) -> npt.NDArray[Any]:
    array = np.empty(len(values), object)
    array[:] = values
    return array


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many values are made, by call."""
    counts: list[int] = []

    def count(name: str) -> None:
        make: Callable[..., npt.NDArray[Any]] = getattr(stored_bounds, name)

        def counting(values: Sequence[Any], *arguments: Any, **options: Any) -> npt.NDArray[Any]:
            counts.append(len(values))
            return make(values, *arguments, **options)

        monkeypatch.setattr(stored_bounds, name, counting)

    count("_objects")
    count("_many_objects")
    return counts


# -- like an array of objects


@st.composite
def bounds(draw: st.DrawFn, size: int = 100) -> tuple[npt.NDArray[Any], StoredBounds]:
    of = draw(st.sampled_from(list(VALUES)))
    few = draw(st.lists(VALUES[of], min_size=1, max_size=6))
    array = objects(draw(st.lists(st.sampled_from(few), max_size=6)) * draw(st.sampled_from([1, size])))
    held = StoredBounds.of(array, of)
    cut = draw(st.integers(0, 2))
    if not cut and draw(st.booleans()):
        return array, StoredBounds((pack_decimals if of is WIDE else pack_texts)(held.array), of)
    return array[cut:], held.take(slice(cut, None))


@settings(max_examples=examples(35, at_night=3000))
@given(data=st.data(), pair=bounds())
def test_it_is_read_like_an_array_of_objects(data: st.DataObject, pair: tuple[npt.NDArray[Any], StoredBounds]) -> None:
    array, held = pair
    assert (len(held), held.shape, held.dtype) == (len(array), array.shape, array.dtype)
    rows = data.draw(st.lists(st.integers(-len(array), len(array) - 1), max_size=200)) if len(array) else []
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(array), max_size=len(array))), np.bool_)
    some: list[Any] = [slice(1, 5), slice(None, None, 2), slice(4, 1), np.array(rows, np.int64), mask]
    for where in some:
        assert held[where].tolist() == array[where].tolist()
        assert held[where].dtype == object
        assert held.take(where).tolist() == array[where].tolist()
        assert taken(array, where).tolist() == array[where].tolist()
    for row in rows[:4]:
        assert held[row] == array[row]
        assert type(held[np.int64(row)]) is type(array[row])
    assert list(held) == held.tolist() == held.astype(object).tolist() == np.asarray(held).tolist() == array.tolist()
    assert not np.asarray(held).flags.writeable
    assert held[mask].tolist() == array[mask].tolist()  # now that all of them are decoded
    if len(array):
        assert (held.min(), held.max()) == (array.min(), array.max())
    assert concatenated([array[:3], held, array]).tolist() == [*array[:3], *array, *array]
    assert concatenated([array, array]).tolist() == [*array, *array]


@settings(max_examples=examples(35, at_night=3000))
@given(data=st.data(), pair=bounds())
def test_it_compares_like_an_array_of_objects(data: st.DataObject, pair: tuple[npt.NDArray[Any], StoredBounds]) -> None:
    array, held = pair
    value = np.array(data.draw(VALUES[held.type]), object)
    other = objects(data.draw(st.permutations(array.tolist())))
    also = StoredBounds.of(other, held.type)
    for name in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"):
        # Plain bytes against an array would lose NULs at their end: numpy takes them for its own type.
        for theirs, against in ((value, value), (value.item(), value), (other, other), (also, other)):
            actual, wanted = getattr(held, name)(theirs), getattr(array, name)(against)
            assert actual.tolist() == np.asarray(wanted, np.bool_).tolist()
            assert actual.dtype == np.bool_
    assert (other < held).tolist() == (other < array).tolist()
    assert (value <= held).tolist() == (value <= array).tolist()


@given(st.lists(st.integers(-(2**127), 2**127 - 1) | st.integers(-(10**50), 10**50), max_size=5))
def test_decimals_become_the_doubles_that_python_makes_of_them(values: list[int]) -> None:
    near = [
        sign * (step * 2**power + way)
        for value in values
        for sign in (1, -1)
        for power in (0, 11, 64, 74)
        for step in (value, (value >> 70 << 1) + 1)
        for way in (-1, 0, 1)
    ]
    near = [value for value in near if abs(value) < 10**70]
    wanted = [float(value) for value in near]
    assert StoredBounds.of(objects(near), WIDE).doubles().tolist() == wanted
    narrow = [value for value in near if abs(value) < 10**38]
    assert StoredBounds.of(objects(narrow), WIDE).doubles().tolist() == [float(value) for value in narrow]


@pytest.mark.parametrize(
    ("array", "column_type"),
    [
        (pa.array(["a", None]), STRING),
        (pa.array([1]), STRING),
        (pa.array([1]), WIDE),
        (pa.array([b"a"]), WIDE),
        (pa.array([1]), INT),
        (pa.array([1], pa.decimal128(20, 2)), WIDE),
        (["a"], STRING),
        (pa.chunked_array([["a"]]), STRING),
        (pa.array([1], pa.decimal128(18, 0)), decimal_type(18, 0)),
    ],
)
def test_an_array_that_cannot_be_the_bounds_is_refused(array: Any, column_type: Type) -> None:
    with pytest.raises(ValueError, match="bounds of"):
        StoredBounds(array, column_type)


@pytest.mark.parametrize("column_type", [INT, decimal_type(18, 0), Type(Kind.OTHER), Type(Kind.VOID)])
def test_numbers_are_not_stored_so(column_type: Type) -> None:
    with pytest.raises(ValueError, match="as numbers"):
        StoredBounds.of(objects([1]), column_type)


@pytest.mark.parametrize("arrow", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
def test_text_may_come_in_any_arrow_type_of_utf8(arrow: pa.DataType) -> None:
    assert StoredBounds(pa.array(["a", "é"], arrow), STRING).tolist() == ["a", "é"]


def test_like_an_array_it_has_no_hash_no_extremes_of_nothing_and_no_rows_beyond_its_end() -> None:
    held = StoredBounds.of(objects(["a"]), STRING)
    with pytest.raises(TypeError):
        hash(held)
    with pytest.raises(ValueError, match="no min of no bounds"):
        held.take(slice(0, 0)).min()
    with pytest.raises(IndexError):
        held[1]
    with pytest.raises(IndexError):
        held[np.array([True, False])]
    with pytest.raises(IndexError):
        held[np.array([3])]
    assert repr(held) == "StoredBounds(1 of string)"


# -- the same answers


@settings(max_examples=examples(28, at_night=2500))
@given(data=st.data())
def test_every_answer_is_that_of_objects(data: st.DataObject) -> None:
    expression, semantics = data.draw(filters(list(TYPES))), data.draw(SESSIONS)
    columns = column_names(expression)
    few = data.draw(st.lists(slices(columns), min_size=1, max_size=4))
    statistics = {name: weakened(exact_statistics(name, few), data.draw) for name in columns}
    n = data.draw(st.sampled_from([len(few), 220]))
    rows = np.arange(n) * 7 % len(few)
    statistics = {name: one.take(rows) for name, one in statistics.items()}
    if n <= len(few) and data.draw(st.booleans()):
        statistics = {name: replace(one, parts=PartStatistics(one, np.arange(n))) for name, one in statistics.items()}
    elif data.draw(st.booleans()):
        statistics = {
            name: with_index(one, data.draw(st.sampled_from([2, MAX_EDGES])), 8) for name, one in statistics.items()
        }
    form = data.draw(st.sampled_from([stored, packed]))
    held = {
        name: replace(
            form(one),
            index=None
            if one.index is None
            else with_index(form(one), len(one.index.coder.edges), one.index.zone_map.size).index,
        )
        for name, one in statistics.items()
    }
    bound = bind(expression, SCHEMA, semantics)
    asked = np.unique(np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=5)), np.int64))

    def answers(known: dict[str, ColumnStatistics]) -> dict[str, Any]:
        sources = [StatisticsProvider("column_stats", known)]
        return all_answers(bound, evaluate(bound, n, sources), sources, asked, SCHEMA)

    wanted, actual = answers(statistics), answers(held)
    for what, value in wanted.items():
        assert actual[what] == value, what


@settings(max_examples=examples(12, at_night=1000))
@given(data=st.data(), pair=bounds())
def test_codes_and_keys_are_those_of_objects(data: st.DataObject, pair: tuple[npt.NDArray[Any], StoredBounds]) -> None:
    array, held = pair
    edges = data.draw(st.sampled_from([1, 3, MAX_EDGES]))
    coder, same = Coder.of(held.type, array, edges), Coder.of(held.type, held, edges)
    assert (coder.edges.tolist(), coder.prefix, coder.key_bytes) == (same.edges.tolist(), same.prefix, same.key_bytes)
    more = [*array.tolist(), *data.draw(st.lists(VALUES[held.type], max_size=4))]
    codes = same.codes(StoredBounds.of(objects(more), held.type))
    assert codes.tolist() == coder.codes(objects(more)).tolist() == [coder.code(value) for value in more]
    assert sort_keys(held.type, held).tolist() == sort_keys(held.type, array).tolist()


def test_the_groups_of_slices_are_those_of_objects() -> None:
    lo = objects([f"a{place * 7919 % 1000}" for place in range(500)])
    known = ColumnStatistics(
        STRING,
        lo,
        lo + "z",
        lo_known=np.arange(500) % 9 > 0,
        hi_known=np.arange(500) % 7 > 0,
        null_count=np.arange(500) % 3,
        row_count=np.full(500, 5),
        trust=np.zeros(500, np.uint8),
    )
    for plain, held in zip(known.groups, stored(known).groups, strict=True):
        assert plain.rows.tolist() == held.rows.tolist()
        assert [None if bound is None else bound.tolist() for bound in (plain.lo, plain.hi)] == [
            None if bound is None else bound.tolist() for bound in (held.lo, held.hi)
        ]


# -- few objects


N = 60_000
TEXT_SCHEMA = Schema([Field("s", STRING), Field("w", WIDE)])
S, W = ex.Column(("s",)), ex.Column(("w",))


def text(number: int) -> ex.Literal:
    return ex.Literal(f"user-{number:09d}", STRING)


def many() -> dict[str, ColumnStatistics]:
    order = np.random.default_rng(5).permutation(N)
    texts, numbers = objects([f"user-{v:09d}" for v in order.tolist()]), objects([v * 10**20 for v in order.tolist()])
    flags, none = np.ones(N, np.bool_), np.zeros(N, np.int64)
    return {
        name: stored(
            ColumnStatistics(
                of,
                bound,
                bound,
                lo_known=flags,
                hi_known=flags,
                null_count=none,
                row_count=np.full(N, 10),
                trust=np.zeros(N, np.uint8),
            )
        )
        for name, of, bound in (("s", STRING, texts), ("w", WIDE, numbers))
    }


@pytest.mark.parametrize(
    ("leaf", "kept"),
    [
        (ex.Compare("=", S, text(777)), 1),
        (ex.And((ex.Compare(">=", S, text(1000)), ex.Compare("<", S, text(1300)))), 300),
        (ex.Like(S, "user-00001%"), 10_000),
        (ex.In(S, tuple(text(number) for number in range(0, 600, 3))), 200),
        (ex.Compare("<", S, text(40_000)), 40_000),
        (ex.Not(ex.Compare("=", S, text(777))), N - 1),
        (ex.Compare("=", W, ex.Literal(777 * 10**16, decimal_type(38, 4))), 1),
    ],
    ids=["equality", "range", "prefix", "IN", "half", "not equal", "decimal"],
)
def test_an_indexed_search_makes_objects_of_the_ties_only(
    decoded: list[int], leaf: ex.HudiExpression, kept: int
) -> None:
    statistics = {name: with_index(one) for name, one in many().items()}
    assert sum(decoded) <= 8, "indexing makes objects of the common prefix only"
    decoded.clear()
    bound = bind(leaf, TEXT_SCHEMA, Semantics.named("spark", "UTC"))
    actual = evaluate(bound, N, [StatisticsProvider("column_stats", statistics)])
    assert len(actual.kept_rows) == kept
    assert sum(decoded) <= 4 * 200, "a constant ties with the few slices of its code"
    if kept <= 300:
        assert len(actual.fully_matched_rows) == kept
        assert sum(decoded) <= 4 * 200 + 4 * kept


def test_without_an_index_and_for_everybodys_outcomes_arrow_compares_text(decoded: list[int]) -> None:
    statistics = many()
    bound = bind(
        ex.Or((ex.Compare("=", S, text(777)), ex.Like(S, "user-000001%"))), TEXT_SCHEMA, Semantics.named("spark", "UTC")
    )
    actual = evaluate(bound, N, [StatisticsProvider("column_stats", statistics)])
    assert len(actual.kept_rows) == 1001
    assert len(actual.outcomes) == N
    assert len(actual.leaves[1].outcomes) == N
    assert sum(decoded) == 0
