"""The columns that a user gives with ``.schema(...)`` or a view's list of columns, held against those of the table.

    they may be some of the table's, in any order
    a column that the table does not have, of another type or declared NOT NULL, is an error

A reader that filled such a column with NULL, or cast it, would return other rows than Hudi's. Of a column that is
declared NOT NULL, Spark takes ``IS NULL`` for FALSE whatever the rows hold.
"""

from __future__ import annotations

from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from evaluator.language.column_resolution import near_texts
from evaluator.language.errors import UnsupportedError

__all__ = ["check_schema"]


def check_schema(given: StructType, table: StructType) -> None:
    """Raise UnsupportedError for a column that is not one of the table's with its type."""
    of_table = {field.name: field for field in table}
    for column in given:
        field = of_table.get(column.name)
        if field is None:
            near = near_texts(column.name, of_table, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; it has {', '.join(list(of_table)[:_SHOWN])}"
            raise UnsupportedError(f"column {column.name} of the schema given is not in the table{hint}")
        if not column.nullable:
            raise UnsupportedError(
                f"column {column.name} is declared NOT NULL, and a column of a Hudi table may hold NULL: "
                "declare it nullable"
            )
        if not _is_read_as(column.dataType, field.dataType):
            raise UnsupportedError(
                f"column {column.name} is declared {_text(column.dataType, field.dataType)}, and the table has "
                f"{_text(field.dataType, column.dataType)}: leave the schema out, or give the table's type and cast"
            )


#: The number of columns that a message lists.
_SHOWN = 10


def _is_read_as(given: DataType, table: DataType) -> bool:
    """Whether values of the table's type are values of the type given: the same type, NULL allowed where it may be."""
    if isinstance(given, StructType) and isinstance(table, StructType):
        return given.names == table.names and all(
            (one.nullable or not other.nullable) and _is_read_as(one.dataType, other.dataType)
            for one, other in zip(given, table, strict=True)
        )
    if isinstance(given, ArrayType) and isinstance(table, ArrayType):
        return (given.containsNull or not table.containsNull) and _is_read_as(given.elementType, table.elementType)
    if isinstance(given, MapType) and isinstance(table, MapType):
        return (
            (given.valueContainsNull or not table.valueContainsNull)
            and _is_read_as(given.keyType, table.keyType)
            and _is_read_as(given.valueType, table.valueType)
        )
    return given == table


def _text(one: DataType, other: DataType) -> str:
    """The type's name; with what may be NULL in it, where the names are the same."""
    return one.simpleString() if one.simpleString() != other.simpleString() else one.json()
