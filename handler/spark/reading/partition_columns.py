"""The values of partition columns that are not in the files, read from the partition's path.

With ``hoodie.datasource.write.drop.partition.columns`` Hudi does not write these columns to the files. A value is used
when the key generator writes the column's own value and it parses as the column's type. Every other value is an error,
because NULL would be a wrong row. Escapes are decoded when the table's properties say that paths are escaped.
``__HIVE_DEFAULT_PARTITION__`` is NULL, as in Spark.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from evaluator.language.errors import UnsupportedError
from index_store import Table
from index_store.kinds.partition_values import HIVE_NULL, custom_fields

__all__ = ["PartitionColumns"]

_INTEGER = re.compile(r"[+-]?\d+")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class PartitionColumns:
    """The partition columns in the order of the path; ``foreign``: those whose part of the path is not their value."""

    names: tuple[str, ...]
    foreign: frozenset[str]
    is_escaped: bool

    @classmethod
    def of(cls, table: Table) -> PartitionColumns:
        """Those of an open table."""
        escaped = table.properties.get("hoodie.datasource.write.partitionpath.urlencode", "false") == "true"
        return cls(table.partition_fields, custom_fields(table), escaped)

    def values(self, partition: str, schema: pa.Schema, have: frozenset[str] = frozenset()) -> dict[str, Any]:
        """The values of the partition columns of the schema by name, without the columns ``have`` of a file.

        Raises UnsupportedError for a path that does not contain the value.
        """
        missing = [name for name in self.names if name in schema.names and name not in have]
        if not missing:
            return {}
        parts = partition.split("/")
        if len(parts) != len(self.names):
            raise UnsupportedError(
                f"partition {partition}: the path does not have one part for each of "
                f"{', '.join(self.names)}, and the files lack {', '.join(missing)}"
            )
        texts = dict(zip(self.names, parts, strict=True))
        return {name: self._value(name, texts[name], schema.field(name).type) for name in missing}

    def _value(self, name: str, part: str, kind: pa.DataType) -> Any:
        text = part[len(name) + 1 :] if part.startswith(f"{name}=") else part
        if name in self.foreign:
            raise UnsupportedError(f"partition {part}: not a value of column {name}, which the files lack")
        if text == HIVE_NULL:
            return None
        if self.is_escaped:
            text = unquote(text)
        read = next((found for test, found in _READERS if test(kind)), None)
        try:
            if read is None:
                raise ValueError(f"a path does not tell values of type {kind}")
            return read(text)
        except (ValueError, InvalidOperation) as error:
            raise UnsupportedError(f"partition {part}: no value of column {name}: {error}") from error


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{text!r} is no integer")
    return int(text)


def _day(text: str) -> datetime.date:
    if not _DAY.fullmatch(text):
        raise ValueError(f"{text!r} is no date")
    return datetime.date.fromisoformat(text)


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"{text!r} is neither true nor false")
    return text.lower() == "true"


_READERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[str], Any]], ...] = (
    (pa.types.is_string, str),
    (pa.types.is_signed_integer, _integer),
    (pa.types.is_date32, _day),
    (pa.types.is_boolean, _truth),
    (pa.types.is_decimal, Decimal),
    (pa.types.is_floating, float),
)
