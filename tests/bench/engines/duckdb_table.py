"""DuckDB: a table in memory, a prepared statement. One thread.

IN is an ASOF join, from each file to the next member: EXISTS over the members takes ten times as long.
"""

from __future__ import annotations

import duckdb
import pyarrow as pa

from tests.bench.bound_tests import AnyMember
from tests.bench.datasets import Files
from tests.bench.engines.base import Engine, FileNumbers, Query
from tests.bench.engines.sql_text import select
from tests.bench.shapes import Shape

__all__ = ["DuckDBTable"]


class DuckDBTable(Engine):
    """``EXECUTE`` and ``fetchnumpy``, the cheapest way to the numbers."""

    name = "DuckDB"

    def __init__(self, files: Files) -> None:
        self._connection = duckdb.connect(config={"threads": 1})
        self._create("files", files.arrow_table())

    @staticmethod
    def version() -> str:
        return f"DuckDB {duckdb.__version__}"

    def prepare(self, shape: Shape) -> Query:
        self._connection.execute(f"PREPARE asked AS {select(shape, self._any_member)}")
        return lambda: self._run("EXECUTE asked")

    def unprepared(self, shape: Shape) -> Query:
        sql = select(shape, self._any_member)
        return lambda: self._run(sql)

    def _run(self, sql: str) -> FileNumbers:
        return self._connection.execute(sql).fetchnumpy()["file"]

    def _any_member(self, leaf: AnyMember) -> str:
        self._create("members", pa.table({"member": leaf.members}))
        return f"SELECT file FROM files ASOF JOIN members ON member >= {leaf.lo} WHERE member <= {leaf.hi}"

    def _create(self, name: str, rows: pa.Table) -> None:
        self._connection.register("arrow_rows", rows)
        self._connection.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM arrow_rows")
        self._connection.unregister("arrow_rows")
