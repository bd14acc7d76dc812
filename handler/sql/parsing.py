"""Parses SQL text: the condition after WHERE, in the dialect of Hive or of Spark, as a HudiExpression.

    text                                       read by
    -----------------------------------------  ---------------------------------
    comparisons of columns with constants      ``comparisons``
    any other                                  ``trees``, with sqlglot

Valid SQL that is not understood becomes ``Unknown`` or ``Opaque`` at its node only (C1). Invalid SQL raises
``SqlError``. Columns have no types yet: ``evaluator.binding.bind`` resolves names and types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from evaluator.language.expression import HudiExpression
from handler.sql.comparisons import read_comparisons
from handler.sql.engines import Engine, check_engine
from handler.sql.results import ParsedCondition, SqlError, excerpt

__all__ = ["Engine", "ParsedCondition", "SqlError", "excerpt", "parse", "parse_condition"]

_MAX_CHARACTERS = 16 << 20
_SURROGATE = re.compile("[\ud800-\udfff]")


def parse(text: str, engine: Engine) -> HudiExpression:
    """The HudiExpression of one condition, read as ``engine`` ("hive", "spark-ansi", ...) reads it.

    Raises SqlError for every text that is not one condition, and nothing else: neither its length nor its content
    makes it fail in another way. A mistake in the call is a TypeError (``text`` is no str) or a ValueError (``engine``
    is not known).

    >>> print(parse("a < 5 AND s LIKE 'x%' OR b = (SELECT 1)", "spark"))
    ((a < 5 AND s LIKE 'x%') OR b = ?(a subquery is not decided))
    """
    return parse_condition(text, engine).expression


def parse_condition(text: str, engine: Engine, leading: Mapping[str, int] | None = None) -> ParsedCondition:
    """``parse``, with every column that the text names, also inside of what is not decided.

    ``leading``: dotted names with the number of their parts that are a table's name, and are left out.
    """
    if not isinstance(text, str):
        raise TypeError(f"a condition is SQL text such as \"fare > 50 AND city = 'sf'\", not {type(text).__name__}")
    check_engine(engine)
    if len(text) > _MAX_CHARACTERS:
        raise SqlError(text, f"the condition is longer than {_MAX_CHARACTERS >> 20} Mi characters")
    surrogate = _SURROGATE.search(text)
    if surrogate:
        raise SqlError(text, f"U+{ord(surrogate[0]):04X} at character {surrogate.start() + 1} is half a character")
    if not leading and (compared := read_comparisons(text)) is not None:
        return compared
    from handler.sql.trees import read_tree  # sqlglot takes long to load, and most filters of a command need none

    return read_tree(text, engine, leading or {})
