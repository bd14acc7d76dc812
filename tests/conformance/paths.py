"""The paths by which a predicate reaches the evaluator, and the file groups that it keeps on each path."""

from __future__ import annotations

from functools import cache

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from evaluator.language.expression import HudiExpression
from handler import prune
from handler.planning.filters import read_filter
from handler.spark.catalyst.conditions import to_expression
from handler.sql.parsing import Engine
from index_store.opened_table import OpenTable
from tests.conformance.hive_filters import stored

#: Hive's version -> the engine whose rules hold for its filters.
HIVES: dict[str, Engine] = {"4.0.1": "hive4", "3.1.3": "hive3"}


@cache
def of_text(sql: str) -> HudiExpression:
    """(b) The text, as the command line reads it."""
    return read_filter(sql, "spark-legacy")


@cache
def of_hive(sql: str, version: str) -> HudiExpression | None:
    """(c) The filter that real Hive pushes down for it; None when Hive pushes nothing down."""
    answer = stored()["filters"][version].get(sql, {}).get("filter")
    return None if answer is None else read_filter(answer, HIVES[version])


def kept(table: OpenTable, expression: HudiExpression, engine: Engine) -> frozenset[str]:
    """The file ids of the file groups that a plan keeps."""
    plan = prune(table, expression, engine=engine, time_zone="UTC", strict=True)
    return frozenset(kept_slice.file_id for kept_slice in plan.kept)


class Kept:
    """The file groups that each path keeps of each table, computed once."""

    def __init__(self, opened: dict[str, OpenTable]) -> None:
        self._opened = opened
        self._cache: dict[tuple[str, str, str], frozenset[str] | None] = {}

    def text(self, name: str, sql: str) -> frozenset[str]:
        """For ANSI on and off: the evaluator's rules are the same."""
        file_ids = self._of(name, sql, "spark-legacy", of_text(sql))
        assert file_ids is not None
        return file_ids

    def hive(self, name: str, sql: str, version: str) -> frozenset[str] | None:
        return self._of(name, sql, HIVES[version], of_hive(sql, version))

    def _of(self, name: str, sql: str, engine: Engine, expression: HudiExpression | None) -> frozenset[str] | None:
        key = (name, sql, engine)
        if key not in self._cache:
            self._cache[key] = None if expression is None else kept(self._opened[name], expression, engine)
        return self._cache[key]


class Resolved:
    """(b) Predicates as Spark's own analyser resolves them, with ANSI on or off; None when it refuses one."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._cache: dict[tuple[str, str, str], HudiExpression | None] = {}

    def expression(self, schema: StructType, sql: str, mode: str) -> HudiExpression | None:
        key = (schema.json(), sql, mode)
        if key not in self._cache:
            before = self._spark.conf.get("spark.sql.ansi.enabled")
            self._spark.conf.set("spark.sql.ansi.enabled", "true" if mode == "ansi" else "false")
            try:
                self._cache[key] = to_expression(self._spark, schema, sql)
            finally:
                self._spark.conf.set("spark.sql.ansi.enabled", str(before))
        return self._cache[key]
