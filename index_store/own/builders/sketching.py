"""The row of a file in an index: one pass over the file's rows for all sketches.

    column of the index        holds
    -------------------------  ----------------------------------------------------------------------------------
    rows                       how many rows the file has, -1 where that is not known
    city:type                  the type of the column in the file (``sketches.values.FileType``)
    city:nulls                 how many of its values are NULL, -1 where that is not known
    city:min_max:lo, ...       a field of a sketch: <column>:<sketch>:<field>
    lower(city):type           of an expression: its canonical key (``evaluator.binding.canonical_keys``)

A column is read from the footer alone where all of its sketches can be built from that and the footer proves its
values; other columns are read row by row. The row of a file depends only on the file and the plan, so a full refresh,
an incremental one, a thread and a Spark worker write the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evaluator.language.errors import UnsupportedError
from evaluator.language.records import frozen
from index_store.formats.bounded.parquet_bounds import read_footer
from index_store.own.builder import FILE_ID
from index_store.own.builders.expressions import EXPRESSION, ZONE, BoundsOfExpression, Expression, from_json
from index_store.own.builders.footer_bounds import FooterBounds, footer_bounds
from index_store.own.definition import Definition
from index_store.own.sketches import parse_sketch
from index_store.own.sketches.base import Batch, Collector, Sketch
from index_store.storage.errors import FormatError
from index_store.storage.storage import Storage
from index_store.table.file_rows import ColumnRows, RowBatch, parquet_rows, read_rows
from index_store.table.file_types import ABSENT, EMPTY, FileType

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = [
    "ROWS",
    "SketchPlan",
    "Target",
    "nulls_field",
    "sketch_field",
    "sketch_file",
    "sketch_rows",
    "type_field",
]

ROWS = "rows"


def type_field(on: str) -> str:
    """The column of an index that has the types of a column in the files."""
    return f"{on}:type"


def nulls_field(on: str) -> str:
    """The column that has the numbers of NULLs."""
    return f"{on}:nulls"


def sketch_field(on: str, sketch: str, field: str) -> str:
    """The column that has a field of a sketch."""
    return f"{on}:{sketch}:{field}"


@frozen(slots=False)
class Target:
    """A column of the table, or an expression, and its sketches, at most one of each name."""

    on: str
    sketches: tuple[Sketch, ...]
    expression: Expression | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that it is computed from."""
        return (self.on,) if self.expression is None else tuple(one.name for one in self.expression.columns)

    @property
    def fields(self) -> list[pa.Field]:
        """The columns of the index that it fills."""
        return [
            pa.field(type_field(self.on), pa.string()),
            pa.field(nulls_field(self.on), pa.int64()),
            *(
                pa.field(sketch_field(self.on, sketch.name, field.name), field.type)
                for sketch in self.sketches
                for field in sketch.fields
            ),
        ]


@frozen(slots=False)
class SketchPlan:
    """All targets of an index, which are sketched in one pass over each file."""

    targets: tuple[Target, ...]

    @classmethod
    def of(cls, entries: Iterable[tuple[str, str]], expressions: Mapping[str, Expression] | None = None) -> SketchPlan:
        """The plan of pairs of a column, or the text of an expression, and the text of a sketch.

        Raises UnsupportedError for an unknown sketch, two sketches of one name, and for an expression any other sketch
        than min_max and null_count.
        """
        by_target: dict[str, list[Sketch]] = {}
        known = expressions or {}
        for on, text in entries:
            sketch = parse_sketch(text)
            sketches = by_target.setdefault(on, [])
            if any(one.name == sketch.name for one in sketches):
                raise UnsupportedError(f"{sketch.name} of {on} is asked for twice")
            if on in known and sketch.name not in ("min_max", "null_count"):
                raise UnsupportedError(f"{sketch.name} of {on}: of an expression there are min_max and null_count")
            sketches.append(sketch)
        return cls(tuple(Target(on, tuple(sketches), known.get(on)) for on, sketches in by_target.items()))

    @classmethod
    def for_table(cls, table: Table, definition: Definition) -> SketchPlan:
        """The plan of a definition for a table as it is now. Raises UnsupportedError, and FormatError for options."""
        zone = definition.options.get(ZONE, "UTC")
        expressions = {
            name[len(EXPRESSION) :]: Expression(from_json(text), table.schema, table.columns.units, zone)
            for name, text in definition.options.items()
            if name.startswith(EXPRESSION)
        }
        return cls.of(((one.on, one.sketch) for one in definition.entries), expressions)

    @cached_property
    def schema(self) -> pa.Schema:
        """The rows of a builder: ``file_id``, ``rows``, and the columns of all targets."""
        return pa.schema(
            [
                pa.field(FILE_ID, pa.int32(), False),
                pa.field(ROWS, pa.int64()),
                *(field for target in self.targets for field in target.fields),
            ]
        )

    @cached_property
    def from_footers(self) -> tuple[str, ...]:
        """The columns whose sketches can all be built from a footer."""
        return tuple(
            target.on
            for target in self.targets
            if target.expression is None and all(one.from_footers for one in target.sketches)
        )


