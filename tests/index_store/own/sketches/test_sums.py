"""The sketch ``sum`` has the exact sum of a file, whatever the batches, and none where 38 digits are not enough."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.language.types import BIGINT, DOUBLE, decimal_type
from index_store.own.sketches import parse_sketch
from index_store.own.sketches.base import Batch
from index_store.table.file_types import FileType
from tests.sampling import examples

WIDE = 10**38 - 1
VALUES = {
    BIGINT: st.integers(-(2**63), 2**63 - 1) | st.sampled_from([0, -1, 2**32, -(2**32), 2**63 - 1, -(2**63)]),
    decimal_type(38, 0): st.integers(-WIDE, WIDE) | st.sampled_from([0, -1, 2**64, -(2**64), 2**32, WIDE, -WIDE]),
}
PLAIN = {BIGINT: pa.int64(), decimal_type(38, 0): pa.decimal128(38, 0)}


def decimal_of(value):
    """Of all its digits."""
    return None if value is None else Decimal((value < 0, tuple(map(int, str(abs(value)))), 0))


def total_of(batches, of):
    """What is stored of batches of values, which may be NULL; each is cut out of a longer array."""
    collector = parse_sketch("sum").collect()
    for values in batches:
        plain = [decimal_of(one) if of in VALUES and of is not BIGINT else one for one in values]
        array = pa.array([plain[0] if plain else None, *plain, None], PLAIN.get(of, pa.float64()))
        collector.add(Batch(array.slice(1, len(plain)), FileType.of(of)))
    return collector.stored()["total"]


@settings(max_examples=examples(60, at_night=3000), deadline=None)
@given(st.data(), st.sampled_from([*VALUES]))
def test_the_sum_is_that_of_all_values(data, of):
    batches = data.draw(st.lists(st.lists(st.none() | VALUES[of], max_size=8), max_size=3))
    values = [one for batch in batches for one in batch if one is not None]
    stored = total_of(batches, of)
    if not values or abs(sum(values)) > WIDE:
        assert stored is None
    else:
        assert int(stored) == sum(values)
        assert pa.array([stored], pa.decimal128(38, 0)).to_pylist() == [stored]


@pytest.mark.parametrize("values", [[], [None], [None, None]])
def test_without_a_value_there_is_no_sum(values):
    assert total_of([values], BIGINT) is None


def test_a_file_with_floats_in_a_column_of_integers_has_no_sum():
    assert total_of([[1.0, 2.0]], DOUBLE) is None
