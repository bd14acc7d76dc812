"""The file slices that a read-optimised query of a pruned table reads: base files alone.

A plan skips a slice when no *merged* row matches. A read-optimised query reads the rows of the base file instead, and
an index of record keys may know a row only as the log files changed it. So every slice with log files is read.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from handler.planning.plan import Plan, Reason
from index_store import FileSlice

__all__ = ["plan_of_base_files", "slices_of_base_files"]


def slices_of_base_files(plan: Plan) -> list[FileSlice]:
    """The slices with a base file that the plan keeps, and those that also have log files."""
    kept = {(item.partition, item.file_id) for item in plan.kept}
    return [
        item for item in plan.slices if item.base_file and (item.log_files or (item.partition, item.file_id) in kept)
    ]


def plan_of_base_files(plan: Plan) -> Plan:
    """The plan with these slices kept. It has no explanation, which would be that of the merged rows."""
    rows = {(item.partition, item.file_id): row for row, item in enumerate(plan.slices)}
    kept = [rows[item.partition, item.file_id] for item in slices_of_base_files(plan)]
    reason = Reason("filter", "a read-optimised query: base files alone are read, and all of them that have log files")
    return replace(plan, kept_rows=np.array(kept, np.int64), explanation=None, reasons=(*plan.reasons, reason))
