"""Gives each scan of a Python data source its own plan; without it pushed filters are unsound in Spark 4.1 to 4.3.

These versions keep the partitions that a data source plans with the DataFrame's relation, not with the scan
(``PythonDataSourceV2.setReadInfo``). All scans of one relation then read the files of the scan that pushed its filters
last: of ``df.where("i = 0").union(df.where("i = 2"))`` the rows of ``i = 0`` are lost, and so is most of ``df`` itself
after ``df.where("i = 1")``. SPARK-58551 repairs it (``PythonScanBuilder.readInfo``); 4.3.0 has not got it.

``install`` puts a rule into the session's optimizer that gives every scan of a Sargo table a plan of its own. The rule
is Java (``OwnScans.java``), compiled by the Janino that Spark brings along for its generated code. With it columns are
pruned too, and EXPLAIN shows how many file slices are kept. The rule also refuses settings of the session that Hudi's
reader takes for options and that a Python data source does not see.

``scans_are_their_own`` reads a small source to test whether scans have their own plans; without them nothing is pruned.

Facts: docs/facts/spark.md#python-data-sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any
from weakref import WeakSet

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from evaluator.language.errors import UnsupportedError
from handler.spark.catalyst.sessions import has_jvm
from handler.spark.distributed.python_workers import SENTENCE
from handler.spark.pruning.read_options import FROM_SESSION

__all__ = ["ProbeSource", "install", "register_in", "scans_are_their_own", "why_workers_fail"]

_MISSING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")

_CLASS = "io.sargo.spark.OwnScans"
_INSTALLED = "spark.sargo.ownScans"
#: Contexts whose sessions have the rule: those that ``newSession`` makes share the hooks of the first.
_HOOKED: WeakSet[SparkContext] = WeakSet()


def install(spark: SparkSession) -> bool:
    """Put the rule into the session, once; False when this session or this version of Spark does not take it."""
    if not has_jvm(spark):
        return False
    if spark.sparkContext in _HOOKED or spark.conf.get(_INSTALLED, "") == "true":
        return True
    jvm: Any = spark._jvm
    session: Any = spark._jsparkSession
    try:
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
        compiler.cook(_source())
        rule = compiler.getClassLoader().loadClass(_CLASS).newInstance()
        session.extensions().injectPreCBORule(rule)
    except (Py4JError, TypeError):
        return False
    spark.conf.set(_INSTALLED, "true")
    _HOOKED.add(spark.sparkContext)
    return True


def _source() -> str:
    """The rule, with the settings that it refuses."""
    settings = ";".join(f"{name}={harmless}" for name, harmless in FROM_SESSION.items())
    return files("handler.spark.source").joinpath("OwnScans.java").read_text("utf-8").replace("@SETTINGS@", settings)


def scans_are_their_own(spark: SparkSession) -> bool:
    """Whether two scans of one DataFrame read what each of them planned, in this session.

    Raises UnsupportedError when Spark's Python workers lack Sargo: they could read no table.
    """
    register_in(spark, ProbeSource)
    try:
        frame = spark.read.format(ProbeSource.name()).load()
        both = frame.where("number = 0").union(frame.where("number = 1")).collect()
        return sorted(row[0] for row in both) == [0, 1] and frame.count() == 2
    except PySparkException as error:
        why = why_workers_fail(spark, str(error))
        if why:
            raise UnsupportedError(why) from error
        return False


def why_workers_fail(spark: SparkSession, message: str) -> str:
    """What to do about an error of Python workers that lack a module; "" for any other error."""
    missing = _MISSING.search(message)
    if missing is None:
        return ""
    python = f" ({spark.sparkContext.pythonExec})" if has_jvm(spark) else ""
    return SENTENCE.format(python=python, module=missing[1])


def register_in(spark: SparkSession, source: type[DataSource]) -> None:
    """Register a data source in this session, which Spark looks for in the active one."""
    if not has_jvm(spark):
        spark.dataSource.register(source)
        return
    jvm: Any = spark._jvm
    sessions = jvm.org.apache.spark.sql.classic.SparkSession
    active = sessions.getActiveSession()
    sessions.setActiveSession(spark._jsparkSession)
    try:
        spark.dataSource.register(source)
    finally:
        if active.isDefined():
            sessions.setActiveSession(active.get())
        else:
            sessions.clearActiveSession()


class ProbeSource(DataSource):
    """The numbers 0 and 1, one partition each; a filter ``number = n`` plans only its partition."""

    @classmethod
    def name(cls) -> str:
        return "sargo_probe"

    def schema(self) -> str:
        return "number int"

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002
        return _ProbeReader()


class _ProbeReader(DataSourceReader):
    def __init__(self) -> None:
        self._numbers = [0, 1]

    def pushFilters(self, filters: list[Any]) -> list[Any]:  # noqa: N802
        equal = [filter_.value for filter_ in filters if type(filter_).__name__ == "EqualTo"]
        self._numbers = equal or self._numbers
        return filters

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(number) for number in self._numbers]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch([pa.array([partition.value], pa.int32())], names=["number"])
