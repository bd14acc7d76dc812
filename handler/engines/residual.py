"""What is left of a filter to check on the rows of a slice, as SQL of an engine, and for pyarrow and Polars."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evaluator.explain.residual import is_complete
from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import HudiExpression, to_text
from evaluator.language.records import frozen
from evaluator.language.schema import Schema
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.sql_text import to_sql
from handler.engines.conditions import to_duckdb_sql, to_polars, to_pyarrow
from handler.engines.exact_tests import NotExactError, Test, as_engine_reads, tests

__all__ = ["DIALECTS", "Residual"]

#: The dialects of ``Residual.to_sql``.
DIALECTS = (*ENGINES, "duckdb")


@frozen(slots=False, eq=False, shown=False)
class Residual:
    """The residual of a slice: on its rows it is TRUE exactly where the filter is, by the rules of ``engine``.

    It equals the expression that it holds. The forms raise UnsupportedError where the target would decide a condition
    in another way than the engine does, or cannot say it: ``plan.to_batches()`` then filters rows here.
    """

    expression: HudiExpression
    engine: str
    schema: Schema | None
    semantics: Semantics

    def __eq__(self, other: object) -> bool:
        return self.expression == (other.expression if isinstance(other, Residual) else other)

    def __hash__(self) -> int:
        return hash(self.expression)

    def __repr__(self) -> str:
        return f"<Residual by the rules of {self.engine}: {self}>"

    def __str__(self) -> str:
        return to_text(self.expression)

    @property
    def is_complete(self) -> bool:
        """Whether every part was understood. Hive's BETWEEN over mixed types is one test that no AND states."""
        if self.schema is None:
            return is_complete(self.expression)
        return is_complete(as_engine_reads(self.expression, self.schema, self.semantics))

    def to_sql(self, dialect: str | None = None) -> str:
        """SQL for a WHERE clause of one of ``DIALECTS``; by default of the engine of the plan."""
        dialect = self.engine if dialect is None else dialect
        if dialect not in DIALECTS:
            raise UnsupportedError(f"dialect {dialect!r} is not known: use {', '.join(DIALECTS)}")
        if dialect == "duckdb":
            return self._in_form("DuckDB", to_duckdb_sql)  # type: ignore[no-any-return]
        if not self.is_complete:
            raise UnsupportedError(f"a part of the filter was not understood: {self}")
        if _family(dialect) != _family(self.engine):
            theirs = replace(Semantics.named(dialect, self.semantics.time_zone), clock=self.semantics.clock)
            self._in_form(dialect, lambda test: self._same_in(dialect, theirs, test))
        return to_sql(self.expression, dialect)

    def to_pyarrow(self) -> Any:
        """A ``pyarrow.compute.Expression`` over columns of the table's types (``plan.to_pyarrow_dataset``)."""
        return self._in_form("pyarrow", to_pyarrow)

    def to_polars(self) -> Any:
        """A ``polars.Expr`` over columns of the table's types."""
        return self._in_form("Polars", to_polars)

    def _in_form(self, target: str, form: Any) -> Any:
        try:
            if self.schema is None:
                raise NotExactError("the filter could not be evaluated")
            return form(tests(self.expression, self.schema, self.semantics))
        except NotExactError as error:
            raise UnsupportedError(
                f"{target} does not decide this filter as {self.engine} does: {error}. plan.to_batches() and "
                "plan.scan_polars() filter such rows here"
            ) from None

    def _same_in(self, dialect: str, theirs: Semantics, test: Test) -> None:
        if self.schema is not None and tests(self.expression, self.schema, theirs) != test:
            raise NotExactError(f"{dialect} reads a constant in another way")


def _family(engine: str) -> str:
    return engine.partition("-")[0].rstrip("34")
