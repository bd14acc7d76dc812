"""The values of partition columns that Hudi's reader takes from the partition's path.

``index_store.table.partition_paths`` says which columns these are, and what their values are. With
``hoodie.datasource.write.drop.partition.columns`` the files do not hold them; without it they may hold other values,
such as ``2022-12-31`` below ``2022/12/31``. A value that is not known is an error, because NULL or the file's value
would be a wrong row. ``__HIVE_DEFAULT_PARTITION__`` is NULL.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa

from evaluator.language.errors import UnsupportedError
from evaluator.language.records import frozen
from evaluator.language.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    Type,
    decimal_type,
)
from index_store import Table
from index_store.table.partition_paths import PathRules

__all__ = ["PartitionColumns"]

_EPOCH = datetime.date(1970, 1, 1)


@frozen
class PartitionColumns:
    """The partition columns and what the paths say of them."""

    rules: PathRules

    @classmethod
    def of(cls, table: Table) -> PartitionColumns:
        """Those of an open table."""
        return cls(PathRules.of(table))

    def values(self, partition: str, schema: pa.Schema, have: frozenset[str] = frozenset()) -> dict[str, Any]:
        """The values that rows have in place of those of the files, by column; ``have``: the columns of the files.

        Raises UnsupportedError for a path whose value is not known.
        """
        return {
            name: self._value(partition, name, schema.field(name).type, in_file=name in have)
            for name in self.rules.fields
            if name in schema.names and (name not in have or not self._is_in_file(partition, schema.field(name)))
        }

    def _is_in_file(self, partition: str, field: pa.Field) -> bool:
        """Whether readers return the value of the file."""
        kind = _type_of(field.type)
        return field.name not in self.rules.from_path or (
            kind is not None and self.rules.agree(partition, field.name, kind)
        )

    def _value(self, partition: str, name: str, arrow_type: pa.DataType, *, in_file: bool) -> Any:
        kind = _type_of(arrow_type)
        is_known, value = False, None
        if kind is not None:
            tell = self.rules.read if name in self.rules.from_path else self.rules.stored
            is_known, value = tell(partition, name, kind)
        if not is_known:
            why = "Hudi reads the path instead of the files" if in_file else "the files lack it"
            raise UnsupportedError(
                f"partition {partition}: no value of column {name} of type {arrow_type} is known from the path, "
                f'and {why} (reader="hudi" reads such a table)'
            )
        return None if value is None or kind is None else _PLAIN.get(kind.kind, _same)(value, kind)


def _same(value: Any, kind: Type) -> Any:
    del kind
    return value


_ALL_DIGITS = Context(prec=38)
#: From the form that the evaluator holds to a plain value.
_PLAIN: dict[Any, Callable[[Any, Type], Any]] = {
    BOOLEAN.kind: lambda value, _: bool(value),
    DATE.kind: lambda value, _: _EPOCH + datetime.timedelta(days=value),
    decimal_type(1, 0).kind: lambda value, kind: Decimal(value).scaleb(-kind.scale, _ALL_DIGITS),
}
_TYPES: tuple[tuple[Callable[[pa.DataType], bool], Type], ...] = (
    (pa.types.is_string, STRING),
    (pa.types.is_int8, TINYINT),
    (pa.types.is_int16, SMALLINT),
    (pa.types.is_int32, INT),
    (pa.types.is_int64, BIGINT),
    (pa.types.is_date32, DATE),
    (pa.types.is_boolean, BOOLEAN),
    (pa.types.is_float64, DOUBLE),
    (pa.types.is_timestamp, TIMESTAMP),
)


def _type_of(arrow_type: pa.DataType) -> Type | None:
    if pa.types.is_decimal(arrow_type):
        return decimal_type(arrow_type.precision, arrow_type.scale)
    return next((found for test, found in _TYPES if test(arrow_type)), None)
