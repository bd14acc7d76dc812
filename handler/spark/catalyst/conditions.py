"""Conditions as PySpark users write them, resolved by Spark's own analyser, as a HudiExpression.

    SQL text or Column ──► filter over an empty relation of the schema ──► analysed plan ──► JSON ──► ``translation``

No job runs. Spark computes the constants (``constants``). The clock stays a function, whose range the evaluator knows,
and what depends on chance or on the user (``rand()``) stays unknown. The JSON comes in one call. It leaves out a few
values (a timestamp's zone, a binary constant, the escape character of LIKE), and each of these is one further call, by
the index of its node. So is the name in SQL of a function that is not decided.

With Spark Connect the analyser runs on the server. ``handler.sql`` then reads SQL text, as on the command line, and a
Column raises UnsupportedError.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard
from weakref import WeakKeyDictionary

from py4j.protocol import Py4JError
from pyspark.errors import ParseException, PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StructType

from evaluator.language.errors import SargoError, UnsupportedError
from evaluator.language.expression import And, Constant, HudiExpression, Unknown
from handler.catalyst.translation import condition_of, is_named
from handler.catalyst.tree import missing_parts
from handler.planning.qualified_names import Qualifier
from handler.spark.catalyst.constants import Items, conjuncts, has_constants, with_constants
from handler.spark.catalyst.sessions import engine_of, has_jvm, time_zone_of
from handler.sql.parsing import excerpt, parse_condition

__all__ = [
    "NO_NAMES",
    "Condition",
    "ConditionError",
    "ConditionSyntaxError",
    "TableNames",
    "all_of",
    "as_conditions",
    "engine_of",
    "named_frame",
    "time_zone_of",
    "to_expression",
]

Condition = str | Column | Sequence[str | Column]

_FORMS = "a condition is SQL text, a Column, or a list of them"
_FILTER = "org.apache.spark.sql.catalyst.plans.logical.Filter"
#: Literals that Spark's parser replaces by the time of parsing.
_RUN_TIME_LITERAL = re.compile(
    r"\b(date|timestamp(_ltz|_ntz)?)\s*(['\"])\s*(now|today|tomorrow|yesterday)\b", re.IGNORECASE
)
#: Empty relations of a session by schema, so that a schema goes to the JVM once.
_RELATIONS: WeakKeyDictionary[SparkSession, dict[str, Any]] = WeakKeyDictionary()
_MAX_RELATIONS = 32
#: A condition of more parts is not taken apart.
_MAX_PARTS = 32
#: Of so many functions the name in SQL is asked for.
_MAX_NAMES = 20


@dataclass(frozen=True, slots=True)
class TableNames:
    """How conditions name the table: its qualifier, and for each name of theirs the number of parts that are it."""

    qualifier: Qualifier = ()
    leading: Mapping[str, int] = dataclasses.field(default_factory=dict)


NO_NAMES = TableNames()


class ConditionError(SargoError):
    """Spark refuses a condition. ``condition`` is its text, ``why`` Spark's message."""

    def __init__(self, condition: str, why: str) -> None:
        super().__init__(f"Spark cannot resolve the condition {excerpt(condition)}: {why}")
        self.condition = condition
        self.why = why


class ConditionSyntaxError(ConditionError):
    """Spark cannot parse the text of a condition."""


def as_conditions(condition: Condition) -> tuple[str | Column, ...]:
    """The conditions as a tuple; of an empty list none. Raises TypeError for anything else."""
    if _is_condition(condition):
        return (condition,)
    if isinstance(condition, bytes | bytearray) or not isinstance(condition, Sequence):
        hint = ": to read all files give 'TRUE'" if condition is None else ""
        raise TypeError(f"{_FORMS}, not {type(condition).__name__}{hint}")
    for part in condition:
        if not _is_condition(part):
            raise TypeError(f"{_FORMS}; the list holds a value of type {type(part).__name__}")
    return tuple(condition)


def _is_condition(value: object) -> TypeGuard[str | Column]:
    """Whether a value is SQL text or a Column; Spark 3.5's Connect has a Column class of its own."""
    return isinstance(value, str | Column) or type(value).__module__ == "pyspark.sql.connect.column"


