"""Random queries over a random table, in the forms in which users of Spark ask, and the settings of each.

The same query is asked of the table and of what is true of it: `Tables` says how a frame of either is read.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.types import DecimalType, IntegralType

from handler.spark import read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["FORMS", "OF_FRAMES", "HudiTable", "Query", "Tables", "drawn_settings"]

#: Drawn for each query: how keys of a join narrow a scan, what footers answer, whether rows are read in batches, what
#: code is generated, and what texts and times mean.
_DRAWN = {
    "spark.sql.adaptive.enabled": ("true", "false"),
    "spark.sql.parquet.enableVectorizedReader": ("true", "false"),
    "spark.sargo.dynamic": ("auto", "subquery"),
    "spark.sargo.aggregates": ("footers", "false"),
    "spark.sargo.batches": ("true", "true", "false"),
    "spark.sql.codegen.wholeStage": ("true", "false", "false"),
    "spark.sql.codegen.maxFields": ("100", "2"),
    "spark.sql.ansi.enabled": ("false", "false", "true"),
    "spark.sql.session.timeZone": ("UTC", "UTC", "America/New_York", "Asia/Kolkata"),
}
_NOT_COMPARED = ("array", "map", "struct", "binary", "variant")
#: The tables are small: a subquery of keys runs all the same.
_FIXED = {"spark.sargo.dynamic.subquery.min.bytes": "0"}
#: Batches of this release fail ("Index -1 out of bounds") where the partition column is a date.
_FIXED_OF = {"0.15.0": {"spark.sql.parquet.enableVectorizedReader": "false"}}


def drawn_settings(rng: random.Random, release: str) -> dict[str, str]:
    """Settings of the session for one query of a table of this release."""
    return {name: rng.choice(values) for name, values in _DRAWN.items()} | _FIXED | _FIXED_OF.get(release, {})


@dataclass(frozen=True)
class Query:
    """``form``: one of ``FORMS``. ``as_of``: an instant that the table has had."""

    form: str
    first: str
    second: str
    keys: tuple[str, ...]
    as_of: str

    @classmethod
    def drawn(
        cls,
        rng: random.Random,
        texts: Sequence[str],
        keys: Sequence[str],
        instants: Sequence[str],
        forms: Sequence[str],
    ) -> Query:
        first, second = rng.sample(texts, 2)
        return cls(rng.choice(forms), first, second, tuple(rng.sample(keys, 2)), rng.choice(instants))

    def __str__(self) -> str:
        of_form = {
            "semi join": f", {self.keys}",
            "union": f", {self.second}",
            **dict.fromkeys(("IN", "NOT EXISTS", "scalar", "value", "outer join"), f", {self.second}"),
            "time travel": f", {self.as_of}",
        }
        return f"{self.form}: {self.first}{of_form.get(self.form, '')}"


@dataclass(frozen=True)
class Tables(ABC):
    """What a query reads: each call of ``frame`` reads it anew, with options of Hudi's reader."""

    spark: SparkSession

    @abstractmethod
    def frame(self, **options: str) -> DataFrame:
        """``options``: a double underscore stands for a dot."""

    def where(self, query: Query) -> DataFrame:
        return self.frame().where(query.first)

    def count(self, query: Query) -> DataFrame:
        return self.where(query).groupBy().count()

    def totals(self, query: Query) -> DataFrame:
        """Sums, bounds and counts, some of which footers and an own index have."""
        rows = self.where(query)
        columns = [field for field in rows.schema.fields if not field.name.startswith("_hoodie")]
        rng = random.Random(str(query))
        numbers = [field.name for field in columns if isinstance(field.dataType, IntegralType | DecimalType)]
        texts = ["count(*)", *(f"sum(`{name}`)" for name in rng.sample(numbers, min(len(numbers), rng.randint(1, 3))))]
        compared = [field.name for field in columns if field.dataType.typeName() not in _NOT_COMPARED]
        texts.append(f"{rng.choice(('count', 'min', 'max'))}(`{rng.choice(compared)}`)")
        return rows.selectExpr(*rng.sample(texts, len(texts)))

    def view(self, query: Query) -> DataFrame:
        self.frame().createOrReplaceTempView("random_view")
        return self.spark.sql(f"SELECT * FROM random_view WHERE {query.first}")

    def union(self, query: Query) -> DataFrame:
        return self.where(query).unionByName(self.frame().where(query.second))

    def semi_join(self, query: Query) -> DataFrame:
        """Which narrows the table by the keys of the smaller side."""
        keys = self.spark.createDataFrame([(key,) for key in query.keys], "id string").where("id > ''")
        return self.frame().join(keys.hint("broadcast"), "id", "left_semi")

    def in_subquery(self, query: Query) -> DataFrame:
        """In which each side narrows the other, by the keys of a subquery where one pays."""
        self.frame().createOrReplaceTempView("random_view")
        keys = f"SELECT id FROM random_view WHERE {query.second}"
        return self.spark.sql(f"SELECT * FROM random_view WHERE ({query.first}) AND id IN ({keys})")

    def not_exists(self, query: Query) -> DataFrame:
        """In which the rows narrow the table inside of it."""
        self.frame().createOrReplaceTempView("random_view")
        inner = f"SELECT 1 FROM random_view b WHERE b.id = a.id AND ({query.second})"
        return self.spark.sql(f"SELECT * FROM random_view a WHERE ({query.first}) AND NOT EXISTS ({inner})")

    def scalar(self, query: Query) -> DataFrame:
        """A scalar subquery, whose sides narrow each other."""
        self.frame().createOrReplaceTempView("random_view")
        keys = f"SELECT id FROM random_view WHERE {query.second}"
        least = f"SELECT min(id) FROM random_view WHERE ({query.first}) AND id IN ({keys})"
        return self.spark.sql(f"SELECT * FROM random_view WHERE ({query.first}) AND id >= ({least})")

    def value(self, query: Query) -> DataFrame:
        """By the least or greatest value of a column, which Spark has only while the query runs."""
        frame = self.frame()
        frame.createOrReplaceTempView("random_view")
        rng = random.Random(str(query))
        own = [field for field in frame.schema.fields if not field.name.startswith("_hoodie")]
        name = rng.choice(sorted(field.name for field in own if field.dataType.typeName() not in _NOT_COMPARED))
        other = f"SELECT {rng.choice(('min', 'max'))}({name}) FROM random_view WHERE {query.second}"
        also = rng.choice(("", "", f" AND ({query.first})", f" OR ({query.first})"))
        compared = rng.choice(("=", "<", "<=", ">", ">=", "<=>"))
        return self.spark.sql(f"SELECT * FROM random_view WHERE {name} {compared} ({other}){also}")

    def outer_join(self, query: Query) -> DataFrame:
        """In which the rows narrow the table of which some rows are missing."""
        self.frame().createOrReplaceTempView("random_view")
        rows, others = (f"(SELECT * FROM random_view WHERE {one})" for one in (query.first, query.second))
        return self.spark.sql(f"SELECT a.*, b.id AS other FROM {rows} a LEFT JOIN {others} b ON a.id = b.id")

    def time_travel(self, query: Query) -> DataFrame:
        return self.frame(as__of__instant=query.as_of).where(query.first)

    def read_optimized(self, query: Query) -> DataFrame:
        return self.frame(hoodie__datasource__query__type="read_optimized").where(query.first)

    def read(self, query: Query) -> DataFrame:
        """By ``handler.spark.read``, of a table of Hudi."""
        return self.where(query)


FORMS: dict[str, Callable[[Tables, Query], DataFrame]] = {
    "where": Tables.where,
    "count": Tables.count,
    "totals": Tables.totals,
    "view": Tables.view,
    "union": Tables.union,
    "semi join": Tables.semi_join,
    "IN": Tables.in_subquery,
    "NOT EXISTS": Tables.not_exists,
    "scalar": Tables.scalar,
    "value": Tables.value,
    "outer join": Tables.outer_join,
    "time travel": Tables.time_travel,
    "read optimized": Tables.read_optimized,
    "read": lambda tables, query: tables.read(query),
}
#: Those that Hudi answers where the extension is off.
OF_FRAMES = tuple(form for form in FORMS if form != "read")


@dataclass(frozen=True)
class HudiTable(Tables):
    """``options`` are those of each read."""

    path: Path
    options: dict[str, str]

    def frame(self, **options: str) -> DataFrame:
        named = {name.replace("__", "."): value for name, value in options.items()}
        return self.spark.read.format("hudi").options(**self.options, **named).load(str(self.path))

    def read(self, query: Query) -> DataFrame:
        return read(self.spark, str(self.path), query.first)
