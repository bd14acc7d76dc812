"""The type of a column in one file, and how its values fit the column's type in the table (P14, P19).

Files of a table may have a column in different types: a column was widened, or a writer chose another unit.

Pitfalls P14 and P19 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa

from evaluator.language.records import record
from evaluator.language.types import Kind, Type
from evaluator.statistics.distrust import Trust
from index_store.table.table_schema import TableSchema, from_arrow

__all__ = ["ABSENT", "EMPTY", "FileType", "fit_of", "parquet_types", "type_in"]


@record
class FileType:
    """The type of a column in a file, as text: ``int``, ``decimal(10,2)``, ``timestamp@millis``.

    ``absent``: the file has no such column. ``empty``: it has no row. ``!why``: its values are unknown, and why.
    """

    text: str

    @classmethod
    def of(cls, column_type: Type, unit: str = "") -> FileType:
        """A type that sketches support; ``unit`` is that of a timestamp in the file."""
        if column_type.kind is Kind.OTHER or (column_type.kind is Kind.DECIMAL and column_type.precision > 38):
            return cls.unknown(f"type {column_type}")
        return cls(f"{column_type}@{unit}" if unit else str(column_type))

    @classmethod
    def unknown(cls, why: str) -> FileType:
        """The type of a column whose values in the file are unknown."""
        return cls(f"!{why}")

    @property
    def is_known(self) -> bool:
        """Whether the file has rows whose values of the column are known."""
        return not self.text.startswith("!") and self.text not in (ABSENT.text, EMPTY.text)

    @property
    def why(self) -> str:
        """Why nothing is known, or ""."""
        return self.text[1:] if self.text.startswith("!") else ""

    @property
    def type(self) -> Type:
        """The type, of a known one."""
        return _parsed(self.text.partition("@")[0])

    @property
    def unit(self) -> str:
        """millis, micros or nanos for a timestamp, else ""."""
        return self.text.partition("@")[2]


_parsed = lru_cache(1024)(Type.parse)
ABSENT = FileType("absent")
EMPTY = FileType("empty")


def parquet_types(metadata: Any, schema: pa.Schema, names: Sequence[str]) -> dict[str, FileType]:
    """The type of each column in a Parquet file, from its footer and its Arrow schema."""
    columns = from_arrow(schema)
    leaves = (metadata.schema.column(number) for number in range(metadata.num_columns))
    physical = {leaf.path: leaf.physical_type for leaf in leaves}
    return {
        name: FileType.unknown("INT96 timestamps") if physical.get(name) == "INT96" else type_in(columns, name)
        for name in names
    }


def type_in(columns: TableSchema, name: str) -> FileType:
    """The type of a column in a file of this schema; ``ABSENT`` when the file has nothing below that name."""
    field = columns.schema.resolve(name, case_sensitive=True)
    if field is None:
        wanted = name.lower()
        if any(other.name.lower() == wanted or other.name.lower().startswith(f"{wanted}.") for other in columns.schema):
            return FileType.unknown("the column has a name of other letters")
        parent = name.rpartition(".")[0]
        above = columns.schema.resolve(parent, case_sensitive=True) if parent else None
        if parent and above is not None and not any(other.name.startswith(f"{parent}.") for other in columns.schema):
            return FileType.unknown(f"{parent} is of type {above.type}")
        return ABSENT
    return FileType.of(field.type, columns.units.get(name, ""))


def fit_of(of: FileType, wanted: Type, unit: str) -> bool | Trust:
    """How values of a file fit the column: True for bounds and look-ups, False for bounds only, else why not at all."""
    kinds = of.type.kind, wanted.kind
    if kinds[0] is kinds[1] and kinds[0].is_timestamp:
        return of.unit == unit or Trust.UNIT
    if of.type == wanted:
        return True
    if all(kind.is_integer for kind in kinds) and wanted.integer_range()[1] >= of.type.integer_range()[1]:
        return True
    if all(kind.is_text for kind in kinds):
        return True
    if kinds == (Kind.FLOAT, Kind.DOUBLE):
        return False
    if (
        kinds == (Kind.DECIMAL, Kind.DECIMAL)
        and wanted.scale >= of.type.scale
        and (wanted.precision - wanted.scale >= of.type.precision - of.type.scale)
    ):
        return False
    return Trust.WRONG_TYPE
