"""Random conditions: predicates of the conformance suite, constants of the table's own values, and trees of both."""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from tests.conformance.cases import CASES
from tests.conformance.row_truth import applies
from tests.random_tables.recipe import Recipe

__all__ = ["conditions"]

OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "<=>")


def conditions(recipe: Recipe, count: int) -> list[str]:
    """Half of them predicates of the suite, a quarter over the table's own values, a quarter trees of two or three."""
    rng = random.Random(f"conditions {recipe.seed}")
    columns = set(recipe.columns)
    of_suite = [case.sql for case in CASES if applies(case.sql, columns)]
    rows = [one for commit in recipe.commits for one in commit.rows]
    own = [found for _ in range(count) if (found := _over_values(rng, recipe.columns, rows))]
    leaves = [*rng.sample(of_suite, min(len(of_suite), count // 2)), *own[: count // 4]]
    trees = [_tree(rng, leaves) for _ in range(count - len(leaves))]
    return list(dict.fromkeys([*leaves, *trees]))


def _tree(rng: random.Random, leaves: Sequence[str]) -> str:
    parts = [
        f"({text})" if rng.random() < 0.7 else f"(not ({text}))" for text in rng.sample(leaves, rng.choice((2, 2, 3)))
    ]
    return rng.choice((" and ", " or ")).join(parts)


def _over_values(rng: random.Random, columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> str:
    name = rng.choice(columns)
    texts = [text for text in map(literal, (rng.choice(rows).get(name) for _ in range(3))) if text]
    if not texts:
        return f"{name} is {rng.choice(('', 'not '))}null"
    match rng.randrange(6):
        case 0:
            return f"{name} {rng.choice(('', 'not '))}in ({', '.join(texts)})"
        case 1:
            return f"{name} between {min(texts)} and {max(texts)}"
        case 2:
            return f"{name} > {texts[0]} or {name} < {texts[-1]}"
        case 3:
            return f"{name} >= {texts[0]} and {name} {rng.choice(OPERATORS)} {texts[-1]}"
        case _:
            return f"{name} {rng.choice(OPERATORS)} {texts[0]}"


def literal(value: Any) -> str:
    """A value as a constant of Spark's and Hive's SQL; empty for what has none that both read alike."""
    match value:
        case bool() | int():
            return str(value).lower()
        case Decimal():
            return f"{value:f}"
        case float() if value == value and abs(value) < 1e15:
            return f"cast('{value!r}' as double)"
        case str() if len(value) < 100 and "'" not in value and "\\" not in value:
            return f"'{value}'"
        case datetime.datetime():
            return f"timestamp '{value:%Y-%m-%d %H:%M:%S.%f}'" if value.year >= 1900 and value.tzinfo else ""
        case datetime.date():
            return f"date '{value.isoformat()}'" if value.year >= 1900 else ""
    return ""
