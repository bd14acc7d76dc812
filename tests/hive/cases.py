"""The queries of the matrix, and the files that each of their scans should list and read.

{T} and {U} are two tables with the same rows except ten names, {V} is a view of T's first 500 rows, {M} a MERGE_ON_READ
table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Scan:
    """One scan: its table, the condition that reaches the sidecar (None: none does, all files are read), and the
    partition to which Hive itself reduces the listing of a native table."""

    condition: str | None
    table: str = "trips"
    partition: str | None = None


@dataclass(frozen=True)
class Case:
    """`scans` by engine and kind of table ("tez native"), or by engine, or "" for all; for an engine that is
    not among the keys only the result is checked."""

    name: str
    sql: str
    scans: Mapping[str, tuple[Scan, ...]] = field(default_factory=dict)
    quick: bool = False

    def scans_of(self, engine: str, kind: str) -> tuple[Scan, ...] | None:
        for key in (f"{engine} {kind}", engine, ""):
            if key in self.scans:
                return self.scans[key]
        return None


def scan(condition: str | None, table: str = "trips") -> dict[str, tuple[Scan, ...]]:
    return {"": (Scan(condition, table),)}


NO_FILTER = Scan(None)
CASES = (
    Case(
        "fetch task",
        "select id, dt, name from {T} where id between 309 and 311",
        scan("id between 309 and 311"),
        quick=True,
    ),
    Case("ordered", "select id, dt from {T} where id between 100 and 101 order by id", scan("id between 100 and 101")),
    Case("aggregates", "select count(*), max(d), min(price), sum(maybe) from {T} where k < 150", scan("k < 150"), True),
    Case(
        "partition and data",
        "select count(*) from {T} where dt = '2024-01-02' and id >= 700",
        {
            "native": (),
            "tez native": (Scan("id >= 700", partition="dt=2024-01-02"),),
            "mr native": (Scan("id >= 700", partition="dt=2024-01-02"),),
            "": (Scan("dt = '2024-01-02' and id >= 700"),),
        },
        True,
    ),
    Case(
        "partition only",
        "select count(*) from {T} where dt = '2024-01-02'",
        {
            "tez native": (Scan(None, partition="dt=2024-01-02"),),
            "mr native": (Scan(None, partition="dt=2024-01-02"),),
            "": (Scan("dt = '2024-01-02'"),),
        },
    ),
    Case("partition or data", "select count(*), sum(id) from {T} where (dt = '2024-01-01' and id < 50) or id >= 1950"),
    Case("or", "select count(*), sum(id) from {T} where k < 150 or k >= 1900", scan("k < 150 or k >= 1900"), True),
    Case(
        "in list", "select count(*) from {T} where k in (5, 705, 1405, 5000)", scan("k in (5, 705, 1405, 5000)"), True
    ),
    Case("is null", "select count(*) from {T} where maybe is null and id < 900", scan("maybe is null and id < 900")),
    Case("strings", "select count(*), min(id) from {T} where name like 'n0000015%'", scan("name like 'n0000015%'")),
    Case("renamed by the update", "select id, name from {T} where name >= 'o'", scan("name >= 'o'"), True),
    Case("decimals", "select count(*) from {T} where price >= 490.25", scan("price >= 490.25")),
    Case("dates", "select count(*) from {T} where d = date '2020-01-05'", scan("d = date '2020-01-05'")),
    Case(
        "the time between dates",
        "select count(*), min(d) from {T} where d - date '2020-01-01' < interval '4' day",
        scan("d < date '2020-01-05'"),
        True,
    ),
    Case("timestamps as bigint", "select count(*) from {T} where ts >= 1578182400000000"),
    Case("a cast", "select count(*) from {T} where cast(k as string) = '150' and id < 5000"),
    Case(
        "self join",
        "select count(*), sum(a.id), sum(b.id) from {T} a join {T} b on a.id = b.id + 1000 "
        "where a.id >= 1000 and a.id < 1300 and b.k < 250",
        {"tez": (Scan("id >= 1000 and id < 1300"), Scan("k < 250"))},
        True,
    ),
    Case(
        "self join, one filter",
        "select count(*), sum(a.id), sum(b.id) from {T} a join {T} b on a.id = b.id + 1000 where a.k < 1250",
        {"tez": (Scan("k < 1250"), NO_FILTER)},
    ),
    Case(
        "left join",
        "select count(*), count(b.id) from {T} a left join {T} b on a.id = b.id + 1000 and b.k < 100 where a.k >= 900",
        {"tez": (Scan("k >= 900"), Scan("k < 100"))},
    ),
    Case(
        "join of three",
        "select count(*), sum(b.id) from {U} x join {T} a on x.id = a.id - 1000 "
        "join {T} b on a.id = b.id + 500 where x.k < 100",
    ),
    Case(
        "join of three, filters",
        "select count(*), sum(b.id) from {T} a join {T} b on a.id = b.id + 500 "
        "join {U} x on x.id = a.id - 1000 where x.k < 100 and b.k >= 0",
    ),
    Case(
        "union of two scans",
        "select count(*), sum(id) from (select id from {T} where id < 100 union all "
        "select id from {T} where id >= 1850) u",
        {"tez": (Scan("id < 100"), Scan("id >= 1850")), "mr": (Scan("id < 100 or id >= 1850"),)},
        True,
    ),
    Case(
        "union with a table without filter",
        "select count(*), sum(id) from (select id from {U} where id < 100 union all select id from {T}) u",
        {"tez": (Scan("id < 100", "trips2"), NO_FILTER)},
        True,
    ),
    Case(
        "union of a scan and the whole table",
        "select count(*), sum(id) from (select id from {T} where id < 100 union all select id from {T}) u",
        {"tez": (Scan("id < 100"), NO_FILTER), "mr": (NO_FILTER,)},
    ),
    Case(
        "union that leaves a foreign filter behind",
        "select count(*), sum(id) from (select id from {U} where k < 100 union all select id from {T} where k >= 1900 "
        "union all select id from {T}) u",
        {"tez": (Scan("k < 100", "trips2"), Scan("k >= 1900"), NO_FILTER)},
        True,
    ),
    Case(
        "in sub-query",
        "select count(*), min(id) from {T} where id in (select max(id) from {T} where k < 50 union all select 1999)",
    ),
    Case(
        "exists",
        "select count(*) from {T} a where exists (select 1 from {U} b where b.id = a.id and b.k >= 1990) "
        "and a.k >= 1800",
        quick=True,
    ),
    Case(
        "two scalar sub-queries",
        "select (select count(*) from {T} where k < 100), (select count(*) from {T} where k >= 1800)",
    ),
    Case("view", "select count(*) from {V} where id >= 300", scan("id < 500 and id >= 300")),
    Case("view joined to its table", "select count(*), sum(t.id) from {V} v join {T} t on v.id = t.id - 1000"),
    Case("top n", "select id from {T} where k >= 1000 order by id desc limit 3", scan("k >= 1000")),
    Case(
        "semi-join reduction",
        "select count(*), sum(t.id) from {T} t join (select id from {U} where k between 1500 "
        "and 1509 group by id) s on t.id = s.id",
    ),
    Case(
        "common table expression",
        "with c as (select * from {T} where k >= 100) select (select count(*) from c "
        "where k < 300), (select count(*) from c where k >= 1700)",
    ),
    Case("window", "select max(r) from (select k, row_number() over (order by k) r from {T}) z where k < 100"),
    Case("all rows", "select count(*), sum(id) from {T}", scan(None)),
    Case("no file", "select count(*) from {T} where k > 5000", scan("k > 5000"), True),
)

# Without DATE columns: Hudi 1.0.2's reader of log files fails on them under Hive 4.
MERGED_CASES = (
    Case(
        "merged: moved rows",
        "select id, k, name from {M} where k >= 100000 order by id",
        scan("k >= 100000", "rides"),
        True,
    ),
    Case("merged: rows that left", "select count(*), sum(id) from {M} where k < 60", scan("k < 60", "rides"), True),
    Case(
        "merged: deleted rows",
        "select count(*), sum(id) from {M} where id between 100 and 149",
        scan("id between 100 and 149", "rides"),
    ),
    Case(
        "merged: fetch task",
        "select id, k from {M} where id in (101, 103, 455)",
        scan("id in (101, 103, 455)", "rides"),
        True,
    ),
    Case("merged: renamed", "select count(*) from {M} where name >= 'o'", scan("name >= 'o'", "rides")),
    Case(
        "merged: join",
        "select count(*), sum(a.k) from {M} a join {M} b on a.id = b.id where a.k >= 100000 and b.id < 500",
        {"tez": (Scan("k >= 100000", "rides"), Scan("id < 500", "rides"))},
    ),
)