def to_expression(
    spark: SparkSession, schema: StructType, condition: Condition, names: TableNames = NO_NAMES
) -> HudiExpression:
    """A condition, or several that must all hold, over the columns of a schema.

    ``names``: the table's name or alias, by which the condition may name columns.

    A part that Sargo does not understand is Unknown at its node (C1). Raises ConditionError when Spark refuses the
    condition (a column that does not exist, a type that does not fit), and ConditionSyntaxError when it cannot parse
    its text. Without a JVM raises SqlError for text that cannot be parsed, and UnsupportedError for a Column. Raises
    TypeError for a Column of another kind of session.
    """
    return all_of(_expression(spark, schema, part, names) for part in as_conditions(condition))


def all_of(parts: Iterable[HudiExpression]) -> HudiExpression:
    """Conditions that must all hold; without any, TRUE."""
    conditions = tuple(parts)
    if len(conditions) == 1:
        return conditions[0]
    return And(conditions) if conditions else Constant(True)


def _check_column(spark: SparkSession, condition: str | Column) -> None:
    """Raise TypeError for a Column of the other kind of session: of Spark Connect, or of one with a JVM."""
    if not isinstance(condition, str) and has_jvm(spark) != hasattr(condition, "_jc"):
        made, own = (
            ("Spark Connect", "has a JVM") if has_jvm(spark) else ("a session with a JVM", "is of Spark Connect")
        )
        raise TypeError(f"the Column is of {made}, and this session {own}: give SQL text, or a Column of this session")


def _expression(spark: SparkSession, schema: StructType, condition: str | Column, names: TableNames) -> HudiExpression:
    _check_column(spark, condition)
    if _RUN_TIME_LITERAL.search(condition if isinstance(condition, str) else str(condition)):
        return Unknown("a constant such as DATE 'today' is known only when the query runs")
    if not has_jvm(spark):
        if isinstance(condition, str):
            return parse_condition(condition, engine_of(spark), names.leading).expression
        raise UnsupportedError("a Column as a condition needs a session with a JVM: with Spark Connect give SQL text")
    try:
        resolved = _resolved(spark, schema, condition, names.qualifier)
    except ParseException as error:
        raise ConditionSyntaxError(_text(condition), _without_plan(str(error))) from error
    except PySparkException as error:
        raise ConditionError(_text(condition), _without_plan(str(error))) from error
    except Py4JError as error:  # for example a stack overflow
        raise ConditionError(_text(condition), f"it fails with {_without_plan(str(error))[:200]}") from error
    if resolved is None:
        return Unknown("Spark rewrites this condition into more than a filter")
    zone = time_zone_of(spark)
    return all_of(condition_of(nodes, exact, zone) for nodes, exact in resolved)


def _resolved(
    spark: SparkSession, schema: StructType, condition: str | Column, qualifier: Qualifier
) -> list[tuple[Items, Mapping[int, Any]]] | None:
    """The conditions that must all hold: their nodes as Catalyst's JSON, and the values that the JSON leaves out.

    None when the analyser made more than a filter of the condition. It is mostly one condition. One of several parts,
    some with constants to compute and some with the clock, is taken apart.
    """
    relation = _relation(spark, schema)
    if qualifier:
        relation = _named(spark, relation, qualifier)
    plan = relation.filter(condition if isinstance(condition, str) else condition._jc).queryExecution().analyzed()
    items = _nodes_of(plan)
    if items is None:
        return None
    if not has_constants(items):
        return [_with_parts(plan, items)]
    jvm: Any = spark._jvm
    computed = with_constants(jvm, plan, items)
    if computed is not plan:
        return [_computed(plan, computed)]
    parts = _parts(plan)
    if len(parts) == 1:
        return [_with_parts(plan, items)]
    filters = [jvm.org.apache.spark.sql.catalyst.plans.logical.Filter(part, plan.child()) for part in parts]
    return [_computed(part, with_constants(jvm, part, _nodes_of(part) or [])) for part in filters]


def _parts(plan: Any) -> list[Any]:
    parts = list(itertools.islice(conjuncts(plan.condition()), _MAX_PARTS + 1))
    return parts if len(parts) <= _MAX_PARTS else [plan.condition()]


