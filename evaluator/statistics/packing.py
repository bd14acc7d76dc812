"""Packs numbers, texts and wide decimals for storage; what is packed is unpacked and compared before it is returned.

    pack_numbers(values, beside)     ``PackedNumbers``, or the values where that saves little
    pack_texts(texts, beside)        ``PackedTexts``
    pack_decimals(decimals, beside)  ``PackedDecimals``

``beside``: values of the same rows, packed before, from which these may differ by little: the lower bounds beside which
upper bounds are stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.arrow_arrays import binary_at, to_binary, to_numpy
from evaluator.statistics.packed_numbers import Numbers, PackedNumbers, Words, to_words
from evaluator.statistics.packed_texts import (
    Choice,
    Constant,
    Identifier,
    Number,
    PackedDecimals,
    PackedTexts,
    Part,
    to_identifiers,
)

__all__ = ["pack_decimals", "pack_numbers", "pack_texts"]

#: Bytes of the planes that hold codes of up to so many bytes.
_PLANES: Sequence[tuple[int, ...]] = ((), (1,), (2,), (2, 1), (4,), (4, 1), (4, 2), (4, 2, 1), (8,))
_SAMPLE = 1_000
#: A table of distinct values has up to so many.
_MAX_OPTIONS = 1 << 16
#: Values are packed where that takes at most this share of their bytes.
_WORTH_IT = 0.9
#: A run of more digits does not fit 64 bits.
_MAX_DIGITS = 18
_FIELD = re.compile(
    rb"(?P<identifier>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})|(?P<number>[0-9]{1,%d})"
    % _MAX_DIGITS
)


# -- numbers


def pack_numbers(values: npt.NDArray[Any], beside: Numbers | None = None) -> Numbers:
    """``(n,)`` integers or doubles. Values that are all the same are an array whose stride is 0."""
    n = len(values)
    if not n:
        return values
    words = to_words(values)
    if beside is not None and beside.dtype == values.dtype and np.array_equal(words, to_words(beside[:])):
        return beside
    if (words == words[0]).all():
        return np.broadcast_to(values[:1].copy()[0], (n,))
    candidates = [_by_difference(values, words, 0, None), *_by_table(values, words)]
    slope = (int(words[-1].view(np.int64)) - int(words[0].view(np.int64))) // max(n - 1, 1)
    if slope:
        candidates.append(_by_difference(values, words, slope, None))
    if beside is not None:
        candidates.append(_by_difference(values, words, 0, beside))
    best = min(candidates, key=lambda one: one.nbytes)
    is_worth_it = best.nbytes <= values.nbytes * _WORTH_IT
    return best if is_worth_it and np.array_equal(to_words(best[:]), words) else values


def _by_difference(values: npt.NDArray[Any], words: Words, slope: int, beside: Numbers | None) -> PackedNumbers:
    n = len(words)
    left = words
    if slope:
        left = left - np.arange(n).astype(np.uint64) * _word(slope)
    if beside is not None:
        left = left - to_words(beside[:])
    signed = left.view(np.int64)
    start, span = int(signed.min()), int(signed.max()) - int(signed.min())
    codes = left - _word(start)
    step = _common_step(codes)
    planes: list[npt.NDArray[Any]] = []
    shift = 0
    codes //= np.uint64(step)
    for size in _PLANES[-(-(span // step).bit_length() // 8)]:
        planes.append((codes >> np.uint64(shift)).astype(f"u{size}"))
        shift += 8 * size
    return PackedNumbers(values.dtype, n, planes, start=start, slope=slope, step=step, beside=beside)


def _word(value: int) -> np.uint64:
    word: np.uint64 = np.uint64(value & ((1 << 64) - 1))
    return word


def _common_step(codes: Words) -> int:
    """The greatest common divisor of all codes; 1 where they are all 0."""
    step = int(np.gcd.reduce(_sampled(codes)))
    return max(int(np.gcd.reduce(codes)), 1) if step != 1 else 1


def _sampled(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return values[np.linspace(0, len(values) - 1, min(len(values), _SAMPLE)).astype(np.intp)]


def _by_table(values: npt.NDArray[Any], words: Words) -> Iterator[PackedNumbers]:
    if len(np.unique(_sampled(words))) * 2 > _SAMPLE:
        return
    distinct, codes = np.unique(words, return_inverse=True)
    if len(distinct) <= _MAX_OPTIONS:
        plane = codes.astype(np.uint8 if len(distinct) <= 1 << 8 else np.uint16)
        table = distinct.view(np.int64)
        table = table.view(values.dtype) if values.dtype.itemsize == table.itemsize else table.astype(values.dtype)
        yield PackedNumbers(values.dtype, len(words), (plane,), table=table)


# -- texts


def pack_texts(texts: pa.LargeBinaryArray, beside: PackedTexts | None = None) -> PackedTexts:
    """``(n,)`` texts without nulls: by a pattern that all of them follow, by a table of few, or as they are."""
    if beside is not None and beside.arrow().equals(texts):
        return beside
    for pack in (_by_pattern, _by_choice):
        found = pack(texts, beside)
        if found is not None and found.arrow().equals(texts):
            return found
    return PackedTexts.plain(texts)


def _by_pattern(texts: pa.LargeBinaryArray, beside: PackedTexts | None) -> PackedTexts | None:
    """Constants, numbers and identifiers, as in the first text; None where others differ in more than these."""
    if not len(texts):
        return None
    samples = [bytes(text) for text in binary_at(texts, _sampled(np.arange(len(texts))))]
    kinds = [match.lastgroup for match in _FIELD.finditer(samples[0])]
    constants, at = [], 0
    for match in _FIELD.finditer(samples[0]):
        constants.append(samples[0][at : match.start()])
        at = match.end()
    constants.append(samples[0][at:])
    fields = [b"([0-9a-f-]{36})" if kind == "identifier" else b"([0-9]{1,%d})" % _MAX_DIGITS for kind in kinds]
    names = [b"(?P<f%d>" % number for number in range(len(fields))]
    pattern = re.escape(constants[0]) + b"".join(
        name + field[1:] + re.escape(constant)
        for name, field, constant in zip(names, fields, constants[1:], strict=True)
    )
    if any(re.fullmatch(pattern, sample, re.DOTALL) is None for sample in samples):
        return None
    if not fields:
        return PackedTexts(len(texts), (Constant(constants[0]),))
    found = pc.extract_regex(texts, rb"(?s)^" + pattern + rb"$")
    if found.null_count:
        return None
    parts: list[Part] = []
    constant = constants[0]
    for number, (kind, behind) in enumerate(zip(kinds, constants[1:], strict=True)):
        field = found.field(number)
        first = bytes(binary_at(field, [0])[0])
        if pc.all(pc.equal(field, to_binary([first])[0])).as_py():
            constant += first + behind
            continue
        parts += [Constant(constant)] if constant else []
        part = _field(field, kind, len(parts), beside)
        if part is None:
            return None
        parts.append(part)
        constant = behind
    return PackedTexts(len(texts), (*parts, *([Constant(constant)] if constant or not parts else [])))


def _field(texts: pa.LargeBinaryArray, kind: str | None, place: int, beside: PackedTexts | None) -> Part | None:
    if kind == "identifier":
        return _identifier(texts)
    numbers = to_numpy(texts.cast(pa.large_string()).cast(pa.int64()))
    lengths = to_numpy(pc.binary_length(texts))
    width = int(lengths[0]) if (lengths == lengths[0]).all() else 0
    other = beside.parts[place] if beside is not None and place < len(beside.parts) else None
    return Number(pack_numbers(numbers, other.numbers if isinstance(other, Number) else None), width)


def _identifier(texts: pa.LargeBinaryArray) -> Identifier | None:
    _, offsets, content = texts.buffers()
    start = int(np.frombuffer(offsets, np.int64)[texts.offset])
    identifiers, are_identifiers = to_identifiers(
        np.frombuffer(content, np.uint8, 36 * len(texts), start).reshape(-1, 36)
    )
    return Identifier(identifiers) if are_identifiers.all() else None


def _by_choice(texts: pa.LargeBinaryArray, beside: PackedTexts | None) -> PackedTexts | None:
    del beside
    samples = {bytes(text) for text in binary_at(texts, _sampled(np.arange(len(texts))))} if len(texts) else set()
    if not samples or len(samples) * 2 > _SAMPLE:
        return None
    encoded = pc.dictionary_encode(texts)
    if len(encoded.dictionary) > _MAX_OPTIONS or 2 * encoded.dictionary.nbytes > texts.nbytes:
        return None
    return PackedTexts(len(texts), (Choice(encoded.dictionary, pack_numbers(to_numpy(encoded.indices))),))


# -- decimals


def pack_decimals(decimals: pa.Array, beside: PackedDecimals | None = None) -> PackedDecimals:
    """``(n,)`` decimals of scale 0 without nulls."""
    plain = PackedDecimals.plain(decimals)
    others = beside.words if beside is not None and beside.type == decimals.type else (None,) * len(plain.words)
    words = tuple(pack_numbers(np.asarray(word), other) for word, other in zip(plain.words, others, strict=True))
    return PackedDecimals(decimals.type, words)
