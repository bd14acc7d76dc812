"""Joins of Hudi tables with and without dynamic pruning, on real Spark: the rows, and the files that are read.

    python -m tests.handler.spark.extension.dynamic_stories JAR WORK OUT      with the Python of `.venv/spark35`

A story is a query, and how many of the eight files of its fact tables are read where the keys narrow them. It runs
without dynamic pruning, and in four ways with it:

    broadcast          adaptive execution, the small side is broadcast
    plain broadcast    without adaptive execution
    shuffled           adaptive execution, no side is broadcast: a subquery has the keys
    plain shuffled     without adaptive execution

OUT gets for each way of each story the rows, those without, and the number of files that its scans of fact tables read.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.handler.spark.extension.dynamic_tables import rows_of, write_tables
from tests.handler.spark.extension.dynamic_truth import Truth
from tests.handler.spark.extension.fake_sidecar import FakeSidecar
from tests.handler.spark.extension.random_joins import random_join
from tests.jvm_flags import SHORT_LIVED
from tests.tables.releases import RELEASES

__all__ = ["FAILING", "STORIES", "SWITCHES", "WAYS", "Story", "Switch"]

RANDOM_JOINS, RANDOM_SEED = int(os.environ.get("RANDOM_JOINS", "40")), int(os.environ.get("RANDOM_SEED", "1"))
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


_TWO = "(105), (717)"
#: The days of 105 and 182, and the texts of 105 and 717.
_DAYS = "(date '2020-04-15'), (date '2020-07-01')"
_TEXTS = "('s0105'), ('s0717')"
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
    Story("keys that an outer join makes of NULL", f"select f.k from fact f join (select coalesce(t.x, 305) y from places p left join {_keys(_TWO)} t on p.g = t.x) d on f.k = d.y", None),
    Story("keys of the kept side of an outer join", f"select f.k, d.name from fact f join (select t.x, p.name from {_keys(_TWO)} t left join places p on p.g = t.x % 40) d on f.k = d.x", None),
    Story("a table that is read whole", "select count(*) from fact f join places p on f.g = p.g", 8),
    Story("merged rows", f"select f.k, f.v from fact_mor f join {_keys('(301), (717)')} t on f.k = t.x", 2),
    Story("merged rows, by a column that was updated", f"select f.k, f.v from fact_mor f join {_keys('(-301), (-307)')} t on f.v = t.x", 1),
    Story("scalar subquery", f"select k from fact f join {_keys(_TWO)} t on f.k = t.x where v > (select min(v) from fact)", 10),
    Story("a join in a scalar subquery", f"select k, v from fact_mor where k = (select max(o.k) from fact o join {_keys(_TWO)} t on o.k = t.x)", 10),
    Story("joins in more scalar subqueries than Spark runs at once", f"select {', '.join(map(_scalar, range(20)))}", 20),
    Story("a join in a scalar subquery of a list", f"select p.g, (select count(*) from fact o join {_keys(_TWO)} t on o.k = t.x) n from places p", 2),
    Story("a join in a correlated subquery", f"select p.g, (select max(f.v) from fact f join {_keys(_TWO)} t on f.k = t.x where f.g = p.g) v from places p", {**dict.fromkeys(WAYS, 2), "broadcast": 8}),
    Story("a join in IN", f"select k from fact_mor where k in (select f.k from fact f join {_keys(_TWO)} t on f.k = t.x)", 10),
    Story("a join in EXISTS", f"select k from fact_mor m where exists (select 1 from fact f join {_keys(_TWO)} t on f.k = t.x where f.k = m.k)", 10),
    Story("a join in a scalar subquery of the keys", f"select f.k from fact f join {_keys(_TWO)} t on f.k = t.x where t.x > (select min(o.k) from fact o join {_keys('(305), (306)')} u on o.k = u.x)", {**dict.fromkeys(WAYS, 9), "broadcast": 2}),
)  # fmt: skip


#: A row whose key fails, as a cast does in ANSI mode.
_FAILS = "(select element_at(array(105), i) x from values (1), (0) t(i))"
_NO_PLACES = "(select g from places where g > 1000)"
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
_MIN_BYTES = "spark.sargo.dynamic.subquery.min.bytes"
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
SWITCHES = (
    *(Switch(f"Spark plans no subquery, {way}", way, _OFF, 2 if way == "broadcast" else 8) for way in WAYS),
    *(Switch(f"by a partition, {way}", way, {}, 8 if way in _SHUFFLES else 2, _BY_PARTITION) for way in WAYS),
    *(Switch(f"by a partition, Spark plans no subquery, {way}", way, _OFF, 8, _BY_PARTITION) for way in WAYS),
    *(
        switch
        for way in _SHUFFLES
        for switch in (
            Switch(f"in a Bloom filter of Spark, {way}", way, _BLOOM, 12, _BY_BLOOM),
            Switch(f"as large as the threshold, {way}", way, {_MIN_BYTES: "{bytes}"}, 2),
            Switch(f"a byte smaller, {way}", way, {_MIN_BYTES: "{bytes}1"}, 8),
            Switch(f"the threshold is no number, {way}", way, {_MIN_BYTES: "16 MB"}, 8),
            Switch(f"small for the default, {way}", way, {_MIN_BYTES: ""}, 8),
            Switch(f"broadcasts alone, {way}", way, {"spark.sargo.dynamic": "broadcast"}, 8),
            Switch(f"as if nothing is set, {way}", way, {"spark.sargo.dynamic": "auto"}, 2),
            Switch(f"keys of a side of half the size, {way}", way, {}, 1, _BY_PLACES),
            Switch(f"keys of too large a side, {way}", way, {"spark.sargo.dynamic": "auto"}, 8, _BY_PLACES),
            Switch(f"keys that an outer join makes of NULL, {way}", way, {"spark.sargo.dynamic": "auto"}, 8, _OF_NULL),
            Switch(f"keys of a small part of a side, {way}", way, {"spark.sargo.dynamic": "auto"}, 2, _BY_A_PART),
            Switch(f"anything else is off, {way}", way, {"spark.sargo.dynamic": "true"}, 8),
        )
    ),
)


def session(jars: Sequence[str | Path], extensions: Sequence[str], home: Path) -> SparkSession:
    """A session in this process, which has no other."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.memory": "2g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": " ".join(("-Duser.timezone=UTC", *SHORT_LIVED)),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.jars": ",".join(map(str, jars)),
        "spark.sql.extensions": ",".join(extensions),
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "Europe/Berlin",
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        # The keys are a list in the query: no rule of Spark may join it before the query runs.
        "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation",
        "spark.sargo.dynamic.subquery.min.bytes": "0",
    }
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def scans(plan: Any) -> Iterator[Any]:
    """The nodes of a physical plan that ran and read files, with those of its finished stages and its scalar subqueries."""
    name = plan.getClass().getSimpleName()
    if name == "AdaptiveSparkPlanExec":
        yield from scans(plan.executedPlan())
    elif name.endswith("QueryStageExec"):
        yield from scans(plan.plan())
    else:
        if name in ("FileSourceScanExec", "DynamicScan"):
            yield plan
        children, subqueries = plan.children(), plan.subqueries()
        for i in range(children.size()):
            yield from scans(children.apply(i))
        for i in range(subqueries.size()):
            if subqueries.apply(i).name().startswith(("subquery", "scalar-subquery")):
                yield from scans(subqueries.apply(i))