def _computed(plan: Any, computed: Any) -> tuple[Items, Mapping[int, Any]]:
    """The condition of the filter with computed constants, or of the first one if Spark made something else of it."""
    items = _nodes_of(computed)
    if items is not None:
        return _with_parts(computed, items)
    return _with_parts(plan, _nodes_of(plan) or [])


def _nodes_of(plan: Any) -> Items | None:
    nodes = json.loads(plan.toJSON())
    items: Items | None = nodes[0]["condition"] if nodes[0]["class"] == _FILTER else None
    return items


def _with_parts(plan: Any, items: Items) -> tuple[Items, Mapping[int, Any]]:
    unnamed = (index for index, item in enumerate(items) if not is_named(str(item["class"]).rpartition(".")[2]))
    fields = {**dict.fromkeys(itertools.islice(unnamed, _MAX_NAMES), "prettyName"), **missing_parts(items)}
    return items, _exact_parts(plan.condition(), items, fields) if fields else {}


def _relation(spark: SparkSession, schema: StructType) -> Any:
    """The JVM's DataFrame of this schema, without rows."""
    relations = _RELATIONS.setdefault(spark, {})
    text = schema.json()
    if text not in relations:
        session: Any = spark._jsparkSession
        jvm: Any = spark._jvm
        if len(relations) >= _MAX_RELATIONS:
            relations.clear()
        relations[text] = session.createDataFrame(jvm.java.util.ArrayList(), session.parseDataType(text))
    return relations[text]


def named_frame(spark: SparkSession, frame: DataFrame, qualifier: Qualifier) -> DataFrame:
    """The DataFrame under the name of a table; with Spark Connect, under its last part."""
    if not qualifier:
        return frame
    if not has_jvm(spark):
        return frame.alias(qualifier[-1])
    return DataFrame(_named(spark, frame._jdf, qualifier), spark)


def _named(spark: SparkSession, relation: Any, qualifier: Qualifier) -> Any:
    """The JVM's DataFrame under the name of a table, by which its columns can then be named."""
    if len(qualifier) == 1:
        return relation.alias(qualifier[0])
    jvm: Any = spark._jvm
    catalyst = jvm.org.apache.spark.sql.catalyst
    identifier = catalyst.AliasIdentifier(qualifier[-1], jvm.PythonUtils.toSeq(list(qualifier[:-1])))
    plan = catalyst.plans.logical.SubqueryAlias(identifier, relation.queryExecution().analyzed())
    dataset = jvm.org.apache.spark.sql.Dataset if _is_spark_3(spark) else jvm.org.apache.spark.sql.classic.Dataset
    return dataset.ofRows(spark._jsparkSession, plan)


def _is_spark_3(spark: SparkSession) -> bool:
    return spark.version.startswith("3.")


def _exact_parts(condition: Any, items: Sequence[Mapping[str, Any]], fields: Mapping[int, str]) -> dict[int, Any]:
    """The values that the JSON leaves out, by the index of their node, from the JVM's nodes.

    An index at which the JVM has a node of another class is left out.
    """
    parts: dict[int, Any] = {}
    for index, field in fields.items():
        node = condition.apply(index)
        if node is None or node.getClass().getName() != items[index]["class"]:
            continue
        value = getattr(node, field)()
        match field:
            case "patterns":
                parts[index] = [_plain(value.apply(i)) for i in range(value.size())]
            case "hset":
                members = value.toSeq()
                type_name = node.child().dataType().typeName()
                parts[index] = [(type_name, _plain(members.apply(i))) for i in range(members.size())]
            case "escapeChar" | "id":
                parts[index] = str(value if isinstance(value, str) else value.toString())
            case _:
                parts[index] = value
    return parts


def _plain(value: Any) -> Any:
    """A value of Catalyst's own classes (UTF8String, Decimal) as its text; any other as py4j returns it."""
    return value.toString() if hasattr(value, "toString") else value


def _text(condition: str | Column) -> str:
    return condition if isinstance(condition, str) else str(condition)


def _without_plan(message: str) -> str:
    """Spark's message without the query plan that follows it, in one line."""
    return " ".join(message.partition(";\n")[0].split())
