"""Checks of what a Python program passes to ``prune``. A mistake raises here, before a table is opened.

A doubt about data skips nothing and is a reason of the plan. A mistake of the caller would read the whole table without
a word, so it raises an error that says what to pass.
"""

from __future__ import annotations

import os
import re
from typing import Any

from evaluator.language.column_resolution import near_texts
from evaluator.language.expression import HudiExpression, Operand
from evaluator.language.semantics import ENGINES, Semantics
from handler.planning.filters import Filter
from handler.planning.tree_facts import described, facts_of
from index_store.opened_table import OpenTable

__all__ = ["check_alias", "check_filter", "check_session", "check_table", "is_path", "is_session"]

_FORMS = "SQL text such as \"fare > 50 AND city = 'sf'\", a Hive filter (bytes or Base64) or a HudiExpression"
#: How a path or a URI begins. A condition may begin with a comment.
_PATH = re.compile(r"\s*([~.]{0,2}/(?!\*)|[A-Za-z]:\\|[A-Za-z][A-Za-z0-9+.\-]*://)")
#: What to do instead, by the first part of the module and the name of a class.
_INSTEAD = {
    ("pyspark", "Column"): "give it to handler.spark.prune(spark, table, column)",
    ("pyarrow", "Expression"): "write it as SQL text",
    ("polars", "Expr"): "write it as SQL text",
}


def check_table(table: Any, call: str = "prune(table, filter)") -> None:
    """Raise TypeError for what is no table, ValueError for an empty path. ``call``: how the function is called."""
    if isinstance(table, OpenTable):
        return
    if isinstance(table, bytes) or not isinstance(table, str | os.PathLike):
        instead = ": handler.spark.prune(spark, table, condition) takes a session" if is_session(table) else f": {call}"
        raise TypeError(f"a table is a path, a URI or what open_table gave, not {described(table)}{instead}")
    if not os.fspath(table):
        raise ValueError("the path of the table is empty: give the folder that holds .hoodie")


def is_session(value: object) -> bool:
    """Whether a value is a Spark session; PySpark is not imported for it."""
    kind = type(value)
    return kind.__name__ == "SparkSession" and kind.__module__.startswith("pyspark.sql")


def is_path(value: object) -> bool:
    """Whether a value is a table rather than a condition. No condition begins as an absolute path or a URI does."""
    return isinstance(value, OpenTable | os.PathLike) or (isinstance(value, str) and bool(_PATH.match(value)))


def check_filter(given: Filter) -> None:
    """Raise TypeError for what is no filter. Text and bytes are checked when they are read."""
    if is_path(given):
        raise TypeError(f"a filter is {_FORMS}, not {_shown(given)}: the table comes first: prune(table, filter)")
    if isinstance(given, str | bytes):
        return
    if isinstance(given, HudiExpression):
        mistake = facts_of(given).mistake
        if mistake:
            raise TypeError(mistake)
        return
    instead = ""
    if given is None:
        instead = "to read all files give 'TRUE'"
    elif isinstance(given, bool):
        instead = f"give '{str(given).upper()}'"
    elif isinstance(given, list | tuple | set | frozenset):
        instead = "join the conditions with AND into one text"
    elif isinstance(given, bytearray | memoryview):
        instead = "give bytes(...)"
    elif isinstance(given, Operand):
        instead = "this is a value: compare it, such as Compare('=', value, literal)"
    else:
        instead = _INSTEAD.get((type(given).__module__.partition(".")[0], type(given).__name__), "")
    raise TypeError(f"a filter is {_FORMS}, not {described(given)}" + (f": {instead}" if instead else ""))


def check_session(engine: Any, as_of: Any, strict: Any, time_zone: Any) -> None:
    """Raise TypeError, ValueError or UnsupportedError for an argument that cannot be one."""
    if engine is not None and (not isinstance(engine, str) or engine not in ENGINES):
        near = near_texts(engine, ENGINES, 1) if isinstance(engine, str) else ()
        meant = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"engine is one of {', '.join(ENGINES)}, not {engine!r:.60}{meant}")
    if as_of is not None and not isinstance(as_of, str):
        raise TypeError(f"as_of is text such as '2026-11-01 00:00:00' or an instant, not {described(as_of)}")
    if as_of == "":
        raise ValueError("as_of is empty: give an instant or a date, or None for the latest")
    if not isinstance(strict, bool):
        raise TypeError(f"strict is True or False, not {described(strict)}")
    if time_zone is not None and not isinstance(time_zone, str):
        raise TypeError(f"time_zone is text such as 'Europe/Paris', not {described(time_zone)}")
    if time_zone == "":
        raise ValueError("time_zone is empty: give a name such as 'Europe/Paris', or None for the zone of this process")
    Semantics.named(engine or "spark", time_zone)


def check_alias(alias: Any) -> None:
    """Raise TypeError or ValueError for what is no name of a table."""
    if alias is not None and not isinstance(alias, str):
        raise TypeError(f"alias is the table's name or alias in the query, such as 'o', not {described(alias)}")
    if alias is not None and not all(part.strip(" `") for part in alias.split(".")):
        raise ValueError(
            f"alias is the table's name or alias in the query, such as 'o' or 'db.orders', not {alias!r:.60}"
        )


def _shown(value: object) -> str:
    return f"{value!r:.60}" if isinstance(value, str) else described(value)
