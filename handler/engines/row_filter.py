"""Keeps the rows of Arrow batches for which a filter is TRUE, by the rules of the engine that the plan names.

    the filter                                  how it is decided
    -----------------------------------------   -----------------------------------------------------------------
    tests of columns (``exact_tests``)          vectorised, by pyarrow
    anything else that has a row form           row by row, by ``evaluator.reference``: once for each distinct row
    what was not understood, or that differs    an error that names the condition: no row is guessed
    between versions or settings of the engine

A conjunction is split: what pyarrow decides is applied first, and the reference sees the rows that are left.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language import expression as ex
from evaluator.language.errors import UnknownColumnError, UnsupportedError
from evaluator.language.records import frozen
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics
from evaluator.reference.row_oracle import value_of
from handler.engines.conditions import to_pyarrow
from handler.engines.exact_tests import AllOf, Always, NotExactError, Test, as_engine_reads, tests
from index_store.table.table_schema import from_arrow

__all__ = ["RowFilter"]

#: Distinct rows whose value is remembered.
_MAX_KNOWN = 100_000


@frozen(slots=False)
class RowFilter:
    """A filter on batches of a schema. It pickles; what it compiles, each process compiles for itself."""

    expression: ex.HudiExpression
    schema: pa.Schema
    semantics: Semantics

    @classmethod
    def of(cls, expression: ex.HudiExpression, schema: pa.Schema, semantics: Semantics) -> RowFilter:
        """Raises UnsupportedError for a condition that has no value on a row."""
        made = cls(as_engine_reads(expression, from_arrow(schema).schema, semantics), schema, semantics)
        made.check()
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {"expression": self.expression, "schema": self.schema, "semantics": self.semantics}

    @property
    def is_true(self) -> bool:
        """Whether all rows are kept."""
        return self.expression == ex.Constant(True) or self._split == (Always(True), None)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the schema that the filter reads."""
        found = dict.fromkeys(field.partition(".")[0] for field in self._fields.values())
        return tuple(found)

    @property
    def exact(self) -> Test | None:
        """The whole filter as tests of columns, None when it is not one."""
        test, rest = self._split
        return test if rest is None else None

    def why_not_exact(self) -> str:
        """The condition that is no test of columns, and why."""
        try:
            tests(self.expression, self._columns, self.semantics)
        except NotExactError as error:
            return str(error)
        return ""

    def check(self) -> None:
        """Raise UnsupportedError for a filter that cannot be decided on rows, by a row of NULLs and types alone."""
        _ = self._fields
        rest = self._split[1]
        if rest is not None:
            for part in ex.walk(rest):
                if isinstance(part, ex.Unknown | ex.Opaque):
                    raise self._refused(part.reason)

    def apply(self, batch: Any) -> Any:
        """The rows of a record batch that are kept."""
        test, rest = self._split
        if not isinstance(test, Always) and batch.num_rows:
            batch = batch.filter(self._arrow)
        elif test == Always(False):
            return batch.slice(0, 0)
        if rest is None or not batch.num_rows:
            return batch
        return batch.filter(pa.array(self._values(rest, batch)))

    # -- parts

    @cached_property
    def _columns(self) -> Schema:
        return from_arrow(self.schema).schema

    @cached_property
    def _fields(self) -> Mapping[str, str]:
        """The names in the filter, and those in the schema."""
        found = {}
        for name in dict.fromkeys(ex.column_names(self.expression)):
            field = self._columns.resolve(name, case_sensitive=self.semantics.case_sensitive)
            if field is None:
                raise UnknownColumnError(name, "it is not in the table as of this instant, or its name is ambiguous")
            found[name] = field.name
        return found

    @cached_property
    def _split(self) -> tuple[Test, ex.HudiExpression | None]:
        """The tests, and what else a row must satisfy."""
        exact: list[Test] = []
        rest: list[ex.HudiExpression] = []
        for part in _conjuncts(self.expression):
            try:
                test = tests(part, self._columns, self.semantics)
                to_pyarrow(test)
                exact.append(test)
            except NotExactError:
                rest.append(part)
        test = exact[0] if len(exact) == 1 else AllOf(tuple(exact)) if exact else Always(True)
        return test, None if not rest else rest[0] if len(rest) == 1 else ex.And(tuple(rest))

    @cached_property
    def _arrow(self) -> Any:
        return to_pyarrow(self._split[0])

    @cached_property
    def _known(self) -> dict[tuple[Any, ...], bool]:
        return {}

    def _values(self, rest: ex.HudiExpression, batch: Any) -> list[bool]:
        """Whether the rest of the filter is TRUE on each row."""
        names = list(dict.fromkeys(self._fields[name] for name in ex.column_names(rest)))
        columns = [_in_value_form(_column(batch, name)) for name in names]
        found, known = [], self._known
        for row in zip(*columns, strict=True) if columns else [()] * batch.num_rows:
            key = tuple(map(_key, row))
            value = known.get(key)
            if value is None:
                try:
                    decided = value_of(rest, dict(zip(names, row, strict=True)), self._columns, self.semantics)
                except UnsupportedError as error:
                    raise self._refused(error.what) from error
                except (ArithmeticError, ValueError, TypeError, IndexError, AttributeError) as error:
                    raise self._refused(f"{type(error).__name__} {error}") from error
                value = decided is True
                if len(known) < _MAX_KNOWN:
                    known[key] = value
            found.append(value)
        return found

    def _refused(self, why: str) -> UnsupportedError:
        return UnsupportedError(
            f"the filter cannot be decided on rows outside of {self.semantics.engine}: {why}. Read the kept slices "
            "without it (filtered=False) and filter the rows yourself, or read with handler.spark"
        )


def _conjuncts(expression: ex.HudiExpression) -> list[ex.HudiExpression]:
    found, stack = [], [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, ex.And):
            stack.extend(reversed(node.children))
        else:
            found.append(node)
    return found


def _column(batch: Any, name: str) -> Any:
    top, *below = name.split(".")
    column = batch.column(top)
    for part in below:
        column = pc.struct_field(column, part)
    return column


def _key(value: Any) -> Any:
    """Values that compare equal and are not the same, such as 0.0 and -0.0, apart."""
    return (repr(value),) if isinstance(value, float) else value


def _in_value_form(column: Any) -> list[Any]:
    """The values in the form of ``evaluator.language.types``."""
    kind = column.type
    if pa.types.is_date32(kind):
        column = column.cast(pa.int32())
    elif pa.types.is_timestamp(kind):
        column = column.cast(pa.timestamp("us", kind.tz)).cast(pa.int64())
    elif pa.types.is_nested(kind):
        return [None if one is None else repr(one) for one in column.to_pylist()]
    values: list[Any] = column.to_pylist()
    return values
