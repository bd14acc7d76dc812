"""A DataFrame of Parquet files whose sizes are known, without a listing by Spark.

``spark.read.parquet(*paths)`` looks for each file twice, and for more than 32 files it runs a job that does so, which
takes longer than the rest of planning. ``read`` has opened each file for its schema, so it knows their sizes. Spark's
own index of files and its own Parquet source read them then: ``KnownFiles.java`` only gives the index what it would
list. It is compiled by the Janino that Spark brings along for its generated code, in some 50 ms once a process.

    HDFS and the like                  listed by Spark, which asks for the places of blocks there
    Spark Connect, another Spark       listed by Spark
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files as resources
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from handler.spark.catalyst.java_classes import java_class
from handler.spark.catalyst.sessions import has_jvm
from handler.spark.reading.file_schemas import FileFacts

__all__ = ["frame_of_files"]

_CLASS = "io.sargo.spark.KnownFiles"
_STORES = ("", "file", "s3", "s3a", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs", "az", "oss", "cosn", "obs")


def frame_of_files(
    spark: SparkSession,
    files: Sequence[str],
    facts: Mapping[str, FileFacts],
    schema: StructType,
    options: Mapping[str, str],
) -> DataFrame:
    """All rows of Parquet files, by absolute path or URI, read in the schema given. ``facts``: of all, or of none."""
    known = _known(spark, facts, schema, options) if len(facts) == len(files) else None
    return known if known is not None else spark.read.schema(schema).options(**options).parquet(*files)


def _known(
    spark: SparkSession, files: Mapping[str, FileFacts], schema: StructType, options: Mapping[str, str]
) -> DataFrame | None:
    if not has_jvm(spark) or not _are_listed_without_places(list(files)):
        return None
    lines = "\n".join(f"{facts.size}\t{facts.changed}\t{path}" for path, facts in files.items())
    if lines.count("\n") >= len(files):  # a path with a line break
        return None
    try:
        session: Any = spark._jsparkSession
        relation = _compiled(spark._jvm).relation(session, lines, schema.json(), _java_map(spark, options))
        return DataFrame(session.baseRelationToDataFrame(relation), spark)
    except (Py4JError, PySparkException, TypeError):
        return None


def _java_map(spark: SparkSession, options: Mapping[str, str]) -> Any:
    jvm: Any = spark._jvm
    given = java_class(jvm, "java.util.HashMap")()
    for name, value in options.items():
        given.put(name, value)
    return given


def _are_listed_without_places(paths: Sequence[str]) -> bool:
    """Whether the files are local or in an object store, where blocks have no places."""
    return all(path.partition(":")[0] in _STORES or path.startswith("/") for path in paths[:1])


@lru_cache(maxsize=4)
def _compiled(jvm: Any) -> Any:
    """An object of the class. A JVM has one, for Py4J keeps methods by the name of their class."""
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
    compiler.cook(resources("handler.spark.reading").joinpath("KnownFiles.java").read_text("utf-8"))
    return compiler.getClassLoader().loadClass(_CLASS).newInstance()
