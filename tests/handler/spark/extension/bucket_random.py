"""Random queries over the tables of ``bucket_queries``: joins of all kinds, groups, windows and unions, nested."""

from __future__ import annotations

import random

__all__ = ["random_query"]

_TABLES = ("facts", "logs", "parts", "four", "tiny", "plain")
_JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
_KEYS = (
    "a.id = b.id",
    "a.id = b.id",
    "a.id = b.id AND a.p = b.p",
    "a.i = b.i",
    "a.id = b.id AND a.i < b.i",
    "a.id <=> b.id",
)


def random_query(seed: int) -> str:
    """A query whose rows do not depend on the order in which it is run."""
    chance = random.Random(seed)
    return f"SELECT id, i, p FROM ({_rows(chance, 3)})"


def _rows(chance: random.Random, depth: int) -> str:
    """A query with the columns ``id``, ``i`` and ``p``."""
    if depth == 0 or chance.random() < 0.1:
        where = chance.choice(("", "", f" WHERE i % 7 < {chance.randint(1, 6)}", " WHERE id > 'k5'", " WHERE p = 'p1'"))
        return f"SELECT id, i, p FROM {chance.choice(_TABLES)}{where}"
    first = _rows(chance, depth - 1)
    match chance.randint(0, 8):
        case 0:
            return f"SELECT id, max(i) i, min(p) p FROM ({first}) GROUP BY id"
        case 1:
            return f"SELECT id, sum(i) i, p FROM ({first}) GROUP BY p, id"
        case 2:
            return f"SELECT id, rank() OVER (PARTITION BY id ORDER BY i, p) i, p FROM ({first})"
        case 3:
            return f"SELECT DISTINCT id, i, p FROM ({first})"
        case 4:
            return f"{first} UNION ALL {_rows(chance, depth - 1)}"
        case _:
            return _join(chance, first, _rows(chance, depth - 1))


def _join(chance: random.Random, first: str, second: str) -> str:
    join = chance.choice(_JOINS)
    one_side = "SEMI" in join or "ANTI" in join
    columns = (
        "a.id, a.i, a.p" if one_side else chance.choice(("a.id, b.i, a.p", "b.id, a.i, b.p", "a.id, a.i + b.i i, b.p"))
    )
    return f"SELECT {columns} FROM ({first}) a {join} ({second}) b ON {chance.choice(_KEYS)}"