def sketch_file(storage: Storage, path: str, plan: SketchPlan) -> dict[str, Any]:
    """The row of one file, without its id. Raises TableError when the file cannot be read."""
    name = path.rpartition("/")[2]
    if name.endswith(".parquet") and not name.startswith("."):
        return storage.apply(path, lambda stream: _sketch_parquet(stream, plan))
    names = list(dict.fromkeys(name for target in plan.targets for name in target.columns))
    return dict(sketch_rows(read_rows(storage, path, names), list(plan.targets)))


def _sketch_parquet(stream: Any, plan: SketchPlan) -> dict[str, Any]:
    """The row of an open Parquet file. Raises FormatError, OSError or pa.ArrowException."""
    row: dict[str, Any] = {}
    proven: Mapping[str, FooterBounds] = {}
    if plan.from_footers:
        with suppress(FormatError, pa.ArrowException):
            metadata = read_footer(stream)
            proven = footer_bounds(metadata, plan.from_footers)
            row[ROWS] = metadata.num_rows
    left = []
    for target in plan.targets:
        if target.on in proven:
            row.update(_of_footer(target, proven[target.on], row[ROWS]))
        else:
            left.append(target)
    if left or ROWS not in row:
        names = list(dict.fromkeys(name for target in left for name in target.columns))
        row.update(sketch_rows(parquet_rows(stream, names), left))
    return row


def _of_footer(target: Target, bounds: FooterBounds, rows: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        type_field(target.on): EMPTY.text if rows == 0 else bounds.type.text,
        nulls_field(target.on): bounds.nulls if rows else 0,
    }
    for sketch in target.sketches:
        for field in sketch.fields:
            row[sketch_field(target.on, sketch.name, field.name)] = getattr(bounds, field.name)
    return row


class _ColumnCollector:
    """Collects all sketches of one column over the batches of a file."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._type = EMPTY
        self._nulls = 0
        self._collectors: list[tuple[Sketch, Collector]] = [(one, one.collect()) for one in target.sketches]

    def add(self, columns: Mapping[str, ColumnRows], rows: int) -> None:
        of, values = columns[self._target.on].type, columns[self._target.on].values
        if rows == 0 or self._type.why:
            return
        if self._type not in (EMPTY, of):
            of = FileType.unknown(f"{self._type.text} and {of.text} in one file")
        self._type = of
        if of == ABSENT:
            self._nulls += rows
        elif of.is_known and values is not None:
            self._nulls += values.null_count
            batch = Batch(values, of)
            for _, collector in self._collectors:
                collector.add(batch)

    def row(self) -> dict[str, Any]:
        on, known = self._target.on, self._type.is_known
        row: dict[str, Any] = {type_field(on): self._type.text, nulls_field(on): -1 if self._type.why else self._nulls}
        for sketch, collector in self._collectors:
            stored = collector.stored() if known else {}
            for field in sketch.fields:
                row[sketch_field(on, sketch.name, field.name)] = stored.get(field.name)
        return row


class _ExpressionCollector:
    """Collects the bounds of one expression over the batches of a file."""

    def __init__(self, target: Target, expression: Expression) -> None:
        self._target = target
        self._bounds = BoundsOfExpression(expression)

    def add(self, columns: Mapping[str, ColumnRows], rows: int) -> None:
        self._bounds.add(columns, rows)

    def row(self) -> dict[str, Any]:
        form, nulls, lo, hi = self._bounds.stored()
        row: dict[str, Any] = {type_field(self._target.on): form, nulls_field(self._target.on): nulls}
        if any(sketch.name == "min_max" for sketch in self._target.sketches):
            row.update(
                {sketch_field(self._target.on, "min_max", "lo"): lo, sketch_field(self._target.on, "min_max", "hi"): hi}
            )
        return row


def sketch_rows(batches: Iterable[RowBatch], targets: Sequence[Target]) -> dict[str, Any]:
    """The row of a file that has these rows."""
    collectors = [
        _ColumnCollector(target) if target.expression is None else _ExpressionCollector(target, target.expression)
        for target in targets
    ]
    rows = 0
    for batch in batches:
        rows = -1 if rows < 0 or batch.rows < 0 else rows + batch.rows
        for collector in collectors:
            collector.add(batch.columns, batch.rows)
    row: dict[str, Any] = {ROWS: rows}
    for collector in collectors:
        row.update(collector.row())
    return row
