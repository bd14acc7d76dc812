"""The settings of a session as they were read last, and whether they are still the same, in one call into the JVM.

Any setting may change what a condition means (``spark.sql.ansi.enabled``, ``spark.sql.legacy.*``,
``spark.sql.timestampType``, ...), and some are options of Hudi's reader. So all of them are compared, exactly: a copy
of the session's map of settings stays in the JVM. What is remembered for a ``KnownSettings`` holds while it is current.

A session without a JVM has none, nor has one whose settings are set by another thread while they are copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from handler.spark.catalyst.java_classes import java_class
from handler.spark.catalyst.sessions import has_jvm

__all__ = ["KnownSettings", "known_settings"]

_KNOWN: WeakKeyDictionary[SparkSession, KnownSettings] = WeakKeyDictionary()


class KnownSettings:
    """The settings of a session at one moment. ``remembered`` is what was made with them, by whoever made it."""

    def __init__(self, settings: Any, copy: Any) -> None:
        """``settings``: the session's own map, ``copy``: one of this moment; both in the JVM."""
        self._settings = settings
        self._copy = copy
        self.remembered: dict[Any, Any] = {}

    def is_current(self) -> bool:
        """Whether the session has exactly these settings now."""
        return bool(self._settings.equals(self._copy))

    def values(self, names: Iterable[str]) -> Mapping[str, str]:
        """Those of these settings that are set."""
        values = ((name, self._copy.get(name)) for name in names)
        return {name: value for name, value in values if value is not None}


def known_settings(spark: SparkSession) -> KnownSettings | None:
    """The settings of a session as they are now: those known before, unless one changed."""
    if not has_jvm(spark):
        return None
    known = _KNOWN.get(spark)
    try:
        if known is None or not known.is_current():
            jvm: Any = spark._jvm
            session: Any = spark._jsparkSession
            settings = session.sessionState().conf().settings()
            known = KnownSettings(settings, java_class(jvm, "java.util.HashMap")(settings))
            _KNOWN[spark] = known
    except (Py4JError, PySparkException):
        return None
    return known
