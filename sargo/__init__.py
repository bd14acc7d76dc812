"""Tells which files of an Apache Hudi table a filter needs. This package has the names that programs use.

    import sargo

    plan = sargo.prune("/data/trips", "fare > 50 AND city = 'sf'", engine="spark")
    plan.kept                               # the file slices to read
    sargo.what_helps(plan)                  # which index or clustering would make it keep fewer

    table = sargo.open_table("/data/trips")   # for several filters: statistics stay in memory
    plan = sargo.prune(table, "fare > 50")

``sargo.spark`` is for PySpark, ``sargo.sql`` parses conditions, ``sargo.expressions`` builds filters without text.

The names come from the packages ``handler``, ``index_store``, ``evaluator`` and ``sarg``. They are imported at their
first use. When another module has the name of one of the four, ``import sargo`` raises an ImportError that names its
file.
"""

from __future__ import annotations

from sargo.shadowing import check, raise_if_shadowed

TYPE_CHECKING = False  # ``typing`` would be the first thing that ``import sargo`` loads
if TYPE_CHECKING:
    from typing import Any

    from evaluator.language.errors import SargoError as SargoError
    from evaluator.language.errors import UnknownColumnError as UnknownColumnError
    from evaluator.language.errors import UnsupportedError as UnsupportedError
    from evaluator.language.expression import HudiExpression as HudiExpression
    from handler.advise.remedies import WhatHelps as WhatHelps
    from handler.advise.remedies import what_helps as what_helps
    from handler.indexes.operations import IndexWork as IndexWork
    from handler.planning.plan import Plan as Plan
    from handler.planning.plan import Reason as Reason
    from handler.planning.prune import prune as prune
    from handler.planning.scan import scan as scan
    from handler.sql.parsing import SqlError as SqlError
    from index_store.opened_table import OpenTable as OpenTable
    from index_store.opened_table import open_table as open_table
    from index_store.snapshots import SharedFolder as SharedFolder
    from index_store.snapshots import SnapshotCache as SnapshotCache
    from index_store.storage.errors import StatsError as StatsError
    from index_store.storage.errors import TableError as TableError
    from index_store.table.file_slices import FileSlice as FileSlice
    from index_store.table.file_slices import FileSlices as FileSlices
    from sarg import Decoded as Decoded
    from sarg import decode as decode
    from sarg import decode_detailed as decode_detailed
    from sarg.kryo.errors import DecodeError as DecodeError
    from sargo import expressions as expressions
    from sargo import spark as spark
    from sargo import sql as sql

    __version__: str

#: public name -> the module that defines it
_MODULES = {
    "DecodeError": "sarg.kryo.errors",
    "Decoded": "sarg",
    "FileSlice": "index_store.table.file_slices",
    "FileSlices": "index_store.table.file_slices",
    "HudiExpression": "evaluator.language.expression",
    "IndexWork": "handler.indexes.operations",
    "OpenTable": "index_store.opened_table",
    "Plan": "handler.planning.plan",
    "Reason": "handler.planning.plan",
    "SargoError": "evaluator.language.errors",
    "SharedFolder": "index_store.snapshots",
    "SnapshotCache": "index_store.snapshots",
    "SqlError": "handler.sql.parsing",
    "StatsError": "index_store.storage.errors",
    "TableError": "index_store.storage.errors",
    "UnknownColumnError": "evaluator.language.errors",
    "UnsupportedError": "evaluator.language.errors",
    "WhatHelps": "handler.advise.remedies",
    "decode": "sarg",
    "decode_detailed": "sarg",
    "open_table": "index_store.opened_table",
    "prune": "handler.planning.prune",
    "scan": "handler.planning.scan",
    "what_helps": "handler.advise.remedies",
}
_SUBMODULES = ("expressions", "spark", "sql")

__all__ = [
    "DecodeError",
    "Decoded",
    "FileSlice",
    "FileSlices",
    "HudiExpression",
    "IndexWork",
    "OpenTable",
    "Plan",
    "Reason",
    "SargoError",
    "SharedFolder",
    "SnapshotCache",
    "SqlError",
    "StatsError",
    "TableError",
    "UnknownColumnError",
    "UnsupportedError",
    "WhatHelps",
    "__version__",
    "decode",
    "decode_detailed",
    "expressions",
    "open_table",
    "prune",
    "scan",
    "spark",
    "sql",
    "what_helps",
]

check()


def __getattr__(name: str) -> Any:
    if name not in _MODULES and name not in _SUBMODULES and name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise_if_shadowed()
    from evaluator.language.first_use import import_member

    if name in _SUBMODULES:
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    module, member = ("handler.version", "VERSION") if name == "__version__" else (_MODULES[name], name)
    value = globals()[name] = import_member(module, member)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
