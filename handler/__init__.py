"""The front doors: SQL text, pruning, plans, the command line and the demo.

from handler import open_table, prune
plan = prune("/data/trips", "fare > 50 AND city = 'sf'", engine="spark")
"""

from handler.planning.plan import Plan, Reason
from handler.planning.prune import prune
from index_store import FileSlice, TableError
from index_store.opened_table import OpenTable, open_table

__all__ = ["FileSlice", "OpenTable", "Plan", "Reason", "TableError", "open_table", "prune"]
