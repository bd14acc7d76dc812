"""Arrays between numpy and Arrow, without a copy and without pandas.

pyarrow's own conversions (``pa.array``, ``to_numpy``, ``np.asarray``) import pandas where it is installed, to recognise
what is pandas': 0.3 CPU seconds of the first filter of a process, which needs nothing of it.

    to_arrow(numbers)        numbers of one axis, or flags, as an Arrow array
    to_numpy(array)          an Arrow array of numbers or flags without nulls
    to_binary(texts)         bytes as an Arrow array of large binary
    to_text(texts)           text as an Arrow array
    binary_at(array, rows)   some of them
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["binary_at", "to_arrow", "to_binary", "to_numpy", "to_text"]

#: Bytes.
_MOST_TEXT = 2**31 - 1


def to_arrow(numbers: npt.NDArray[Any]) -> pa.Array:
    """``(k,)`` integers, floats or bools. Numbers share memory with the array."""
    if numbers.dtype == np.bool_:
        packed = np.packbits(numbers, bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), len(numbers), [None, pa.py_buffer(packed)])
    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))])


def to_numpy(array: pa.Array | pa.ChunkedArray, *, null: int | None = None) -> npt.NDArray[Any]:
    """``(k,)``; read-only. Numbers of one chunk share memory with it.

    ``null``: what stands for a null. Raises ValueError for nulls without it, and for other types.
    """
    if array.null_count and null is None:
        raise ValueError("an array with nulls")
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    kind, start, count = array.type, array.offset, len(array)
    if pa.types.is_boolean(kind):
        dtype: Any = np.dtype(np.bool_)
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        letter = "f" if pa.types.is_floating(kind) else "i" if pa.types.is_signed_integer(kind) else "u"
        dtype = np.dtype(f"{letter}{kind.bit_width // 8}")  # to_pandas_dtype of pyarrow 25 imports pandas
    else:
        raise ValueError(f"an array of {kind}")
    content = array.buffers()[1]
    found: npt.NDArray[Any]
    if content is None or not count:
        found = np.zeros(0, dtype)
    elif dtype == np.bool_:
        packed = np.frombuffer(content, np.uint8, count=(start + count + 7) // 8)
        found = np.unpackbits(packed, count=start + count, bitorder="little")[start:].view(np.bool_)
    else:
        found = np.frombuffer(content, dtype, count, start * dtype.itemsize)
    if array.null_count:
        valid = np.unpackbits(np.frombuffer(array.buffers()[0], np.uint8), count=start + count, bitorder="little")
        found = np.where(valid[start:], found, np.array(null, dtype))
    return found


def to_binary(texts: Sequence[bytes]) -> pa.LargeBinaryArray:
    """Bytes in their order."""
    content = pa.py_buffer(b"".join(texts))
    return pa.Array.from_buffers(pa.large_binary(), len(texts), [None, pa.py_buffer(_edges(texts)), content])


def to_text(texts: Sequence[str]) -> pa.StringArray:
    """Text in its order. Raises OverflowError for more than 2 GB of it."""
    encoded = [text.encode() for text in texts]
    edges = _edges(encoded)
    if edges[-1] > _MOST_TEXT:
        raise OverflowError("more text than an array of it holds")
    content = pa.py_buffer(b"".join(encoded))
    return pa.Array.from_buffers(pa.string(), len(encoded), [None, pa.py_buffer(edges.astype(np.int32)), content])


def _edges(texts: Sequence[bytes]) -> npt.NDArray[np.int64]:
    """``(k + 1,)``: where each begins in all of them, and where the last one ends."""
    edges = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=edges[1:])
    return edges


def binary_at(array: pa.LargeBinaryArray, rows: Sequence[int] | npt.NDArray[Any]) -> list[memoryview]:
    """The bytes in some rows, which exist, of large binary without nulls, as views.

    ``take`` of pyarrow imports ``pyarrow.compute`` (``arrow_functions``), and makes an object of Arrow for each value.
    """
    _, offsets, content = array.buffers()
    if not len(rows):
        return []
    edges = np.frombuffer(offsets, np.int64)[array.offset :]
    row_numbers = np.asarray(rows)
    data = memoryview(b"" if content is None else content)
    spans = zip(edges[row_numbers].tolist(), edges[row_numbers + 1].tolist(), strict=True)
    return [data[start:end] for start, end in spans]
