"""Conditions as PySpark users write them, resolved by Spark's own analyser, as a HudiExpression.

    SQL text or Column ──► filter over an empty relation of the schema ──► analysed plan ──► JSON ──► ``catalyst``

No job runs, and nothing is optimised: what Spark knows only when the query runs (``current_date()``) stays unknown.
The JSON comes in one call. It does not tell a few values (a timestamp's zone, a binary constant, the escape character
of LIKE): each of those is asked for by its place in the tree.

Spark Connect has no analyser on this side: SQL text is read by ``handler.sql.parsing``, as on the command line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard
from weakref import WeakKeyDictionary

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, SparkSession
from pyspark.sql.types import StructType

from evaluator.language.errors import SargoError, UnsupportedError
from evaluator.language.expression import And, Constant, HudiExpression, Unknown
from handler.spark.catalyst.sessions import engine_of, has_jvm, time_zone_of
from handler.spark.catalyst.translation import condition_of
from handler.spark.catalyst.tree import missing_parts
from handler.sql.parsing import parse

__all__ = ["Condition", "ConditionError", "all_of", "engine_of", "listed", "time_zone_of", "to_expression"]

Condition = str | Column | Sequence[str | Column]

_FILTER = "org.apache.spark.sql.catalyst.plans.logical.Filter"
#: What Spark's parser turns into a constant on the spot.
_MOMENT_TEXT = re.compile(r"\b(date|timestamp(_ltz|_ntz)?)\s*(['\"])\s*(now|today|tomorrow|yesterday)\b", re.IGNORECASE)
#: Empty relations per session, so that a schema goes to the JVM once.
_RELATIONS: WeakKeyDictionary[SparkSession, dict[str, Any]] = WeakKeyDictionary()
MAX_RELATIONS = 32


class ConditionError(SargoError):
    """Spark refuses a condition: ``condition`` is its text, ``why`` what Spark says."""

    def __init__(self, condition: str, why: str) -> None:
        shown = " ".join(condition.split())
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        super().__init__(f"Spark cannot resolve the condition {shown}: {why}")
        self.condition = condition
        self.why = why


def listed(condition: Condition) -> tuple[str | Column, ...]:
    """The conditions, one by one. Raises TypeError for anything else."""
    if _is_one(condition):
        return (condition,)
    if not isinstance(condition, Sequence) or not all(map(_is_one, condition)):
        raise TypeError(f"a condition is SQL text, a Column, or a list of them, not {type(condition).__name__}")
    return tuple(condition)


def _is_one(value: object) -> TypeGuard[str | Column]:
    """Spark 3.5's Connect has a Column class of its own."""
    return isinstance(value, str | Column) or type(value).__module__ == "pyspark.sql.connect.column"


def to_expression(spark: SparkSession, schema: StructType, condition: Condition) -> HudiExpression:
    """A condition, or several that must all hold, over the columns of a schema.

    What the condition says and Sargo does not understand is Unknown at that place. Raises ConditionError when Spark
    refuses the condition (a column that is not there, a type that does not fit), SqlError when the text is not read
    without a JVM, UnsupportedError for a Column without a JVM.
    """
    return all_of(_expression(spark, schema, one) for one in listed(condition))


def all_of(parts: Iterable[HudiExpression]) -> HudiExpression:
    """Conditions that must all hold; without any, TRUE."""
    found = tuple(parts)
    return And(found) if len(found) > 1 else found[0] if found else Constant(True)


def _expression(spark: SparkSession, schema: StructType, condition: str | Column) -> HudiExpression:
    if _MOMENT_TEXT.search(condition if isinstance(condition, str) else str(condition)):
        return Unknown("a constant such as DATE 'today' is known only when the query runs")
    if not has_jvm(spark):
        if isinstance(condition, str):
            return parse(condition, engine_of(spark))
        raise UnsupportedError("a Column as a condition needs a session with a JVM: with Spark Connect give SQL text")
    try:
        nodes, exact = _resolved(spark, schema, condition)
    except PySparkException as error:
        raise ConditionError(_text(condition), _without_plan(str(error))) from error
    except Py4JError as error:  # a stack overflow, say
        raise ConditionError(_text(condition), f"it fails with {_without_plan(str(error))[:200]}") from error
    if nodes is None:
        return Unknown("Spark rewrites this condition into more than a filter")
    return condition_of(nodes, exact, time_zone_of(spark))


def _resolved(
    spark: SparkSession, schema: StructType, condition: str | Column
) -> tuple[Sequence[Mapping[str, Any]] | None, Mapping[int, Any]]:
    """The condition's nodes as Catalyst's JSON, and what that leaves out; None when there is more than a filter."""
    relation = _relation(spark, schema)
    plan = relation.filter(condition if isinstance(condition, str) else condition._jc).queryExecution().analyzed()
    nodes = json.loads(plan.toJSON())
    if nodes[0]["class"] != _FILTER:
        return None, {}
    items = nodes[0]["condition"]
    wanted = missing_parts(items)
    return items, _exact_parts(plan.condition(), items, wanted) if wanted else {}


def _relation(spark: SparkSession, schema: StructType) -> Any:
    """The JVM's DataFrame without rows of this schema."""
    known = _RELATIONS.setdefault(spark, {})
    text = schema.json()
    if text not in known:
        session: Any = spark._jsparkSession
        jvm: Any = spark._jvm
        if len(known) >= MAX_RELATIONS:
            known.clear()
        known[text] = session.createDataFrame(jvm.java.util.ArrayList(), session.parseDataType(text))
    return known[text]


def _exact_parts(condition: Any, items: Sequence[Mapping[str, Any]], wanted: Mapping[int, str]) -> dict[int, Any]:
    """The values that the JSON leaves out, from the nodes themselves. A place that holds another node is left out."""
    found: dict[int, Any] = {}
    for place, field in wanted.items():
        node = condition.apply(place)
        if node is None or node.getClass().getName() != items[place]["class"]:
            continue
        value = getattr(node, field)()
        match field:
            case "patterns":
                found[place] = [_plain(value.apply(i)) for i in range(value.size())]
            case "hset":
                members = value.toSeq()
                of = node.child().dataType().typeName()
                found[place] = [(of, _plain(members.apply(i))) for i in range(members.size())]
            case "escapeChar" | "id":
                found[place] = str(value if isinstance(value, str) else value.toString())
            case _:
                found[place] = value
    return found


def _plain(value: Any) -> Any:
    """A value of Catalyst's own classes (UTF8String, Decimal) as its text; others as py4j gives them."""
    return value.toString() if hasattr(value, "toString") else value


def _text(condition: str | Column) -> str:
    return condition if isinstance(condition, str) else str(condition)


def _without_plan(message: str) -> str:
    """Spark's message without the query plan that follows it, in one line."""
    return " ".join(message.partition(";\n")[0].split())
