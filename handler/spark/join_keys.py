"""The distinct keys of a dimension: as values, or beyond a number as their hull and a Bloom filter.

    type of the keys                        collected as
    ======================================  ==============================================
    boolean, whole numbers, text, binary    themselves
    float, double                           themselves; NaN, which equals NaN in a join, too
    decimal                                 ``Decimal``
    date, timestamp                         days and microseconds since 1970 (UTC), counted by Spark
    timestamp_ntz                           microseconds of the wall clock

The Bloom filter holds whole numbers, dates and text. Executors set the bits for their keys, the driver unites them: 10
bits a key and 7 hashes, so that one in a hundred that is no key is taken for one.
"""

from __future__ import annotations

import datetime
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from evaluator.language.types import Kind, Type

__all__ = ["Bloom", "JoinKeys", "collect_keys"]

_BITS_A_KEY, _HASHES = 10, 7
_MAX_BITS = 1 << 30
_EPOCH = datetime.datetime(1970, 1, 1)
_SPARK_NAMES = {Kind.TIMESTAMP: "timestamp_ntz", Kind.TIMESTAMP_LTZ: "timestamp"}


@dataclass(frozen=True)
class Bloom:
    """A Bloom filter of whole numbers or text: ``bits`` is ``(m / 8,) uint8``."""

    bits: npt.NDArray[np.uint8]

    def may_hold_any(self, values: Iterable[Any]) -> bool:
        """False when none of the values was put in."""
        size = len(self.bits) * 8
        return any(all(self.bits[place >> 3] >> (place & 7) & 1 for place in _places(value, size)) for value in values)


@dataclass(frozen=True)
class JoinKeys:
    """Distinct keys, none of them NULL, in the evaluator's form: ``values``, or what is known of more than these."""

    type: Type
    values: tuple[Any, ...] | None
    least: Any = None
    greatest: Any = None
    bloom: Bloom | None = None


def collect_keys(keys: DataFrame, name: str, types: Sequence[Type], most: int) -> JoinKeys:
    """The keys in the column ``name``; beyond ``most`` of them their hull and Bloom filter.

    ``types``: what Spark casts them to, one after the other; the first one is what they are.
    """
    column, of = F.col(name), types[-1]
    for to in types[1:]:
        column = column.cast(_SPARK_NAMES.get(to.kind, str(to)))
    plain = keys.select(_countable(column, of).alias(name)).where(F.col(name).isNotNull()).distinct()
    found = plain.limit(most + 1).collect()
    if len(found) <= most:
        return JoinKeys(of, tuple(_value(row[0], of) for row in found))
    hull = plain.agg(F.min(name), F.max(name), F.count(name)).collect()[0]
    bloom = None
    if of.kind.is_integer or of.kind in (Kind.DATE, Kind.STRING):
        size = min(_MAX_BITS, (hull[2] * _BITS_A_KEY + 7) // 8 * 8)
        bloom = _united(plain, size)
    return JoinKeys(of, None, _value(hull[0], of), _value(hull[1], of), bloom)


def _countable(column: Column, of: Type) -> Column:
    if of.kind is Kind.DATE:
        return F.unix_date(column)
    return F.unix_micros(column) if of.kind is Kind.TIMESTAMP_LTZ else column


def _value(value: Any, of: Type) -> Any:
    if of.kind is Kind.TIMESTAMP:
        return (value - _EPOCH) // datetime.timedelta(microseconds=1)
    return bytes(value) if of.kind is Kind.BINARY else value


def _united(keys: DataFrame, size: int) -> Bloom:
    bits = np.zeros(size // 8, np.uint8)
    for row in keys.mapInArrow(partial(_bits_of_batches, size), "bits binary").toLocalIterator():
        bits |= np.frombuffer(zlib.decompress(row["bits"]), np.uint8)
    return Bloom(bits)


def _bits_of_batches(size: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    bits = np.zeros(size, np.uint8)
    for batch in batches:
        for value in batch.column(0).to_pylist():
            for place in _places(value, size):
                bits[place] = 1
    packed = zlib.compress(np.packbits(bits, bitorder="little").tobytes(), 1)
    yield pa.record_batch([pa.array([packed], pa.binary())], names=["bits"])


def _places(value: Any, size: int) -> Sequence[int]:
    """Where a value's bits are: two hashes, combined."""
    data = (
        value.encode("utf-8", "surrogatepass") if isinstance(value, str) else int(value).to_bytes(9, "big", signed=True)
    )
    both = xxhash.xxh3_128_intdigest(data)
    first, second = both & (1 << 64) - 1, both >> 64 | 1
    return [(first + number * second) % size for number in range(_HASHES)]
