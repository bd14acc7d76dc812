"""Writes one Hudi table: commits of rows, with the options of the table and of each commit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.tables.releases import Release
from tests.tables.rows import INDEXED, columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = Iterable[Mapping[str, Any]]


class Writer:
    """Writes to `path`; `partition` is the partition column, `indexes` some of col, part, rli, bloom."""

    def __init__(
        self,
        spark: SparkSession,
        release: Release,
        path: Path,
        *,
        mor: bool = False,
        partition: str | None = None,
        indexes: Iterable[str] = ("col",),
        **more: str,
    ) -> None:
        self.spark = spark
        self.release = release
        self.path = path
        self.mor = mor
        self.partition = partition
        self.options = _options(path.name, mor, partition, frozenset(indexes)) | _dotted(more)
        self.indexed = _indexed_columns(release, mor)

    def write(
        self,
        operation: str,
        rows: Rows,
        without: Iterable[str] = (),
        types: Mapping[str, str] | None = None,
        **more: str,
    ) -> None:
        """One commit, with one file in each partition that the rows are in."""
        kinds = columns(self.release.table_version, without, **(types or {}))
        data = [tuple(row[name] for name in kinds) for row in rows]
        schema = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
        indexed = [name for name in self.indexed if name.partition(".")[0] in kinds]
        options = {
            **self.options,
            "hoodie.datasource.write.operation": operation,
            "hoodie.metadata.index.column.stats.column.list": ",".join(indexed),
            **_dotted(more),
        }
        (
            self.spark.createDataFrame(data, schema)
            .coalesce(1)
            .write.format("hudi")
            .options(**options)
            .mode("append")
            .save(str(self.path))
        )

    def sql(self, statement: str) -> None:
        """A statement or procedure of Hudi's SQL; ``{path}`` and ``{table}`` stand for this table."""
        self.spark.sql(statement.format(path=self.path, table=f"{self.path.name}_sql")).collect()

    def register(self) -> None:
        """Register ``{table}`` with Hudi's SQL."""
        self.sql("create table if not exists {table} using hudi location '{path}'")


def _dotted(options: Mapping[str, str]) -> dict[str, str]:
    """Keyword arguments as Hudi's names: ``compact__inline`` is hoodie.compact.inline."""
    return {f"hoodie.{name.replace('__', '.')}": value for name, value in options.items()}


def _indexed_columns(release: Release, mor: bool) -> list[str]:
    """The columns that this release can keep statistics of.

    Before version 9 there is no TIMESTAMP_NTZ. 0.15.0 fails to write statistics of decimals beyond 30 digits, 1.0.2 of
    nested fields and of columns that are yet to come, 1.2.0 of nested fields in log files when their struct is NULL.
    """
    excluded = {
        "tn" if release.table_version < 9 else "",
        "big" if release.table_version < 8 else "",
        *(("st.x", "st.y") if mor or release.table_version == 8 else ()),
    }
    return [column for column in INDEXED if column not in excluded]


def _options(name: str, mor: bool, partition: str | None, indexes: frozenset[str]) -> dict[str, str]:
    def on(index: str) -> str:
        return str(index in indexes).lower()

    write = "hoodie.datasource.write"
    keys = "org.apache.hudi.keygen." + ("SimpleKeyGenerator" if partition else "NonpartitionedKeyGenerator")
    return {
        "hoodie.table.name": name,
        f"{write}.recordkey.field": "id",
        f"{write}.precombine.field": "ts",
        f"{write}.table.type": "MERGE_ON_READ" if mor else "COPY_ON_WRITE",
        f"{write}.partitionpath.field": partition or "",
        f"{write}.keygenerator.class": keys,
        f"{write}.hive_style_partitioning": "true",
        f"{write}.partitionpath.urlencode": "true",
        "hoodie.parquet.small.file.limit": "0",
        "hoodie.merge.small.file.group.candidates.limit": "0",
        "hoodie.index.type": "RECORD_INDEX" if "rli" in indexes else "SIMPLE",
        "hoodie.index.bloom.num_entries": "50",
        "hoodie.bloom.index.filter.dynamic.max.entries": "100",
        "hoodie.metadata.bloom.filter.dynamic.max.entries": "100",
        "hoodie.insert.shuffle.parallelism": "2",
        "hoodie.upsert.shuffle.parallelism": "2",
        "hoodie.delete.shuffle.parallelism": "2",
        "hoodie.embed.timeline.server": "false",
        "hoodie.clean.automatic": "false",
        "hoodie.compact.inline": "false",
        "hoodie.metadata.enable": str(bool(indexes)).lower(),
        "hoodie.metadata.index.column.stats.enable": on("col"),
        "hoodie.metadata.index.column.stats.file.group.count": "1",
        "hoodie.metadata.index.partition.stats.enable": on("part"),
        "hoodie.metadata.record.index.enable": on("rli"),
        "hoodie.metadata.global.record.level.index.enable": on("rli"),
        "hoodie.metadata.record.index.min.filegroup.count": "1",
        "hoodie.metadata.record.index.max.filegroup.count": "1",
        "hoodie.metadata.global.record.level.index.min.filegroup.count": "1",
        "hoodie.metadata.global.record.level.index.max.filegroup.count": "1",
        "hoodie.metadata.index.bloom.filter.enable": on("bloom"),
        "hoodie.metadata.index.bloom.filter.file.group.count": "1",
        "hoodie.metadata.index.column.stats.processing.mode.override": "in-memory",
    }
