"""Aggregates as PySpark users write them, resolved by Spark's own analyser.

    SQL text or Column ──► aggregates over an empty relation of the schema ──► analysed plan ──► ``Aggregate``

``min`` may be a user's function, and ``try_sum`` is a Sum whose JSON does not say so: the JVM's nodes are asked, with a
few calls for each aggregate. Whatever is no plain count, min, max or sum of a column, such as ``count(DISTINCT c)`` or
``avg(c)``, is left to Spark; with Spark Connect, where the analyser runs on the server, all are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

from evaluator.language.errors import UnsupportedError
from handler.aggregates.aggregate import Aggregate, Function
from handler.planning.qualified_names import Qualifier
from handler.spark.catalyst.analysis import empty_relation, named_relation
from handler.spark.catalyst.sessions import has_jvm

__all__ = ["aggregate_columns", "known_aggregates"]

_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
_COUNT = f"{_EXPRESSIONS}aggregate.Count"
_FUNCTIONS: Mapping[str, Function] = {
    _COUNT: "count",
    f"{_EXPRESSIONS}aggregate.Min": "min",
    f"{_EXPRESSIONS}aggregate.Max": "max",
    f"{_EXPRESSIONS}aggregate.Sum": "sum",
}


def aggregate_columns(aggregates: Mapping[str, str | Column]) -> list[Column]:
    """The aggregates as Columns under their names. Raises TypeError and ValueError for what is none."""
    if not isinstance(aggregates, Mapping):
        raise TypeError(f"aggregates are a dict such as {{'n': 'count(*)'}}, not {type(aggregates).__name__}")
    if not aggregates:
        raise ValueError("no aggregate is given: give a dict such as {'n': 'count(*)'}")
    columns = []
    for name, one in aggregates.items():
        if not isinstance(name, str):
            raise TypeError(f"an aggregate has a name, as in {{'n': 'count(*)'}}, not {name!r:.60}")
        if not isinstance(one, str) and not hasattr(one, "alias"):
            raise TypeError(f"the aggregate {name:.60} is SQL text or a Column, not {type(one).__name__}")
        columns.append((F.expr(one) if isinstance(one, str) else one).alias(name))
    return columns


def known_aggregates(
    spark: SparkSession, schema: StructType, columns: list[Column], qualifier: Qualifier
) -> list[Aggregate | str]:
    """Each aggregate over a table of this schema; its text where it is none of those that footers may answer.

    Raises UnsupportedError with Spark Connect, and what Spark raises, as for a column that the table does not have.
    """
    if not has_jvm(spark):
        raise UnsupportedError("with Spark Connect the server analyses the aggregates, and footers answer none")
    relation = empty_relation(spark, schema)
    if qualifier:
        relation = named_relation(spark, relation, qualifier)
    plan: Any = DataFrame(relation, spark).agg(*columns)._jdf.queryExecution().analyzed()
    if plan.nodeName() != "Aggregate" or plan.aggregateExpressions().size() != len(columns):
        return [str(column) for column in columns]
    nodes = [plan.aggregateExpressions().apply(index).child() for index in range(len(columns))]
    return [_known(node) or str(node.sql()) for node in nodes]


def _known(node: Any) -> Aggregate | None:
    """The aggregate of a node of an analysed plan, if it is one of a plain column."""
    if _class_of(node) != f"{_EXPRESSIONS}aggregate.AggregateExpression":
        return None
    call = node.aggregateFunction()
    function = _FUNCTIONS.get(_class_of(call))
    if function is None or node.isDistinct() or not node.filter().isEmpty() or call.prettyName() != function:
        return None
    if call.children().size() != 1:
        return None
    child = call.children().apply(0)
    match _class_of(child).removeprefix(_EXPRESSIONS):
        case "AttributeReference":
            return Aggregate(function, str(child.name()))
        case "Literal" if function == "count" and child.value() is not None:
            return Aggregate("count")
        case _:
            return None


def _class_of(node: Any) -> str:
    return cast(str, node.getClass().getName())
