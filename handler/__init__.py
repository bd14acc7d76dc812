"""The front doors: SQL text, pruning, plans, the command line and the demo.

from handler import open_table, prune
plan = prune("/data/trips", "fare > 50 AND city = 'sf'", engine="spark")
"""

from handler.plan import Plan, Reason
from handler.planner import prune
from handler.tables import OpenTable, open_table
from index_store import FileSlice, TableError

__all__ = ["FileSlice", "OpenTable", "Plan", "Reason", "TableError", "open_table", "prune"]
