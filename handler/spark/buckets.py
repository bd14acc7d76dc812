"""Computes the bucket id of each row of a DataFrame (RFC-29), and plans the change to another number of buckets.

    rows.key columns --(1)--> the record key's text --(2)--> its hash --(3)--> bucket
    (1) Spark's own expressions, except for decimals with a scale above 6
    (2) Python workers, an array of keys at a time
    (3) Spark's own expressions; workers for consistent hashing

Spark has no function for Java's hash of a string, nor for xxHash32. Java's hash composed of higher-order functions is
slower than a Python worker (tests/bench/buckets.py), and a worker supports all texts. The text of a key column is the
text that Hudi's key generators write, for inserts and bulk inserts alike:

    string                              itself
    tinyint, smallint, int, bigint      decimal digits
    boolean                             true, false
    date                                2026-01-31
    decimal                             as Java's BigDecimal: 0.50, and 1E-7 for a small value with a scale above 6
    timestamp_ntz                       microseconds of the wall clock since 1970
    timestamp                           refused: an insert writes microseconds, a bulk insert text in the JVM's zone
    float, double                       refused: Java's releases write them differently
    binary, arrays, maps, structs       refused

Source: ``KeyGenUtils``, ``BuiltinKeyGenerator``, ``HoodieAvroUtils.convertValueForAvroLogicalTypes``. Every row of the
tables with buckets in tests/data/hudi gets the bucket of the file that Hudi wrote it to.

Facts: docs/facts/hudi-buckets.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.types import (
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from evaluator.language.errors import UnsupportedError
from evaluator.language.records import frozen
from index_store.buckets.hash_fields import HashFields
from index_store.buckets.layouts import Layout, first_ring
from index_store.formats.record_key import EMPTY, NULL
from index_store.kinds.bucket_index import rebucket
from index_store.kinds.bucket_index.rebucket import NodeSplit, RebucketPlan
from index_store.kinds.bucket_index.table_buckets import TableBuckets, table_buckets
from index_store.opened_table import OpenTable, open_table
from index_store.table.partition_paths import HIVE_NULL, custom_fields
from index_store.table.table import Table

__all__ = ["assign_buckets", "plan_rebucket", "plan_ring_split"]

#: Types whose text is Spark's cast to string.
_CAST_TO_TEXT = (StringType, ByteType, ShortType, IntegerType, LongType, BooleanType, DateType)
#: Up to this scale, decimals are written without an exponent.
_MAX_PLAIN_SCALE = 6
_DAY, _HOUR, _MINUTE, _SECOND = 86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000
_FIRST_VERSION_OF_1 = 8
_ESCAPED = "hoodie.datasource.write.partitionpath.urlencode"
_HIVE_STYLE = "hoodie.datasource.write.hive_style_partitioning"
_SLASHES = "hoodie.datasource.write.slash.separated.date.partitioning"


def assign_buckets(
    rows: DataFrame,
    buckets: int | None = None,
    key: str | Sequence[str] | None = None,
    *,
    hashed: str | Sequence[str] | None = None,
    text: str | None = None,
    table: OpenTable | str | os.PathLike[str] | None = None,
    partition: str | None = None,
    options: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
    column: str = "bucket",
    prefix: str | None = None,
) -> DataFrame:
    """The rows with one more column: the bucket id, within its partition, that Hudi writes each row to.

        assign_buckets(rows, 16, key=["id", "day"]).repartition("day", "bucket")
        assign_buckets(rows, table="/data/trips", options={
            "hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "16"}, prefix="file_prefix")

    buckets           the number of buckets of a partition; a table's options contain it
    key               the columns of the record key, in the key's order; with a table those of the table
    hashed            the fields of the key that are hashed (``hoodie.bucket.index.hash.field``), by default all
    text              a column with the record key's text, such as ``_hoodie_record_key``, used in place of the key's
                      columns, whatever types they have
    table             its options give number, fields and engine, which are checked against its files; new partitions
                      of a table with consistent hashing get the ring that Hudi would make
    partition         a column with the partition's path as Hudi stores it, by default computed from the partition
                      columns; used where the number of buckets or the ring depends on it
    options, storage_options
                      as for ``handler.open_table``
    column, prefix    names of the new columns: ``bucket`` int, with consistent hashing the index of the ring's node;
                      and optionally the prefix of the ids of the bucket's files

    A row without a bucket in Hudi gets NULL: its key is NULL or empty, or a text that Hudi cannot split into fields; in
    a table of Hudi 0.x (version 6) also a key that 0.x and 1.x split differently, because of colons or commas in it.
    Raises UnsupportedError for key columns of a type without a certain text and for options without buckets, StatsError
    when the table contradicts its options, TableError when it cannot be read.
    """
    clashing = [name for name in (column, prefix) if name in rows.columns]
    if clashing:
        raise UnsupportedError(f"the rows have a column {clashing[0]} already: name another with column= or prefix=")
    names = _NewColumns(column, prefix)
    if table is None:
        if buckets is None or buckets < 1:
            raise UnsupportedError("buckets: how many a partition has, or the table whose options say it")
        fields = HashFields(_names(key) or ("",), ())
        wanted = _names(hashed) or fields.key
        if not set(wanted) <= set(fields.key):
            raise UnsupportedError(f"hashed {', '.join(wanted)}: not all are fields of the key")
        fields = HashFields(fields.key, tuple(name for name in fields.key if name in wanted))
        if text is None and key is None:
            raise UnsupportedError("key: the columns of the record key, or text: a column that has its text")
        keys = _record_key(rows, fields.key, text)
        return _with_simple(rows, keys, fields, F.lit(buckets), names, every_release=False)
    for name, given in (("buckets", buckets), ("key", key), ("hashed", hashed)):
        if given is not None:
            raise UnsupportedError(f"{name} and a table: the table's options say it")
    opened = _opened(table, options, storage_options)
    layout = table_buckets(opened, opened.slices())
    if layout is None:
        raise UnsupportedError(
            f"{opened.path}: its options do not tell of buckets (hoodie.index.type=BUCKET, "
            "hoodie.bucket.index.num.buckets), or its record keys are of another form than is known; then give buckets "
            "and text='_hoodie_record_key'"
        )
    layout.check()
    keys = _record_key(rows, layout.hashed.key, text)
    every_release = opened.version < _FIRST_VERSION_OF_1
    if not layout.is_simple:
        paths = _partition_path(rows, opened, partition)
        return _with_rings(rows, keys, paths, layout, names, every_release=every_release)
    number = F.lit(layout.number)
    if layout.rules:
        number = _number(_partition_path(rows, opened, partition), layout)
    return _with_simple(rows, keys, layout.hashed, number, names, every_release=every_release)


def plan_rebucket(
    old: int,
    new: int,
    table: OpenTable | str | os.PathLike[str] | None = None,
    *,
    options: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> RebucketPlan:
    """The ``new`` buckets that each of ``old`` buckets splits into; with a table, also its file groups.

        plan_rebucket(2, 4).splits            (BucketSplit(bucket=0, into=(0, 2)), BucketSplit(bucket=1, into=(1, 3)))

    Raises UnsupportedError when ``new`` is no multiple of ``old``, and as
    ``index_store.kinds.bucket_index.rebucket.plan_rebucket`` does.
    """
    return rebucket.plan_rebucket(old, new, None if table is None else _opened(table, options, storage_options))


def plan_ring_split(
    table: OpenTable | str | os.PathLike[str],
    *,
    options: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> tuple[NodeSplit, ...]:
    """The value at which Hudi would split each node of the rings of a table with consistent hashing.

    Raises as ``index_store.kinds.bucket_index.rebucket.plan_ring_split`` does.
    """
    return rebucket.plan_ring_split(_opened(table, options, storage_options))


def _opened(
    table: OpenTable | str | os.PathLike[str],
    options: Mapping[str, str] | None,
    storage_options: Mapping[str, str] | None,
) -> Table:
    if isinstance(table, OpenTable):
        return table.table
    return open_table(table, options, cache=None, storage_options=storage_options).table


def _names(given: str | Sequence[str] | None) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())


# -- the text of keys and paths


def _record_key(rows: DataFrame, fields: Sequence[str], text: str | None) -> Column:
    """The record key's text; NULL where Hudi refuses the row."""
    if text is not None or len(fields) == 1:
        only = _text(rows, fields[0] if text is None else text)
        return F.when(only != "", only)
    texts = [_text(rows, name) for name in fields]
    parts = [
        F.concat(F.lit(f"{name}:"), F.when(one.isNull(), NULL).when(one == "", EMPTY).otherwise(one))
        for name, one in zip(fields, texts, strict=True)
    ]
    is_there = reduce(Column.__or__, [F.coalesce(one != "", F.lit(False)) for one in texts])
    return F.when(is_there, F.concat_ws(",", *parts))


def _text(rows: DataFrame, name: str) -> Column:
    """A column's value as key generators write it; NULL stays NULL. Raises UnsupportedError where it is uncertain."""
    one = _column(rows, name)
    kind = rows.select(one).schema[0].dataType
    match kind:
        case DecimalType() if kind.scale > _MAX_PLAIN_SCALE:
            return _in_workers(_decimal_texts, "string", one)
        case DecimalType():
            return one.cast(f"decimal({kind.precision},{kind.scale})").cast("string")
        case TimestampNTZType():
            return _microseconds(one).cast("string")
        case _ if isinstance(kind, _CAST_TO_TEXT):
            return one.cast("string")
    raise UnsupportedError(f"column {name} of type {kind.simpleString()} in a record key: {_why_not(kind)}")


def _column(rows: DataFrame, name: str) -> Column:
    return F.col(f"`{name.replace('`', '``')}`" if name in rows.columns else name)


def _why_not(kind: DataType) -> str:
    match kind:
        case TimestampType():
            return (
                "Hudi writes microseconds when it inserts and text in the JVM's time zone when it inserts in bulk; "
                "give a column that has the key's text (text=)"
            )
        case FloatType() | DoubleType():
            return "Java's releases write it differently; give a column that has the key's text (text=)"
        case _:
            return "it has no certain text"


def _microseconds(wall: Column) -> Column:
    """Microseconds of a wall clock since 1970, without any time zone in between."""
    fraction = F.date_format(wall, "SSSSSS").cast("bigint")
    units = (
        (F.unix_date(wall.cast("date")), _DAY),
        (F.hour(wall), _HOUR),
        (F.minute(wall), _MINUTE),
        (F.second(wall), _SECOND),
    )
    return reduce(Column.__add__, [count.cast("bigint") * size for count, size in units], fraction)


def _decimal_texts(values: pd.Series) -> pd.Series:
    """As ``BigDecimal.toString``, which Python's ``str`` follows."""
    return values.map(str, na_action="ignore")


def _partition_path(rows: DataFrame, table: Table, given: str | None) -> Column:
    """The partition's path as Hudi stores it. Raises UnsupportedError where that is not certain."""
    if given is not None:
        return F.coalesce(_column(rows, given).cast("string"), F.lit(""))
    if not table.partition_fields:
        return F.lit("")
    properties = table.properties
    if custom_fields(table) or any(properties.get(option, "false") == "true" for option in (_ESCAPED, _SLASHES)):
        raise UnsupportedError(
            f"{table.path}: the partition's path is not the columns' own text; give a column that has it (partition=)"
        )
    parts = []
    for name in table.partition_fields:
        one = _text(rows, name)
        start = f"{name}=" if properties.get(_HIVE_STYLE, "false") == "true" else ""
        parts.append(F.concat(F.lit(start), F.when(one.isNull() | (one == ""), HIVE_NULL).otherwise(one)))
    return F.concat_ws("/", *parts)


# -- from keys to buckets


@frozen
class _NewColumns:
    """The names of the columns that are added; ``prefix`` only if it is given."""

    bucket: str
    prefix: str | None


def _with_simple(
    rows: DataFrame,
    keys: Column,
    fields: HashFields,
    number: Column,
    names: _NewColumns,
    *,
    every_release: bool,
) -> DataFrame:
    def hash_keys(texts: pd.Series) -> pd.Series:
        return pd.Series(fields.hashes(_arrow(texts), every_release=every_release))

    hashed = _in_workers(hash_keys, "bigint", keys)
    with_bucket = rows.withColumn(names.bucket, F.when(hashed >= 0, hashed % number).cast("int"))
    if names.prefix is None:
        return with_bucket
    return with_bucket.withColumn(names.prefix, F.lpad(_column(with_bucket, names.bucket).cast("string"), 8, "0"))


def _number(paths: Column, buckets: TableBuckets) -> Column:
    """The number of buckets of a partition. Spark matches the patterns of the rules as Hudi does."""
    count = F.lit(buckets.number)
    for pattern, number in reversed(buckets.rules):
        count = F.when(paths.rlike(pattern), number).otherwise(count)
    return count


def _with_rings(
    rows: DataFrame,
    keys: Column,
    paths: Column,
    buckets: TableBuckets,
    names: _NewColumns,
    *,
    every_release: bool,
) -> DataFrame:
    assign = _RingBuckets(buckets.hashed, dict(buckets.layouts), buckets.first_number, every_release)

    def of_rings(texts: pd.Series, partitions: pd.Series) -> pd.DataFrame:
        return assign(texts, partitions)

    node = _in_workers(of_rings, f"{_BUCKET} int, {_PREFIX} string", keys, paths)
    fields = {_BUCKET: names.bucket} if names.prefix is None else {_BUCKET: names.bucket, _PREFIX: names.prefix}
    node_column = _unused("sargo_ring", rows.columns)
    return rows.withColumn(node_column, node).select(
        *[_column(rows, name) for name in rows.columns],
        *[F.col(f"{node_column}.{field}").alias(name) for field, name in fields.items()],
    )


def _unused(name: str, columns: Sequence[str]) -> str:
    while name in columns:
        name += "_"
    return name


_BUCKET, _PREFIX = "bucket", "prefix"


class _RingBuckets:
    """Computes the buckets of a batch of keys and their partitions, in a Python worker."""

    def __init__(self, fields: HashFields, rings: dict[str, Layout], number: int | None, every_release: bool) -> None:
        self._fields, self._rings, self._number, self._every_release = fields, rings, number, every_release

    def __call__(self, texts: pd.Series, partitions: pd.Series) -> pd.DataFrame:
        hashes = self._fields.hashes(_arrow(texts), on_ring=True, every_release=self._every_release)
        buckets = np.full(len(hashes), -1, np.int64)
        prefixes = np.full(len(hashes), None, object)
        for partition, indices in partitions.groupby(partitions).indices.items():
            ring = self._ring(str(partition))
            if ring is not None:
                buckets[indices] = ring.buckets_of(hashes[indices])
                prefixes[indices] = np.array([*ring.prefixes, None], object)[buckets[indices]]
        return pd.DataFrame({_BUCKET: pd.Series(buckets).astype("Int32").where(buckets >= 0), _PREFIX: prefixes})

    def _ring(self, partition: str) -> Layout | None:
        """The ring of a partition; of a new partition Hudi's first one, if the number of its buckets is known."""
        if partition not in self._rings and self._number is not None:
            self._rings[partition] = first_ring(partition, self._number)
        return self._rings.get(partition)


def _in_workers(function: Callable[..., Any], returns: str, *columns: Column) -> Column:
    """A pandas UDF of the columns; its kind follows from the type hints of the function."""
    make: Any = pandas_udf
    applied: Column = make(function, returns)(*columns)
    return applied


def _arrow(texts: pd.Series) -> Any:
    return pa.array(texts, pa.large_string(), from_pandas=True)
