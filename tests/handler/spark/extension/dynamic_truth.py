"""A sidecar's answers from the rows themselves: it skips each file slice that has no row for the filter, and no other.

It understands what the extension makes of a join's keys and of scalar subqueries, in the filter documents of real
queries:

    column IN (keys)                  InSet over a column, or over a cast of it to a wider integer
    column =, <, <=, >, >= value      of integers and timestamps, or NULL
    AND, OR                           of those
    FALSE                             no row

Any other condition may hold for every row. Values are compared as Spark has them inside: dates as days, timestamps as
microseconds, decimals by their number.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any

from handler.catalyst.sorted_keys import read_sorted_keys
from tests.handler.spark.extension.fake_sidecar import Question

__all__ = ["Rows", "Truth"]

#: File id -> the rows of its slice: column -> value in Spark's internal form.
Rows = Mapping[str, list[Mapping[str, Any]]]
Test = Callable[[Mapping[str, Any]], bool]
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "EqualTo": operator.eq,
    "LessThan": operator.lt,
    "LessThanOrEqual": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqual": operator.ge,
}


class Truth:
    """``answer`` for a ``FakeSidecar``, over the rows of tables by the last part of their path.

    ``skipped`` are, for each question, the table, the classes of its conditions, how many slices were listed and how
    many of them are skipped.
    """

    def __init__(self, tables: Mapping[str, Rows]) -> None:
        self.tables = tables
        self.skipped: list[tuple[str, list[str], int, int]] = []

    def __call__(self, question: Question) -> Collection[str]:
        table = question.fields.table.rstrip("/").rpartition("/")[2]
        rows = self.tables[table]
        tests = [made for condition in question.conditions if (made := test_of(condition)) is not None]
        by_slice: dict[str, list[str]] = {}
        for name in question.names:
            by_slice.setdefault(file_id(name), []).append(name)
        skip = {one for one in by_slice if one in rows and not _any(rows[one], tests)}
        classes = [one["nodes"][0]["class"].rpartition(".")[2] for one in question.conditions]
        self.skipped.append((table, classes, len(by_slice), len(skip)))
        return [name for one in skip for name in by_slice[one]]


def file_id(name: str) -> str:
    """What the name of a file begins with, up to the first underscore, without the dot of a log file."""
    return name.rpartition("/")[2].lstrip(".").partition("_")[0]


def _any(rows: Iterable[Mapping[str, Any]], tests: list[Test]) -> bool:
    return any(all(test(row) for test in tests) for row in rows)


def test_of(condition: Mapping[str, Any]) -> Test | None:
    """Whether a row satisfies a condition of a filter document; None for one that is not understood."""
    nodes = condition["nodes"]
    name = _class(nodes[0])
    if name == "InSet":
        column = _column(nodes[1:])
        keys = _keys(condition["exact"]["0"])
        return None if column is None else lambda row: _given(row, column) in keys
    if name == "Literal" and nodes[0]["value"] == "false":
        return lambda _: False
    if name in ("And", "Or"):
        return _combined(condition)
    if name in _COMPARISONS and len(nodes) >= 3:
        column, literal = _column(nodes[1:-1]), nodes[-1]
        if column is None or literal.get("dataType") not in ("integer", "long", "short", "byte", "timestamp"):
            return None
        if literal["value"] is None:
            return lambda _: False
        value = int(condition["exact"].get(str(len(nodes) - 1), literal["value"]))
        return lambda row: row[column] is not None and _COMPARISONS[name](row[column], value)
    return None


def _combined(condition: Mapping[str, Any]) -> Test | None:
    nodes, exact = condition["nodes"], condition["exact"]
    middle = 1 + _length(nodes[1:])
    parts = [
        test_of({"nodes": nodes[start:end], "exact": {str(int(key) - start): value for key, value in exact.items()}})
        for start, end in ((1, middle), (middle, len(nodes)))
    ]
    if _class(nodes[0]) == "Or":
        return None if None in parts else lambda row: any(part is not None and part(row) for part in parts)
    return lambda row: all(part is None or part(row) for part in parts)


def _class(node: Mapping[str, Any]) -> str:
    return str(node["class"]).rpartition(".")[2]


def _length(nodes: list[Mapping[str, Any]]) -> int:
    """How many nodes the first tree of a list in pre-order has."""
    waiting = count = 1
    while waiting:
        waiting += nodes[count - 1]["num-children"] - 1
        count += 1
    return count - 1


def _column(nodes: list[Mapping[str, Any]]) -> str | None:
    if len(nodes) == 2 and _class(nodes[0]) == "Cast" and nodes[0]["dataType"] == "long":
        nodes = nodes[1:]
    return str(nodes[0]["name"]) if len(nodes) == 1 and _class(nodes[0]) == "AttributeReference" else None


def _keys(exact: Any) -> set[Any]:
    if isinstance(exact, dict):
        return set(read_sorted_keys(exact["type"], exact["differences"]).values.tolist())
    return {_plain(type_name, value) for type_name, value in exact}


def _plain(type_name: str, value: Any) -> Any:
    return Decimal(value) if type_name.startswith("decimal") else value


def _given(row: Mapping[str, Any], column: str) -> Any:
    """A row's value; NULL is no key."""
    value = row[column]
    return object() if value is None else value
