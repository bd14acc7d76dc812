"""A scan for every engine: what ``plan.scan()`` and ``scan(table, where)`` give.

scan.to_batches(), to_table(), to_reader()   Arrow (``slice_scan``)
scan.to_pyarrow_dataset()                    a dataset (``datasets``)
scan.scan_polars(), to_pandas(), to_duckdb(con)   ``frames``
scan.tasks(n)                                n pieces that pickle, balanced by bytes (``read_tasks``)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evaluator.language.records import frozen
from handler.engines.datasets import to_dataset
from handler.engines.frames import scan_polars, to_duckdb, to_pandas
from handler.engines.read_tasks import ReadTask, tasks_of
from handler.engines.slice_scan import SliceScan

__all__ = ["Scan"]


@frozen(slots=False, eq=False, kw_only=True, shown=False)
class Scan(SliceScan):
    """The rows of a plan's kept slices for which its filter is TRUE, in the form that an engine takes."""

    def to_pyarrow_dataset(self) -> Any:
        """A ``pyarrow.dataset.Dataset``; columns of the filter that are not asked for are in its schema, too."""
        return to_dataset(self)

    def scan_polars(self) -> Any:
        """A ``polars.LazyFrame``. Needs the extra ``polars``."""
        return scan_polars(self)

    def to_pandas(self, **options: Any) -> Any:
        """A ``pandas.DataFrame``. Needs the extra ``pandas``."""
        return to_pandas(self, **options)

    def to_duckdb(self, con: Any, name: str | None = None) -> Any:
        """A relation of a DuckDB connection, and a view of this name. Needs the extra ``duckdb``."""
        return to_duckdb(self, con, name)

    def tasks(self, n: int, sizes: Mapping[str, int] | None = None) -> list[ReadTask]:
        """At most n pieces that pickle. ``sizes``: bytes of files by path, for pieces of equal size."""
        return tasks_of(self if sizes is None else replace(self, sizes=sizes), n)
