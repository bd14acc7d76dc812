"""The distinct keys of a dimension: their values, or of too many keys their range and a Bloom filter.

    type of the keys                        collected as
    ======================================  ==============================================
    boolean, integers, text, binary         their values
    float, double                           their values, including NaN, which equals NaN in a join
    decimal                                 ``Decimal``
    date, timestamp                         days and microseconds since 1970 (UTC), counted by Spark
    timestamp_ntz                           microseconds of the wall clock

The Bloom filter contains integers, dates or text. Executors set the bits for their keys, and the driver combines them.
It has 10 bits per key and 7 hashes, so that 1 % of other values pass.
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

_BITS_PER_KEY, _HASHES = 10, 7
_MAX_BITS = 1 << 30
_EPOCH = datetime.datetime(1970, 1, 1)
_SPARK_NAMES = {Kind.TIMESTAMP: "timestamp_ntz", Kind.TIMESTAMP_LTZ: "timestamp"}


@dataclass(frozen=True)
class Bloom:
    """A Bloom filter of integers or text: ``bits`` is ``(m / 8,) uint8``."""

    bits: npt.NDArray[np.uint8]

    def might_contain_any(self, values: Iterable[Any]) -> bool:
        """False when none of the values is a key."""
        size = len(self.bits) * 8
        return any(all(self.bits[bit >> 3] >> (bit & 7) & 1 for bit in _bit_positions(value, size)) for value in values)


@dataclass(frozen=True)
class JoinKeys:
    """Distinct keys without NULL in the evaluator's form: ``values``, or of too many their range and Bloom filter."""

    type: Type
    values: tuple[Any, ...] | None
    least: Any = None
    greatest: Any = None
    bloom: Bloom | None = None


def collect_keys(keys: DataFrame, name: str, types: Sequence[Type], max_keys: int) -> JoinKeys:
    """The keys in the column ``name``; of more than ``max_keys`` their range and Bloom filter.

    ``types``: the type of the keys, then those to which Spark casts them one after the other.
    """
    column, key_type = F.col(name), types[-1]
    for to in types[1:]:
        column = column.cast(_SPARK_NAMES.get(to.kind, str(to)))
    plain = keys.select(_plain(column, key_type).alias(name)).where(F.col(name).isNotNull()).distinct()
    rows = plain.limit(max_keys + 1).collect()
    if len(rows) <= max_keys:
        return JoinKeys(key_type, tuple(_value(row[0], key_type) for row in rows))
    least, greatest, count = plain.agg(F.min(name), F.max(name), F.count(name)).collect()[0]
    bloom = None
    if key_type.kind.is_integer or key_type.kind in (Kind.DATE, Kind.STRING):
        size = min(_MAX_BITS, (count * _BITS_PER_KEY + 7) // 8 * 8)
        bloom = _bloom_filter(plain, size)
    return JoinKeys(key_type, None, _value(least, key_type), _value(greatest, key_type), bloom)


def _plain(column: Column, key_type: Type) -> Column:
    if key_type.kind is Kind.DATE:
        return F.unix_date(column)
    return F.unix_micros(column) if key_type.kind is Kind.TIMESTAMP_LTZ else column


def _value(value: Any, key_type: Type) -> Any:
    if key_type.kind is Kind.TIMESTAMP:
        return (value - _EPOCH) // datetime.timedelta(microseconds=1)
    return bytes(value) if key_type.kind is Kind.BINARY else value


def _bloom_filter(keys: DataFrame, size: int) -> Bloom:
    bits = np.zeros(size // 8, np.uint8)
    for row in keys.mapInArrow(partial(_bits_of_batches, size), "bits binary").toLocalIterator():
        bits |= np.frombuffer(zlib.decompress(row["bits"]), np.uint8)
    return Bloom(bits)


def _bits_of_batches(size: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    bits = np.zeros(size, np.uint8)
    for batch in batches:
        for value in batch.column(0).to_pylist():
            for bit in _bit_positions(value, size):
                bits[bit] = 1
    packed = zlib.compress(np.packbits(bits, bitorder="little").tobytes(), 1)
    yield pa.record_batch([pa.array([packed], pa.binary())], names=["bits"])


def _bit_positions(value: Any, size: int) -> Sequence[int]:
    """The positions of a value's bits, combined from two hashes."""
    data = (
        value.encode("utf-8", "surrogatepass") if isinstance(value, str) else int(value).to_bytes(9, "big", signed=True)
    )
    both = xxhash.xxh3_128_intdigest(data)
    first, second = both & (1 << 64) - 1, both >> 64 | 1
    return [(first + number * second) % size for number in range(_HASHES)]
