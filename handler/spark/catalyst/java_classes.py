"""Classes of the JVM by their full names, looked up once.

``jvm.org.apache.spark.sql.X`` asks the JVM for each part of the name, and each part that is no class costs it a search
in all its jars: 1 to 2 ms for one class. A class is a name here, so a JVM that is started anew has classes of its own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

__all__ = ["java_class", "java_object"]

_MAX_NAMES = 64


@lru_cache(maxsize=_MAX_NAMES)
def java_class(jvm: Any, name: str) -> Any:
    """The class of a full name in the JVM that ``spark._jvm`` is."""
    return getattr(jvm, name)


@lru_cache(maxsize=_MAX_NAMES)
def java_object(jvm: Any, name: str) -> Any:
    """The object of Scala of a full name. Raises Py4JError and TypeError where the JVM has none."""
    return getattr(getattr(jvm, f"{name}$"), "MODULE$")
