"""What other engines take from a plan: the URIs of its files, their rows, and work items for other processes.

    plan.paths()                    the files to read, as an Arrow column
    plan.to_batches()               the rows for which the filter is TRUE: Arrow batches
    plan.to_pyarrow_dataset()       a pyarrow dataset, whose filter is the plan's
    plan.scan_polars()              a LazyFrame
    plan.to_pandas()                a DataFrame
    plan.to_duckdb(con)             a relation
    plan.tasks(n)                   pieces that pickle, balanced by bytes
    plan.scan(...)                  the same rows with other columns, unfiltered, or of base files alone

Rows are read by ``handler.engines``, imported when a plan is first asked for them. They are those of Hudi's reader, and
the filter decides by the rules of the engine that the plan names.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.clock import Clock
from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import Constant, HudiExpression
from evaluator.language.semantics import Semantics
from handler.planning.clocks import PlanMoment, clock_of
from index_store import FileSlices, TableError
from index_store.opened_table import OpenTable
from index_store.table.schema_history import read_name_history
from index_store.table.slice_paths import common_uri, slice_paths
from index_store.table.table_schema import from_arrow

if TYPE_CHECKING:
    from evaluator.explain.residual import Residuals
    from handler.engines.read_tasks import ReadTask
    from handler.engines.residual import Residual
    from handler.engines.row_filter import RowFilter
    from handler.engines.scan import Scan
    from handler.engines.slice_scan import ScanSlice

__all__ = ["PlanRows", "Query"]

T = TypeVar("T")

#: What is read: merged rows, or base files alone, without what was logged since.
Query = Literal["snapshot", "read_optimized"]


class PlanRows:
    """What a plan gives to other engines; ``Plan`` has the fields."""

    table: str
    instant: str | None
    expression: HudiExpression
    engine: str
    time_zone: str
    moment: PlanMoment | None
    slices: FileSlices
    kept_rows: npt.NDArray[np.int64]
    opened: OpenTable | None

    def paths(self, *, log_files: bool = True) -> pa.Array:
        """The files to read as absolute URIs in the store's scheme, or paths on this disk: an Arrow column of text.

        Slices are in the order of ``kept``; each has its base file first, then its log files. ``log_files=False``: base
        files alone, which is what a read-optimized query reads: rows that were logged since are not in them. Then those
        of slices with log files that no merged row keeps come last, because the rows of their base files may match.
        Nothing in a URI is percent-encoded. Raises UnsupportedError for a name that is not UTF-8.
        """
        if not isinstance(log_files, bool):
            raise TypeError("log_files is True or False")
        rows = self.kept_rows if log_files else np.concatenate([self.kept_rows, self._skipped_with_logs()])
        return slice_paths(self.slices, rows, common_uri(self.table), log_files=log_files)

    def _skipped_with_logs(self) -> npt.NDArray[np.int64]:
        """The slices with a base file and log files that are not kept."""
        if self.opened is not None and self.opened.table.table_type != "MERGE_ON_READ":
            return np.zeros(0, np.int64)
        skipped = np.setdiff1d(np.arange(len(self.slices)), self.kept_rows)
        items = self.slices.some(skipped)
        logged = [bool(item.base_file and item.log_files) for item in items]
        return skipped[np.array(logged, np.bool_)].astype(np.int64)

    def scan(
        self,
        columns: Sequence[str] | None = None,
        *,
        filtered: bool = True,
        query: Query = "snapshot",
        by_name: bool = False,
    ) -> Scan:
        """The rows of the kept slices, for any engine; nothing is read yet.

        columns    the columns of the result; by default all, with Hudi's own
        filtered   keep the rows for which the filter is TRUE; otherwise all rows of the kept slices
        query      "snapshot", or "read_optimized": base files alone
        by_name    read columns by name although some were renamed, or dropped and added again, as Hudi does without
                   ``hoodie.schema.on.read.enable``

        Raises UnsupportedError where rows cannot be read or filtered as Hudi and the engine do: the message says what
        to do instead. TableError when nothing tells the table's columns. UnknownColumnError, TypeError and ValueError
        for columns that are none.
        """
        if query not in get_args(Query):
            raise UnsupportedError(f"query {query!r} (known: {', '.join(get_args(Query))})")
        if not isinstance(filtered, bool) or not isinstance(by_name, bool):
            raise TypeError("filtered and by_name are True or False")
        if self.opened is None:
            raise UnsupportedError(f"{self.table}: the plan does not hold the table, which is opened to read its rows")
        opening, table = self.opened.opening, self.opened.table
        if table.disputed:
            raise UnsupportedError(f"{self.table}: Hudi's readers do not agree on the rows: {table.disputed}")
        from handler.engines.row_filter import RowFilter
        from handler.engines.scan import Scan
        from handler.engines.slice_scan import ScanSlice, chosen_columns
        from handler.rows.slice_source import SliceSource
        from handler.rows.table_types import arrow_schema

        source = SliceSource.of(table, opening.path, self.instant, opening.storage_options, opening.filesystem)
        schema = arrow_schema(table, self.instant)
        chosen = chosen_columns(columns, schema)
        filters: list[RowFilter] = []
        whole = RowFilter.of(self.expression, schema, self._row_semantics()) if filtered else None
        slices: list[ScanSlice] = []
        numbers: dict[HudiExpression, int | None] = {Constant(True): None}

        def number_of(expression: HudiExpression) -> int | None:
            if expression not in numbers:
                made = RowFilter.of(expression, schema, self._row_semantics())
                numbers[expression] = None if made.is_true else len(filters)
                if not made.is_true:
                    filters.append(made)
            return numbers[expression]

        def add(rows: npt.NDArray[Any], residuals: Residuals | None) -> None:
            groups = [0] * len(rows) if residuals is None else residuals.group_of.tolist()
            expressions = (self.expression,) if residuals is None else residuals.expressions
            for item, group in zip(self.slices.some(rows), groups, strict=True):
                if query == "read_optimized" and item.log_files:
                    continue
                slices.append(ScanSlice(item, number_of(expressions[group]) if filtered else None))

        add(self.kept_rows, self._residuals)
        if query == "read_optimized":
            # a slice is skipped when no merged row matches; the rows of its base file may
            logged = [one for one in self.slices if one.log_files and one.base_file]
            slices += [ScanSlice(one, number_of(self.expression) if filtered else None) for one in logged]
        made = Scan(
            source=source,
            schema=schema,
            columns=chosen,
            slices=tuple(slices),
            filters=tuple(filters),
            whole=whole,
            read_optimized=query == "read_optimized",
        )
        if not by_name:
            self._check_names(made)
        return made

    def to_batches(self, columns: Sequence[str] | None = None, **options: Any) -> Iterator[pa.RecordBatch]:
        """The rows for which the filter is TRUE as Arrow batches. ``options``: those of ``scan``."""
        return self.scan(columns, **options).to_batches()

    def to_table(self, columns: Sequence[str] | None = None, **options: Any) -> pa.Table:
        """The rows for which the filter is TRUE as an Arrow table. ``options``: those of ``scan``."""
        return self.scan(columns, **options).to_table()

    def to_pandas(self, columns: Sequence[str] | None = None, **options: Any) -> Any:
        """The rows for which the filter is TRUE as a pandas DataFrame. ``options``: those of ``scan``."""
        return self.scan(columns, **options).to_pandas()

    def to_pyarrow_dataset(self, columns: Sequence[str] | None = None, **options: Any) -> Any:
        """The rows for which the filter is TRUE as a pyarrow dataset. ``options``: those of ``scan``.

        pyarrow reads the files itself where it reads them as Hudi does. The other slices are read here and held in
        memory; with more than 1 GiB of them UnsupportedError says what to use instead.
        """
        return self.scan(columns, **options).to_pyarrow_dataset()

    def scan_polars(self, columns: Sequence[str] | None = None, **options: Any) -> Any:
        """The rows for which the filter is TRUE as a Polars LazyFrame. ``options``: those of ``scan``."""
        return self.scan(columns, **options).scan_polars()

    def to_duckdb(self, con: Any, name: str | None = None, columns: Sequence[str] | None = None, **options: Any) -> Any:
        """The rows for which the filter is TRUE as a relation of a DuckDB connection, and a view of this name.

        ``options``: those of ``scan``. It stands on ``to_pyarrow_dataset``.
        """
        return self.scan(columns, **options).to_duckdb(con, name)

    def tasks(self, n: int, columns: Sequence[str] | None = None, **options: Any) -> list[ReadTask]:
        """At most n pieces of the scan, balanced by bytes, that pickle; ``task.to_table()`` reads one anywhere.

        ``options``: those of ``scan``. Secrets among the options of the file system are pickled with a task.
        """
        scan = self.scan(columns, **options)
        return scan.tasks(n, self._sizes({one.item.partition for one in scan.slices}))

    # -- what they are made of

    def _residual_of(self, expression: HudiExpression) -> Residual:
        """A residual with what its forms for engines need: the table's columns, and the rules of the plan's engine."""
        from handler.engines.residual import Residual
        from handler.rows.table_types import arrow_schema

        schema = None
        if self.opened is not None and self.instant is not None:
            with suppress(TableError):  # a table without a schema: the forms say so, and the expression is right
                schema = from_arrow(arrow_schema(self.opened.table, self.instant)).schema
        return Residual(expression, self.engine, schema, self._row_semantics())

    @property
    def _residuals(self) -> Residuals:
        raise NotImplementedError

    def _row_semantics(self) -> Semantics:
        """The rules for rows: those of the plan, at one moment."""
        semantics = Semantics.named(self.engine, self.time_zone)
        if self.moment is None:
            return semantics
        if not self.moment.is_fixed:  # the plan holds from its moment on: rows are filtered as of now
            return semantics.at(Clock.fixed(time.time_ns() // 1000))
        at = self.moment.at
        return semantics.at(clock_of(f"{at[:-4]}+00:00" if at.endswith(" UTC") else at, 0, self.time_zone))

    def _check_names(self, scan: Scan) -> None:
        """Raise UnsupportedError where readers of Hudi return other rows by name than by id."""
        assert self.opened is not None
        history = read_name_history(self.opened.table.storage)
        read = {*scan.columns, *(name for one in scan.filters for name in one.columns)}
        changed = sorted(name for name in history.reused | history.renamed if name.partition(".")[0] in read)
        if changed:
            raise UnsupportedError(
                f"{self.table}: columns were renamed, or dropped and added again: {', '.join(changed)}. Hudi returns "
                "other rows with hoodie.schema.on.read.enable than without. Leave them out (columns=...), read by name "
                "as Hudi does by default (by_name=True), or read with Spark and Hudi's bundle"
            )

    def _sizes(self, partitions: set[str]) -> dict[str, int]:
        """The bytes of the files in these partitions; of none where they cannot be listed."""
        assert self.opened is not None
        found = {}
        try:
            for partition in partitions:
                prefix = f"{partition}/" if partition else ""
                for file in self.opened.table.files(partition):
                    found[f"{prefix}{file.name}"] = file.size
        except TableError:
            return {}
        return found