def files_read(frame: Any, table: str) -> int:
    """How many files the scans of tables of a name read, each time that they are in the plan."""
    count = 0
    for scan in scans(frame._jdf.queryExecution().executedPlan()):
        if table in scan.toString() or table in str(scan.metrics()):
            count += scan.metrics().apply("numFiles").value()
    return count


def class_sent(spark: SparkSession, node: Any) -> str:
    """What a node is in an executor, to which Spark sends the plan around it where it generates no code."""
    jvm: Any = spark._jvm
    utils = jvm.org.apache.spark.util.Utils
    return str(utils.deserialize(utils.serialize(node)).getClass().getName())


def run(spark: SparkSession, story: Story, settings: Mapping[str, str]) -> dict[str, Any]:
    """The rows of a query and the scans of its plan. ``error``: why it failed instead."""
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        frame = spark.sql(story.sql)
        rows = sorted(repr(tuple(row)) for row in frame.collect())
        nodes = list(scans(frame._jdf.queryExecution().executedPlan()))
        own = sum(str(scan).count("dynamicpruning") for scan in nodes)
        names = [scan.nodeName() for scan in nodes]
        sent = [class_sent(spark, scan) for scan in nodes if scan.getClass().getSimpleName() == "DynamicScan"]
        return {"rows": rows, "files": files_read(frame, "/fact"), "own": own, "names": names, "sent": sent}
    except Exception as error:
        return {
            "error": f"{type(error).__name__}: {str(error)[:2000]}",
            "rows": [],
            "files": -1,
            "names": [],
            "sent": [],
        }
    finally:
        for key in settings:
            spark.conf.unset(key)


