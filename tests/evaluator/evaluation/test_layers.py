"""A table in two layers answers as the joined table does, bit for bit, and its numbers go back and forth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import Lookup
from evaluator.binding.statistics_provider import Match
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.evaluation.layered_evaluation import evaluate_layers
from evaluator.evaluation.layered_providers import LayeredProvider
from evaluator.language import expression as ex
from evaluator.language.expression import column_names
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.types import INT, STRING
from evaluator.statistics.codes import MAX_EDGES
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics, PartStatistics, from_values
from evaluator.statistics.indexing import with_index
from evaluator.statistics.layers import Layers
from evaluator.statistics.stored_bounds import StoredBounds
from tests.evaluator.arrow_form import read_only, stored
from tests.evaluator.evaluation_values import all_answers
from tests.evaluator.strategies import SCHEMA, TYPES, exact_statistics, filters, slices, weakened
from tests.sampling import examples

SESSIONS = st.sampled_from([Semantics.named(engine, zone) for engine in ENGINES for zone in ("UTC", "Europe/Berlin")])


def numbers(*rows: int) -> npt.NDArray[np.int64]:
    return np.array(rows, np.int64)


@st.composite
def layers_of(draw: st.DrawFn, most: int = 40) -> Layers:
    base = draw(st.integers(0, most))
    tombstoned = draw(st.sets(st.integers(0, base - 1), max_size=base)) if base else set()
    return Layers(base, read_only(numbers(*sorted(tombstoned))), draw(st.integers(0, most)))


# -- numbers


def meaning(layers: Layers) -> list[tuple[str, int]]:
    """Each slice of the whole, the slow way."""
    tombstoned = set(layers.tombstoned.tolist())
    return [("base", row) for row in range(layers.base) if row not in tombstoned] + [
        ("delta", row) for row in range(layers.delta)
    ]


@given(data=st.data(), layers=layers_of())
def test_slices_of_the_layers_are_those_of_the_whole(data: st.DataObject, layers: Layers) -> None:
    whole = meaning(layers)
    assert (layers.n, layers.live) == (len(whole), len(whole) - layers.delta)
    every = st.lists(st.integers(0, max(layers.n - 1, 0)), max_size=30) if layers.n else st.just([])
    rows = numbers(*data.draw(every))
    base, delta = layers.split_rows(rows)
    assert [("base", row) for row in base.tolist()] + [("delta", row) for row in delta.tolist()] == [
        whole[row] for row in [*rows[rows < layers.live], *rows[rows >= layers.live]]
    ]
    some = numbers(*sorted(data.draw(st.sets(st.integers(0, max(layers.base - 1, 0)), max_size=layers.base))))
    assert layers.join_rows(some, some[:0]).tolist() == [
        place for place, (of, row) in enumerate(whole) if of == "base" and row in some.tolist()
    ]
    assert layers.join_rows(some.astype(np.int32), some[:0]).dtype == np.int64
    late = np.arange(layers.delta)[::2]
    assert layers.join_rows(some, late).tolist() == [
        place for place, (of, row) in enumerate(whole) if (row in some.tolist() if of == "base" else row % 2 == 0)
    ]


@given(data=st.data(), layers=layers_of())
def test_values_of_the_layers_are_those_of_the_whole(data: st.DataObject, layers: Layers) -> None:
    whole = meaning(layers)
    base, delta = np.arange(layers.base), np.arange(layers.delta) + 1000
    joined = layers.join_values(base, delta)
    assert joined.tolist() == [row if of == "base" else row + 1000 for of, row in whole]
    again = layers.split_values(joined, -1)
    assert again[0].tolist() == [-1 if row in layers.tombstoned.tolist() else row for row in range(layers.base)]
    assert again[1].tolist() == delta.tolist()
    flags = np.array(data.draw(st.lists(st.booleans(), min_size=layers.n, max_size=layers.n)), np.bool_)
    of_base, of_delta = layers.split_mask(flags)
    assert not of_base[layers.tombstoned].any()
    assert layers.join_values(of_base, of_delta).tolist() == flags.tolist()


@pytest.mark.parametrize("tombstoned", [(-1,), (3,), (1, 1), (2, 1), (0, 2, 1)])
def test_tombstoned_slices_are_slices_of_the_base_in_order(tombstoned: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="numbers from 0 to 2, ascending"):
        Layers(3, numbers(*tombstoned), 0)


# -- statistics


def plain(known: ColumnStatistics) -> list[Any]:
    arrays = [known.lo_known, known.hi_known, known.null_count, known.row_count, known.trust]
    parts = [] if known.parts is None else [plain(known.parts.statistics), known.parts.slice_of.tolist()]
    return [known.type, known.lo.tolist(), known.hi.tolist(), *(array.tolist() for array in arrays), parts]


def drawn(data: st.DataObject, name: str, n: int) -> ColumnStatistics:
    """Statistics of n slices that are drawn from a few, in any of the forms."""
    few = data.draw(st.lists(slices([name]), min_size=1, max_size=3))
    known = weakened(exact_statistics(name, few), data.draw)
    rows = np.array([data.draw(st.integers(0, len(few) - 1)) for _ in range(min(n, 9))], np.intp)
    known = known.take(np.resize(rows, n))
    if n and data.draw(st.integers(0, 3)) == 0:
        of = np.sort(np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=8)), np.intp))
        files = known.take(np.resize(np.arange(n), len(of)))
        # What is known of the files must be true of their slices, too.
        wide = replace(
            known,
            lo_known=known.lo_known & False,
            hi_known=known.hi_known & False,
            null_count=np.full(n, UNKNOWN_COUNT),
            row_count=np.full(n, UNKNOWN_COUNT),
        )
        known = replace(wide, parts=PartStatistics(files, of))
    return stored(known) if data.draw(st.booleans()) else known


@settings(max_examples=examples(19, at_night=1_000))
@given(data=st.data(), layers=layers_of(12), name=st.sampled_from(list(TYPES)))
def test_statistics_are_joined_and_split_again(data: st.DataObject, layers: Layers, name: str) -> None:
    base, delta = drawn(data, name, layers.base), drawn(data, name, layers.delta)
    whole = layers.join_statistics(base, delta)
    either = any(isinstance(known.lo, StoredBounds) for known in (base, delta))
    assert isinstance(whole.lo, StoredBounds) is either
    for place, (of, row) in enumerate(meaning(layers)):
        wanted = (base if of == "base" else delta).take(numbers(row))
        actual = whole.take(numbers(place))
        assert plain(replace(actual, parts=None)) == plain(replace(wanted, parts=None))
        of_files = [
            [] if one.parts is None else plain(one.parts.statistics) if len(one.parts.slice_of) else []
            for one in (actual, wanted)
        ]
        assert of_files[0] == of_files[1]
    first, second = layers.split_statistics(whole)
    assert (len(first), len(second)) == (layers.base, layers.delta)
    assert plain(layers.join_statistics(first, second)) == plain(whole)
    for known in (first.lo_known, first.hi_known):
        assert not known[layers.tombstoned].any()
    assert set(first.null_count[layers.tombstoned].tolist() + first.row_count[layers.tombstoned].tolist()) <= {
        UNKNOWN_COUNT
    }


def test_statistics_of_other_types_or_sizes_are_refused() -> None:
    layers = Layers(2, numbers(), 1)
    one, two, text = (ColumnStatistics.unknown(of, n) for of, n in ((INT, 1), (INT, 2), (STRING, 1)))
    for base, delta in ((one, one), (two, two), (two, text)):
        with pytest.raises(ValueError, match="are no layers of"):
            layers.join_statistics(base, delta)
    with pytest.raises(ValueError, match="are not the 3"):
        layers.split_statistics(two)
    with pytest.raises(ValueError, match="not layers of one index kind"):
        LayeredProvider.joined(layers, StatisticsProvider("a", {}), StatisticsProvider("b", {}))


# -- evaluation


def may_hold_of(data: st.DataObject, n: int) -> Any:
    """Keys as an index would have them, that only looks at the candidates; or no answer to a column."""
    held = {
        name: np.array(data.draw(st.lists(st.booleans(), min_size=min(n, 5), max_size=min(n, 5))) or [True], np.bool_)
        for name in TYPES
    }
    silent = data.draw(st.sets(st.sampled_from(list(TYPES)), max_size=4))

    def might_contain(lookup: Lookup, candidates: npt.NDArray[np.bool_]) -> Any:
        assert len(candidates) == n
        return None if lookup.column.name in silent else np.resize(held[lookup.column.name], n) & candidates

    return might_contain


def may_match_of(data: st.DataObject, n: int) -> Any:
    """A match of the whole filter as an index of rows would give it; or none."""
    if not data.draw(st.booleans()):
        return None
    few = np.array(data.draw(st.lists(st.booleans(), min_size=min(n, 5), max_size=min(n, 5))) or [True], np.bool_)
    silent = data.draw(st.integers(0, 3)) == 0

    def filter_might_match(bound: BoundExpression, candidates: npt.NDArray[np.bool_]) -> Match | None:
        assert len(candidates) == n
        return None if silent else Match(np.resize(few, n) & candidates, (0,))

    return filter_might_match


@st.composite
def shapes(draw: st.DrawFn) -> Layers:
    """Layers of few slices, of more than are looked at one by one, and of none."""
    base, delta = draw(st.sampled_from([(3, 2), (0, 3), (4, 0), (9, 9), (260, 3), (230, 240), (5, 250)]))
    share = draw(st.sampled_from([0, 0.1, 0.5, 1]))
    chosen = np.random.default_rng(draw(st.integers(0, 99))).random(base) < share
    return Layers(base, read_only(np.flatnonzero(chosen)), delta)


@settings(max_examples=examples(23, at_night=2_000))
@given(data=st.data(), layers=shapes())
def test_every_answer_is_that_of_the_joined_table(data: st.DataObject, layers: Layers) -> None:
    expression, semantics = data.draw(filters(list(TYPES))), data.draw(SESSIONS)
    columns = sorted(column_names(expression))

    def layer(n: int) -> dict[str, ColumnStatistics]:
        known = {name: drawn(data, name, n) for name in columns if data.draw(st.integers(0, 7))}
        return {
            name: with_index(one, data.draw(st.sampled_from([2, MAX_EDGES])), 8) if data.draw(st.booleans()) else one
            for name, one in known.items()
        }

    base, delta = (
        StatisticsProvider("column_stats", layer(layers.base)),
        StatisticsProvider("column_stats", layer(layers.delta)),
    )
    ask = may_hold_of(data, layers.n) if data.draw(st.booleans()) else None
    sources, keys = [LayeredProvider.joined(layers, base, delta, ask)], None
    if data.draw(st.booleans()):
        keys = may_hold_of(data, layers.n) if data.draw(st.booleans()) else None
        sources.append(LayeredProvider.split(layers, StatisticsProvider("names", layer(layers.n), keys)))
    sources = [one.answering(one.whole.might_contain, may_match_of(data, layers.n)) for one in sources]
    matched = any(one.whole.filter_might_match is not None for one in sources)
    bound = bind(expression, SCHEMA, semantics)
    rows = numbers(*sorted(data.draw(st.sets(st.integers(0, layers.n - 1), max_size=6)))) if layers.n else numbers()

    whole = [replace(source.whole, statistics=dict(source.whole.statistics)) for source in sources]
    wanted = all_answers(bound, evaluate(bound, layers.n, whole), whole, rows, SCHEMA)
    actual = evaluate_layers(bound, layers, sources)
    answers = all_answers(bound, actual, actual.providers, rows, SCHEMA)
    for what, value in wanted.items():
        assert answers[what] == value, what
    again = evaluate_layers(bound, layers, sources)
    assert [leaf.outcomes.tolist() for leaf in again.leaves] == [
        leaf.outcomes.tolist() for leaf in evaluate(bound, layers.n, whole).leaves
    ], "asked for before the kept rows"
    assert again.outcomes.tolist() == wanted["outcomes"] or ask is not None or keys is not None
    assert matched or not actual.matches
    assert {name: one.filter_might_match.tolist() for name, one in actual.matches.items()} == {
        name: one.filter_might_match.tolist() for name, one in evaluate(bound, layers.n, whole).matches.items()
    }


X, S = ex.Column(("x",)), ex.Column(("s",))
TWO = Schema([Field("x", INT), Field("s", STRING)])
SPARK = Semantics.named("spark", "UTC")


def test_rows_may_be_asked_for_in_any_order() -> None:
    layers = Layers(4, numbers(1), 3)
    base, delta = from_values(INT, [0, 1, 2, 3], [0, 1, 2, 3]), from_values(INT, [4, 5, 6], [4, 5, 6])
    source = LayeredProvider.joined(layers, StatisticsProvider("a", {"x": base}), StatisticsProvider("a", {"x": delta}))
    bound = bind(ex.Compare("=", X, ex.Literal(5, INT)), TWO, SPARK)
    rows = numbers(5, 0, 4, 2, 4)  # slices with 6, 0, 5, 3, 5
    actual = evaluate_layers(bound, layers, [source])
    assert (actual.outcomes_at(rows) & 1).tolist() == (actual.leaf_at(0, rows) & 1).tolist() == [0, 0, 1, 0, 1]


def test_keys_are_looked_up_once_and_only_where_the_statistics_leave_a_slice_open() -> None:
    layers = Layers(300, np.arange(0, 300, 3), 5)
    base = ColumnStatistics.unknown(INT, 300)
    known = from_values(INT, [0] * 300, [9] * 150 + [4] * 150)
    asked: list[npt.NDArray[np.bool_]] = []

    def might_contain(lookup: Lookup, candidates: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        asked.append(candidates)
        assert lookup.values == (7,)
        return np.arange(len(candidates)) % 2 == 0

    source = LayeredProvider.joined(
        layers,
        StatisticsProvider("a", {"x": known}),
        StatisticsProvider("a", {"x": base.take(np.arange(5))}),
        might_contain,
    )
    actual = evaluate_layers(bind(ex.Compare("=", X, ex.Literal(7, INT)), TWO, SPARK), layers, [source])
    assert actual.kept_rows.tolist() == [*range(0, 100, 2), 200, 202, 204]
    assert len(asked) == 1
    assert np.flatnonzero(asked[0]).tolist() == [*range(100), *range(200, 205)]
    assert np.flatnonzero(actual.keep).tolist() == actual.kept_rows.tolist()


class Counted(Mapping[str, ColumnStatistics]):
    """Statistics that say what was asked for."""

    def __init__(self, known: Mapping[str, ColumnStatistics]) -> None:
        self.known, self.asked = known, set[str]()

    def __getitem__(self, name: str) -> ColumnStatistics:
        self.asked.add(name)
        return self.known[name]

    def __contains__(self, name: object) -> bool:
        return name in self.known

    def __iter__(self) -> Any:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def test_columns_are_joined_and_split_once_and_when_they_are_asked_for() -> None:
    layers = Layers(3, numbers(0), 2)
    known = {name: ColumnStatistics.unknown(of, 3) for name, of in (("x", INT), ("s", STRING))}
    late = {"x": ColumnStatistics.unknown(INT, 2)}
    base = Counted(known)
    joined = LayeredProvider.joined(layers, StatisticsProvider("a", base), StatisticsProvider("a", late))
    assert "s" in joined.delta.statistics
    assert list(joined.whole.statistics) == ["x", "s"]
    assert (len(joined.whole.statistics), base.asked) == (2, set())
    assert joined.whole.statistics["x"] is joined.whole.statistics["x"]
    assert base.asked == {"x"}
    assert len(joined.delta.statistics["s"]) == 2
    with pytest.raises(KeyError):
        joined.whole.statistics["y"]
    split = LayeredProvider.split(layers, StatisticsProvider("b", Counted({"x": ColumnStatistics.unknown(INT, 4)})))
    assert split.base.statistics["x"] is split.base.statistics["x"]
    assert (len(split.base.statistics["x"]), len(split.delta.statistics["x"])) == (3, 2)
    known["x"] = with_index(known["x"])
    assert joined.base.statistics["x"] is known["x"]
    copy = joined.answering(lambda *_: None)
    assert copy.whole.might_contain is not None
    assert copy.whole.statistics is joined.whole.statistics


def test_statistics_of_functions_are_layered_too() -> None:
    layers = Layers(3, numbers(1), 1)
    base = from_values(STRING, ["a", "b", "c"], ["a", "b", "c"], [0] * 3, [5] * 3)
    source = LayeredProvider.joined(
        layers, StatisticsProvider("e", {}, expressions={("lower", "s"): base}), StatisticsProvider("e", {})
    )
    bound = bind(ex.Compare("=", ex.Call("lower", (S,)), ex.Literal("c", STRING)), TWO, SPARK)
    actual = evaluate_layers(bound, layers, [source])
    assert actual.kept_rows.tolist() == [1, 2]
    whole = StatisticsProvider("e", {}, expressions=dict(source.whole.expressions))
    assert actual.outcomes.tolist() == evaluate(bound, 3, [whole]).outcomes.tolist()
    halves = LayeredProvider.split(layers, whole)
    assert evaluate_layers(bound, layers, [halves]).outcomes.tolist() == actual.outcomes.tolist()
