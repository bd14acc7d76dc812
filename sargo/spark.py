"""Sargo from PySpark (``pip install 'sargo[spark]'``): the names of ``handler.spark``, imported at their first use.

from sargo.spark import aggregate, prune, prune_by_join, read, register

plan = prune(spark, "/data/trips", "fare > 50 AND city LIKE 'san%'")
frame = read(spark, "/data/trips", "fare > 50")
frame = aggregate(spark, "/data/trips", {"n": "count(*)", "last": "max(ts)"}, "city = 'sf'")
register(spark)                                    # Spark 4.1 or later
frame = spark.read.format("sargo").load("/data/trips").where("fare > 50")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handler.spark import aggregate as aggregate
    from handler.spark import assign_buckets as assign_buckets
    from handler.spark import open_distributed as open_distributed
    from handler.spark import plan_aggregate as plan_aggregate
    from handler.spark import plan_rebucket as plan_rebucket
    from handler.spark import plan_ring_split as plan_ring_split
    from handler.spark import prune as prune
    from handler.spark import prune_by_join as prune_by_join
    from handler.spark import read as read
    from handler.spark import read_by_join as read_by_join
    from handler.spark import register as register

__all__ = [
    "aggregate",
    "assign_buckets",
    "open_distributed",
    "plan_aggregate",
    "plan_rebucket",
    "plan_ring_split",
    "prune",
    "prune_by_join",
    "read",
    "read_by_join",
    "register",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module("handler.spark"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
