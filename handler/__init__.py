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

from handler.planning.page_makers import register

TYPE_CHECKING = False  # ``typing`` would be the first thing that ``sargo`` loads
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from handler.advise.remedies import WhatHelps as WhatHelps
    from handler.advise.remedies import what_helps as what_helps
    from handler.planning.plan import Plan as Plan
    from handler.planning.plan import Reason as Reason
    from handler.planning.prune import prune as prune
    from handler.planning.scan import scan as scan
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
    "scan": "handler.planning.scan",
    "what_helps": "handler.advise.remedies",
}

__all__ = [
    "FileSlice",
    "OpenTable",
    "Plan",
    "Reason",
    "TableError",
    "WhatHelps",
    "open_table",
    "prune",
    "scan",
    "what_helps",
]


def _load_explain_html() -> Callable[..., str]:
    from handler.pages.explain_page import explain_html

    return explain_html


def _load_notebook_html() -> Callable[..., str]:
    from handler.pages.notebook import notebook_html

    return notebook_html


register("explain_html", _load_explain_html)
register("notebook_html", _load_notebook_html)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from evaluator.language.first_use import import_member

    value = globals()[name] = import_member(_MODULES[name], name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
