"""One aggregate over the rows of a query, and how the values of parts of the rows make the value of all.

    aggregate   of rows without a value   of two parts, None being NULL
    ---------   -----------------------   -----------------------------------------
    count(*)    0                         the sum
    count(c)    0                         the sum
    min(c)      NULL                      the lesser one, or the one that is not NULL
    max(c)      NULL                      the greater one, or the one that is not NULL
    sum(c)      NULL                      the sum, or the one that is not NULL

Values are in the ordinal form of ``evaluator.statistics.columns``, and text of a partition column is ``str``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, cast, get_args

from evaluator.language.errors import UnsupportedError
from evaluator.language.records import frozen

__all__ = ["Aggregate", "Function"]

Function = Literal["count", "min", "max", "sum"]

_FORM = re.compile(r"\s*(\w+)\s*\(\s*(?:(\*)|([^\W\d]\w*)|`((?:[^`]|``)+)`)\s*\)\s*")
_TOGETHER: Mapping[Function, Callable[[Iterable[Any]], Any]] = {"count": sum, "min": min, "max": max, "sum": sum}


@frozen
class Aggregate:
    """A function over a column; over the rows themselves (``count(*)``) without one."""

    function: Function
    column: str | None = None

    @classmethod
    def parse(cls, text: str) -> Aggregate:
        """Read ``count(*)``, ``count(c)``, ``min(c)``, ``max(c)`` or ``sum(c)``, a name perhaps in backticks.

        Raises UnsupportedError for any other text.
        """
        found = _FORM.fullmatch(text)
        function = found[1].lower() if found else ""
        if found is None or function not in get_args(Function) or (found[2] and function != "count"):
            raise UnsupportedError(f"{text!r:.100} is none of count(*), count(c), min(c), max(c) and sum(c)")
        name = None if found[2] else found[3] or found[4].replace("``", "`")
        return cls(cast(Function, function), name)

    def __str__(self) -> str:
        return f"{self.function}({'*' if self.column is None else self.column})"

    def total(self, parts: Iterable[Any]) -> Any:
        """The value over all rows, from those of parts that share no row."""
        values = [part for part in parts if part is not None]
        return _TOGETHER[self.function](values) if values or self.function == "count" else None
