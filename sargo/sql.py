"""SQL text to a filter: the names of ``handler.sql``.

from sargo.sql import parse

parse("a BETWEEN 1 AND 5 AND length(s) < 3", "hive")
"""

from __future__ import annotations

from handler.sql import Engine, SqlError, parse

__all__ = ["Engine", "SqlError", "parse"]
