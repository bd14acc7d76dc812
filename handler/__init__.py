"""Plans which files of a Hudi table a filter needs, for Python, SQL text, PySpark, Hive and the command line.

    from handler import open_table, prune, what_helps

    plan = prune("/data/trips", "fare > 50 AND city = 'sf'", engine="spark")
    plan.kept        # the file slices to read
    what_helps(plan) # which index or clustering would make it keep fewer

    table = open_table("/data/trips")       # for several filters: statistics stay in memory
    plan = prune(table, "fare > 50")

A plan names only what may be skipped (contract C4): an unknown file is read, and a failure skips nothing and says why.

The package is on top: it imports ``sarg``, ``index_store`` and ``evaluator``, and holds no pruning rule of its own.
Public names are imported at their first use, so that ``sargo --help`` and executors load no library for nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # ``typing`` would be the first thing that ``sargo`` loads
if TYPE_CHECKING:
    from typing import Any

    from handler.advise.remedies import WhatHelps as WhatHelps
    from handler.advise.remedies import what_helps as what_helps
    from handler.planning.plan import Plan as Plan
    from handler.planning.plan import Reason as Reason
    from handler.planning.prune import prune as prune
    from index_store import FileSlice as FileSlice
    from index_store import TableError as TableError
    from index_store.opened_table import OpenTable as OpenTable
    from index_store.opened_table import open_table as open_table

#: public name -> the module that defines it
_MODULES = {
    "FileSlice": "index_store",
    "OpenTable": "index_store.opened_table",
    "Plan": "handler.planning.plan",
    "Reason": "handler.planning.plan",
    "TableError": "index_store",
    "WhatHelps": "handler.advise.remedies",
    "open_table": "index_store.opened_table",
    "prune": "handler.planning.prune",
    "what_helps": "handler.advise.remedies",
}

__all__ = ["FileSlice", "OpenTable", "Plan", "Reason", "TableError", "WhatHelps", "open_table", "prune", "what_helps"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
