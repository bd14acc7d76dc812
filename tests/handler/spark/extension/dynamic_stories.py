"""Joins with and without dynamic pruning: the queries, and the files that are read. ``dynamic_runs`` runs them.

A story is a query, and how many of the eight files of its fact tables are read where the keys narrow them. It runs
without dynamic pruning, and in four ways with it:

    broadcast          adaptive execution, the small side is broadcast
    plain broadcast    without adaptive execution
    shuffled           adaptive execution, no side is broadcast: a subquery has the keys
    plain shuffled     without adaptive execution
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["BY_VALUE", "FAILING", "MIN_BYTES", "STORIES", "SWITCHES", "WAYS", "Story", "Switch"]

_NO_BROADCAST = {"spark.sql.autoBroadcastJoinThreshold": "-1"}
_PLAIN = {"spark.sql.adaptive.enabled": "false"}
WAYS: Mapping[str, Mapping[str, str]] = {
    "broadcast": {},
    "plain broadcast": _PLAIN,
    "shuffled": _NO_BROADCAST,
    "plain shuffled": {**_NO_BROADCAST, **_PLAIN},
}


@dataclass(frozen=True)
class Story:
    """``files``: how many files the scans of fact tables read; by way where they differ, None where any will do."""

    name: str
    sql: str
    files: int | Mapping[str, int] | None

    def expected(self, way: str) -> int | None:
        return self.files.get(way) if isinstance(self.files, Mapping) else self.files


_SHUFFLES = ("shuffled", "plain shuffled")
#: Other keys may come out of the same subquery when it runs again, but a broadcast has those that are joined.
_BY_BROADCAST = {"broadcast": 2, "plain broadcast": 8, **dict.fromkeys(_SHUFFLES, 8)}
#: Spark broadcasts the table of facts, which it takes for the smaller side: only a subquery has the keys.
_BY_SUBQUERY = {"broadcast": 8, "plain broadcast": 8, **dict.fromkeys(_SHUFFLES, 2)}


def _keys(rows: str, columns: str = "x") -> str:
    return f"(select * from values {rows} as t({columns}))"


def _scalar(i: int) -> str:
    return f"(select max(f.v) + {i} from fact f join {_keys(f'({100 + i})')} t on f.k = t.x)"


def _many(count: int) -> str:
    """105, 717, and keys that no row has."""
    return f"(select cast(if(id < 2, 105 + 612 * id, id + 1000) as int) x from range({count}))"


def _pairs(these: int, those: int) -> str:
    """So many keys from 650 on as the product says, of small tables."""
    return f"(select cast(a.id * {those} + b.id + 650 as int) x from range({these}) a cross join range({those}) b)"


#: The rows 105 and 717, as no statistics tell.
_FEW = "pmod(v, 1000) in (315, 151)"
_GROUPS = "(select k from fact_mor group by k having sum(v) in (315, 2151))"
_DECIMALS = "(select k, sum(cast(g as decimal(5, 0))) s from fact_mor group by k having sum(cast(v as decimal(5, 0))) in (315, 2151))"  # fmt: skip
#: Their keys come from the exchange of a join. Without adaptive execution nothing shares it, and Spark broadcasts the
#: table of facts.
_SHARED = {**dict.fromkeys(WAYS, 16), "shuffled": 10}
_SHARED_GROUPS = {"shuffled": 10, "plain shuffled": 16}


def _by_values(narrowed: int, whole: int = 8) -> Mapping[str, int]:
    """Files where values of scalar subqueries narrow scans: with adaptive execution alone. ``whole``: without it."""
    return {way: whole if way.startswith("plain") else narrowed for way in WAYS}


_TWO = "(105), (717)"
#: 720, of a table that is not counted.
_VALUE = "(select max(g) + 681 from places)"
#: The days of 105 and 182, and the texts of 105 and 717.
_DAYS = "(date '2020-04-15'), (date '2020-07-01')"
_TEXTS = "('s0105'), ('s0717')"
_NAMES = _keys("('place 3'), ('place 38')")
STORIES = (
    Story("inner", f"select f.k, f.v from fact f join {_keys(_TWO)} t on f.k = t.x", 2),
    Story("inner, the table is the right side", f"select f.v from {_keys(_TWO)} t join fact f on t.x = f.k", 2),
    Story("left semi", f"select f.k from fact f left semi join {_keys(_TWO)} t on f.k = t.x", 2),
    Story("IN", f"select k from fact where k in (select x from {_keys(_TWO)})", 2),
    Story("EXISTS", f"select k from fact f where exists (select 1 from {_keys(_TWO)} t where t.x = f.k)", 2),
    Story("EXISTS of a table", "select k from fact f where exists (select 1 from places p where p.g = f.k and p.name like '%place 2')", 1),
    Story("EXISTS, the lost side", f"select x from {_keys('(105), (717), (9000)')} t where exists (select 1 from fact f where f.k = t.x and f.v > 1)", 2),
    Story("NOT EXISTS, the lost side", f"select x from {_keys('(105), (717), (9000)')} t where not exists (select 1 from fact f where f.k = t.x)", 2),
    Story("NOT EXISTS keeps all rows", f"select count(*) from fact f where not exists (select 1 from {_keys(_TWO)} t where t.x = f.k)", 8),
    Story("IN, of a view", f"select x from {_keys('(105), (9000)')} t where x in (select kk from (select k kk, v from fact) f where v > 3)", 1),
    Story("IN and EXISTS of two tables", f"select k from fact where k in (select x from {_keys(_TWO)}) and exists (select 1 from places p where p.g = fact.g)", 2),
    Story("EXISTS with an aggregate", f"select k from fact f where k = (select max(x) from {_keys(_TWO)} t where t.x = f.k)", None),
    Story("left anti keeps all rows", f"select count(*) from fact f left anti join {_keys(_TWO)} t on f.k = t.x", 8),
    Story("left anti, the lost side", f"select x from {_keys('(105), (9000)')} t left anti join fact f on t.x = f.k", None),
    Story("NOT IN", f"select count(*) from fact where k not in (select x from {_keys(_TWO)})", 8),
    Story("NOT IN a table with NULL", "select x from values (1), (9000) t(x) where x not in (select n from fact)", None),
    Story("left outer keeps all rows", f"select count(t.x) from fact f left join {_keys(_TWO)} t on f.k = t.x", 8),
    Story("left outer, the lost side", f"select x, v from {_keys('(105), (717), (9000)')} t left join fact f on t.x = f.k", None),
    Story("right outer, the lost side", f"select x, v from fact f right join {_keys('(105), (717), (9000)')} t on t.x = f.k", None),
    Story("right outer keeps all rows", f"select count(t.x) from {_keys(_TWO)} t right join fact f on t.x = f.k", 8),
    Story("full outer", f"select count(t.x), count(*) from fact f full join {_keys(_TWO)} t on f.k = t.x", 8),
    Story("NULL keys", f"select f.k, t.x from fact f join {_keys('(106), (null), (718)')} t on f.n = t.x", 2),
    Story("NULL keys that are equal", f"select count(*), max(f.k) from fact f join {_keys('(106), (null)')} t on f.n <=> t.x", None),
    Story("no keys but NULL", f"select f.k from fact f join {_keys('(int(null)), (null)')} t on f.n = t.x", None),
    Story("duplicate keys", f"select f.k from fact f join {_keys('(105), (105), (717), (105)')} t on f.k = t.x", 2),
    Story("keys of no row", f"select f.k from fact f join {_keys('(9000), (-4)')} t on f.k = t.x", 0),
    Story("bigint", f"select f.k from fact f join {_keys('(105L), (717L)')} t on f.big = t.x", 2),
    Story("int against bigint", f"select f.k from fact f join {_keys('(105L), (717L), (8589934592L)')} t on f.k = t.x", 2),
    Story("text", f"select f.k from fact f join {_keys('(`s0105`), (`s0717`), (``)'.replace('`', chr(39)))} t on f.s = t.x", 2),
    Story("text against int", f"select f.k from fact f join {_keys(_TWO)} t on substring(f.s, 2) = t.x", None),
    Story("date", f"select f.k from fact f join {_keys('(date `2020-04-15`), (date `2021-12-18`)'.replace('`', chr(39)))} t on f.d = t.x", 2),
    Story(
        "timestamp",
        "select f.k from fact f join (select timestamp '2020-01-01 00:00:00' + make_interval(0, 0, 0, 0, x) x from values "
        f"{_TWO} as t(x)) t on f.ts = t.x",
        2,
    ),
    Story("date against timestamp", "select f.k from fact f join values (timestamp '2020-04-15 00:00:00') t(x) on f.d = t.x", None),
    Story("decimal", f"select f.k from fact f join {_keys('(26.25BD), (179.25BD)')} t on f.dec = t.x", 2),
    Story("decimal against int", f"select f.k from fact f join {_keys('(26), (179)')} t on f.dec = t.x", None),
    Story("double is left out", f"select f.k from fact f join {_keys('(105D), (717D)')} t on f.dbl = t.x", 8),
    Story("two keys in one long", f"select f.k from fact f join {_keys('(105, 25), (717, 37), (300, 1)', 'x, y')} t on f.k = t.x and f.g = t.y", None),
    Story("two keys of other types", f"select f.k from fact f join {_keys('(105, `s0105`), (717, `s0717`)'.replace('`', chr(39)), 'x, y')} t on f.k = t.x and f.s = t.y", None),
    Story("a key and another condition", f"select f.k from fact f join {_keys(_TWO)} t on f.k = t.x and f.v > t.x + 300", 2),
    Story("a filter of its own", f"select f.k from fact f join {_keys(_TWO)} t on f.k = t.x where f.v % 5 = 0", 2),
    Story("an alias", f"select kk from (select k as kk, v from fact where v > 3) f join {_keys(_TWO)} t on f.kk = t.x", 2),
    Story("an expression", f"select k from (select k + 1 as kk, k from fact) f join {_keys(_TWO)} t on f.kk = t.x", None),
    Story("a random filter between", f"select k from (select k from fact where rand() < 2 + v) f join {_keys(_TWO)} t on f.k = t.x", 8),
    Story("a limit between", f"select count(*) > -1 from (select k from fact limit 500) f join {_keys(_TWO)} t on f.k = t.x", 8),
    Story("an aggregate between", f"select g, n from (select g, count(*) n from fact group by g) f join {_keys('(3), (4)')} t on f.g = t.x", 8),
    Story("a window between", f"select k, r from (select k, row_number() over (order by k) r from fact) f join {_keys(_TWO)} t on f.k = t.x", 8),
    Story("an aggregate between, by the key", f"select k, n from (select k, count(*) n, max(v) from fact group by k) f join {_keys(_TWO)} t on f.k = t.x", 2),
    Story("an aggregate between, by the key and another column", f"select k, n from (select g, k, count(*) n from fact group by g, k having max(v) > 9) f join {_keys(_TWO)} t on f.k = t.x", 2),
    Story("an aggregate between, by an expression of the key", f"select k, n from (select k + 1 k, count(*) n from fact group by k + 1) f join {_keys(_TWO)} t on f.k = t.x", None),
    Story("an aggregate between, of distinct values", f"select k, n from (select k, count(distinct v) n, count(distinct g) from fact group by k) f join {_keys(_TWO)} t on f.k = t.x", 2),
    Story("an aggregate between, of any of its rows", f"select k, n from (select k, first(v) n from fact group by k) f join {_keys(_TWO)} t on f.k = t.x", 2),
    Story("an aggregate of all rows between", f"select f.* from (select max(k) - 82 k, count(*) n from fact) f join {_keys(_TWO)} t on f.k = t.x", 8),
    Story("an aggregate of a constant between", f"select f.* from (select 105 k, count(*) n from fact group by g) f join {_keys(_TWO)} t on f.k = t.x", 8),
    Story("a rollup between", f"select k, n from (select k, count(*) n from fact group by rollup(k)) f join {_keys(_TWO)} t on f.k = t.x", 8),
    Story("an aggregate in an outer join, the lost side", f"select x, n from {_keys('(105), (9000)')} t left join (select k, count(*) n from fact group by k) f on f.k = t.x", 1),
    Story("an aggregate for each row", "select f.k from (select * from fact where v in (315, 2151)) f where v >= (select max(v) from fact_mor m where m.k = f.k)", None),
    Story("distinct rows between", f"select k, v from (select distinct k, v from fact_mor) f join {_keys(_TWO)} t on f.k = t.x", 2),
    Story("a window between, by the key", f"select k, r from (select k, row_number() over (partition by k order by v) r from fact) f join {_keys(_TWO)} t on f.k = t.x", 2),
    Story("a window between, by the key and another column", f"select k, r from (select k, sum(v) over (partition by g, k) r from fact) f join {_keys(_TWO)} t on f.k = t.x where r > 5", 2),
    Story("a window of random numbers between", f"select k, r from (select k, max(rand()) over (partition by k) < 2 r from fact) f join {_keys(_TWO)} t on f.k = t.x", 8),
    Story("an aggregate over a join between", f"select k, n from (select f.k, count(*) n from fact f join places p on f.g = p.g group by f.k) f join {_keys(_TWO)} t on f.k = t.x", 2),
    Story("an aggregate over it", f"select sum(v), count(*) from fact f join {_keys(_TWO)} t on f.k = t.x", 2),
    Story("a limit over it", f"select f.k from fact f join {_keys(_TWO)} t on f.k = t.x order by f.k desc limit 1", 2),
    Story("an existence join", f"select k from fact where k in (select x from {_keys(_TWO)}) or v = 30", 8),
    Story("a limit in the keys", "select f.k from fact f join (select g from places where g > 3 order by g limit 3) t on f.k = t.g", {**_BY_BROADCAST, "broadcast": 1}),
    Story("random keys", f"select f.k from fact f join (select x from {_keys(_TWO)} where rand(7) * x < 9999) t on f.k = t.x", _BY_BROADCAST),
    Story("thousands of integers", f"select k from fact f left semi join {_many(3000)} t on f.k = t.x", 2),
    Story("thousands of bigints", f"select k from fact f left semi join {_many(3000)} t on f.big = t.x", 2),
    Story("thousands of dates", f"select k from fact f left semi join {_many(3000)} t on f.d = date_add(date '2020-01-01', t.x)", 2),
    Story("more keys than a list has", "select k from fact f left semi join (select cast(id + 650 as int) x from range(300000)) t on f.k = t.x", {**_BY_BROADCAST, "plain broadcast": 2}),
    Story("more keys than a list has, in a subquery", f"select k from fact f left semi join {_pairs(600, 500)} t on f.k = t.x", 2),
    Story("more keys than are taken", f"select k from fact f left semi join {_pairs(1100, 1000)} t on f.k = t.x", 8),
    Story("more keys than are taken, by a partition", f"select f.k from fact_p f left semi join {_pairs(3000, 1000)} t on f.p = t.x - 1500000", None),
    Story("union", f"select u.k from (select k from fact union all select k from fact_mor) u join {_keys(_TWO)} t on u.k = t.x", 4),
    Story("union, each part by a column of its own", f"select u.v from (select k, v from fact union all select n + 0, g from fact_mor union all select cast(big as int), k from fact where v > 9) u join {_keys(_TWO)} t on u.k = t.x", None),
    Story("union of filters", f"select u.k from (select k, 1 a from fact where v % 2 = 1 union all select k, 2 from fact_mor where g > 3 union all select 717, 3) u join {_keys(_TWO)} t on u.k = t.x", 4),
    Story("union, one column twice", f"select * from (select k a, k b from fact union all select g, k from fact) u join {_keys(_TWO)} t on u.a = t.x", None),
    Story("union in a union, and a join below", f"select u.k from (select k from fact union all (select k from fact_mor union all select f.k from fact f join places p on f.g = p.g)) u join {_keys(_TWO)} t on u.k = t.x", None),
    Story("union without duplicates keeps all rows", f"select u.k from (select k from fact union select k from fact_mor) u join {_keys(_TWO)} t on u.k = t.x", None),
    Story("union in an outer join, the lost side", f"select t.x, u.v from {_keys('(105), (9000)')} t left join (select k, v from fact union all select k, g from fact_mor) u on u.k = t.x", None),
    Story("union of joins", f"select f.k from fact f join {_keys(_TWO)} t on f.k = t.x union all select f.k from fact f join {_keys('(5)')} t on f.k = t.x", 3),
    Story("the same join twice", f"with j as (select f.k, f.v from fact f join {_keys(_TWO)} t on f.k = t.x) select a.k, b.v from j a join j b on a.k = b.k", None),
    Story("self join", "select a.k, b.v from fact a join (select k, v from fact where v between 300 and 310) b on a.k = b.k", None),
    Story("self join by another column", "select a.k, b.k from fact a join (select k, v from fact where k in (40, 41)) b on a.k = b.v", None),
    Story("star", f"select f.k, p.name from fact f join {_keys(_TWO)} t on f.k = t.x join (select * from places where name = 'place 37') p on f.g = p.g", None),
    Story("star of two that only together leave one file", f"select f.k from fact f join {_keys(_TWO)} t on f.k = t.x join {_keys(_DAYS)} d on f.d = d.x", 1),
    Story("star of three", f"select f.k from fact f join {_keys('(105), (182), (717)')} t on f.k = t.x join {_keys(_DAYS)} d on f.d = d.x join {_keys(_TEXTS)} s on f.s = s.x", 1),
    Story("star without a common row", f"select f.k from fact f join {_keys('(300), (717)')} t on f.k = t.x join {_keys(_DAYS)} d on f.d = d.x", 0),
    Story("star with semi and outer joins", f"select f.k, d.x from fact f left semi join {_keys('(105), (182), (717)')} t on f.k = t.x left join {_keys(_DAYS)} d on f.d = d.x join {_keys(_TEXTS)} s on f.s = s.x", 2),
    Story("star of one useless dimension", f"select f.k from fact f join {_keys('(3), (25), (37)')} g on f.g = g.x join {_keys(_TWO)} t on f.k = t.x", 2),
    Story("star of a union", f"select u.k from (select k, d from fact union all select k, d from fact_mor) u join {_keys(_TWO)} t on u.k = t.x join {_keys(_DAYS)} d on u.d = d.x", 2),
    Story("a broadcast over a shuffled join", f"select /*+ merge(p) */ f.k, p.name from fact f join places p on f.g = p.g join {_keys(_TWO)} t on f.k = t.x", 2),
    Story("two broadcasts over a shuffled join", f"select /*+ merge(p) */ f.k, p.name from fact f join places p on f.g = p.g join {_keys(_TWO)} t on f.k = t.x join {_keys(_DAYS)} d on f.d = d.x", 1),
    Story("a broadcast over a shuffled outer join", f"select /*+ merge(p) */ f.k, p.name from fact f left join (select * from places where g < 20) p on f.g = p.g join {_keys(_TWO)} t on f.k = t.x", 2),
    Story("snowflake", f"select f.k, p.name from fact f join (select t.x, p.name from {_keys(_TWO)} t join places p on p.g = t.x % 40) p on f.k = p.x", _BY_SUBQUERY),
    Story("snowflake, the condition is outside", f"select f.k, p.name from fact f join places p on f.k = p.g join {_NAMES} t on p.name = t.x", 1),
    Story("snowflake of two steps", f"select f.k, q.name from fact f join places p on f.k = p.g join places q on p.g = q.g join {_NAMES} t on q.name = t.x", None),
    Story("snowflake, the outer side is a semi join", f"select f.k, p.name from fact f join places p on f.k = p.g left semi join {_NAMES} t on p.name = t.x", {**_BY_SUBQUERY, **dict.fromkeys(_SHUFFLES, 1)}),
    Story("snowflake, the outer side is an anti join", f"select count(*) from fact f join places p on f.k = p.g left anti join {_NAMES} t on p.name = t.x", 1),
    Story("snowflake, the outer side loses nothing", f"select f.k, t.x from fact f join places p on f.k = p.g left join {_NAMES} t on p.name = t.x", 8),
    Story("snowflake of an outer join", f"select p.k, p.name, t.x from (select f.k, p.name from fact f left join places p on f.k = p.g) p join {_NAMES} t on p.name = t.x", 1),
    Story("snowflake of an outer join that keeps its rows", f"select f.k, p.name from fact f right join places p on f.k = p.g join {_NAMES} t on p.name = t.x", None),
    Story("snowflake of a full outer join", f"select f.k, p.name, t.x from fact f full join places p on f.k = p.g full join {_NAMES} t on p.name = t.x", 8),
    Story("snowflake below an aggregate", f"select n, name from (select p.name, count(*) n from fact f join places p on f.k = p.g group by p.name) a join {_NAMES} t on a.name = t.x", 1),
    Story("snowflake below a limit", f"select count(*) > -1 from (select p.name from fact f join places p on f.k = p.g limit 20) a join {_NAMES} t on a.name = t.x", 8),
    Story("snowflake below a random filter", f"select k from (select f.k, p.name from fact f join places p on f.k = p.g where rand() < 2 + f.v + p.g) a join {_NAMES} t on a.name = t.x", 8),
    Story("keys that an outer join makes of NULL", f"select f.k from fact f join (select coalesce(t.x, 305) y from places p left join {_keys(_TWO)} t on p.g = t.x) d on f.k = d.y", None),
    Story("keys of the kept side of an outer join", f"select f.k, d.name from fact f join (select t.x, p.name from {_keys(_TWO)} t left join places p on p.g = t.x % 40) d on f.k = d.x", None),
    Story("a side as large as the table", f"select f.k, m.v from fact f join (select k, v from fact_mor where {_FEW}) m on f.k = m.k", _SHARED),
    Story("a side as large, outer join", f"select m.k, f.v from (select k from fact_mor where {_FEW}) m left join fact f on f.k = m.k", _SHARED),
    Story("a side as large that loses nothing", f"select f.k, m.v from fact f left join (select k, v from fact_mor where {_FEW}) m on f.k = m.k", 16),
    Story("a side as large, by two columns", f"select f.k, m.v from fact f join (select k, g, v from fact_mor where {_FEW}) m on f.k = m.k and f.g = m.g", _SHARED),
    Story("a side as large, below two joins", f"select a.k from fact a left semi join fact_mor b on a.k = b.k and a.v < b.v + 1 left anti join fact c on a.k = c.k and c.v % 7 = 9 where {_FEW.replace('v', 'a.v')}", {"shuffled": 10, "plain shuffled": 24}),
    Story("a side as large with a key of its own", f"select f.k, m.v from fact f join (select m.k, m.v from fact_mor m join {_keys('(105), (305)')} t on m.k = t.x where m.v % 2 > -2) m on f.k = m.k", {"shuffled": 4, "plain shuffled": 10}),
    Story("a side as large, of many rows", "select count(*) from fact f join (select m.k from fact_mor m cross join range(60) r where m.v + r.id > -1000) t on f.k = t.k", 16),
    Story("a side as large, by broadcast above a shuffled join", f"select /*+ broadcast(m) */ f.k from fact f join {_keys('(106), (306), (717)')} t on f.n = t.x join (select k from fact_mor where {_FEW}) m on f.k = m.k", {"shuffled": 9, "plain shuffled": 9}),
    Story("groups with a condition", f"select k, v from fact where k in {_GROUPS}", _SHARED_GROUPS),
    Story("groups with a condition, joined", f"select f.k, t.s from fact f join {_DECIMALS} t on f.k = t.k", _SHARED_GROUPS),
    Story("groups with a condition, in two joins", f"select f.k, c.v from fact f join fact c on f.k = c.k where f.k in {_GROUPS}", {"shuffled": 12, "plain shuffled": 24}),
    Story("groups with a condition, of two columns", "select f.k from fact f join (select k, g from fact_mor group by k, g having sum(v) in (315, 2151)) t on f.k = t.k", _SHARED_GROUPS),
    Story("groups with a condition on floating-point numbers", "select k, v from fact where k in (select k from fact_mor group by k having sum(dbl) in (105, 717))", dict.fromkeys(_SHUFFLES, 16)),
    Story("groups with a condition on distinct values", "select k, v from fact where k in (select k from fact_mor group by k having count(distinct v) < 1)", dict.fromkeys(_SHUFFLES, 16)),
    Story("groups without a condition", f"select f.k, t.s from fact f join (select k, sum(v) s from fact_mor where {_FEW} group by k) t on f.k = t.k", None),
    Story("a table that is read whole", "select count(*) from fact f join places p on f.g = p.g", 8),
    Story("merged rows", f"select f.k, f.v from fact_mor f join {_keys('(301), (717)')} t on f.k = t.x", 2),
    Story("merged rows, by a column that was updated", f"select f.k, f.v from fact_mor f join {_keys('(-301), (-307)')} t on f.v = t.x", 1),
    Story("a value", f"select k from fact where k >= {_VALUE}", _by_values(1)),
    Story("a value of no row", "select k from fact where k = (select g from places where g > 1000)", _by_values(0)),
    Story("a value that is NULL", "select k from fact where k <= (select max(g) from places where g > 1000)", _by_values(0)),
    Story("values below and above, of one table", "select k from fact where k between (select min(g) + 200 from places) and (select max(g) + 210 from places)", _by_values(1)),
    Story("a value with an interval", "select k from fact where ts > (select max(ts) from fact) - interval 50 hours", _by_values(9, 16)),
    Story("a value or a constant", f"select k from fact where k > {_VALUE} or v = 30", _by_values(2)),
    Story("a value and keys", f"select f.k from fact f join {_keys(_TWO)} t on f.k = t.x where f.k > {_VALUE} - 10", _by_values(1)),
    Story("a value in a view with other names", f"select KK from (select K as KK, v from fact) where Kk > {_VALUE}", _by_values(1)),
    Story("a value by a value", "select k from fact where k > (select max(k) from fact where k < (select max(g) + 100 from places))", _by_values(9, 16)),
    Story("one value for two tables", f"select f.k from fact f join fact_mor m on f.k = m.k where f.k > {_VALUE}", _by_values(2, 16)),
    Story("a value for merged rows", "select k, v from fact_mor where v < (select min(g) from places)", _by_values(1)),
    Story("a value for each row", "select k from fact where k = (select max(g) from places p where p.g = fact.g)", None),
    Story("a value that is selected", f"select k, {_VALUE} from fact where v = 30", 1),
    Story("a value for an aggregate", f"select g, count(*) from fact group by g having count(*) < {_VALUE}", 8),
    Story("scalar subquery", f"select k from fact f join {_keys(_TWO)} t on f.k = t.x where v > (select min(v) from fact)", 10),
    Story("a join in a scalar subquery", f"select k, v from fact_mor where k = (select max(o.k) from fact o join {_keys(_TWO)} t on o.k = t.x)", _by_values(3, 10)),
    Story("joins in more scalar subqueries than Spark runs at once", f"select {', '.join(map(_scalar, range(20)))}", 20),
    Story("a join in a scalar subquery of a list", f"select p.g, (select count(*) from fact o join {_keys(_TWO)} t on o.k = t.x) n from places p", 2),
    Story("a join in a correlated subquery", f"select p.g, (select max(f.v) from fact f join {_keys(_TWO)} t on f.k = t.x where f.g = p.g) v from places p", {**dict.fromkeys(WAYS, 2), "broadcast": 8}),
    Story("a join in IN", f"select k from fact_mor where k in (select f.k from fact f join {_keys(_TWO)} t on f.k = t.x)", 10),
    Story("a join in EXISTS", f"select k from fact_mor m where exists (select 1 from fact f join {_keys(_TWO)} t on f.k = t.x where f.k = m.k)", 10),
    Story("a join in a scalar subquery of the keys", f"select f.k from fact f join {_keys(_TWO)} t on f.k = t.x where t.x > (select min(o.k) from fact o join {_keys('(305), (306)')} u on o.k = u.x)", {**dict.fromkeys(WAYS, 9), "broadcast": 2, "shuffled": 6}),
)  # fmt: skip


#: A row whose key fails, as a cast does in ANSI mode.
_FAILS = "(select element_at(array(105), i) x from values (1), (0) t(i))"
_NO_PLACES = "(select g from places where g % 100 > 1000)"  # which the fake sidecar does not understand
#: Name -> (ways, the query): Spark looks at no row whose key fails, for another side has no rows.
FAILING = {
    "below a join of no rows": (("broadcast", "shuffled"), f"select f.k from fact f join (select /*+ broadcast(p) */ a.x from {_FAILS} a join (select g from fact_mor where g > 1000) p on p.g = a.x) t on f.k = t.x"),
    "the scan has no rows": (("broadcast", "shuffled"), f"select /*+ broadcast(f) */ f.k from (select k from fact where k > 100000) f join {_FAILS} t on f.k = t.x"),
    "a broadcast after one of no rows": (("plain broadcast",), f"select f.k from (select k, g from fact where k > 10) f join {_NO_PLACES} p on p.g = f.g join {_FAILS} t on f.k = t.x"),
}  # fmt: skip


@dataclass(frozen=True)
class Switch:
    """Settings under which a join is narrowed or not. ``settings``: ``{bytes}`` stands for those of ``fact``."""

    name: str
    way: str
    settings: Mapping[str, str]
    files: int
    sql: str = f"select f.k, f.v from fact f join {_keys(_TWO)} t on f.k = t.x"


_OFF = {"spark.sql.optimizer.dynamicPartitionPruning.enabled": "false"}
MIN_BYTES = "spark.sargo.dynamic.subquery.min.bytes"
#: ``places`` has half the bytes of ``fact``.
_BY_PLACES = "select f.k from fact f join places p on f.k = p.g where p.name like '%place 2%'"
_BY_A_PART = f"select f.k, d.name from fact f join (select t.x, p.name from {_keys(_TWO)} t join places p on p.g = t.x % 40) d on f.k = d.x"
_OF_NULL = f"select f.k from fact f join (select coalesce(t.x, 305) y from places p left join {_keys(_TWO)} t on p.g = t.x) d on f.k = d.y"
#: Spark makes a Bloom filter of the smaller side, in a scalar subquery, when the other has 10 GB.
_BLOOM = {
    "spark.sql.optimizer.runtime.bloomFilter.enabled": "true",
    "spark.sql.optimizer.runtime.bloomFilter.applicationSideScanSizeThreshold": "0",
    "spark.sql.optimizer.runtime.bloomFilter.creationSideThreshold": "1g",
}
_BY_BLOOM = f"select m.k from fact_mor m join (select f.k from fact f join {_keys(_TWO)} t on f.k = t.x where f.v > 0) o on m.k = o.k"
_BY_PARTITION = "select f.k from fact_p f join (select g from places where name like '%place 2') t on f.p = t.g"
#: With the setting off, the groups stay where they are, by ``k`` alone, and the other side is exchanged by ``k``, too.
_CO_PARTITION = "spark.sql.requireAllClusterKeysForCoPartition"
_BY_LARGE = f"select f.k from (select k, max(g) g from fact group by k) f join (select k, g from fact_mor where {_FEW}) m on f.k = m.k and f.g = m.g"
#: Of 79 rows in one file.
BY_VALUE = f"select k from fact where k > {_VALUE}"
SWITCHES = (
    *(Switch(f"Spark plans no subquery, {way}", way, _OFF, 2 if way == "broadcast" else 8) for way in WAYS),
    *(Switch(f"by a partition, {way}", way, {}, 8 if way in _SHUFFLES else 2, _BY_PARTITION) for way in WAYS),
    *(Switch(f"by a partition, Spark plans no subquery, {way}", way, _OFF, 8, _BY_PARTITION) for way in WAYS),
    Switch("a value, by broadcasts alone", "broadcast", {"spark.sargo.dynamic": "broadcast"}, 1, BY_VALUE),
    Switch("a value, nothing is to narrow", "broadcast", {"spark.sargo.dynamic": "false"}, 8, BY_VALUE),
    Switch(
        "a value, Spark runs subqueries again", "shuffled", {"spark.sql.execution.reuseSubquery": "false"}, 8, BY_VALUE
    ),
    Switch(
        "a value of what Spark prunes by itself",
        "broadcast",
        {},
        2,
        "select k from fact_p where p = (select min(g) from places)",
    ),
    Switch("a side as large, by broadcasts alone", "shuffled", {"spark.sargo.dynamic": "broadcast"}, 16, _BY_LARGE),
    Switch(
        "a side as large, Spark shares no exchange", "shuffled", {"spark.sql.exchange.reuse": "false"}, 16, _BY_LARGE
    ),
    Switch("a side as large, groups are exchanged by all keys", "shuffled", {}, 10, _BY_LARGE),
    Switch("a side as large, groups are exchanged by one key", "shuffled", {_CO_PARTITION: "false"}, 16, _BY_LARGE),
    *(
        switch
        for way in _SHUFFLES
        for switch in (
            Switch(f"in a Bloom filter of Spark, {way}", way, _BLOOM, 6 if way == "shuffled" else 12, _BY_BLOOM),
            Switch(f"as large as the threshold, {way}", way, {MIN_BYTES: "{bytes}"}, 2),
            Switch(f"a byte smaller, {way}", way, {MIN_BYTES: "{bytes}1"}, 8),
            Switch(f"the threshold is no number, {way}", way, {MIN_BYTES: "16 MB"}, 8),
            Switch(f"small for the default, {way}", way, {MIN_BYTES: ""}, 8),
            Switch(f"broadcasts alone, {way}", way, {"spark.sargo.dynamic": "broadcast"}, 8),
            Switch(f"as if nothing is set, {way}", way, {"spark.sargo.dynamic": "auto"}, 2),
            Switch(f"keys of a side of half the size, {way}", way, {}, 1, _BY_PLACES),
            Switch(
                f"keys of too large a side, {way}",
                way,
                {"spark.sargo.dynamic": "auto"},
                1 if way == "shuffled" else 8,
                _BY_PLACES,
            ),
            Switch(
                f"keys that an outer join makes of NULL, {way}",
                way,
                {"spark.sargo.dynamic": "auto"},
                1 if way == "shuffled" else 8,
                _OF_NULL,
            ),
            Switch(f"keys of a small part of a side, {way}", way, {"spark.sargo.dynamic": "auto"}, 2, _BY_A_PART),
            Switch(f"anything else is off, {way}", way, {"spark.sargo.dynamic": "true"}, 8),
        )
    ),
)
