"""What is packed is what it was, bit for bit: numbers, texts and decimals, all rows or some."""

from __future__ import annotations

import pickle
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evaluator.language.arrow_arrays import to_binary
from evaluator.statistics.packed_numbers import PackedNumbers, to_words
from evaluator.statistics.packed_texts import Choice, Constant, Identifier, Number, Plain, joined
from evaluator.statistics.packing import pack_decimals, pack_numbers, pack_texts
from tests.sampling import examples

NAN_OF_ANOTHER_PAYLOAD = np.array([0x7FF8_0000_0000_00FF], np.uint64).view(np.float64)[0]
SPECIAL = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), NAN_OF_ANOTHER_PAYLOAD, 5e-324, 1.5, -1e300]
DTYPES = (np.int64, np.int32, np.uint64, np.uint32, np.uint16, np.uint8, np.float64, np.bool_)
UUIDS = st.uuids(version=4).map(str)


@st.composite
def numbers(draw: st.DrawFn, dtype: Any) -> npt.NDArray[Any]:
    """Extreme ones, close ones, on a line, of few values, multiples: what packs well and what does not."""
    n = draw(st.integers(0, 40))
    if dtype is np.float64:
        close = st.floats(1.0, 1.001) | st.integers(-1000, 1000).map(lambda value: value / 10)
        values = draw(st.lists(st.sampled_from(SPECIAL) | close | st.floats(), min_size=n, max_size=n))
        return np.array(values, np.float64)
    if dtype is np.bool_:
        return np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.bool_)
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    start, step, slope = (
        draw(st.integers(least, most)),
        draw(st.sampled_from([1, 7, 1000, 2**33])),
        draw(st.integers(0, 9)),
    )
    wide = draw(st.sampled_from([0, 1, 255, 256, 2**16, 2**24, 2**32, 2**40, 2**48, 2**56, 2**64]))
    codes = draw(st.lists(st.integers(0, wide), min_size=n, max_size=n))
    made = [start + slope * row + step * code for row, code in enumerate(codes)]
    return np.array([(value - least) % (most - least + 1) + least for value in made], dtype)


def bits(values: Any) -> list[int]:
    array = np.asarray(values)
    return (to_words(array) if array.dtype.itemsize == 8 else array.astype(np.int64)).tolist()


@settings(max_examples=examples(58, at_night=20_000))
@given(data=st.data(), dtype=st.sampled_from(DTYPES))
def test_numbers_are_what_they_were(data: st.DataObject, dtype: Any) -> None:
    values = data.draw(numbers(dtype))
    beside = data.draw(st.none() | numbers(dtype).filter(lambda other: len(other) == len(values)) | st.just(values))
    if data.draw(st.booleans()) and dtype is np.int64:
        beside = values - data.draw(st.integers(0, 3))
    packed_beside = None if beside is None else pack_numbers(beside)
    packed = pack_numbers(values, packed_beside)
    assert (len(packed), packed.dtype, packed.shape) == (len(values), values.dtype, values.shape)
    rows = data.draw(st.lists(st.integers(-len(values), len(values) - 1), max_size=50)) if len(values) else []
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))), np.bool_)
    for one in (packed, pickle.loads(pickle.dumps(packed))):
        for where in (np.array(rows, np.int64), mask, slice(1, 7), slice(None, None, -3), slice(None)):
            assert bits(one[where]) == bits(values[where])
            assert one[where].dtype == values.dtype
        for row in rows:
            assert bits(one[row : row + 1 or None]) == bits(values[row : row + 1 or None])
            assert repr(one[row]) == repr(values[row])
        assert bits(one) == bits(values)
        assert repr(one.tolist()) == repr(values.tolist())


@pytest.mark.parametrize(
    ("values", "size"),
    [
        (np.arange(1000), 0),
        (np.arange(1000) * 1_000_000 + 1_767_225_600_000_000, 0),
        (np.full(1000, 7), 0),
        (np.arange(1000)[::-1] ** 2 % 251 + 10**15, 1000),
        (np.arange(1000) ** 2 % 65_521, 2000),
        (np.arange(1000) ** 3 % (1 << 23), 3000),
        (np.random.default_rng(1).integers(0, 1 << 40, 1000) * 1000, 5000),
        (np.random.default_rng(1).choice(np.random.default_rng(2).random(5), 1000), 1000 + 5 * 8),
    ],
    ids=["ordinals", "steps", "constant", "a byte", "two", "three", "multiples", "few doubles"],
)
def test_numbers_take_the_bytes_in_which_they_differ(values: npt.NDArray[Any], size: int) -> None:
    packed = pack_numbers(values)
    assert bits(packed) == bits(values)
    if isinstance(packed, PackedNumbers):
        assert packed.nbytes == size
    else:
        assert (packed.strides, size) == ((0,), 0)


