"""Conditions as PySpark users write them, resolved by Spark's own analyser, as a HudiExpression.

    SQL text or Column ──► ``analysis`` ──► Catalyst's JSON ──► ``translation``
                │                                                    ▲
                └──► ``known_conditions``, if the text is known ─────┘

No job runs. Spark computes the constants (``constants``). The clock stays a function, whose range the evaluator knows,
and what depends on chance or on the user (``rand()``) stays unknown. The JSON leaves out a few values (a timestamp's
zone, a binary constant, the escape character of LIKE), and each of these is one further call into the JVM, by the index
of its node. So is the name in SQL of a function that is not decided.

With Spark Connect the analyser runs on the server. ``handler.sql`` then reads SQL text, as on the command line, and a
Column raises UnsupportedError.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeGuard

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StructType

from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import And, Constant, HudiExpression, Unknown
from evaluator.language.records import frozen
from handler.catalyst.translation import condition_of
from handler.planning.qualified_names import Qualifier
from handler.spark.catalyst.analysis import analyse, named_relation, schema_text
from handler.spark.catalyst.joined_analysis import analyse_together
from handler.spark.catalyst.known_conditions import ConditionKey, recall, remember
from handler.spark.catalyst.known_settings import known_settings
from handler.spark.catalyst.refusals import (
    ConditionError,
    ConditionSyntaxError,
    NoConditionError,
    one_line,
    refusal,
)
from handler.spark.catalyst.sessions import engine_of, has_jvm, time_zone_of
from handler.sql.parsing import parse_condition

__all__ = [
    "NO_NAMES",
    "Condition",
    "ConditionError",
    "ConditionSyntaxError",
    "NoConditionError",
    "TableNames",
    "all_of",
    "as_conditions",
    "engine_of",
    "named_frame",
    "time_zone_of",
    "to_expression",
    "together",
]

Condition = str | Column | Sequence[str | Column]

_FORMS = "a condition is SQL text, a Column, or a list of them"
#: Of more new conditions each is analysed by itself: Spark's analyser recurses into the AND of all.
_MAX_TOGETHER = 32
#: Literals that Spark's parser replaces by the time of parsing. Comments and backticks may stand in them, and escapes.
_RUN_TIME_LITERAL = re.compile(
    r"\b(?:date|time|timestamp(?:_ltz|_ntz)?)(?:[\s`]|/\*.*?\*/|--[^\n]*\n)*r?"
    r"(?:'(?:\s*(?:now|today|tomorrow|yesterday)\b|[^']*\\)|\"(?:\s*(?:now|today|tomorrow|yesterday)\b|[^\"]*\\))",
    re.IGNORECASE | re.DOTALL,
)


@frozen
class TableNames:
    """How conditions name the table: its qualifier, and for each name of theirs the number of parts that are it."""

    qualifier: Qualifier = ()
    leading: Mapping[str, int] = dataclasses.field(default_factory=dict)


NO_NAMES = TableNames()


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
    conditions = as_conditions(condition)
    known = together(spark, schema, conditions, names)
    return all_of(
        _expression(spark, schema, part, names) if expression is None else expression
        for part, expression in zip(conditions, known, strict=True)
    )


def together(
    spark: SparkSession, schema: StructType, conditions: Sequence[str | Column], names: TableNames = NO_NAMES
) -> list[HudiExpression | None]:
    """Several conditions at once, by one analysis of those that are new.

    None for a condition that ``to_expression`` has to be asked about: the only new one, each of several of which Spark
    refuses one, and one whose constants Spark computes only by itself. Raises TypeError for a Column of another kind of
    session.
    """
    found: list[HudiExpression | None] = [None] * len(conditions)
    if len(conditions) < 2 or not has_jvm(spark):
        return found
    settings, zone = known_settings(spark), time_zone_of(spark)
    new: dict[int, ConditionKey | None] = {}
    for number, condition in enumerate(conditions):
        _check_column(spark, condition)
        if _RUN_TIME_LITERAL.search(condition if isinstance(condition, str) else str(condition)):
            continue
        key = _key(schema, condition, names, zone)
        found[number] = None if key is None else recall(settings, key, schema.names)
        if found[number] is None:
            new[number] = key
    if 1 < len(new) <= _MAX_TOGETHER:
        try:
            answers = analyse_together(spark, schema, [conditions[number] for number in new], names.qualifier)
        except (PySparkException, Py4JError):  # each by itself says what is wrong with it
            return found
        for (number, key), answer in zip(new.items(), answers, strict=True):
            if answer is not None:
                (nodes, exact), items = answer
                expression = found[number] = condition_of(nodes, exact, zone)
                if key is not None:
                    remember(spark, settings, key, schema.names, items, expression)
    return found


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
    text = condition if isinstance(condition, str) else str(condition)
    if _RUN_TIME_LITERAL.search(text):
        return Unknown("a constant such as DATE 'today' is known only when the query runs")
    if not has_jvm(spark):
        if isinstance(condition, str):
            return parse_condition(condition, engine_of(spark), names.leading).expression
        raise UnsupportedError("a Column as a condition needs a session with a JVM: with Spark Connect give SQL text")
    zone = time_zone_of(spark)
    settings = known_settings(spark) if isinstance(condition, str) else None
    key = _key(schema, condition, names, zone)
    if key is not None:
        known = recall(settings, key, schema.names)
        if known is not None:
            return known
    try:
        analysed = analyse(spark, schema, condition, names.qualifier)
    except PySparkException as error:
        raise refusal(text, error) from error
    except Py4JError as error:  # for example a stack overflow
        raise ConditionError(text, f"it fails with {one_line(str(error))[:200]}") from error
    if analysed is None:
        return Unknown("Spark rewrites this condition into more than a filter")
    parts, items = analysed
    expression = all_of(condition_of(nodes, exact, zone) for nodes, exact in parts)
    if key is not None:
        remember(spark, settings, key, schema.names, items, expression)
    return expression


def _key(schema: StructType, condition: str | Column, names: TableNames, zone: str) -> ConditionKey | None:
    """What a condition is remembered by; None for a Column."""
    return (schema_text(schema), tuple(names.qualifier), condition, zone) if isinstance(condition, str) else None


def named_frame(spark: SparkSession, frame: DataFrame, qualifier: Qualifier) -> DataFrame:
    """The DataFrame under the name of a table; with Spark Connect, under its last part."""
    if not qualifier:
        return frame
    if not has_jvm(spark):
        return frame.alias(qualifier[-1])
    return DataFrame(named_relation(spark, frame._jdf, qualifier), spark)
