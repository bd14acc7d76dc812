"""A condition through the analyser of a session with a JVM: its nodes as Catalyst's JSON, and what the JSON leaves out.

    SQL text or Column ──► filter over an empty relation of the schema ──► analysed filter ──► JSON of its condition

No job runs. Each call into the JVM takes about 0.1 ms. An answer of more than 8,192 characters takes 40 ms more: the
JVM sends it in two parts, and the second one waits until the first is acknowledged (Nagle's algorithm). So only the
condition's JSON is asked for, not that of the relation, and the JSON of a long condition is fetched in pieces.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StructType

from handler.catalyst.translation import is_named
from handler.catalyst.tree import class_name, missing_parts
from handler.planning.by_identity import ByIdentity
from handler.planning.qualified_names import Qualifier
from handler.spark.catalyst.constants import Items, conjuncts, has_constants, with_constants
from handler.spark.catalyst.java_classes import java_class, java_object

__all__ = [
    "AnalysedPart",
    "analyse",
    "analysed_filter",
    "empty_relation",
    "exact_parts",
    "fields_beside",
    "frame_of_plan",
    "is_long_text",
    "is_spark_3",
    "items_of",
    "keep_text",
    "named_relation",
    "schema_text",
]

#: A condition's nodes, and the values that the JSON leaves out, by the index of their node.
AnalysedPart = tuple[Items, Mapping[int, Any]]

#: Empty relations of a session by schema, so that a schema goes to the JVM once.
_RELATIONS: WeakKeyDictionary[SparkSession, dict[str, Any]] = WeakKeyDictionary()
_MAX_RELATIONS = 32
#: The JSON of schemas that nobody changes.
_TEXTS: ByIdentity[StructType, str] = ByIdentity(_MAX_RELATIONS)
_CATALYST = "org.apache.spark.sql.catalyst"
#: A condition of more parts is not taken apart.
_MAX_PARTS = 32
#: Of so many functions the name in SQL is asked for.
_MAX_NAMES = 20
#: The JSON of a condition whose text is longer may have more characters than the JVM sends at once.
_LONG_TEXT = 100
_PIECE = 8_000


def analyse(
    spark: SparkSession, schema: StructType, condition: str | Column, qualifier: Qualifier
) -> tuple[list[AnalysedPart], Items] | None:
    """The conditions that must all hold, and the nodes of the whole condition as it was analysed.

    None when the analyser made more than a filter of the condition. It is mostly one condition. One of several parts,
    some with constants to compute and some with the clock, is taken apart. Raises what Spark raises.
    """
    plan = analysed_filter(spark, schema, condition if isinstance(condition, str) else condition._jc, qualifier)
    jvm: Any = spark._jvm
    is_long = is_long_text(condition)
    items = items_of(jvm, plan, is_long=is_long)
    if items is None:
        return None
    if not has_constants(items):
        return [_with_parts(plan, items)], items
    computed = with_constants(jvm, plan, items)
    if computed is not plan:
        return [_computed(jvm, plan, items, computed)], items
    parts = _parts(plan)
    if len(parts) == 1:
        return [_with_parts(plan, items)], items
    filter_class = java_class(jvm, f"{_CATALYST}.plans.logical.Filter")
    filters = [filter_class(part, plan.child()) for part in parts]
    answers = []
    for part in filters:
        of_part = items_of(jvm, part, is_long=is_long) or []
        answers.append(_computed(jvm, part, of_part, with_constants(jvm, part, of_part)))
    return answers, items


def analysed_filter(spark: SparkSession, schema: StructType, condition: Any, qualifier: Qualifier) -> Any:
    """The analysed plan of a filter. ``condition``: SQL text, or a Column of the JVM."""
    relation = empty_relation(spark, schema)
    if qualifier:
        relation = named_relation(spark, relation, qualifier)
    return relation.filter(condition).queryExecution().analyzed()


def is_long_text(condition: str | Column) -> bool:
    """Whether the JSON of a condition may have more characters than the JVM sends at once."""
    return len(condition if isinstance(condition, str) else str(condition)) > _LONG_TEXT


def _parts(plan: Any) -> list[Any]:
    parts = list(itertools.islice(conjuncts(plan.condition()), _MAX_PARTS + 1))
    return parts if len(parts) <= _MAX_PARTS else [plan.condition()]


def _computed(jvm: Any, plan: Any, items: Items, computed: Any) -> AnalysedPart:
    """The condition of the filter with computed constants, or of the first one if Spark made something else of it."""
    if computed is plan:
        return _with_parts(plan, items)
    new_items = items_of(jvm, computed, is_long=len(items) > 1)
    return _with_parts(plan, items) if new_items is None else _with_parts(computed, new_items)


def items_of(jvm: Any, plan: Any, *, is_long: bool) -> Items | None:
    """The nodes of the filter's condition; None for a plan that is no filter. ``is_long``: they may be many."""
    if plan.nodeName() != "Filter":
        return None
    condition = plan.condition()
    items: Items = json.loads(_in_pieces(jvm, condition) if is_long else condition.toJSON())
    return items


