"""The tables that Spark's scripts take for granted."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from tests.tables.maven import SPARK_TESTS, fetched

__all__ = ["given_tables"]

_MANY = ", ".join(
    f"{name} int"
    for name in (
        *("unique1", "unique2", "two", "four", "ten", "twenty", "hundred", "thousand"),
        *("twothousand", "fivethous", "tenthous", "odd", "even"),
    )
)
_MANY += ", stringu1 string, stringu2 string, string4 string"
#: Name -> the file with its rows, and its columns.
_FILES = {"aggtest": ("agg", "a int, b float"), "onek": ("onek", _MANY), "tenk1": ("tenk", _MANY)}
_CONSTANTS = {
    "testdata": "select cast(id + 1 as int) key, cast(id + 1 as string) value from range(100)",
    "arraydata": "select * from values (array(1, 2, 3), array(array(1, 2, 3))), (array(2, 3, 4), array(array(2, 3, 4)))"
    " t(arraycol, nestedarraycol)",
}


def given_tables(spark: SparkSession, folder: Path) -> Iterator[tuple[str, DataFrame]]:
    """Their names and rows. ``folder``: where the files of their rows are put."""
    for name, sql in _CONSTANTS.items():
        yield name, spark.sql(sql)
    with zipfile.ZipFile(fetched(*SPARK_TESTS)) as archive:
        for name, (file, columns) in _FILES.items():
            path = archive.extract(f"test-data/postgresql/{file}.data", folder)
            yield name, spark.read.schema(columns).option("delimiter", "\t").csv(path)
