"""Partition values from paths: every row of a slice has the value that its directory is named after.

    dt=2026-01-01/city=oslo     Hive style: name=value, the name may be checked
    2026-01-01/oslo             values in the order of the partition fields
    __HIVE_DEFAULT_PARTITION__  null; for text, null or "", which Hudi writes alike

The value counts only when the table's key generator writes the column's own value, and it parses in the column's type;
text only when it differs from its escaped form without doubt. Source: ``KeyGenUtils``, ``PartitionPathEncodeUtils``.

Facts: docs/facts/hudi-timeline.md#partition-paths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.language.schema import Field
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics, array_dtype, filler, to_ordinal
from evaluator.statistics.distrust import Trust
from index_store.kinds.base import Coverage, column_coverage

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["HIVE_NULL", "PartitionValues", "custom_fields", "make", "parse_value"]

HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
_NULLS = frozenset({HIVE_NULL, "__null__", "null", "default"})
#: Key generators that write the column's value as it is (types of version 8 and 9, classes of version 6).
_PLAIN_GENERATORS = frozenset({"SIMPLE", "COMPLEX", "SIMPLE_AVRO", "COMPLEX_AVRO"})
_PLAIN_CLASSES = frozenset(
    {
        "SimpleKeyGenerator",
        "ComplexKeyGenerator",
        "SimpleAvroKeyGenerator",
        "ComplexAvroKeyGenerator",
        "BuiltinKeyGenerator",
    }
)
_INTEGER = re.compile(r"-?\d+")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def make(table: Table, slices: FileSlices) -> PartitionValues | None:
    """The kind, if the table is partitioned."""
    return PartitionValues(table, slices) if table.partition_fields else None


class PartitionValues:
    """Equal lower and upper bounds of a partition column, for each slice."""

    name = "partition_values"

    def __init__(self, table: Table, slices: FileSlices) -> None:
        self._fields = table.partition_fields
        self._slices = slices
        self._custom = custom_fields(table)
        properties = table.properties
        self._hive_style = properties.get("hoodie.datasource.write.hive_style_partitioning", "false") == "true"
        self._encoded = properties.get("hoodie.datasource.write.partitionpath.urlencode", "false") == "true"
        self._known: dict[str, ColumnStatistics] = {}

    def requires(self, asked: RequiredStatistics) -> RequiredStatistics:
        """Bounds and nulls of the partition columns."""
        return RequiredStatistics(
            bounds=tuple([one for one in asked.bounds if one.name in self._fields]),
            nulls=tuple([one for one in asked.nulls if one.name in self._fields]),
        )

    def provide(self, required: RequiredStatistics) -> StatisticsProvider:
        """Bounds and null counts of the columns, read together."""
        return StatisticsProvider(self.name, self.statistics(required.columns))

    def statistics(self, columns: Sequence[Field]) -> Mapping[str, ColumnStatistics]:
        """Statistics of the partition columns among the columns."""
        for column in columns:
            if column.name in self._fields and column.name not in self._known and column.type.kind is not Kind.OTHER:
                self._known[column.name] = self._of(column)
        return {column.name: self._known[column.name] for column in columns if column.name in self._known}

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """In how many slices each partition column's value is known."""
        return Coverage(
            self.name,
            self._slices.instant,
            len(self._slices),
            {name: column_coverage(found) for name, found in self.statistics(columns).items()},
        )

    def _of(self, column: Field) -> ColumnStatistics:
        n = len(self._slices)
        if column.name in self._custom:
            return ColumnStatistics.unknown(column.type, n, Trust.KEY_GENERATOR)
        index = self._fields.index(column.name)
        partitions, which = self._partitions
        m = len(partitions)
        bounds = np.full(m, filler(column.type), array_dtype(column.type))
        values, is_null, is_either = np.zeros(m, np.bool_), np.zeros(m, np.bool_), np.zeros(m, np.bool_)
        for i, path in enumerate(partitions):
            understood, value = self._value(path, index, column)
            if understood and value is None and column.type.kind.is_text:
                bounds[i], values[i], is_either[i] = "", True, True
            elif understood and value is None:
                is_null[i] = True
            elif understood:
                bounds[i], values[i] = value, True
        bound, known, null, maybe_null = bounds[which], values[which], is_null[which], is_either[which]
        nulls = np.where(known & ~maybe_null, 0, UNKNOWN_COUNT).astype(np.int64)
        rows = np.full(n, UNKNOWN_COUNT, np.int64)
        # All rows of the slice are null; how many they are does not matter, so one stands for all of them.
        nulls[null] = rows[null] = 1
        trust = np.where(known | null, Trust.OK, Trust.NOT_A_VALUE).astype(np.uint8)
        return ColumnStatistics(
            column.type, bound, bound, lo_known=known, hi_known=known, null_count=nulls, row_count=rows, trust=trust
        )

    @cached_property
    def _partitions(self) -> tuple[list[str], npt.NDArray[np.intp]]:
        """The distinct partition paths, and the number of each slice's path."""
        numbers: dict[str, int] = {}
        which = [numbers.setdefault(one.partition, len(numbers)) for one in self._slices]
        return list(numbers), np.array(which, np.intp)

    def _value(self, path: str, index: int, column: Field) -> tuple[bool, Any]:
        """(understood, value or None for null) of one partition path."""
        parts = path.split("/")
        if len(parts) != len(self._fields):
            return False, None  # a value with slashes, or a date written with them
        text = parts[index]
        if self._hive_style or text.startswith(f"{column.name}="):
            name, equals, text = text.partition("=")
            if not equals or name != column.name:
                return False, None
        if text == HIVE_NULL:
            return True, None
        if text in _NULLS or not text:
            return False, None  # null, or a value that reads the same
        if "%" not in text:
            return parse_value(text, column.type)
        if not self._encoded or not _decodes(text):
            return False, None  # escaped or not: it cannot be told
        return parse_value(unquote(text), column.type)


