"""Whether the names of functions in a text mean Spark's own functions, now and later.

    Spark     a name without qualifiers means
    ========  ==========================================================================================
    3.5, 4.1  what the session's registry has under it: a user may put a function in the place of Spark's
    4.2       the first of that name on the session's SQL path: Spark's own functions, those of the session, those of
              the current schema. ``SET PATH`` and ``spark.sql.functionResolution.sessionOrder`` change the order

From 4.2 on a name is Spark's own where the session has no function of that name and no path of its own, in any order.
"""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import SparkSession

from evaluator.language.records import frozen
from handler.spark.catalyst.java_classes import java_class, java_object
from handler.spark.catalyst.sessions import line_of

__all__ = ["OwnFunctions", "own_functions"]

_CATALYST = "org.apache.spark.sql.catalyst"
_HAS_PATHS = (4, 2)


@frozen
class _Fact:
    """What a method of an object of the JVM answered."""

    asked: Any
    method: str
    arguments: tuple[Any, ...]
    answer: Any

    def holds(self) -> bool:
        return bool(getattr(self.asked, self.method)(*self.arguments).equals(self.answer))


@frozen
class OwnFunctions:
    """Names that meant Spark's own functions, with the facts that say so."""

    facts: tuple[_Fact, ...] = ()

    def are_current(self) -> bool:
        return all(fact.holds() for fact in self.facts)


def own_functions(spark: SparkSession, text: str) -> OwnFunctions | None:
    """The functions that the text of a condition calls; None if one of them is not Spark's own.

    Raises Py4JError and PySparkException where Spark does not answer.
    """
    session: Any = spark._jsparkSession
    jvm: Any = spark._jvm
    state = session.sessionState()
    nodes = json.loads(state.sqlParser().parseExpression(text).toJSON())
    names = {node["nameParts"].strip("[]") for node in nodes if node["class"].endswith(".UnresolvedFunction")}
    if not all(name.isidentifier() for name in names):  # a qualified name, or several
        return None
    registry = state.functionRegistry()
    spark_registry = java_object(jvm, f"{_CATALYST}.analysis.FunctionRegistry").builtin()
    nothing = java_object(jvm, "scala.None")
    has_paths = line_of(spark.version) >= _HAS_PATHS
    facts = [_Fact(state.catalogManager(), "sessionPathEntries", (), nothing)] if names and has_paths else []
    for name in names:
        own = _identifier(jvm, name, "builtin" if has_paths else None)
        answer = spark_registry.lookupFunctionBuilder(own)
        if not answer.isDefined():
            return None
        facts.append(_Fact(registry, "lookupFunctionBuilder", (own,), answer))
        if has_paths:
            facts.append(_Fact(registry, "lookupFunctionBuilder", (_identifier(jvm, name, "session"),), nothing))
    functions = OwnFunctions(tuple(facts))
    return functions if functions.are_current() else None


def _identifier(jvm: Any, name: str, namespace: str | None = None) -> Any:
    of_name = java_class(jvm, f"{_CATALYST}.FunctionIdentifier")
    if namespace is None:
        return of_name(name.lower())
    some = java_class(jvm, "scala.Some")
    return of_name(name.lower(), some(namespace), some("system"))
