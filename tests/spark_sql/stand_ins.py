"""Hudi's tables in the place of the views of constants, and of the tables, that a script makes."""

from __future__ import annotations

import re
import shutil
import zlib
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.window import Window

from tests.spark_sql.given_tables import given_tables
from tests.tpc.write import PLAIN

__all__ = ["StandIns"]

_MADE = re.compile(
    r"create\s+(?:or\s+replace\s+)?(?:global\s+)?(?P<kind>temp(?:orary)?\s+view|view|table)\s+(?:if\s+not\s+exists\s+)?(?P<name>\w+)"
    r"|insert\s+(?:into|overwrite)\s+(?:table\s+)?(?P<table>\w+)",
    re.IGNORECASE,
)
_READ: Mapping[str, str] = {"hoodie.metadata.enable": "true", "hoodie.enable.data.skipping": "true"}
_KEY = "sargo_row"
_FILES = 4
#: Tables of more rows stay what they are.
_LARGEST = 20_000
_NARROWED: Mapping[type, T.DataType] = {
    T.ByteType: T.IntegerType(),
    T.ShortType: T.IntegerType(),
    T.TimestampNTZType: T.TimestampType(),
    T.CharType: T.StringType(),
    T.VarcharType: T.StringType(),
}


class StandIns:
    """Every second table is MERGE_ON_READ, with a log file beside some of its files. Their rows stand in up
    to four files, in the order of their columns that have one. What Hudi cannot write stays as it is.
    """

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._folder = folder
        self._written: dict[str, Path] = {}
        self._given = {name: self._table(spark, frame) for name, frame in given_tables(spark, folder)}
        self._changed: dict[str, bool] = {}
        self._made: set[str] = set()
        self._known: dict[str, bool] = {}  # the names that stand for tables of Hudi now: is it a table of the script?

    def begin(self, spark: SparkSession) -> None:
        """A session has no table but those that each script takes for granted."""
        self._changed, self._known, self._made = {}, {}, set(self._given)
        for name, path in self._given.items():
            self._show(spark, name, path)
            self._known[name] = False

    def reads_a_table(self, statement: str) -> bool:
        """Whether a query names a table or a view of the script."""
        return any(_names(statement, name) for name in self._made)

    def before(self, spark: SparkSession, statement: str) -> None:
        """The tables that another statement than a query names are what they were."""
        for name in [name for name, is_table in self._known.items() if is_table and _names(statement, name)]:
            spark.catalog.dropTempView(name)
            del self._known[name]
            self._changed[name] = True

    def after(self, statement: str) -> None:
        """What it made or changed is to be stood in for."""
        found = _MADE.match(statement)
        if found is None:
            return
        name = (found["name"] or found["table"]).lower()
        self._made.add(name)
        is_table = found["kind"] is None or found["kind"].lower() == "table"
        if is_table or (_is_constant(statement) and not any(_names(statement, other) for other in self._known)):
            self._changed[name] = is_table
        self._known.pop(name, None)

    def stand_in(self, spark: SparkSession) -> int:
        """Put tables of Hudi in the place of what was made or changed; the number of those that stay as they are."""
        changed, self._changed = self._changed, {}
        left = 0
        for name, is_table in changed.items():
            try:
                frame = spark.table(name)
                self._show(spark, name, self._table(spark, frame))
            except Exception:  # of a type that Hudi does not write, without rows, or gone again
                left += 1
                continue
            self._known[name] = is_table
        return left

    @staticmethod
    def _show(spark: SparkSession, name: str, path: Path) -> None:
        frame = spark.read.format("hudi").options(**_READ).load(str(path))
        columns = [f"`{column}`" for column in frame.columns if not column.startswith("_hoodie_") and column != _KEY]
        frame.select(*columns).createOrReplaceTempView(name)

    def _table(self, spark: SparkSession, frame: DataFrame) -> Path:
        frame = _fit(frame)
        rows = frame.limit(_LARGEST + 1).collect()
        if not 0 < len(rows) <= _LARGEST:
            raise ValueError("it has no rows, or too many")
        what = repr((frame.schema.json(), sorted(map(repr, rows))))
        if what not in self._written:
            path = self._folder / f"t{len(self._written)}"
            shutil.rmtree(path, ignore_errors=True)
            _write(spark, frame, len(rows), path, merged=zlib.crc32(what.encode()) % 2 == 1)
            self._written[what] = path
        return self._written[what]


def _names(statement: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", statement, re.IGNORECASE) is not None


def _is_constant(statement: str) -> bool:
    return re.search(r"\b(values|range|union|array|map|struct|named_struct)\b", statement, re.IGNORECASE) is not None


def _fit(frame: DataFrame) -> DataFrame:
    """The columns in types that Hudi can write."""
    types = {field.name: _NARROWED.get(type(field.dataType)) for field in frame.schema}
    return frame.select(
        *(F.col(f"`{name}`").cast(kind).alias(name) if kind else F.col(f"`{name}`") for name, kind in types.items())
    )


def _write(spark: SparkSession, frame: DataFrame, count: int, path: Path, *, merged: bool) -> None:
    nested = (T.MapType, T.ArrayType, T.StructType)
    order = [F.col(f"`{field.name}`") for field in frame.schema if not isinstance(field.dataType, nested)]
    number = F.row_number().over(Window.orderBy(*(order or [F.lit(1)])))
    rows = frame.select("*", F.lpad(number.cast("string"), 6, "0").alias(_KEY)).cache()
    files = min(_FILES, count)

    def save(some: DataFrame, operation: str) -> None:
        some.write.format("hudi").options(**_options(operation, files, merged=merged)).mode("append").save(str(path))

    save(rows.repartitionByRange(files, _KEY).sortWithinPartitions(_KEY), "bulk_insert")
    if merged:
        save(rows.where(F.col(_KEY).cast("int") % 4 == 1).coalesce(1), "upsert")
    rows.unpersist()


def _options(operation: str, files: int, *, merged: bool) -> dict[str, str]:
    return {
        "hoodie.table.name": "stand_in",
        "hoodie.datasource.write.operation": operation,
        "hoodie.datasource.write.recordkey.field": _KEY,
        "hoodie.datasource.write.partitionpath.field": "",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
        "hoodie.datasource.write.table.type": "MERGE_ON_READ" if merged else "COPY_ON_WRITE",
        "hoodie.bulkinsert.sort.mode": "NONE",
        "hoodie.bulkinsert.shuffle.parallelism": str(files),
        **PLAIN,
    }
