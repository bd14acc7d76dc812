"""The distinct keys of a dimension: a list, a key set, or of too many keys their range and a Bloom filter.

    number of keys             what is known of them
    =========================  ========================================================================
    up to ``LISTED``           their values
    up to ``max_keys``         a key set (``evaluator.language.key_set``), and their range
    more                       their range and a Bloom filter

    type of the keys           collected as
    =========================  ========================================================================
    boolean, integers, text,   their values
    binary
    float, double              their values, including NaN, which equals NaN in a join
    decimal                    ``Decimal``; in a key set the unscaled number
    date, timestamp            days and microseconds since 1970 (UTC), counted by Spark
    timestamp_ntz              microseconds of the wall clock

One job computes the distinct keys, sorts them and sends them to the driver as Arrow batches, at most ``MAX_BYTES`` of
them. A key set is in the type of the fact table's column, which Spark casts to the type of the comparison without
changing a value: a key that is no value of the column's type is left out.

The Bloom filter contains integers, dates or text. Executors set the bits for their keys, and the driver combines them.
It has 10 bits per key and 7 hashes, so that 1 % of other values pass.
"""

from __future__ import annotations

import datetime
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import xxhash
from bitarray import bitarray
from bitarray.util import zeros
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from evaluator.language import arrow_functions as pc
from evaluator.language.errors import UnsupportedError
from evaluator.language.key_set import KeySet, has_key_sets
from evaluator.language.records import frozen
from evaluator.language.types import Kind, Type
from handler.spark.distributed.python_workers import for_workers, worker_errors

__all__ = ["LISTED", "MAX_BYTES", "Bloom", "JoinKeys", "as_key_set", "collect_keys"]

LISTED = 10_000
#: The keys that are collected have at most so many bytes.
MAX_BYTES = 256 << 20
_BITS_PER_KEY, _HASHES = 10, 7
_MAX_BITS = 1 << 30
_LOW = (1 << 64) - 1
#: The largest LIMIT in Spark is an int.
_MAX_LIMIT = (1 << 31) - 2
_EPOCH = datetime.datetime(1970, 1, 1)
_SPARK_NAMES = {Kind.TIMESTAMP: "timestamp_ntz", Kind.TIMESTAMP_LTZ: "timestamp"}


@frozen(slots=False)
class Bloom:
    """A Bloom filter of integers or text."""

    bits: bitarray

    def might_contain_any(self, values: Iterable[Any]) -> bool:
        """False when none of the values is a key."""
        size = len(self.bits)
        return any(all(self.bits[bit] for bit in _bit_positions(value, size)) for value in values)


@frozen(slots=False, kw_only=True)
class JoinKeys:
    """Distinct keys without NULL in the evaluator's form.

    type               the type in which the join compares them
    count              how many there are
    values             all of them, when they are few
    array              all of them as Arrow has them, ascending, when they were collected
    least, greatest    their range, when they are many
    bloom              a Bloom filter, when they were not collected
    """

    type: Type
    count: int
    values: tuple[Any, ...] | None = None
    array: pa.Array | None = None
    least: Any = None
    greatest: Any = None
    bloom: Bloom | None = None


