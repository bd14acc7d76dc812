"""Converts a column of a data file to the table's type as Spark expressions, with the casts of Hudi's Spark reader.

Spark reads the file in its own types, then casts. The rules are those of ``file_columns``, and ``float`` and ``double``
to ``string``, which only a JVM writes the same way.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructType,
)

from evaluator.language.errors import UnsupportedError

__all__ = ["converted", "reads_alike"]

_WHOLE = (ByteType, ShortType, IntegerType, LongType)
_DIGITS: Mapping[type[DataType], int] = {ByteType: 3, ShortType: 5, IntegerType: 10, LongType: 19}
#: Type in the file -> types in the table that a plain cast converts it to.
_CASTS: Mapping[type[DataType], tuple[type[DataType], ...]] = {
    ByteType: (*_WHOLE, FloatType, DoubleType, StringType),
    ShortType: (*_WHOLE[1:], FloatType, DoubleType, StringType),
    IntegerType: (LongType, FloatType, DoubleType, StringType),
    LongType: (FloatType, DoubleType, StringType),
    FloatType: (StringType,),
    DoubleType: (StringType,),
    DecimalType: (StringType,),
    DateType: (StringType,),
    BinaryType: (StringType,),
    StringType: (BinaryType,),
}


def reads_alike(have: DataType, wanted: DataType) -> bool:
    """Whether Spark's Parquet reader returns the column in the wanted type by itself."""
    match have, wanted:
        case StructType(), StructType():
            return have.names == wanted.names and all(
                reads_alike(a.dataType, b.dataType) for a, b in zip(have, wanted, strict=True)
            )
        case ArrayType(), ArrayType():
            return reads_alike(have.elementType, wanted.elementType)
        case MapType(), MapType():
            return reads_alike(have.keyType, wanted.keyType) and reads_alike(have.valueType, wanted.valueType)
        case _:
            return have == wanted


def converted(column: Column, have: DataType, wanted: DataType, name: str) -> Column:
    """The column in the wanted type. Raises UnsupportedError, which names the column ``name``."""
    if reads_alike(have, wanted):
        return column
    match have, wanted:
        case StructType(), StructType():
            return _struct(column, have, wanted, name)
        case ArrayType(), ArrayType():
            return F.transform(
                column, lambda one: converted(one, have.elementType, wanted.elementType, f"{name}.element")
            )
        case MapType(), MapType() if reads_alike(have.keyType, wanted.keyType):
            return F.transform_values(
                column, lambda _, one: converted(one, have.valueType, wanted.valueType, f"{name}.value")
            )
        case FloatType(), DoubleType():
            return column.cast(StringType()).cast(wanted)
        case DecimalType(), DecimalType() if _is_wider(have, wanted):
            return column.cast(wanted)
        case ((ByteType() | ShortType() | IntegerType() | LongType()), DecimalType()) if _holds(wanted, have):
            return column.cast(wanted)
        case _ if isinstance(wanted, _CASTS.get(type(have), ())):
            return column.cast(wanted)
    raise UnsupportedError(f"{name}: {have.simpleString()} in the file cannot be read as {wanted.simpleString()}")


def _is_wider(have: DecimalType, wanted: DecimalType) -> bool:
    return wanted.scale >= have.scale and wanted.precision - wanted.scale >= have.precision - have.scale


def _holds(wanted: DecimalType, have: DataType) -> bool:
    """Whether every integer fits; an integer that does not fit would become NULL."""
    return wanted.precision - wanted.scale >= _DIGITS[type(have)]


def _struct(column: Column, have: StructType, wanted: StructType, name: str) -> Column:
    parts = []
    for field in wanted:
        if field.name in have.names:
            part = converted(
                column.getField(field.name), have[field.name].dataType, field.dataType, f"{name}.{field.name}"
            )
        else:
            part = F.lit(None).cast(field.dataType)
        parts.append(part.alias(field.name))
    return F.when(column.isNotNull(), F.struct(*parts))