def _decodes(text: str) -> bool:
    try:
        unquote(text, errors="strict")
    except UnicodeDecodeError:
        return False
    return True


def parse_value(text: str, column_type: Type) -> tuple[bool, Any]:
    """(understood, value) of a path's text in the form that arrays hold; not understood when it has another form."""
    try:
        match column_type.kind:
            case Kind.STRING | Kind.VARCHAR:
                return True, text
            case Kind.BOOLEAN:
                return text in ("true", "false"), int(text == "true")
            case Kind.DATE:
                return (True, date.fromisoformat(text).toordinal() - 719_163) if _DAY.fullmatch(text) else (False, None)
            case Kind.DECIMAL:
                value = Decimal(text)
                return (True, to_ordinal(value, column_type)) if value.is_finite() else (False, None)
            case kind if kind.is_integer:
                if not _INTEGER.fullmatch(text):
                    return False, None
                low, high = column_type.integer_range()
                return low <= int(text) <= high, int(text)
            case _:
                return False, None  # floats, timestamps and CHAR have no one form in a path
    except (ValueError, InvalidOperation, OverflowError):
        return False, None


def custom_fields(table: Table) -> frozenset[str]:
    """Partition columns whose path is not their own value.

    CUSTOM generators name the way of each field (``ts:TIMESTAMP``, ``city:SIMPLE``). Of any other unknown generator all
    partition columns are custom.
    """
    properties = table.properties
    kind = properties.get("hoodie.table.keygenerator.type", "").upper()
    made_by = properties.get("hoodie.table.keygenerator.class", "").rpartition(".")[2]
    if kind in _PLAIN_GENERATORS or (not kind and made_by in _PLAIN_CLASSES):
        return frozenset()
    if kind.startswith("CUSTOM") or (not kind and made_by in ("CustomKeyGenerator", "CustomAvroKeyGenerator")):
        ways = {
            name: way.upper()
            for name, _, way in (
                part.strip().partition(":") for part in properties.get("hoodie.table.partition.fields", "").split(",")
            )
        }
        return frozenset(name for name in table.partition_fields if ways.get(name) != "SIMPLE")
    return frozenset(table.partition_fields)
