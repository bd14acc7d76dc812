"""An index that is stored as arrays and read back from read-only ones is the same index."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DOUBLE, INT, STRING, Kind, Type, decimal_type
from evaluator.statistics.codes import ABOVE, Coder
from evaluator.statistics.column_index import ColumnIndex
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.indexing import with_index
from tests.evaluator.arrow_form import mapped, stored
from tests.evaluator.evaluation.test_formula_search import SCHEMA, TYPES, Table
from tests.evaluator.statistics.test_stored_bounds import objects


@pytest.mark.parametrize("seed", range(12))
def test_a_mapped_index_finds_the_same_slices(seed: int) -> None:
    choose = random.Random(seed)
    table = Table(choose, np.random.default_rng(seed), choose.choice([1, 7, 300, 5000]), bool(seed % 2))
    indexed = {
        name: with_index(known, choose.choice([3, 65_000]), choose.choice([4, 64]))
        for name, known in table.statistics().items()
    }
    opened = {
        name: replace(stored(known), index=mapped(known.index, known.type))
        for name, known in indexed.items()
        if known.index is not None
    }
    for _ in range(15):
        bound = bind(table.filter(indexed, choose.randrange(4)), SCHEMA, Semantics.named("spark", "UTC"))
        wanted = evaluate(bound, table.n, [StatisticsProvider("x", indexed)])
        actual = evaluate(bound, table.n, [StatisticsProvider("x", opened)])
        assert actual.kept_rows.tolist() == wanted.kept_rows.tolist()
        assert actual.fully_matched_rows.tolist() == wanted.fully_matched_rows.tolist()
        assert actual.outcomes.tolist() == wanted.outcomes.tolist()


@pytest.mark.parametrize("column_type", [*TYPES.values(), Type(Kind.OTHER), Type(Kind.CHAR, 3)], ids=str)
def test_an_index_without_any_known_bound_is_stored_too(column_type: Type) -> None:
    for n in (0, 5):
        index = with_index(ColumnStatistics.unknown(column_type, n)).index
        assert index is not None
        parts = mapped(index, column_type).to_arrays()
        assert {name: part.tolist() if isinstance(part, np.ndarray) else part for name, part in parts.items()} == {
            name: part.tolist() if isinstance(part, np.ndarray) else part for name, part in index.to_arrays().items()
        }


#: Seeds of an index whose intervals are in the order of the lower codes, and of one with wide slices kept apart.
WITHOUT_WIDE, WITH_WIDE = 1, 2


def an_index(seed: int) -> ColumnIndex:
    known = Table(random.Random(seed), np.random.default_rng(seed), 100, clustered=False).statistics()["s"]
    index = with_index(known, 7, 8).index
    assert index is not None
    return index


@pytest.mark.parametrize(
    ("seed", "name"), [(seed, name) for seed in (WITHOUT_WIDE, WITH_WIDE) for name in an_index(seed).to_arrays()]
)
def test_an_array_that_is_missing_or_of_another_type_or_length_is_refused(seed: int, name: str) -> None:
    parts = an_index(seed).to_arrays()
    part = parts[name]
    worse: list[Any] = ["text", None, 3.5]
    if isinstance(part, np.ndarray):
        worse += [part.astype(np.float32), part[None]]
        if name not in ("edges", "intervals.hi", "intervals.wide"):
            worse += [np.append(part, np.zeros(1, part.dtype)), *([part[:-1]] if len(part) else [])]
        elif name != "edges":
            worse += [np.append(part, np.zeros(100, part.dtype))]
    elif name == "intervals.shared":
        worse += [1 - part, -1, 12]
    elif isinstance(part, int):
        worse += [0, -1, 12]
    for one in worse:
        with pytest.raises(ValueError, match=r"index|edges|keys"):
            ColumnIndex.from_arrays(STRING, parts | {name: one})
    del parts[name]
    with pytest.raises(ValueError, match=r"index|edges"):
        ColumnIndex.from_arrays(STRING, parts)


@pytest.mark.parametrize("name", ["lo.offsets", "hi.offsets", "intervals.starts", "intervals.reach"])
def test_offsets_of_other_slices_are_refused(name: str) -> None:
    parts = an_index(WITH_WIDE).to_arrays()
    offsets = parts[name]
    assert isinstance(offsets, np.ndarray)
    for wrong in (offsets + 1, np.where(np.arange(len(offsets)) > int(ABOVE), 99, offsets)):
        with pytest.raises(ValueError, match="offsets"):
            ColumnIndex.from_arrays(STRING, parts | {name: wrong})


def test_the_order_of_the_lower_codes_is_stored_once() -> None:
    names = {seed: an_index(seed).to_arrays() for seed in (WITHOUT_WIDE, WITH_WIDE)}
    assert {seed: "intervals.order" in parts for seed, parts in names.items()} == {WITHOUT_WIDE: False, WITH_WIDE: True}
    for seed in names:
        index = an_index(seed)
        assert mapped(index, STRING).intervals.order.tolist() == index.intervals.order.tolist()


@pytest.mark.parametrize(
    ("column_type", "edges", "prefix", "key_bytes"),
    [
        (BIGINT, np.zeros(3), b"", 24),
        (DOUBLE, np.zeros(3, np.int64), b"", 24),
        (STRING, np.zeros(3), b"", 8),
        (STRING, np.zeros(3, np.uint64), b"", 24),
        (STRING, np.zeros(3, np.uint64), b"", 9),
        (decimal_type(30, 2), np.zeros(3, np.int64), b"", 24),
        (INT, np.zeros(65_001, np.int64), b"", 24),
        (INT, np.zeros((2, 2), np.int64), b"", 24),
    ],
)
def test_a_coder_needs_keys_of_its_type(column_type: Type, edges: Any, prefix: bytes, key_bytes: int) -> None:
    with pytest.raises(ValueError, match=r"edges|keys"):
        Coder(column_type, edges, prefix, key_bytes)


def test_new_statistics_are_coded_with_the_edges_of_another_index() -> None:
    first, second = (objects([f"{head}-{number:04d}" for number in range(400)]) for head in ("pre", "pra"))
    flags, count = np.ones(400, np.bool_), np.zeros(400, np.int64)

    def known(bound: Any) -> ColumnStatistics:
        return ColumnStatistics(
            STRING,
            bound,
            bound,
            lo_known=flags,
            hi_known=flags,
            null_count=count,
            row_count=count + 9,
            trust=np.zeros(400, np.uint8),
        )

    base = with_index(known(first)).index
    assert base is not None
    delta = with_index(known(second), coder=base.coder)
    assert delta.index is not None
    assert delta.index.coder is base.coder
    assert set(delta.index.lo.codes.tolist()) == {1}, "all of them are below the edges"
    mixed = with_index(known(np.concatenate((first[:200], second[:200]))), coder=base.coder)
    assert mixed.index is not None
    assert mixed.index.lo.codes[:200].tolist() == base.lo.codes[:200].tolist()


@pytest.mark.parametrize("seed", range(8))
def test_an_index_with_the_edges_of_another_one_finds_the_same_slices(seed: int) -> None:
    choose = random.Random(seed)
    base, delta = (Table(choose, np.random.default_rng(seed + of), 3000, clustered=False).statistics() for of in (0, 1))
    table = Table(choose, np.random.default_rng(seed), 3000, clustered=False)
    coders = {name: with_index(known, choose.choice([5, 65_000])).index for name, known in base.items()}
    indexed = {
        name: with_index(known, coder=index.coder)
        for (name, known), index in zip(delta.items(), coders.values(), strict=True)
        if index is not None
    }
    for _ in range(8):
        bound = bind(table.filter(delta, 2), SCHEMA, Semantics.named("hive", "UTC"))
        wanted = evaluate(bound, 3000, [StatisticsProvider("x", delta)])
        assert evaluate(bound, 3000, [StatisticsProvider("x", indexed)]).kept_rows.tolist() == wanted.kept_rows.tolist()
