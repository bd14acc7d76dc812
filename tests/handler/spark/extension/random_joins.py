"""Random joins over the tables of ``dynamic_tables``.

The keys come through joins, outer ones too, and through expressions, casts, aggregates, windows and limits; so do the
rows that they might narrow. Keys are whole numbers that may be NULL, as ``x``; rows have ``k`` and ``v``.
"""

from __future__ import annotations

import random

__all__ = ["random_join"]

_LISTS = (
    "(select * from values (105), (717), (int(null)) as t(x))",
    "(select * from values (3), (38), (305) as t(x))",
    "(select g x from places where g > 36)",
    "(select k x from fact where v between 300 and 320)",
    "(select n x from fact_mor where v < 0)",
    "(select k x from fact_mor where pmod(v, 1000) in (315, 151))",
)
_TYPES = ("join", "left join", "right join", "full join", "left semi join", "left anti join", "cross join")
_CONDITIONS = ("l.x = r.x", "l.x = r.x % 40", "l.x % 40 = r.x", "l.x < r.x", "l.x <=> r.x")
_KEYS = ("{0}.x", "{0}.x", "coalesce({0}.x, 305)", "{0}.x + 1", "nvl({0}.x, 3) + 0")
_FILTERS = ("", "where {0}.x is not null", "where {0}.x <> 38", "where {0}.x is null or {0}.x > 3")
#: What a list of keys may be turned into.
_TURNED = (
    "{side}",
    "{side}",
    "{side}",
    "(select distinct x from {side})",
    "(select max(x) x from {side} group by x % 7)",
    "(select x from {side} group by x having sum(x) > 30)",
    "(select x from {side} join fact b on x = b.k group by x having min(b.v) > 900 or count(*) > 1)",
    "(select int(count(*) * 100 + 5) x from {side})",
    "(select x from (select x, row_number() over (order by x desc) r from {side}) where r < 3)",
    "(select x from {side} order by x desc limit 2)",
    "(select x from {side} union all select 717)",
    "(select x from {side} except select 38)",
    "(select x from {side} intersect select k from fact)",
    "(select lag(x, 1, 105) over (order by x) x from {side})",
    "(select explode(array(x, x + 300)) x from {side})",
)
#: The rows; a filter by k does not go below some of them.
_ROWS = (
    "fact",
    "fact_mor",
    "fact",
    "fact_mor",
    "fact_p",
    "(select k, v from fact where v % 3 > 0)",
    "(select k, v from fact where k > (select max(g) + 600 from places))",
    "(select k, v from fact_mor where v <= (select max(k) from fact where g < 9) or k = (select max(g) from places))",
    "(select k, v from fact_p where k between (select min(x) from (select k x from fact where v > 900)) and 2 * k)",
    "(select k, sum(v) v from fact_mor group by k)",
    "(select max(k) k, g v from fact group by g)",
    "(select k, count(distinct v) v from fact group by k, g)",
    "(select n k, min(v) v from fact_mor group by n having count(*) > 0)",
    "(select k, count(*) v from fact group by rollup(k))",
    "(select distinct k, g v from fact_mor)",
    "(select k, v from (select k, v, row_number() over (partition by k, g order by v) r from fact) where r = 1)",
    "(select a.k, sum(b.v) v from fact a join fact_mor b on a.k = b.k group by a.k)",
    "(select k, row_number() over (order by k) v from fact)",
    "(select k, sum(v) over (partition by k) v from fact_mor)",
    "(select k, v from fact order by k limit 110)",
    "(select k, v from fact union all select g, v from fact_mor)",
    "(select k, v from fact union select k, v from fact_mor)",
    "(select k, v from fact except select k, v from fact_mor)",
    "(select a.k, b.v from fact a join fact_mor b on a.k = b.k)",
    "(select a.k, b.v from fact a left join fact_mor b on a.k = b.n)",
    "(select a.n k, b.v from fact a right join fact_mor b on a.k = b.v)",
    "(select a.k, b.g v from fact a full join places b on a.k = b.g)",
    "(select k, v from fact f where not exists (select 1 from places p where p.g = f.k))",
    "(select coalesce(n, 38) k, v from fact)",
    "(select n k, v from fact_mor)",
    "(select k + g k, v from fact)",
)
_CASTS = (
    "{f}.k = {o}.x",
    "{f}.k = {o}.x",
    "{f}.k = {o}.x",
    "{f}.k <=> {o}.x",
    "{f}.k = cast({o}.x as bigint)",
    "cast({f}.k as string) = cast({o}.x as string)",
    "{f}.k = cast({o}.x as double)",
    "{f}.k = cast({o}.x as decimal(12, 2))",
    "{f}.k = cast({o}.x as tinyint)",
    "{f}.k + 1 = {o}.x",
    "date_add(date '2020-01-01', {f}.k) = date_add(date '2020-01-01', {o}.x)",
    "{f}.k = {o}.x and {f}.v = {o}.x * 3",
    "{f}.k = {o}.x and {f}.v > {o}.x",
    "({f}.k = {o}.x or {f}.v = {o}.x)",
)
_SHAPES = (
    "select f.k from {rows} f where f.k in (select x from {side})",
    "select f.k from {rows} f where f.k not in (select x from {side} where x is not null)",
    "select f.k from {rows} f where exists (select 1 from {side} o where {on})",
    "select f.k from {rows} f where not exists (select 1 from {side} o where {on})",
    "select f.k from {rows} f where f.k in (select x from {side}) or f.v < 0",
    "select f.k from {rows} f where f.k = (select max(x) from {side})",
    "select o.x from {side} o where not exists (select 1 from {rows} f where {on} and f.v > 9)",
    "select f.k, f.v from {rows} f join {side} o on {on}",
    "select f.k, f.v from {rows} f join {side} o on {on}",
    "select f.k, f.v from {rows} f join {side} o on {on}",
    "select f.k from {rows} f left semi join {side} o on {on}",
    "select f.k from {rows} f left anti join {side} o on {on}",
    "select f.k, o.x from {rows} f right join {side} o on {on}",
    "select f.k, o.x from {rows} f left join {side} o on {on}",
    "select f.k, o.x from {rows} f full join {side} o on {on}",
    "select f.k, b.v from {rows} f join fact b on f.k = b.k join {side} o on {on}",
    "select f.k, b.v from {rows} f left join fact b on f.v = b.k join {side} o on {on}",
    "select b.k, f.v from fact_mor b left join {rows} f on b.k = f.k left semi join {side} o on b.k = o.x",
    "select f.k, p.name from {rows} f join places p on f.k = p.g join {side} o on p.g = o.x",
    "select f.k, b.v from {rows} f left join places p on f.k = p.g join fact b on p.g = b.k join {side} o on p.g = o.x",
    "select f.k from {rows} f join places p on f.k % 40 = p.g join places q on p.g = q.g join {side} o on q.g = o.x",
    "select f.k from {rows} f join fact_mor b on f.k = b.k join places p on b.g = p.g semi join {side} o on p.g = o.x",
    "select f.k, p.g from places p left join {rows} f on f.k = p.g join {side} o on p.g = o.x",
    "select g from (select p.g, count(*) from {rows} f join places p on f.k = p.g group by 1) join {side} o on g = o.x",
    "select count(*), sum(f.k) from {rows} f join {side} o on {on}",
    "select f.g, count(*) from fact f join {side} o on f.k = o.x group by f.g having count(*) > 0",
)


def random_join(rng: random.Random) -> str:
    """A query whose rows are joined with keys that come through up to two joins."""
    side = rng.choice(_TURNED).format(side=_side(rng, rng.choice((0, 1, 1, 2))))
    on = rng.choice(_CASTS).format(f="f", o="o")
    return rng.choice(_SHAPES).format(rows=rng.choice(_ROWS), side=side, on=on)


def _side(rng: random.Random, joins: int) -> str:
    if not joins:
        return rng.choice(_LISTS)
    left, right, kind = rng.choice(_LISTS), _side(rng, joins - 1), rng.choice(_TYPES)
    of = "l" if kind in ("left semi join", "left anti join") else rng.choice("lr")
    on = "" if kind == "cross join" else f"on {rng.choice(_CONDITIONS)}"
    key, where = rng.choice(_KEYS).format(of), rng.choice(_FILTERS).format(of)
    return f"(select {key} x from {left} l {kind} {right} r {on} {where})"
