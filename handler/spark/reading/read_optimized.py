"""The file slices that a read-optimised query of a pruned table reads: base files alone.

A plan skips a slice when no *merged* row matches. A read-optimised query reads the rows of the base file instead, and
an index of record keys may know a row only as the log files changed it. So every slice with log files is read.
"""

from __future__ import annotations

from handler.planning.plan import Plan
from index_store import FileSlice

__all__ = ["slices_of_base_files"]


def slices_of_base_files(plan: Plan) -> list[FileSlice]:
    """The slices with a base file that the plan keeps, and those that also have log files."""
    kept = {(item.partition, item.file_id) for item in plan.kept}
    return [
        item for item in plan.slices if item.base_file and (item.log_files or (item.partition, item.file_id) in kept)
    ]
