"""Converts a column of a data file to the table's current type, as Hudi does while it reads (pitfall P19).

    in the file                     in the table            how
    ------------------------------  ----------------------  ------------------------------------------------------
    any                             the same                as it is
    no such column, no such field   any                     NULL
    tinyint, smallint, int          int, bigint             exact
    int, bigint                     float, double           the nearest
    int, bigint                     decimal                 exact, or an error
    int, bigint                     string                  its digits
    float                           double                  by its shortest text: 1.1 stays 1.1
    decimal                         decimal                 exact, or an error
    date                            string                  1990-12-31
    string, bytes                   bytes, string           the same bytes, which must be UTF-8 in a string
    timestamp of other units        timestamp               exact in microseconds, or an error
    struct, list, map               the same                field by field, by name

Every other change is an error: Hudi does not support it, or only Spark itself makes it the same way (``double`` to
``string``). Source: Hudi's ``SchemaChangeUtils``, ``HoodieAvroUtils.rewritePrimaryType``, and real tables.

Pitfall P19 is described in docs/facts/pitfalls.md#p19.
Facts: docs/facts/spark.md#reading-hudis-files.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.errors import UnsupportedError

__all__ = ["in_table_type", "nullable"]


def in_table_type(column: Any, wanted: pa.DataType, name: str) -> Any:
    """The array in the wanted type, a result of ``nullable``. Raises UnsupportedError, which contains ``name``."""
    have = column.type
    if have == wanted:
        return column
    t = pa.types
    if t.is_null(have):
        return pa.nulls(len(column), wanted)
    if t.is_dictionary(have):
        return in_table_type(column.dictionary_decode(), wanted, name)
    if t.is_struct(have) and t.is_struct(wanted):
        return _struct(column, wanted, name)
    if t.is_list(have) and t.is_list(wanted):
        return _list(column, wanted, name)
    if t.is_map(have) and t.is_map(wanted):
        return _map(column, wanted, name)
    try:
        converted = _converted(column, wanted)
    except (pa.ArrowException, ValueError) as error:
        raise UnsupportedError(f"{name}: a value of type {have} does not fit {wanted}: {error}") from error
    if converted is None:
        raise UnsupportedError(f"{name}: {have} in the file cannot be read as {wanted}")
    return converted


def nullable(kind: pa.DataType) -> pa.DataType:
    """The type with every part nullable, because a field that a file lacks is NULL whatever the schema says."""
    t = pa.types
    if t.is_struct(kind):
        return pa.struct([pa.field(field.name, nullable(field.type)) for field in _fields(kind)])
    if t.is_list(kind):
        return pa.list_(nullable(kind.value_type))
    if t.is_map(kind):
        return pa.map_(nullable(kind.key_type), nullable(kind.item_type))
    return kind


def _fields(struct: pa.DataType) -> list[Any]:
    return [struct.field(i) for i in range(struct.num_fields)]


def _converted(column: Any, wanted: pa.DataType) -> Any:
    """The array in another type that is not nested; None when the change is not in the table above."""
    t, have = pa.types, column.type
    whole = t.is_signed_integer(have)
    if whole and t.is_signed_integer(wanted) and wanted.bit_width >= have.bit_width:
        return column.cast(wanted)
    if whole and t.is_floating(wanted):
        return column.cast(wanted, safe=False)
    if whole and t.is_decimal(wanted):
        return column.cast(pa.decimal128(20, 0)).cast(wanted)
    if whole and t.is_string(wanted):
        return column.cast(wanted)
    if t.is_float32(have) and t.is_float64(wanted):
        return column.cast(pa.string()).cast(wanted)
    if t.is_decimal(have) and t.is_decimal(wanted):
        return column.cast(wanted)
    if t.is_date32(have) and t.is_string(wanted):
        return _day_texts(column)
    if t.is_timestamp(have) and t.is_timestamp(wanted) and (have.tz is None) == (wanted.tz is None):
        return column.cast(wanted)
    if _is_bytes(have) and (t.is_string(wanted) or t.is_binary(wanted)):
        return column.cast(wanted)
    return None


def _is_bytes(have: pa.DataType) -> bool:
    t = pa.types
    return any(
        test(have) for test in (t.is_string, t.is_large_string, t.is_binary, t.is_large_binary, t.is_fixed_size_binary)
    )


def _day_texts(column: Any) -> Any:
    years = pc.year(column)
    if pc.any(pc.or_(pc.less(years, 1), pc.greater(years, 9999))).as_py():
        raise ValueError("a date outside of the years 1 to 9999 has no one text")
    return column.cast(pa.string())


def _struct(column: Any, wanted: pa.DataType, name: str) -> Any:
    """By name; a field that the file lacks is NULL, and a NULL struct stays NULL."""
    have = {column.type.field(i).name: i for i in range(column.type.num_fields)}
    parts = column.flatten()
    children = [
        in_table_type(parts[have[field.name]], field.type, f"{name}.{field.name}")
        if field.name in have
        else pa.nulls(len(column), field.type)
        for field in _fields(wanted)
    ]
    return pa.StructArray.from_arrays(children, fields=_fields(wanted), mask=column.is_null())


def _list(column: Any, wanted: pa.DataType, name: str) -> Any:
    values = in_table_type(column.flatten(), wanted.value_type, f"{name}.element")
    return pa.ListArray.from_arrays(_offsets(pc.list_value_length(column)), values, wanted, mask=column.is_null())


def _map(column: Any, wanted: pa.DataType, name: str) -> Any:
    entries = pa.ListArray.from_arrays(
        column.offsets, pa.StructArray.from_arrays([column.keys, column.items], ["key", "value"])
    )
    entries = pc.if_else(column.is_null(), None, entries)
    parts = entries.flatten().flatten()
    keys = in_table_type(parts[0], wanted.key_type, f"{name}.key")
    items = in_table_type(parts[1], wanted.item_type, f"{name}.value")
    offsets = _offsets(pc.list_value_length(entries))
    starts = pc.if_else(pa.concat_arrays([column.is_null(), pa.array([False])]), None, offsets)  # NULL where it starts
    return pa.MapArray.from_arrays(starts, keys, items, wanted)


def _offsets(lengths: Any) -> Any:
    ends = pc.cumulative_sum(pc.fill_null(lengths, 0).cast(pa.int32()))
    return pa.concat_arrays([pa.array([0], pa.int32()), ends])