def switched(spark: SparkSession, switch: Switch, home: Path) -> dict[str, Any]:
    """A switch with the keys of joins and without; ``own``: how often Spark's own plan of a scan waits for keys."""
    whole = sum(file.stat().st_size for file in (home / "fact").glob("*.parquet"))
    given = {**WAYS[switch.way], "spark.sargo.dynamic": "subquery"}
    given |= {name: value.format(bytes=whole) for name, value in switch.settings.items()}
    if not given.get(_MIN_BYTES, "0"):
        spark.conf.unset(_MIN_BYTES)
        del given[_MIN_BYTES]
    print(switch.name, flush=True)
    try:
        found = {"with": given, "without": {**given, "spark.sargo.dynamic": "false"}}
        return {name: run(spark, Story(switch.name, switch.sql, None), settings) for name, settings in found.items()}
    finally:
        spark.conf.set(_MIN_BYTES, "0")


def _random_joins() -> Iterator[tuple[str, str]]:
    rng = random.Random(RANDOM_SEED)
    for _ in range(RANDOM_JOINS):
        yield random_join(rng), rng.choice(tuple(WAYS))


def compared(spark: SparkSession, sql: str, way: str) -> dict[str, Any]:
    """A query without the keys of joins and with them, by each setting."""
    story = Story(sql, sql, None)
    return {
        name: run(spark, story, {**WAYS[way], "spark.sargo.dynamic": name}) for name in ("false", "auto", "subquery")
    }


def told(spark: SparkSession, home: Path) -> dict[str, Any]:
    """What each story, random join and switch came to, over the views of the tables of ``home``."""
    spark.conf.set("spark.sargo.dynamic", "false")
    fake = FakeSidecar()
    truth = Truth({name: rows_of(spark, name) for name in ("fact", "fact_mor", "places")})
    fake.answer = truth
    spark.conf.set("spark.sargo.sidecar.address", fake.address)
    results: dict[str, Any] = {}
    chosen = os.environ.get("STORY")
    for story in STORIES:
        if chosen is not None and chosen != story.name:
            continue
        without = run(spark, story, {"spark.sargo.dynamic": "false"})
        results[story.name] = {"without": without}
        print(story.name, flush=True)
        for way, settings in WAYS.items():
            truth.skipped.clear()
            result = run(spark, story, {**settings, "spark.sargo.dynamic": "subquery"})
            results[story.name][way] = {**result, "asked": list(truth.skipped)}
    results["random"] = {} if chosen else {sql: compared(spark, sql, way) for sql, way in _random_joins()}
    results["failing"] = {
        f"{name}, {way}": compared(spark, sql, way) for name, (ways, sql) in FAILING.items() for way in ways
    }
    results["switches"] = {switch.name: switched(spark, switch, home) for switch in SWITCHES}
    fake.close()
    return results


def main(jar: str, home: Path, out: Path) -> None:
    own = "io.sargo.spark.SargoExtensions"
    hudi = "org.apache.spark.sql.hudi.HoodieSparkSessionExtension"
    spark = session([jar, RELEASES["1.2.0"].jar], [hudi, own], home)
    spark.conf.set("spark.sargo.dynamic", "false")
    write_tables(spark, home)
    out.write_text(json.dumps(told(spark, home), indent=1), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
