"""Several conditions through the analyser at once: they are one filter, and its nodes are told apart afterwards.

    conditions ──► (1 AND 2) AND 3, one analysis ──► one JSON ──► the nodes of each

Most of the analyser's time is for the filter, and not for what is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql.types import StructType

from evaluator.language.records import frozen
from handler.planning.qualified_names import Qualifier
from handler.spark.catalyst.analysis import (
    AnalysedPart,
    analysed_filter,
    exact_parts,
    fields_beside,
    is_long_text,
    is_spark_3,
    items_of,
)
from handler.spark.catalyst.constants import Items, has_constants, with_constants
from handler.spark.catalyst.java_classes import java_class

__all__ = ["analyse_together"]


def analyse_together(
    spark: SparkSession, schema: StructType, conditions: Sequence[str | Column], qualifier: Qualifier
) -> list[tuple[AnalysedPart, Items] | None]:
    """Two or more conditions in one analysis: for each what ``analyse`` gives for one that is not taken apart.

    None for a condition that has to be analysed by itself. Raises what Spark raises for any of them.
    """
    jvm: Any = spark._jvm
    columns = [_parsed(spark, one) if isinstance(one, str) else one._jc for one in conditions]
    plan = analysed_filter(spark, schema, reduce(lambda left, right: getattr(left, "and")(right), columns), qualifier)
    is_long = any(map(is_long_text, conditions))
    whole = _Joined.of(jvm, plan, len(columns), is_long=is_long)
    if whole is None:
        return [None] * len(columns)
    computed_plan = with_constants(jvm, plan, whole.items)
    computed = None if computed_plan is plan else _Joined.of(jvm, computed_plan, len(columns), is_long=is_long)
    answers: list[tuple[AnalysedPart, Items] | None] = []
    for number in range(len(columns)):
        items = whole.operand(number)
        source = computed if has_constants(items) else whole
        answers.append(None if source is None or _is_cast(items) else (source.part(number), items))
    return answers


def _is_cast(items: Items) -> bool:
    """A text is cast to a boolean as an operand of AND, and is refused as a condition."""
    return str(items[0]["class"]).endswith(".expressions.Cast")


@frozen
class _Joined:
    """An analysed filter whose condition joins others by AND, and where the nodes of each of them are."""

    plan: Any
    items: Items
    spans: Sequence[slice]

    @classmethod
    def of(cls, jvm: Any, plan: Any, count: int, *, is_long: bool) -> _Joined | None:
        """None where the analyser made something else of the filter."""
        items = items_of(jvm, plan, is_long=is_long or count > 2)
        spans = None if items is None else _joined_spans(items, count)
        return None if items is None or spans is None else cls(plan, items, spans)

    def operand(self, number: int) -> Items:
        """The nodes of one of them."""
        return self.items[self.spans[number]]

    def part(self, number: int) -> AnalysedPart:
        span = self.spans[number]
        items = self.items[span]
        fields = {span.start + index: field for index, field in fields_beside(items).items()}
        exact = exact_parts(self.plan.condition(), self.items, fields) if fields else {}
        return items, {index - span.start: value for index, value in exact.items()}


def _joined_spans(items: Items, count: int) -> list[slice] | None:
    """Where the nodes of ``((1 AND 2) AND 3) ...`` are, by operand; None for another tree."""
    sizes = _sizes(items)
    spans: list[slice] = []
    at = 0
    for _ in range(count - 1):
        if not str(items[at]["class"]).endswith(".expressions.And"):
            return None
        right = at + 1 + sizes[at + 1]
        spans.append(slice(right, right + sizes[right]))
        at += 1
    spans.append(slice(at, at + sizes[at]))
    return spans[::-1]


def _sizes(items: Items) -> list[int]:
    """The number of nodes of each subtree; children follow their parent."""
    sizes = [0] * len(items)
    roots: list[int] = []  # of subtrees without a parent yet, the leftmost last
    for index in range(len(items) - 1, -1, -1):
        children = [roots.pop() for _ in range(items[index]["num-children"])]
        sizes[index] = 1 + sum(sizes[child] for child in children)
        roots.append(index)
    return sizes


def _parsed(spark: SparkSession, text: str) -> Any:
    """A text as a Column of the JVM, as ``filter`` makes one of it."""
    jvm: Any = spark._jvm
    if not is_spark_3(spark):
        return java_class(jvm, "org.apache.spark.sql.functions").expr(text)
    session: Any = spark._jsparkSession
    expression = session.sessionState().sqlParser().parseExpression(text)
    return java_class(jvm, "org.apache.spark.sql.Column")(expression)