def test_upper_bounds_take_the_bytes_of_their_distance_from_the_lower_ones() -> None:
    lower = np.random.default_rng(1).random(1000) * 1e6 + 2**20
    packed_lower, upper = pack_numbers(lower), lower + np.random.default_rng(2).random(1000) / 1e6
    packed = pack_numbers(upper, packed_lower)
    assert isinstance(packed, PackedNumbers)
    assert packed.nbytes == 2000
    assert bits(packed) == bits(upper)
    assert pack_numbers(lower, packed_lower) is packed_lower


def test_a_whole_array_compares_and_computes_as_numpy_does() -> None:
    values = np.random.default_rng(1).integers(0, 1000, 500) + 10**12
    packed = pack_numbers(values)
    assert isinstance(packed, PackedNumbers)
    assert (packed != 0).tolist() == (values != 0).tolist()
    assert (values <= packed).tolist() == [True] * 500
    assert np.isin(packed, values[:3]).tolist() == np.isin(values, values[:3]).tolist()
    assert (packed.min(), packed.max(), packed.sum()) == (values.min(), values.max(), values.sum())
    assert np.concatenate((packed, packed)).tolist() == [*values.tolist(), *values.tolist()]
    assert list(packed) == list(values)
    assert packed.astype(np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(packed)[0] = 1
    with pytest.raises(IndexError):
        packed[500]
    with pytest.raises(IndexError, match="a mask"):
        pack_numbers(values)[np.ones(3, np.bool_)]
    with pytest.raises(TypeError, match="unhashable"):
        hash(packed)


@pytest.mark.parametrize("plane", [np.zeros(3, np.uint8), np.zeros(2, np.int8)], ids=["length", "sign"])
def test_planes_that_do_not_fit_are_refused(plane: npt.NDArray[Any]) -> None:
    with pytest.raises(ValueError, match="planes"):
        PackedNumbers(np.dtype(np.int64), 2, [plane])


# -- texts

FIELDS = (
    st.integers(0, 10**6).map(str)
    | st.integers(0, 10**6).map(lambda value: f"{value:07d}")
    | st.integers(0, 10**25).map(str)
    | UUIDS
    | UUIDS.map(str.upper)
    | st.sampled_from(["", "-", "_", "a.parquet", "é", "\ud800", "0", "007", "²", "٣", "\n", "\0"])
)


@st.composite
def texts(draw: st.DrawFn) -> list[str]:
    """Texts of one pattern, of which some are of another."""
    kinds = draw(st.lists(st.sampled_from(["uuid", "number", "padded", "text"]), max_size=4))
    make = {
        "uuid": UUIDS,
        "number": st.integers(0, 10**18 - 1).map(str) | st.integers(0, 9).map(str),
        "padded": st.integers(0, 9999).map(lambda value: f"{value:04d}"),
    }
    constants = [draw(FIELDS) for _ in range(len(kinds) + 1)]
    made = []
    for _ in range(draw(st.integers(0, 8))):
        parts = [constants[0]]
        for kind, constant in zip(kinds, constants[1:], strict=True):
            parts += [draw(make[kind]) if kind in make else "", constant]
        made.append("".join(parts))
    others = draw(st.lists(FIELDS, max_size=1))
    return draw(st.permutations([*made * draw(st.sampled_from([1, 1, 200])), *others]))


@settings(max_examples=examples(35, at_night=10_000))
@given(data=st.data(), made=texts())
@example(data=None, made=["1", "01"])
@example(data=None, made=["a1\n", "a2"])
@example(data=None, made=["1\n", "2\n"])
@example(data=None, made=[str(10**17), str(10**18 - 1), str(10**18), str(10**19)])
@example(data=None, made=["00000000-0000-0000-0000-000000000000-0"] * 2)
def test_texts_are_what_they_were(data: st.DataObject | None, made: list[str]) -> None:
    encoded = [text.encode("utf-8", "surrogatepass") for text in made]
    array = to_binary(encoded)
    beside = None
    if data is not None and made and data.draw(st.booleans()):
        beside = pack_texts(to_binary(data.draw(st.permutations(encoded))))
    packed = pack_texts(array, beside)
    assert len(packed) == len(made)
    rows = data.draw(st.lists(st.integers(0, len(made) - 1), max_size=9)) if data is not None and made else []
    for one in (packed, pickle.loads(pickle.dumps(packed))):
        assert one.arrow().equals(array)
        for some in (np.array(rows, np.int64), np.arange(len(made))):
            assert [bytes(text) for text in one.at(some)] == [encoded[row] for row in some.tolist()]
            assert one.arrow(some).to_pylist() == [encoded[row] for row in some.tolist()]


@pytest.mark.parametrize(
    ("make", "kinds"),
    [
        (lambda i: f"shop-{i:07d}", [Constant, Number]),
        (lambda i: f"{i:08x}-0000-4000-8000-{i:012x}-0", [Identifier, Constant]),
        (lambda i: f"_{i}-1-10_2026.parquet", [Constant, Number, Constant]),
        (lambda i: f"7-{i % 2}-{i}", [Constant, Number, Constant, Number]),
        (lambda i: "DE" if i % 2 else "FR", [Choice]),
        (lambda i: chr(0x100 + i) * 3, [Plain]),
        (lambda i: "abc"[i:i], [Constant]),
    ],
    ids=["padded", "identifier", "name of a file", "numbers", "few", "any", "empty"],
)
def test_texts_are_put_together_from_what_is_in_them(make: Any, kinds: list[type]) -> None:
    packed = pack_texts(to_binary([make(i).encode() for i in range(3000)]))
    assert [type(part) for part in packed.parts] == kinds


def test_many_rows_are_put_together_as_few_are() -> None:
    made = [f"{i:08x}-0000-4000-8000-{i:012x}-{i % 7}_{i * 3:05d}".encode() for i in range(5000)]
    packed = pack_texts(to_binary(made))
    rows = np.random.default_rng(1).integers(0, 5000, 3000)
    assert [bytes(text) for text in packed.at(rows)] == [made[row] for row in rows.tolist()]
    assert [bytes(text) for text in packed.at(rows[:9])] == [made[row] for row in rows[:9].tolist()]


def test_an_upper_text_beside_the_lower_one_takes_no_bytes_where_they_are_equally_far() -> None:
    lower = pack_texts(to_binary([f"shop-{i * i % 9973:07d}".encode() for i in range(3000)]))
    upper = pack_texts(to_binary([f"shop-{i * i % 9973 + 50:07d}".encode() for i in range(3000)]), lower)
    [number] = [part for part in upper.parts if isinstance(part, Number)]
    assert isinstance(number.numbers, PackedNumbers)
    assert number.numbers.nbytes == 0


# -- decimals


@settings(max_examples=examples(35, at_night=4000))
@given(
    values=st.lists(st.integers(-(10**38) + 1, 10**38 - 1) | st.integers(-5, 5) | st.integers(10**20, 10**20 + 99)),
    kind=st.sampled_from([pa.decimal128(38, 0), pa.decimal256(76, 0)]),
    cut=st.integers(0, 2),
)
def test_decimals_are_what_they_were(values: list[int], kind: pa.DataType, cut: int) -> None:
    array = pa.array([Decimal(value) for value in values], kind).slice(cut)
    packed = pack_decimals(array)
    upper = pack_decimals(array, packed)
    rows = np.arange(0, len(array), 2)
    for one in (packed, upper, pickle.loads(pickle.dumps(packed))):
        assert one.arrow().equals(array)
        assert one.arrow(rows).equals(array.take(pa.array(rows)))


def test_identifiers_are_written_as_uuids_are() -> None:
    identifiers = np.random.default_rng(1).integers(0, 256, (10_000, 16), np.uint8)
    stored = Identifier(identifiers)
    expected = [str(uuid.UUID(bytes=one.tobytes())).encode() for one in identifiers]
    assert stored.arrow(None).to_pylist() == expected
    rows = np.array([9_999, 0, 8_192])
    assert list(stored.at(rows)) == stored.arrow(rows).to_pylist() == [expected[row] for row in rows]


def test_texts_are_joined_with_constants_between_and_behind() -> None:
    a, b, c = (to_binary([text])[0] for text in (b"-", b"", b"\xff"))
    texts = to_binary([b"1", b"", b"22"])
    assert joined(a, a, texts, b, c, texts, c, a).to_pylist() == [b"--1\xff1\xff-", b"--\xff\xff-", b"--22\xff22\xff-"]
