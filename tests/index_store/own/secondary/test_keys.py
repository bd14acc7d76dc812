"""Bytes of secondary keys sort as the values do, one column or several, and ranges of bytes hold what they should."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.language.types import Type
from index_store.own.secondary.keys import (
    after,
    encode,
    encode_null,
    encode_value,
    is_encodable,
    key_range,
    leading,
    leading_of,
    prefix_range,
    ranges_of,
)
from index_store.storage.errors import FormatError
from index_store.table.file_types import FileType
from index_store.table.plain_values import plain_array, plain_type

LONG = st.integers(-(2**63), 2**63 - 1)
WIDE = st.integers(-(10**38) + 1, 10**38 - 1)
BYTES = st.one_of(
    st.binary(max_size=4), st.lists(st.sampled_from([b"\0", b"\xff", b"a", b"\1"]), max_size=5).map(b"".join)
)
TEXT = st.text(st.sampled_from("a\0b\1ÿ￿\U0010ffff"), max_size=5)
FLOATS = st.one_of(st.floats(), st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324]))
VALUES = {
    "boolean": st.integers(0, 1),
    "tinyint": st.integers(-128, 127),
    "smallint": st.integers(-(2**15), 2**15 - 1),
    "int": st.integers(-(2**31), 2**31 - 1),
    "bigint": LONG,
    "date": st.integers(-(2**31), 2**31 - 1),
    "timestamp": LONG,
    "timestamp with local time zone": LONG,
    "decimal(18,4)": st.integers(-(10**18) + 1, 10**18 - 1),
    "decimal(38,9)": WIDE,
    "float": st.floats(width=32),
    "double": FLOATS,
    "string": TEXT,
    "varchar(9)": TEXT,
    "char(9)": TEXT,
    "binary": BYTES,
}
each_type = pytest.mark.parametrize("name", VALUES)


def rank(value: Any) -> tuple[int, Any]:
    """How a value sorts: NULL, values, NaN; text as its UTF-8."""
    if value is None:
        return 0, 0
    if value != value:
        return 2, 0
    return 1, value.encode() if isinstance(value, str) else value + 0 if isinstance(value, float) else value


def plain(values: list[Any], of: Type) -> pa.Array:
    kind = plain_type(of)
    if pa.types.is_large_binary(kind):
        values = [one.encode() if isinstance(one, str) else one for one in values]
    if pa.types.is_decimal(kind):
        values = [None if one is None else Decimal(one) for one in values]
    return pa.array(values, kind)


@each_type
def test_bytes_sort_as_values_do(name):
    of = Type.parse(name)

    @given(st.lists(st.one_of(st.none(), VALUES[name]), max_size=12))
    def check(values):
        keys = encode([plain(values, of)], [of])
        assert keys.type == pa.binary()
        assert keys.to_pylist() == [encode_value(value, of) for value in values]
        for one, key in zip(values, keys.to_pylist(), strict=True):
            for other, other_key in zip(values, keys.to_pylist(), strict=True):
                assert (key < other_key) == (rank(one) < rank(other))
                assert (key == other_key) == (rank(one) == rank(other))
                assert key == other_key or not other_key.startswith(key)

    check()


@given(st.data(), st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=3))
def test_composite_keys_sort_by_one_column_after_the_other(data, names):
    types = [Type.parse(name) for name in names]
    rows = data.draw(st.lists(st.tuples(*(st.one_of(st.none(), VALUES[name]) for name in names)), max_size=8))
    keys = encode([plain([row[place] for row in rows], of) for place, of in enumerate(types)], types)
    found = keys.to_pylist()
    assert found == [b"".join(map(encode_value, row, types)) for row in rows]
    for row, key in zip(rows, found, strict=True):
        for other, other_key in zip(rows, found, strict=True):
            assert (key < other_key) == (tuple(map(rank, row)) < tuple(map(rank, other)))
            assert (key == other_key) == (tuple(map(rank, row)) == tuple(map(rank, other)))
        assert key[: leading(key)] == encode_value(row[0], types[0])
    assert leading_of(keys).to_pylist() == [encode_value(row[0], types[0]) for row in rows]
    assert leading_of(keys[1:]).to_pylist() == [encode_value(row[0], types[0]) for row in rows[1:]]


@each_type
def test_a_range_of_values_is_a_range_of_bytes(name):
    of = Type.parse(name)
    values = VALUES[name].filter(lambda value: value == value)

    @given(
        st.one_of(st.none(), values),
        st.booleans(),
        st.one_of(st.none(), values),
        st.booleans(),
        st.lists(st.one_of(st.none(), VALUES[name]), max_size=8),
        st.sampled_from([b"", b"\x03sfo\x00\x00", b"\x00"]),
    )
    def check(lo, lo_inclusive, hi, hi_inclusive, others, below):
        ranges = ranges_of(of, lo, hi, lo_inclusive=lo_inclusive, hi_inclusive=hi_inclusive, below=below)
        assert all(one[1] is None or one[0] < one[1] for one in ranges)
        for value in [*others, lo, hi]:
            key = below + encode_value(value, of)
            inside = value is not None and (
                value != value
                or (
                    (lo is None or rank(lo) < rank(value) or (lo_inclusive and rank(lo) == rank(value)))
                    and (hi is None or rank(value) < rank(hi) or (hi_inclusive and rank(value) == rank(hi)))
                )
            )
            for whole in (key, key + b"\x00", key + b"\x03\xff\x00\x00"):  # what else a composite key has
                assert sum(start <= whole and (end is None or whole < end) for start, end in ranges) == inside

    check()


@given(TEXT, st.lists(TEXT, max_size=6))
def test_a_prefix_of_text_is_a_range_of_bytes(prefix, values):
    string = Type.parse("string")
    lo, hi = prefix_range(prefix)
    for value in [*values, prefix + "a", prefix]:
        assert (lo <= encode_value(value, string) and encode_value(value, string) < hi) == value.startswith(prefix)
    assert not lo <= encode_null() < hi
    below = encode_value(7, Type.parse("int"))
    assert prefix_range(prefix, below=below) == (below + lo, below + hi)


def test_nan_is_in_every_range_and_never_an_end():
    double = Type.parse("double")
    nan = encode_value(math.nan, double)
    assert encode_value(-math.nan, double) == nan
    assert encode([pa.array([-math.nan, math.nan])], [double]).to_pylist() == [nan, nan]
    for ends in ({"hi": 5.0}, {"lo": 9.0, "hi": 5.0}, {"lo": 5.0}, {"hi": math.nan}, {"lo": math.nan}, {}):
        assert any(lo <= nan and (hi is None or nan < hi) for lo, hi in ranges_of(double, **ends))
    assert ranges_of(double, math.nan, math.nan) == ranges_of(double)
    assert ranges_of(Type.parse("int"), 9, 5) == ()


def test_what_begins_with_bytes_ends_before_the_next():
    assert after(b"a") == b"b"
    assert after(b"a\xff\xff") == b"b"
    assert after(b"\xff") is None
    assert after(b"") is None
    assert key_range(b"") == (b"", None)
    assert key_range(encode_null()) == (b"\x00", b"\x01")


@pytest.mark.parametrize(
    ("value", "name"), [(2**63, "bigint"), (1.5, "int"), (-(2**63) - 1, "timestamp"), (2**127, "decimal(38,0)")]
)
def test_a_value_that_the_type_cannot_hold_is_refused(value, name):
    with pytest.raises(ValueError, match="is no value of"):
        encode_value(value, Type.parse(name))


@pytest.mark.parametrize("damaged", [b"", b"\x01abc", b"\x03abc", b"\x09", b"\x02" + b"a" * 15, b"\x03\x00"])
def test_bytes_that_are_no_key_are_refused(damaged):
    with pytest.raises(FormatError, match="no secondary key"):
        leading(damaged)
    with pytest.raises(FormatError, match="no secondary key"):
        leading_of(pa.array([encode_null(), damaged], pa.binary()))


def test_arrays_must_be_in_plain_form():
    with pytest.raises(TypeError, match="in plain form"):
        encode([pa.array([1], pa.int32())], [Type.parse("int")])
    file = FileType.of(Type.parse("decimal(30,2)"))
    found = encode([plain_array(pa.array([Decimal("-1.50"), None], pa.decimal128(30, 2)), file)], [file.type])
    assert found.to_pylist() == [encode_value(-150, file.type), encode_null()]
    assert not is_encodable(Type.parse("array<int>"))
    assert is_encodable(Type.parse("decimal(38,0)"))
