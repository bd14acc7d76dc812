"""Sargo from PySpark (``pip install 'sargo[spark]'``): the files that a condition needs.

    from handler.spark import prune

    plan = prune(spark, "/data/trips", "fare > 50 AND city LIKE 'san%'")

What is imported from here is loaded when it is first asked for: executors need little of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handler.spark.pruning import prune as prune

#: name -> the room it is in
_ROOMS = {"prune": "pruning"}

__all__ = ["prune"]


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
