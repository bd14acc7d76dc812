"""Plans which files of a Hudi table a filter needs, for Python, SQL text, PySpark, Hive and the command line.

    from handler import open_table, prune

    plan = prune("/data/trips", "fare > 50 AND city = 'sf'", engine="spark")
    plan.kept        # the file slices to read

    table = open_table("/data/trips")       # for several filters: statistics stay in memory
    plan = prune(table, "fare > 50")

A plan names only what may be skipped (contract C4): an unknown file is read, and a failure skips nothing and says why.

The package is on top: it imports ``sarg``, ``index_store`` and ``evaluator``, and holds no pruning rule of its own.
"""

from handler.planning.plan import Plan, Reason
from handler.planning.prune import prune
from index_store import FileSlice, TableError
from index_store.opened_table import OpenTable, open_table

__all__ = ["FileSlice", "OpenTable", "Plan", "Reason", "TableError", "open_table", "prune"]