@worker_errors()
def collect_keys(keys: DataFrame, name: str, types: Sequence[Type], max_keys: int) -> JoinKeys:
    """The keys in the column ``name``; of more than ``max_keys`` their range and Bloom filter.

    ``types``: the type of the keys, then those to which Spark casts them one after the other. Raises UnsupportedError
    for text that is not UTF-8.
    """
    column, key_type = F.col(name), types[-1]
    for to in types[1:]:
        column = column.cast(_SPARK_NAMES.get(to.kind, str(to)))
    plain = keys.select(_plain(column, key_type).alias(name)).where(F.col(name).isNotNull()).distinct()
    array = _collected(plain, name, max_keys)
    if array is not None:
        if len(array) <= LISTED:
            return JoinKeys(
                type=key_type, count=len(array), values=tuple(_value(one.as_py(), key_type) for one in array)
            )
        least, greatest = _ends(array)
        return JoinKeys(
            type=key_type,
            count=len(array),
            array=array,
            least=_value(least, key_type),
            greatest=_value(greatest, key_type),
        )
    least, greatest, count = plain.agg(F.min(name), F.max(name), F.count(name)).collect()[0]
    bloom = None
    if key_type.kind.is_integer or key_type.kind in (Kind.DATE, Kind.STRING):
        size = min(_MAX_BITS, (count * _BITS_PER_KEY + 7) // 8 * 8)
        bloom = _bloom_filter(plain, size)
    return JoinKeys(
        type=key_type, count=count, least=_value(least, key_type), greatest=_value(greatest, key_type), bloom=bloom
    )


def _plain(column: Column, key_type: Type) -> Column:
    if key_type.kind is Kind.DATE:
        return F.unix_date(column)
    return F.unix_micros(column) if key_type.kind is Kind.TIMESTAMP_LTZ else column


def _value(value: Any, key_type: Type) -> Any:
    if isinstance(value, datetime.datetime):
        return (value - _EPOCH) // datetime.timedelta(microseconds=1)
    return bytes(value) if key_type.kind is Kind.BINARY else value


# -- all keys


def _collected(keys: DataFrame, name: str, max_keys: int) -> pa.Array | None:
    """All keys in ascending order; None when they are more than ``max_keys`` or have too many bytes."""
    few = keys.limit(min(max_keys, _MAX_LIMIT) + 1).sortWithinPartitions(name)  # a limit leaves one partition
    arrays, count = [], 0
    for row in few.mapInArrow(for_workers(partial(_packed, MAX_BYTES)), "keys binary").toLocalIterator():
        if row["keys"] is None:
            return None
        with pa.ipc.open_stream(row["keys"]) as stream:
            for batch in stream:
                arrays.append(batch.column(0))
                count += batch.num_rows
        if count > max_keys:
            return None
    array = pa.concat_arrays(arrays) if arrays else pa.array([], pa.int64())
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        raise UnsupportedError(f"keys that are not text in UTF-8: {error}") from error
    return array.cast(pa.timestamp("us")).cast(pa.int64()) if pa.types.is_timestamp(array.type) else array


def _ends(array: pa.Array) -> tuple[Any, Any]:
    """The least and the greatest key; NaN is the greatest."""
    ends = pc.min_max(array)
    is_nan = pa.types.is_floating(array.type) and pc.any(pc.is_nan(array)).as_py()
    return ends["min"].as_py(), float("nan") if is_nan else ends["max"].as_py()


def _packed(most: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Each batch as a compressed Arrow stream; a NULL, and no more, behind ``most`` bytes."""
    total = 0
    for batch in batches:
        total += batch.nbytes
        packed = None
        if total <= most:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
                writer.write_batch(batch)
            packed = sink.getvalue().to_pybytes()
        yield pa.record_batch([pa.array([packed], pa.binary())], names=["keys"])
        if packed is None:
            return


def as_key_set(array: pa.Array, key_type: Type, column: Type) -> KeySet | None:
    """The keys that are values of a column's type, which a join compares as ``key_type`` without changing a value.

    None for a column type without key sets, and for fractional keys of a column that is not whole.
    """
    if not has_key_sets(column):
        return None
    if column.kind.is_text:
        return KeySet.of(column, array.cast(pa.large_string())) if key_type.kind.is_text else None
    if column.kind is Kind.DATE or column.kind.is_timestamp:
        is_same = column == key_type
        return KeySet.of(column, array.cast(pa.int64())) if is_same else None
    scale = column.scale if column.kind is Kind.DECIMAL else 0
    if key_type.kind.is_integer:
        if column.kind is Kind.DECIMAL:
            return None
        unscaled = array.cast(pa.int64())
    elif key_type.kind.is_fractional and column.kind.is_integer:
        values = array.to_numpy(zero_copy_only=False).astype(np.float64)
        whole = np.isfinite(values) & (np.floor(values) == values) & (np.abs(values) < 2.0**53)
        unscaled = pa.array(values[whole].astype(np.int64))
    elif key_type.kind is Kind.DECIMAL:
        if key_type.scale < scale:
            return None
        unscaled = _unscaled(array.cast(pa.decimal128(38, key_type.scale)), key_type.scale - scale)
    else:
        return None
    least, greatest = column.integer_range() if column.kind.is_integer else _digits(column.precision)
    numbers = unscaled.to_numpy()
    return KeySet.of(column, pa.array(numbers[(numbers >= least) & (numbers <= greatest)]))


def _digits(precision: int) -> tuple[int, int]:
    return 1 - 10**precision, 10**precision - 1


def _unscaled(array: pa.Array, digits: int) -> pa.Array:
    """The unscaled numbers of decimals, divided by ``10 ** digits``, where they are whole and fit 64 bits."""
    words = np.frombuffer(array.buffers()[1] or b"", "<i8").reshape(-1, 2)[array.offset : array.offset + len(array)]
    low, high = words[:, 0], words[:, 1]
    step = 10**digits
    if digits <= 18 and (high == low >> 63).all():
        return pa.array(low[low % step == 0] // step)
    wide = (int(above) << 64 | int(below) & _LOW for below, above in zip(low.tolist(), high.tolist(), strict=True))
    exact = (one // step for one in wide if one % step == 0)
    return pa.array([one for one in exact if -(1 << 63) <= one < 1 << 63], pa.int64())


# -- too many keys


def _bloom_filter(keys: DataFrame, size: int) -> Bloom:
    bits = zeros(size)
    for row in keys.mapInArrow(for_workers(partial(_bits_of_batches, size)), "bits binary").toLocalIterator():
        bits |= bitarray(buffer=zlib.decompress(row["bits"]), endian=bits.endian)
    return Bloom(bits)


def _bits_of_batches(size: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    bits = zeros(size)
    for batch in batches:
        for value in batch.column(0).to_pylist():
            bits[_bit_positions(value, size)] = True
    packed = zlib.compress(bits.tobytes(), 1)
    yield pa.record_batch([pa.array([packed], pa.binary())], names=["bits"])


def _bit_positions(value: Any, size: int) -> Sequence[int]:
    """The positions of a value's bits, combined from two hashes."""
    data = (
        value.encode("utf-8", "surrogatepass") if isinstance(value, str) else int(value).to_bytes(9, "big", signed=True)
    )
    both = xxhash.xxh3_128_intdigest(data)
    first, second = both & (1 << 64) - 1, both >> 64 | 1
    return [(first + number * second) % size for number in range(_HASHES)]
