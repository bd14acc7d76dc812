"""The session and tables that the stories share, and how an outcome is told."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.handler.spark.extension.sessions import files_read, scans

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["ADDRESS", "TABLES", "Outcome", "Stories", "reasons"]

Outcome = dict[str, Any]
ADDRESS = "spark.sargo.sidecar.address"
#: Name -> whether it is MERGE_ON_READ, and its partition column.
TABLES = {"cow": (False, ""), "cow_p": (False, "p"), "mor": (True, ""), "mor_p": (True, "p")}


def _options(name: str, mor: bool, partition: str) -> dict[str, str]:
    return {
        "hoodie.table.name": name,
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.table.type": "MERGE_ON_READ" if mor else "COPY_ON_WRITE",
        "hoodie.datasource.write.partitionpath.field": partition,
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen."
        + ("SimpleKeyGenerator" if partition else "NonpartitionedKeyGenerator"),
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.parquet.small.file.limit": "0",
        "hoodie.merge.small.file.group.candidates.limit": "0",
        "hoodie.index.type": "SIMPLE",
        "hoodie.embed.timeline.server": "false",
        "hoodie.clean.automatic": "false",
        "hoodie.compact.inline": "false",
        "hoodie.metadata.index.column.stats.enable": "true",
        "hoodie.upsert.shuffle.parallelism": "2",
        "hoodie.bulkinsert.shuffle.parallelism": "4",
        "hoodie.bulkinsert.sort.mode": "NONE",
    }


class Stories:
    """Tables of a session, and the outcomes by story."""

    def __init__(self, spark: SparkSession, work: Path) -> None:
        self.spark = spark
        self.work = work
        self.outcomes: dict[str, Outcome] = {}
        self.first: dict[str, str] = {}

    # -- tables

    def rows(self, low: int, high: int, ts: int = 1, parts: int = 1) -> DataFrame:
        """The rows of these ids, in so many files."""
        return self.spark.sql(
            f"""SELECT concat('k', lpad(string(id), 4, '0')) id, int(id) i, concat('s', id % 7) s,
                       named_struct('x', int(id * 10), 'y', 'a') st, timestamp_seconds(1735689600 + id * 60) t,
                       cast(id as decimal(10,2)) d, int({ts}) ts, concat('p', id % 2) p
                FROM range({low}, {high})"""
        ).repartitionByRange(parts, "i")

    def write(
        self, name: str, frame: DataFrame, operation: str, *, mor: bool, partition: str = "", **more: str
    ) -> None:
        """One commit. ``more`` are options of it, with ``__`` for a dot."""
        dotted = {key.replace("__", "."): value for key, value in more.items()}
        options = {**_options(name, mor, partition), "hoodie.datasource.write.operation": operation, **dotted}
        frame.write.format("hudi").options(**options).mode("append").save(f"{self.work}/{name}")

    def make(self, name: str, *, mor: bool, partition: str = "", **more: str) -> None:
        """Four ranges of rows, and an update of some rows of the second. ``more`` are options of both commits."""
        self.write(name, self.rows(0, 400, parts=4), "bulk_insert", mor=mor, partition=partition, **more)
        rows = self.spark.read.format("hudi").load(f"{self.work}/{name}")
        self.first[name] = str(rows.selectExpr("max(_hoodie_commit_time)").collect()[0][0])
        changed = self.rows(100, 110, 2).selectExpr("id", "i + 1000 i", "'new' s", "st", "t", "d", "ts", "p")
        self.write(name, changed, "upsert", mor=mor, partition=partition, **more)

    # -- outcomes

    def rows_of(self, frame: DataFrame) -> list[str]:
        return sorted(map(str, frame.collect()))

    @contextmanager
    def set(self, **settings: str) -> Iterator[None]:
        """Settings of the session, with ``__`` for a dot, for as long as this lasts."""
        names = {key: key.replace("__", ".") for key in settings}
        before = {name: self.spark.conf.get(name, None) for name in names.values()}
        for key, value in settings.items():
            self.spark.conf.set(names[key], value)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    self.spark.conf.unset(name)
                else:
                    self.spark.conf.set(name, value)

    def compare(self, make: Callable[[], DataFrame]) -> Outcome:
        """A query without the extension and with it."""
        with self.set(spark__sargo__enabled="false"):
            plain = make()
            expected = self.rows_of(plain)
            self.spark.catalog.clearCache()
        narrowed = make()
        found = self.rows_of(narrowed)
        outcome = {
            "equal": found == expected,
            "rows": len(found),
            "files_without": files_read(plain),
            "files": files_read(narrowed),
            "nodes": [scan.nodeName() for scan in scans(narrowed)],
        }
        self.spark.catalog.clearCache()
        return outcome

    def tell(self, name: str, story: Callable[[], Outcome]) -> None:
        """Keep the outcome of a story; an error is one, too."""
        start = time.monotonic()
        try:
            outcome = story()
        except Exception as error:
            outcome = {"equal": False, "error": f"{type(error).__name__}: {str(error)[:2000]}"}
        self.outcomes[name] = outcome | {"seconds": round(time.monotonic() - start, 2)}
        print(name, outcome, flush=True)

    def tell_all(self, stories: Mapping[str, Callable[[], Outcome]]) -> None:
        for name, story in stories.items():
            self.tell(name, story)


def reasons(spark: SparkSession) -> list[str]:
    """Why scans were left as they are, as the log says it once for each reason."""
    utils: Any = spark._jvm.org.apache.spark.util.Utils  # type: ignore[union-attr]
    logged = utils.classForName("io.sargo.spark.plans.Untouched", True, False).getDeclaredField("LOGGED")
    logged.setAccessible(True)
    return sorted(logged.get(None))
