"""Random joins over the tables of ``dynamic_tables``: keys come through joins, outer ones too, and expressions."""

from __future__ import annotations

import random

__all__ = ["random_join"]

_LISTS = (
    "(select * from values (105), (717), (int(null)) as t(x))",
    "(select * from values (3), (38), (305) as t(x))",
    "(select g x from places where g > 36)",
    "(select k x from fact where v between 300 and 320)",
    "(select n x from fact_mor where v < 0)",
)
_TYPES = ("join", "left join", "right join", "full join", "left semi join", "left anti join", "cross join")
_CONDITIONS = ("l.x = r.x", "l.x = r.x % 40", "l.x % 40 = r.x", "l.x < r.x")
_KEYS = ("{0}.x", "{0}.x", "coalesce({0}.x, 305)", "{0}.x + 1", "nvl({0}.x, 3) + 0")
_FILTERS = ("", "where {0}.x is not null", "where {0}.x <> 38", "where {0}.x is null or {0}.x > 3")
_SHAPES = (
    "select f.k from {fact} f where f.k in (select x from {side})",
    "select f.k from {fact} f where exists (select 1 from {side} o where o.x = f.k)",
    "select o.x from {side} o where not exists (select 1 from {fact} f where f.k = o.x and f.v > 9)",
    "select f.k from {fact} f join {side} o on f.k = o.x",
    "select f.k from {fact} f join {side} o on f.k = o.x",
    "select f.k from {fact} f left semi join {side} o on f.k = o.x",
    "select f.k from {fact} f right join {side} o on f.k = o.x",
)


def random_join(rng: random.Random) -> str:
    """A query whose rows of ``fact`` or ``fact_mor`` are joined with one or two joins of other keys."""
    return rng.choice(_SHAPES).format(fact=rng.choice(("fact", "fact_mor")), side=_side(rng, rng.choice((1, 2))))


def _side(rng: random.Random, joins: int) -> str:
    if not joins:
        return rng.choice(_LISTS)
    left, right, kind = rng.choice(_LISTS), _side(rng, joins - 1), rng.choice(_TYPES)
    of = "l" if kind in ("left semi join", "left anti join") else rng.choice("lr")
    on = "" if kind == "cross join" else f"on {rng.choice(_CONDITIONS)}"
    key, where = rng.choice(_KEYS).format(of), rng.choice(_FILTERS).format(of)
    return f"(select {key} x from {left} l {kind} {right} r {on} {where})"