def _in_pieces(jvm: Any, condition: Any) -> str:
    """``condition.toJSON()`` in answers of at most 8,192 characters, where the JVM has Spark's JSON library."""
    try:
        methods = java_object(jvm, "org.json4s.jackson.JsonMethods")
        text = java_class(jvm, "java.lang.StringBuilder")()
        text.append(methods.asJsonNode(condition.jsonValue()))
        size = text.length()
        return "".join(text.substring(start, min(start + _PIECE, size)) for start in range(0, size, _PIECE))
    except (Py4JError, PySparkException, TypeError):
        return str(condition.toJSON())


def _with_parts(plan: Any, items: Items) -> AnalysedPart:
    fields = fields_beside(items)
    return items, exact_parts(plan.condition(), items, fields) if fields else {}


def fields_beside(items: Items) -> dict[int, str]:
    """The fields that the JSON leaves out and that are asked for, by the index of their node."""
    unnamed = (index for index, item in enumerate(items) if not is_named(class_name(item)))
    return {**dict.fromkeys(itertools.islice(unnamed, _MAX_NAMES), "prettyName"), **missing_parts(items)}


def empty_relation(spark: SparkSession, schema: StructType) -> Any:
    """The JVM's DataFrame of this schema, without rows."""
    relations = _RELATIONS.setdefault(spark, {})
    text = schema_text(schema)
    if text not in relations:
        session: Any = spark._jsparkSession
        jvm: Any = spark._jvm
        if len(relations) >= _MAX_RELATIONS:
            relations.clear()
        relations[text] = session.createDataFrame(java_class(jvm, "java.util.ArrayList")(), session.parseDataType(text))
    return relations[text]


def keep_text(schema: StructType) -> None:
    """Make the JSON of a schema that nobody changes for all who ask."""
    _TEXTS.keep(schema, schema.json())


def schema_text(schema: StructType) -> str:
    """The schema's JSON."""
    return _TEXTS.get(schema) or str(schema.json())


def named_relation(spark: SparkSession, relation: Any, qualifier: Qualifier) -> Any:
    """The JVM's DataFrame under the name of a table, by which its columns can then be named."""
    if len(qualifier) == 1:
        return relation.alias(qualifier[0])
    jvm: Any = spark._jvm
    leading = jvm.PythonUtils.toSeq(list(qualifier[:-1]))
    identifier = java_class(jvm, f"{_CATALYST}.AliasIdentifier")(qualifier[-1], leading)
    alias = java_class(jvm, f"{_CATALYST}.plans.logical.SubqueryAlias")
    return _dataset(spark, alias(identifier, relation.queryExecution().analyzed()))


def frame_of_plan(spark: SparkSession, plan: Any) -> DataFrame:
    """The DataFrame of a logical plan of the JVM."""
    return DataFrame(_dataset(spark, plan), spark)


def _dataset(spark: SparkSession, plan: Any) -> Any:
    jvm: Any = spark._jvm
    package = "" if is_spark_3(spark) else ".classic"
    return java_class(jvm, f"org.apache.spark.sql{package}.Dataset").ofRows(spark._jsparkSession, plan)


def is_spark_3(spark: SparkSession) -> bool:
    """Whether the classes of the JVM are those before Spark 4."""
    return spark.version.startswith("3.")


def exact_parts(condition: Any, items: Sequence[Mapping[str, Any]], fields: Mapping[int, str]) -> dict[int, Any]:
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
