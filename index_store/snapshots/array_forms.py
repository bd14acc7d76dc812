"""The forms in which an ``arrays_file`` holds arrays: each is a list of JSON, with the places of its bytes in the file.

    ["numbers", dtype, start, n]                                   an array as it is in memory
    ["same", dtype, word, n]                                       n times one number, as the integer of its bits
    ["packed", dtype, n, start, slope, step, beside, planes]       ``PackedNumbers``; ``beside`` names another array
    ["table", dtype, codes, values]                                ``PackedNumbers`` with a table
    ["texts", n, parts]                                            ``PackedTexts``, the parts as follows
        ["constant", hexadecimal]  ["number", width, numbers]  ["identifier", bytes]
        ["choice", options, codes] ["plain", offsets, bytes]
    ["decimals", bits, digits, words]                              ``PackedDecimals``
    ["like", name]                                                 the same as another array

``beside`` is the name of an array, or name and number of a part or of a word of one. Arrays are read where they are
used, as views of the file: a length that does not fit the file is refused, and nothing of its size is allocated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.statistics.packed_numbers import Numbers, PackedNumbers, to_words
from evaluator.statistics.packed_texts import (
    Choice,
    Constant,
    Identifier,
    Number,
    PackedDecimals,
    PackedTexts,
    Part,
    Plain,
)

__all__ = ["FormReader", "FormWriter", "Stored"]

#: What can be stored: numbers of one axis, texts and decimals; packed, or as numpy and Arrow (large binary) have them.
Stored: TypeAlias = Any
#: A form, of JSON.
Form: TypeAlias = list[Any]

ALIGNMENT = 64
_DTYPE = re.compile(r"[|<]([iufb][1248]|S[1-9][0-9]?)")
#: Rows of slices are numbered in 32 bits.
_MAX_LENGTH = (1 << 31) - 1


class FormWriter:
    """Collects the bytes of arrays, and their forms by name."""

    def __init__(self) -> None:
        self.forms: dict[str, Form] = {}
        self.chunks: list[npt.NDArray[np.uint8]] = []
        self.size = 0
        #: By identity, the name of each array that was added, and the array, which keeps its identity while it lives.
        self._added: dict[int, tuple[Any, Any]] = {}

    def add(self, name: str, array: Stored) -> None:
        """Add an array. What it is beside must have been added before. Raises ValueError for another kind of array."""
        self.forms[name] = self._form(array)
        pieces: Sequence[Any] = ()
        if isinstance(array, PackedTexts):
            pieces = [part.numbers if isinstance(part, Number) else part for part in array.parts]
        elif isinstance(array, PackedDecimals):
            pieces = array.words
        for number, piece in enumerate(pieces):
            self._added.setdefault(id(piece), ([name, number], piece))
        self._added.setdefault(id(array), (name, array))

    def _name_of(self, array: Any) -> Any:
        name, _ = self._added.get(id(array), (None, None))
        return name

    def _form(self, array: Stored) -> Form:
        match array:
            case _ if isinstance(self._name_of(array), str):
                return ["like", self._name_of(array)]
            case PackedNumbers(table=None):
                beside = None if array.beside is None else self._name_of(array.beside)
                if array.beside is not None and beside is None:
                    raise ValueError("numbers beside others that are not stored")
                planes = [self._numbers(plane) for plane in array.planes]
                return ["packed", array.dtype.str, len(array), array.start, array.slope, array.step, beside, planes]
            case PackedNumbers(table=table) if table is not None:
                return ["table", array.dtype.str, self._numbers(array.planes[0]), self._numbers(table)]
            case np.ndarray():
                return self._numbers(array)
            case PackedTexts():
                return ["texts", len(array), [self._part(part) for part in array.parts]]
            case PackedDecimals():
                words = [self._form(word) for word in array.words]
                return ["decimals", array.type.bit_width, array.type.precision, words]
            case pa.Array() if array.null_count == 0:
                return self._form(PackedTexts.plain(array))
            case _:
                raise ValueError(f"{type(array).__name__} is not stored")

    def _numbers(self, array: npt.NDArray[Any]) -> Form:
        if array.dtype == np.bool_:
            array = array.view(np.uint8)
        if len(array) > 1 and array.strides == (0,):
            return ["same", array.dtype.str, int(to_words(array[:1].copy())[0]), len(array)]
        if not _DTYPE.fullmatch(array.dtype.str):
            raise ValueError(f"an array of {array.dtype} is not stored")
        return ["numbers", array.dtype.str, self._place(np.ascontiguousarray(array)), len(array)]

    def _part(self, part: Part) -> Form:
        match part:
            case Constant(text=text):
                return ["constant", text.hex()]
            case Number(numbers=numbers, width=width):
                return ["number", width, self._form(numbers)]
            case Identifier(identifiers=identifiers):
                return ["identifier", self._numbers(identifiers.reshape(-1))]
            case Choice(options=options, codes=codes):
                return ["choice", self._part(Plain(options)), self._form(codes)]
            case Plain(texts=texts):
                _, offsets, content = texts.buffers()
                edges = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
                edges = edges if len(edges) else np.zeros(1, np.int64)
                data = np.frombuffer(content or b"", np.uint8)[edges[0] : edges[-1]]
                return ["plain", self._numbers(edges - edges[0]), self._numbers(data)]
            case _:
                raise ValueError(f"{type(part).__name__} is not stored")

    def _place(self, array: npt.NDArray[Any]) -> int:
        content = array.view(np.uint8).reshape(-1) if len(array) else np.zeros(0, np.uint8)
        start = -(-self.size // ALIGNMENT) * ALIGNMENT
        if start > self.size:
            self.chunks.append(np.zeros(start - self.size, np.uint8))
        self.chunks.append(content)
        self.size = start + len(content)
        return start


class FormReader:
    """Arrays of a file by name. Methods raise ValueError, TypeError, LookupError or RecursionError for a wrong form."""

    def __init__(self, content: memoryview, forms: Mapping[str, Form]) -> None:
        self._content = content
        self._forms = forms
        self._read: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """``(n,)`` numbers, ``PackedNumbers``, ``PackedTexts`` or ``PackedDecimals``, made once."""
        if name not in self._read:
            self._read[name] = self._array(self._forms[name])
        return self._read[name]

    def _array(self, form: Form) -> Any:
        match form:
            case ["numbers", *_]:
                return self._view(form)
            case ["same", dtype, word, n]:
                return self._same(dtype, word, n)
            case ["packed", dtype, n, start, slope, step, beside, planes]:
                numbers = None if beside is None else self._beside(beside)
                parts = [self._view(plane) for plane in planes]
                return PackedNumbers(
                    _dtype(dtype), _length(n), parts, start=start, slope=slope, step=step, beside=numbers
                )
            case ["table", dtype, codes, values]:
                plane, table = self._view(codes), self._view(values)
                if table.dtype != _dtype(dtype):
                    raise ValueError(f"a table of {table.dtype} for {dtype}")
                return PackedNumbers(table.dtype, len(plane), [plane], table=table)
            case ["texts", n, [_, *_] as parts]:
                return PackedTexts(_length(n), tuple(self._part(part, n) for part in parts))
            case ["decimals", 128 | 256 as bits, digits, words] if len(words) * 64 == bits:
                found = tuple(self._array(word) for word in words)
                if len({len(word) for word in found}) > 1:
                    raise ValueError("words of decimals of several lengths")
                return PackedDecimals(pa.decimal128(digits, 0) if bits == 128 else pa.decimal256(digits, 0), found)
            case ["like", name]:
                return self.get(name)
            case _:
                raise ValueError(f"an array of the form {str(form)[:60]}")

    def _view(self, form: Form) -> npt.NDArray[Any]:
        kind, dtype, start, n = form
        if kind != "numbers":
            raise ValueError(f"{kind} are no plain numbers")
        if not _length(n):
            return np.zeros(0, _dtype(dtype))
        view: npt.NDArray[Any] = np.frombuffer(self._content, _dtype(dtype), n, start)
        return view

    def _same(self, dtype: str, word: int, n: int) -> npt.NDArray[Any]:
        signed = np.array([word], np.uint64).view(np.int64)
        value = signed.view(_dtype(dtype)) if _dtype(dtype).itemsize == 8 else signed.astype(_dtype(dtype))
        same: npt.NDArray[Any] = np.ndarray((_length(n),), value.dtype, value.tobytes(), strides=(0,))
        return same

    def _beside(self, name: Any) -> Numbers:
        if isinstance(name, str):
            found = self.get(name)
        else:
            whole = self.get(name[0])
            found = whole.words[name[1]] if isinstance(whole, PackedDecimals) else whole.parts[name[1]].numbers
        if not isinstance(found, np.ndarray | PackedNumbers):
            raise ValueError(f"{name} are no numbers")
        return found

    def _part(self, form: Form, n: int) -> Part:
        part: Part
        match form:
            case ["constant", text]:
                return Constant(bytes.fromhex(text))
            case ["number", width, numbers]:
                part = Number(self._array(numbers), int(width))
            case ["identifier", identifiers]:
                part = Identifier(self._view(identifiers).reshape(-1, 16))
            case ["choice", options, codes]:
                part = Choice(self._plain(options), self._array(codes))
            case ["plain", *_]:
                part = Plain(self._plain(form))
            case _:
                raise ValueError(f"a part of the form {str(form)[:60]}")
        if len(part) != n:
            raise ValueError(f"a part of {len(part)} texts, not of {n}")
        return part

    def _plain(self, form: Form) -> pa.LargeBinaryArray:
        _, offsets, content = form
        edges, data = self._view(offsets), self._view(content)
        if edges.dtype != np.int64 or edges[0] != 0 or edges[-1] != data.nbytes:
            raise ValueError("offsets that do not fit their bytes")
        return pa.Array.from_buffers(pa.large_binary(), len(edges) - 1, [None, pa.py_buffer(edges), pa.py_buffer(data)])


@lru_cache(64)
def _dtype(text: str) -> np.dtype[Any]:
    if not _DTYPE.fullmatch(text):
        raise ValueError(f"an array of {text}")
    return np.dtype(text)


def _length(n: int) -> int:
    if not 0 <= n <= _MAX_LENGTH:
        raise ValueError(f"an array of {n}")
    return n
