"""Conditions as SQL text that a session has analysed before: their expressions, while what they depend on is the same.

    what an expression depends on           how it is known to be the same
    ======================================  ==================================================================
    the text, the table's name or alias     part of the key
    the columns of the table                part of the key, as the schema's JSON
    the settings                            ``known_settings`` are current
    the session's time zone                 part of the key: where it is not set, it is the JVM's
    Spark's functions                       each name still means Spark's own function (``own_functions``)
    a user's function, a subquery           such a text is not remembered
    the clock, a session variable, chance   they stay unknown or symbolic in the expression, and no constant is
                                            computed from them (``constants``)

A text without a function that differs from one of them in its constants alone needs no analysis (``known_shapes``). A
Column is not remembered: its text is not its meaning.
"""

from __future__ import annotations

from collections.abc import Iterable

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from evaluator.language.expression import HudiExpression
from evaluator.language.records import frozen
from handler.catalyst.translation import condition_of
from handler.spark.catalyst.constants import Items
from handler.spark.catalyst.known_settings import KnownSettings
from handler.spark.catalyst.known_shapes import Shape, shape_of
from handler.spark.catalyst.own_functions import OwnFunctions, own_functions
from handler.spark.catalyst.plain_texts import plain_tokens

__all__ = ["ConditionKey", "recall", "remember"]

#: The schema's JSON, the table's name in the condition, the text and the session's time zone.
ConditionKey = tuple[str, tuple[str, ...], str, str]

_MAX_CONDITIONS = 512
#: The texts that are remembered have at most so many characters.
_MAX_TEXT = 10_000


@frozen
class _KnownCondition:
    expression: HudiExpression
    functions: OwnFunctions


def recall(settings: KnownSettings | None, key: ConditionKey, columns: Iterable[str]) -> HudiExpression | None:
    """The expression of a condition over columns, if it or one of its shape was remembered with these settings.

    The settings are current.
    """
    if settings is None:
        return None
    known = settings.remembered.get(key)
    if isinstance(known, _KnownCondition):
        return known.expression if known.functions.are_current() else None
    shape = _shape(key, columns)
    items = None if shape is None else shape.recall(settings)
    return None if items is None else condition_of(items, zone=key[3])


def remember(
    spark: SparkSession,
    settings: KnownSettings | None,
    key: ConditionKey,
    columns: Iterable[str],
    items: Items,
    expression: HudiExpression,
) -> None:
    """Remember the expression of a condition's text over columns, analysed as ``items``, where that is sound."""
    text = key[2]
    if settings is None or len(text) > _MAX_TEXT or any("plan" in item for item in items):
        return
    shape = _shape(key, columns)
    try:
        functions = OwnFunctions() if plain_tokens(text, columns) is not None else own_functions(spark, text)
        still = settings.is_current()  # another thread may have changed them since the text was analysed
    except (Py4JError, PySparkException, ValueError, KeyError):
        return
    if functions is None or not still:
        return
    if len(settings.remembered) >= _MAX_CONDITIONS:
        settings.remembered.clear()
    settings.remembered[key] = _KnownCondition(expression, functions)
    if shape is not None:
        shape.remember(settings, items)


def _shape(key: ConditionKey, columns: Iterable[str]) -> Shape | None:
    schema, qualifier, text, zone = key
    return shape_of(text, columns, (schema, qualifier, zone)) if len(text) <= _MAX_TEXT else None
