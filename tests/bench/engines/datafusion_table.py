"""DataFusion: record batches in memory, a physical plan that is made once. One partition.

IN is a window over files and members in one order, from each file to the next member: EXISTS takes five times as long.
"""

from __future__ import annotations

import datafusion
import numpy as np
import pyarrow as pa

from tests.bench.bound_tests import AnyMember
from tests.bench.datasets import Files
from tests.bench.engines.base import Engine, FileNumbers, Query
from tests.bench.engines.sql_text import select
from tests.bench.shapes import Shape

__all__ = ["DataFusionTable"]

_BATCH_ROWS = 65_536


class DataFusionTable(Engine):
    """``SessionContext.execute`` of a plan."""

    name = "DataFusion"

    def __init__(self, files: Files) -> None:
        self._context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(1))
        self._create("files", files.arrow_table())

    @staticmethod
    def version() -> str:
        return f"DataFusion {datafusion.__version__}"

    def prepare(self, shape: Shape) -> Query:
        plan = self._context.sql(select(shape, self._any_member)).execution_plan()
        return lambda: _numbers([batch.to_pyarrow() for batch in self._context.execute(plan, 0)])

    def unprepared(self, shape: Shape) -> Query:
        sql = select(shape, self._any_member)
        return lambda: _numbers(self._context.sql(sql).collect())

    def _any_member(self, leaf: AnyMember) -> str:
        self._create("members", pa.table({"member": leaf.members}))
        return f"""
            SELECT file FROM (
                SELECT file, hi, is_member, min(CASE WHEN is_member = 1 THEN at END) OVER (
                    ORDER BY at DESC, is_member DESC ROWS UNBOUNDED PRECEDING) AS following
                FROM (SELECT {leaf.lo} AS at, 0 AS is_member, file, {leaf.hi} AS hi FROM files
                      UNION ALL SELECT member, 1, NULL, NULL FROM members))
            WHERE is_member = 0 AND following <= hi"""

    def _create(self, name: str, rows: pa.Table) -> None:
        if self._context.table_exist(name):
            self._context.deregister_table(name)
        self._context.register_record_batches(name, [rows.to_batches(max_chunksize=_BATCH_ROWS)])


def _numbers(batches: list[pa.RecordBatch]) -> FileNumbers:
    columns = [batch.column(0).to_numpy(zero_copy_only=False) for batch in batches]
    return np.concatenate(columns) if columns else np.empty(0, np.int64)
