"""Conversions between numpy and Arrow hold what pyarrow's own hold, and import no pandas."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from evaluator.language import arrow_arrays
from evaluator.language.arrow_arrays import to_arrow, to_binary, to_numpy, to_text

NUMBERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.uint64, np.float32, np.float64, np.bool_]


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 1000])
def test_numbers_go_there_and_back(dtype: type, count: int) -> None:
    numbers = (np.random.default_rng(count).integers(0, 100, count) % (2 if dtype is np.bool_ else 100)).astype(dtype)
    array = to_arrow(numbers)
    assert array.equals(pa.array(numbers))
    assert to_numpy(array).dtype == numbers.dtype
    assert to_numpy(array).tolist() == numbers.tolist()
    for start in range(0, count, 3):
        assert to_numpy(array.slice(start, 5)).tolist() == numbers[start : start + 5].tolist()


@pytest.mark.parametrize("dtype", [np.int32, np.bool_])
@pytest.mark.parametrize("sizes", [[], [3], [3, 0, 9]], ids=str)
def test_chunks_are_one_array(dtype: type, sizes: list[int]) -> None:
    numbers = [np.arange(size).astype(dtype) for size in sizes]
    chunked = pa.chunked_array([to_arrow(one) for one in numbers], pa.from_numpy_dtype(np.dtype(dtype)))
    assert to_numpy(chunked).dtype == dtype
    assert to_numpy(chunked).tolist() == [value for one in numbers for value in one.tolist()]
    assert to_numpy(chunked.slice(1, 5)).tolist() == chunked.slice(1, 5).to_pylist()


def test_every_other_number_is_copied() -> None:
    assert to_arrow(np.arange(10)[::3]).to_pylist() == [0, 3, 6, 9]
    assert to_arrow(np.arange(10)[::-3] > 4).to_pylist() == [True, True, False, False]


@pytest.mark.parametrize("array", [pa.array([1, None]), pa.array(["a"]), pa.array([[1]])])
def test_nulls_and_other_types_are_refused(array: pa.Array) -> None:
    with pytest.raises(ValueError, match="an array"):
        to_numpy(array)


@pytest.mark.parametrize("values", [[None], [1, None, 3], [None] * 9 + [4], [True, None, False], [1.5, None]], ids=str)
def test_a_null_is_what_is_said_of_it(values: list[Any]) -> None:
    array = pa.array(values)
    for one in (array, array.slice(1), pa.chunked_array([array, array])):
        if pa.types.is_null(one.type):
            one = one.cast(pa.int32())
        found = to_numpy(one, null=0)
        assert found.tolist() == [0 if value is None else value for value in one.to_pylist()]
        assert found.dtype == one.type.to_pandas_dtype()


@pytest.mark.parametrize("texts", [[], [b""], [b"a", b"", b"\xff\x00b"]])
def test_bytes_keep_their_order(texts: list[bytes]) -> None:
    array = to_binary(texts)
    array.validate(full=True)
    assert array.equals(pa.array(texts, pa.large_binary()))


@pytest.mark.parametrize("texts", [[], [""], ["a", "", "é\U0001f600", "b" * 1000]])
def test_text_keeps_its_order(texts: list[str]) -> None:
    array = to_text(texts)
    array.validate(full=True)
    assert array.equals(pa.array(texts, pa.string()))


def test_more_text_than_an_array_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_arrays, "_MOST_TEXT", 3)
    assert to_text(["a", "bc"]).to_pylist() == ["a", "bc"]
    with pytest.raises(OverflowError, match="more text"):
        to_text(["a", "bcd"])


def test_pandas_is_not_imported() -> None:
    code = (
        "import sys; import numpy as np\n"
        "from evaluator.language.arrow_arrays import to_arrow, to_binary, to_numpy, to_text\n"
        "to_numpy(to_arrow(np.arange(3))); to_numpy(to_arrow(np.arange(3) > 1)); to_binary([b'a']).to_pylist()\n"
        "to_text(['a']); to_numpy(to_arrow(np.arange(3)).take(to_arrow(np.arange(2))), null=1)\n"
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
