"""What the Parquet footer of one base file proves exactly of a column, as a reader of the table returns it.

    the column                                             exact
    -----------------------------------------------------  -----------------------------------------------------
    whole numbers, booleans, decimals, days, moments       the NULLs, and the least and the greatest value
    text                                                   the NULLs; the value where both bounds are the same, which
                                                           they are not when they are cut
    Hudi's own columns                                     the NULLs: a writer may fill in other values
    binary, float and double                               the NULLs: bounds may be cut, or leave out a NaN (P1, P2)
    a day before 1582-10-15, a moment before 1900          the NULLs: a reader may rebase it (P13)
    missing in the file, and read as NULL (P6)             all NULL
    a partition column that is read from the path (C11)    its one value
    of a type that readers convert by other rules (P19)    nothing
    renamed, or a name that stood for two columns (P19)    nothing

Footers alone are believed here. Hudi's ``column_stats`` are good for skipping, but no record claims tight bounds, and
Hudi merges a second record of a file by widening its bounds and adding its counts
(docs/facts/hudi-column-stats.md#faults-of-the-writers).

Pitfalls P1, P2, P6, P13 and P19 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping
from typing import Any

import pyarrow as pa

from evaluator.language.epoch import EPOCH
from evaluator.language.errors import UnsupportedError
from evaluator.language.records import frozen
from evaluator.language.schema import Field
from evaluator.language.types import Kind, Type
from evaluator.statistics.distrust import ANCIENT_DAY, ANCIENT_MICROS
from handler.aggregates.footer_facts import FooterFacts
from handler.rows.partition_columns import PartitionColumns
from handler.rows.slice_rows import check_base_file
from handler.rows.table_types import arrow_schema
from index_store import FileSlice, Table
from index_store.kinds.column_stats.absent_columns import reads_as_null
from index_store.table.file_types import ABSENT
from index_store.table.footer_values import FooterValues
from index_store.table.schema_history import NameHistory, read_name_history
from index_store.table.table_schema import META_COLUMNS, from_arrow

__all__ = ["ColumnValues", "FileValues"]

#: The last microsecond of the year 9999.
_LAST_MICROS = 253_402_300_799_999_999
_BOUNDED = frozenset((Kind.BOOLEAN, Kind.TINYINT, Kind.SMALLINT, Kind.INT, Kind.BIGINT, Kind.DECIMAL, Kind.DATE))
_TIMESTAMPS = frozenset((Kind.TIMESTAMP, Kind.TIMESTAMP_LTZ))


@frozen
class ColumnValues:
    """What is exact of a column in the rows of a file.

    nulls    how many are NULL; None when that is not exact
    bounds   the least and the greatest value; None when they are not exact, or when there is no value
    why      why something is not exact, or ""
    """

    nulls: int | None = None
    bounds: tuple[Any, Any] | None = None
    why: str = ""


class FileValues:
    """The exact values of some columns of a table, file by file, in the schema of an instant.

    Raises TableError when the table's schema or its history cannot be read.
    """

    def __init__(self, table: Table, instant: str | None) -> None:
        self._table = table
        self._partitions = PartitionColumns.of(table)
        self._arrow = arrow_schema(table, instant)
        self.schema = from_arrow(self._arrow).schema
        self._history: NameHistory = read_name_history(table.storage)

    def read(
        self, facts: FooterFacts, item: FileSlice, columns: Collection[Field]
    ) -> tuple[int, Mapping[str, ColumnValues]] | str:
        """The number of rows of a slice's base file, and the values of columns of ``schema``; or why nothing is exact.

        ``facts``: those of the file's footer about these columns, and maybe others.
        """
        if facts.why:
            return facts.why
        have = frozenset(column.name for column in columns if facts.columns[column.name].in_file)
        try:
            check_base_file(item.base_file or "")
            wanted = pa.schema([self._arrow.field(column.name) for column in columns])
            fixed = self._partitions.values(item.partition, wanted, have)
        except UnsupportedError as error:
            return str(error).removeprefix(f"{item.base_file}: ")
        values = {
            column.name: _of_path(fixed[column.name], column, facts.rows)
            if column.name in fixed
            else self._of_footer(facts.columns[column.name].proven, column)
            for column in columns
        }
        return facts.rows, values

    def _of_footer(self, found: FooterValues | None, column: Field) -> ColumnValues:
        name = column.name
        if name in self._history.reused | self._history.renamed:
            return ColumnValues(why=f"column {name} was renamed, or dropped and added again")
        if found is None:
            return ColumnValues(why=f"the footer has no statistics of column {name}")
        if found.type == ABSENT:
            if reads_as_null(column, self._table, self._history.renamed):
                return ColumnValues(found.rows)
            return ColumnValues(why=f"the file lacks column {name}, which may have a default")
        if not found.type.is_known:
            return ColumnValues(why=f"column {name}: {found.type.why}")
        if found.nulls < 0:
            return ColumnValues(why=f"the footer has no statistics of column {name}")
        if not _is_read_exactly(found.type.type, found.type.unit, column.type):
            return ColumnValues(why=f"column {name} is {found.type.text} in the file and {column.type} in the table")
        if found.nulls == found.rows:
            return ColumnValues(found.nulls)
        is_text = column.type.kind.is_text
        if is_text and name not in META_COLUMNS and found.lo is not None and found.lo == found.hi:
            return ColumnValues(found.nulls, (found.lo.decode("utf-8"),) * 2)
        if column.type.kind not in _BOUNDED | _TIMESTAMPS:
            return ColumnValues(found.nulls, why=f"bounds of column {name} of type {column.type} are not exact")
        if found.lo is None or not _is_never_rebased(found.lo, found.hi, column.type.kind):
            return ColumnValues(found.nulls, why=f"the footer has no exact bounds of column {name}")
        factor = 10 ** (column.type.scale - found.type.type.scale) if column.type.kind is Kind.DECIMAL else 1
        return ColumnValues(found.nulls, (found.lo * factor, found.hi * factor))


def _is_read_exactly(of: Type, unit: str, wanted: Type) -> bool:
    """Whether each value of the file is the same value in the table, and NULL is NULL."""
    if wanted.kind in _TIMESTAMPS:
        return of.kind is wanted.kind and unit in ("millis", "micros")
    if of == wanted:
        return True
    if of.kind.is_integer and wanted.kind.is_integer:
        return wanted.integer_range()[1] >= of.integer_range()[1]
    if of.kind is Kind.DECIMAL and wanted.kind is Kind.DECIMAL:
        return wanted.scale >= of.scale and wanted.precision - wanted.scale >= of.precision - of.scale
    return False


def _is_never_rebased(lo: int, hi: int, kind: Kind) -> bool:
    """Whether a reader takes each value between the bounds as it is stored, and it has a text of four digits a year."""
    if kind is Kind.DATE:
        return lo >= ANCIENT_DAY
    return kind not in _TIMESTAMPS or (lo >= ANCIENT_MICROS and hi <= _LAST_MICROS)


def _of_path(value: Any, column: Field, rows: int) -> ColumnValues:
    """Every row has this value."""
    if value is None:
        return ColumnValues(rows)
    ordinal: Any = (value - EPOCH.date()).days if isinstance(value, datetime.date) else value
    is_exact = column.type.kind.is_text or (isinstance(ordinal, int) and column.type.kind not in _TIMESTAMPS)
    if not is_exact:
        return ColumnValues(0, why=f"values of column {column.name} of type {column.type} are read from the path")
    return ColumnValues(0, (ordinal, ordinal) if rows else None)
