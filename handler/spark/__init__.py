"""Sargo from PySpark (``pip install 'sargo[spark]'``): the files that a condition needs.

    from handler.spark import aggregate, assign_buckets, prune, prune_by_join, read, register

    plan = prune(spark, "/data/trips", "fare > 50 AND city LIKE 'san%'")
    frame = read(spark, "/data/trips", "fare > 50")
    frame = aggregate(spark, "/data/trips", {"n": "count(*)", "last": "max(ts)"}, "city = 'sf'")
    plan = prune_by_join(spark, "/data/trips", "driver_id", drivers, key="id")
    rows = assign_buckets(rows, 16, key="id")          # Hudi's bucket of every row
    register(spark)                                    # existing queries over format("hudi") skip files, too
    frame = spark.read.format("sargo").load("/data/trips").where("fare > 50")

Names are loaded when they are first used, because executors need few of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handler.spark.buckets import assign_buckets as assign_buckets
    from handler.spark.buckets import plan_rebucket as plan_rebucket
    from handler.spark.buckets import plan_ring_split as plan_ring_split
    from handler.spark.distributed.distributed import open_distributed as open_distributed
    from handler.spark.join import prune_by_join as prune_by_join
    from handler.spark.join import read_by_join as read_by_join
    from handler.spark.pruning.prune import prune as prune
    from handler.spark.reading.aggregate import aggregate as aggregate
    from handler.spark.reading.aggregate import plan_aggregate as plan_aggregate
    from handler.spark.reading.reading import read as read
    from handler.spark.registration import register as register

#: public name -> the module that defines it
_MODULES = {
    "aggregate": "reading.aggregate",
    "assign_buckets": "buckets",
    "open_distributed": "distributed.distributed",
    "plan_aggregate": "reading.aggregate",
    "plan_rebucket": "buckets",
    "plan_ring_split": "buckets",
    "prune": "pruning.prune",
    "prune_by_join": "join",
    "read": "reading.reading",
    "read_by_join": "join",
    "register": "registration",
}

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
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
