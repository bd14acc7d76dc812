"""Conditions as SQL text that a session has analysed before: their expressions, while what they depend on is the same.

    what an expression depends on           how it is known to be the same
    ======================================  ==================================================================
    the text, the table's name or alias     part of the key
    the columns of the table                part of the key, as the schema's JSON
    the settings                            ``known_settings`` are current
    the session's time zone                 part of the key: where it is not set, it is the JVM's
    Spark's functions                       each name still means Spark's own function; a user may register one
                                            of the same name
    a user's function, a subquery           such a text is not remembered
    the clock, a session variable, chance   they stay unknown or symbolic in the expression, and no constant is
                                            computed from them (``constants``)

A Column is not remembered: its text is not its meaning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from evaluator.language.expression import HudiExpression
from handler.spark.catalyst.constants import Items
from handler.spark.catalyst.java_classes import java_class, java_object
from handler.spark.catalyst.known_settings import KnownSettings

__all__ = ["ConditionKey", "calls_nothing", "recall", "remember"]

#: The schema's JSON, the table's name in the condition, the text and the session's time zone.
ConditionKey = tuple[str, tuple[str, ...], str, str]

_CATALYST = "org.apache.spark.sql.catalyst"
_MAX_CONDITIONS = 512
#: The texts that are remembered have at most so many characters.
_MAX_TEXT = 10_000
#: What a comparison of columns with plain constants is written with.
_PLAIN = re.compile(
    r"\s*(?:(?P<word>[A-Za-z_]\w*)(?!['\"\w])|(?P<open>\()|(?P<symbol>,|<>|[<>]=?|!=|==?)"
    r"|\)|-?\d+(?:\.\d+)?(?![\w.])|'[^'\\]*')",
    re.ASCII,
)
_JOINING, _OTHER_KEYWORDS, _CONSTANTS = {"and", "or", "in"}, {"is", "not"}, {"null", "true", "false"}


@dataclass(frozen=True, slots=True)
class _KnownCondition:
    """``functions``: for each function of the text a look-up in the session's registry, and Spark's own answer."""

    expression: HudiExpression
    functions: tuple[tuple[Callable[[], Any], Any], ...]

    def is_current(self) -> bool:
        return all(look_up().equals(own) for look_up, own in self.functions)


def recall(settings: KnownSettings | None, key: ConditionKey) -> HudiExpression | None:
    """The expression of a condition that was remembered with these settings, which are current."""
    known = None if settings is None else settings.remembered.get(key)
    return known.expression if isinstance(known, _KnownCondition) and known.is_current() else None


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
    try:
        functions = () if calls_nothing(text, columns) else _own_functions(spark, text)
        still = settings.is_current()  # another thread may have changed them since the text was analysed
    except (Py4JError, PySparkException, ValueError, KeyError):
        return
    if functions is None or not still:
        return
    if len(settings.remembered) >= _MAX_CONDITIONS:
        settings.remembered.clear()
    settings.remembered[key] = _KnownCondition(expression, functions)


def calls_nothing(text: str, columns: Iterable[str]) -> bool:
    """Whether a text is plainly without a function: comparisons of these columns with numbers and strings.

    False says nothing: Spark's parser knows.
    """
    operands = {name.lower() for name in columns} | _CONSTANTS
    text = text.rstrip()
    end, after_operand, may_open = 0, False, True
    while end < len(text):
        token = _PLAIN.match(text, end)
        word = (token["word"] or "").lower() if token else ""
        if token is None or (token["open"] and not may_open):
            return False
        if word in _JOINING or word in _OTHER_KEYWORDS:
            after_operand, may_open = False, after_operand and word in _JOINING
        elif word and word not in operands:
            return False
        else:
            after_operand = not (token["open"] or token["symbol"])
            may_open = not after_operand
        end = token.end()
    return True


def _own_functions(spark: SparkSession, text: str) -> tuple[tuple[Callable[[], Any], Any], ...] | None:
    """The functions that the text calls; None if one of them is not Spark's own."""
    session: Any = spark._jsparkSession
    jvm: Any = spark._jvm
    state = session.sessionState()
    nodes = json.loads(state.sqlParser().parseExpression(text).toJSON())
    names = {node["nameParts"] for node in nodes if node["class"].endswith(".UnresolvedFunction")}
    registry = state.functionRegistry()
    own_registry = java_object(jvm, f"{_CATALYST}.analysis.FunctionRegistry").builtin()
    functions = []
    for name in names:
        if not name.strip("[]").isidentifier():  # a qualified name, or several
            return None
        identifier = java_class(jvm, f"{_CATALYST}.FunctionIdentifier")(name.strip("[]").lower())

        def look_up(identifier: Any = identifier) -> Any:
            return registry.lookupFunctionBuilder(identifier)

        own = own_registry.lookupFunctionBuilder(identifier)
        if not own.isDefined() or not look_up().equals(own):
            return None
        functions.append((look_up, own))
    return tuple(functions)
