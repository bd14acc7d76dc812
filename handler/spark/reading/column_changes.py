"""``file_columns`` as Spark expressions: a file's column in the table's type, by the casts of Hudi's own Spark reader.

Spark reads the file with the types that it has, then casts. What ``file_columns`` refuses because only a JVM writes it
the same way is done here: ``float`` and ``double`` to ``string``.
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

__all__ = ["changed", "reads_alike"]

_WHOLE = (ByteType, ShortType, IntegerType, LongType)
_DIGITS: Mapping[type[DataType], int] = {ByteType: 3, ShortType: 5, IntegerType: 10, LongType: 19}
#: File type -> the table's types that a plain cast leads to.
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
    """Whether Spark's Parquet reader gives the wanted type from such a column by itself, value for value."""
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


def changed(column: Column, have: DataType, wanted: DataType, name: str) -> Column:
    """The column in the wanted type; ``name`` is for the error. Raises UnsupportedError."""
    if reads_alike(have, wanted):
        return column
    match have, wanted:
        case StructType(), StructType():
            return _struct(column, have, wanted, name)
        case ArrayType(), ArrayType():
            return F.transform(
                column, lambda one: changed(one, have.elementType, wanted.elementType, f"{name}.element")
            )
        case MapType(), MapType() if reads_alike(have.keyType, wanted.keyType):
            return F.transform_values(
                column, lambda _, one: changed(one, have.valueType, wanted.valueType, f"{name}.value")
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
    """Whether every integer fits: one that does not would become NULL."""
    return wanted.precision - wanted.scale >= _DIGITS[type(have)]


def _struct(column: Column, have: StructType, wanted: StructType, name: str) -> Column:
    parts = []
    for field in wanted:
        if field.name in have.names:
            part = changed(
                column.getField(field.name), have[field.name].dataType, field.dataType, f"{name}.{field.name}"
            )
        else:
            part = F.lit(None).cast(field.dataType)
        parts.append(part.alias(field.name))
    return F.when(column.isNotNull(), F.struct(*parts))
