"""Constants of a condition, computed by Spark: its own rules replace what has no column in it.

    d < DATE '1994-01-01' + INTERVAL '1' YEAR        d < DATE '1995-01-01'
    s LIKE concat('a', '%')                          s LIKE 'a%'
    d < current_date() AND i < pow(2, 3)             d < current_date() AND i < 8.0

``ReplaceExpressions`` and ``ConstantFolding`` of Spark's optimiser compute them, without a job. They would compute the
clock, too, and a user's function; a plan may be used later, so a condition with such a part stays as it is. Conditions
that are joined by AND are looked at one by one. Where Spark fails, as for ``1 / 0`` in ANSI mode, the condition stays
as it is and the query will tell the user.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from handler.catalyst.functions import RUN_TIME_CLASSES
from handler.catalyst.moments import MOMENTS
from handler.catalyst.tree import class_name
from handler.spark.catalyst.java_classes import java_object

__all__ = ["Items", "conjuncts", "has_constants", "with_constants"]

Items = Sequence[Mapping[str, Any]]
#: Beginnings and ends of the names of classes whose value depends on the session, the clock or a user's code.
_VARIABLE_STARTS = ("Current", "Local", "Now", "Session", "Variable", "Rand", "Uuid", "Input", "CallMethod", "Invoke")
_VARIABLE_ENDS = ("UDF", "Subquery", "ListQuery", "Exists", "Generator", "Aggregate")


def has_constants(items: Items) -> bool:
    """Whether a condition holds an operation over literals alone, besides a cast of one."""
    subtrees: list[bool] = []  # whether a subtree without a parent yet is constant, the leftmost last
    for item in reversed(items):
        children = [subtrees.pop() for _ in range(min(item["num-children"], len(subtrees)))]
        name = class_name(item)
        is_constant = all(children) if children else name == "Literal"
        if is_constant and children and name not in ("Cast", "Alias"):
            return True
        subtrees.append(is_constant)
    return False


def conjuncts(condition: Any) -> Iterator[Any]:
    """The conditions of Catalyst that AND joins, from left to right."""
    stack = [condition]
    while stack:
        node = stack.pop()
        if node.getClass().getName().endswith(".expressions.And"):
            stack += [node.right(), node.left()]
        else:
            yield node


def with_constants(jvm: Any, plan: Any, items: Items) -> Any:
    """The filter with its constants computed; the same filter where Spark does not compute them or must not."""
    if not has_constants(items) or any(_varies(item) for item in items):
        return plan
    try:
        return _rule(jvm, "ConstantFolding").apply(_rule(jvm, "ReplaceExpressions").apply(plan))
    except (Py4JError, PySparkException):
        return plan


def _rule(jvm: Any, name: str) -> Any:
    return java_object(jvm, f"org.apache.spark.sql.catalyst.optimizer.{name}")


def _varies(item: Mapping[str, Any]) -> bool:
    name = class_name(item)
    return (
        name in RUN_TIME_CLASSES
        or name in MOMENTS
        or name.startswith(_VARIABLE_STARTS)
        or name.endswith(_VARIABLE_ENDS)
        or "plan" in item
        or (name in ("UnixTimestamp", "ToUnixTimestamp") and item["num-children"] == 0)
    )
