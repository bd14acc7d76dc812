"""The aggregates of the rows of a table, as a row-level reference: every row is read, and no statistic is.

Rows are those that ``read`` returns (``handler.rows``), and pyarrow computes their aggregates. Values are in the
ordinal form of ``evaluator.statistics.columns``.
"""

from __future__ import annotations

import datetime
from decimal import Decimal, localcontext

import pyarrow as pa

from evaluator.language.errors import UnsupportedError
from evaluator.reference.row_oracle import value_of
from handler.aggregates.aggregate import Aggregate
from handler.rows.slice_rows import slice_batches
from handler.rows.slice_source import SliceSource
from handler.rows.table_types import arrow_schema
from index_store.table.table_schema import from_arrow
from tests.handler.table_rows import value_form

EPOCH = datetime.datetime(1970, 1, 1)
MICROSECOND = datetime.timedelta(microseconds=1)


class TableRows:
    """The rows of a table's slices without log files as of an instant, each read once.

    ``names``: the columns that can be read in all of them; ``read`` refuses a table with others.
    """

    def __init__(self, opened, instant):
        self.source = SliceSource.of(opened.table, str(opened.path), instant)
        self.arrow = arrow_schema(opened.table, instant)
        self.schema = from_arrow(self.arrow).schema
        self.items = [item for item in opened.at(instant).slices if item.base_file and not item.log_files]
        self.names = list(self.arrow.names)
        self._read = {}
        try:
            self._read = {item: self._rows(item) for item in self.items}
        except UnsupportedError:
            self.names = [name for name in self.names if self._can_be_read(name)]
            self._read = {item: self._rows(item) for item in self.items}

    def _rows(self, item):
        batches = list(slice_batches(self.source, item, self.arrow, self.names))
        return pa.Table.from_batches(batches) if batches else None

    def _can_be_read(self, name):
        try:
            for item in self.items:
                list(slice_batches(self.source, item, self.arrow, [name]))
        except UnsupportedError:
            return False
        return True

    def of(self, item):
        """The rows of a slice, as a table of pyarrow."""
        return self._read[item]

    def count(self, item):
        rows = self.of(item)
        return 0 if rows is None else rows.num_rows

    def satisfying(self, item, expression, semantics):
        """The rows of a slice that satisfy a condition, in value form."""
        rows = self.of(item)
        return [
            row
            for row in (() if rows is None else map(value_form, rows.to_pylist()))
            if value_of(expression, row, self.schema, semantics) is True
        ]

    def aggregate(self, item, one: Aggregate):
        """An aggregate over all rows of a slice."""
        rows = self.of(item)
        if rows is None:
            return 0 if one.function == "count" else None
        if one.column is None:
            return rows.num_rows
        values = [ordinal(value) for value in rows.column(one.column).to_pylist() if value is not None]
        return aggregate_of(one, values)


def aggregate_of(one: Aggregate, values):
    """An aggregate over values, which are not NULL."""
    if one.function == "count":
        return len(values)
    if not values:
        return None
    return {"min": min, "max": max, "sum": sum}[one.function](values)


def ordinal(value):
    """A Python value of pyarrow as statistics hold it."""
    match value:
        case datetime.datetime():
            if value.tzinfo is not None:
                value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
            return (value - EPOCH) // MICROSECOND
        case datetime.date():
            return (value - EPOCH.date()).days
        case Decimal():
            with localcontext() as context:
                context.prec = 80
                return int(value.scaleb(-value.as_tuple().exponent))
        case _:
            return value


def literal_text(value):
    """A value as a constant of SQL; None for one of no such type."""
    match value:
        case bool():
            return str(value).upper()
        case int() | Decimal():
            return str(value)
        case datetime.datetime():
            return (
                f"TIMESTAMP'{value.astimezone(datetime.timezone.utc) if value.tzinfo else value:%Y-%m-%d %H:%M:%S.%f}'"
            )
        case datetime.date():
            return f"DATE'{value}'"
        case float() if abs(value) < 1e15:
            return f"{value!r}D"
        case str() if "'" not in value and "\\" not in value and len(value) < 100:
            return f"'{value}'"
        case _:
            return None


def conditions(rows: TableRows, at_most):
    """Some conditions on each column, with constants that are among its values; TRUE is the first."""
    found = ["TRUE"]
    for name in rows.names:
        values = [v for item in rows.items if (t := rows.of(item)) is not None for v in t.column(name).to_pylist()]
        texts = sorted({text for value in values if value is not None and (text := literal_text(value))})
        found.append(f"`{name}` IS NOT NULL")
        found.append(f"`{name}` IS NULL")
        for text in texts[:: max(1, len(texts) // 2)][:2]:
            found += [f"`{name}` {op} {text}" for op in ("<=", ">", "<>", "=")]
    step = max(1, len(found) // at_most)
    return found[:1] + found[1::step]
