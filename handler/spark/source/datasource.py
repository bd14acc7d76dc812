"""``spark.read.format("sargo")``: a Hudi table as a Python data source; a query reads only the files that it needs.

    spark.read.format("sargo").load("/data/trips").where("fare > 50")
    CREATE TEMPORARY VIEW trips USING sargo OPTIONS (path '/data/trips')

    path            the table's path or URI
    as_of           an instant or a date; by default the latest commit at the time when the DataFrame is made
    query           "snapshot", or "read_optimized": base files alone
    storage.<name>  an option of the file system: ``storage.region``, ``storage.endpoint`` and so on
    hoodie.<name>   a property that only the table's entry in a catalog has, such as ``hoodie.index.type``
    as.of.instant, hoodie.datasource.query.type and Hudi's other read options: ``handler.spark.pruning.read_options``

The columns are the table's, or those of ``.schema(...)``: some of the table's, in any order, each of the table's type.

The optimizer pushes filters (``pushed_filters``). They prune the table's file slices and are returned to Spark, which
applies them to the rows. Each kept slice is a partition, read in Arrow batches on an executor (``slice_rows``). With
the rule of ``scan_plans`` in the session, only the columns of the query are read. ``handler.spark.register`` registers
the format.

Facts: docs/facts/spark.md#python-data-sources.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar, cast, get_args

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructField, StructType

from evaluator.language.errors import SargoError, UnsupportedError
from evaluator.language.expression import Constant, HudiExpression
from handler.planning.prune import OnFailure, plan_expression
from handler.rows.slice_rows import slice_batches
from handler.rows.slice_source import SliceSource
from handler.spark.arrow_schemas import to_arrow_schema
from handler.spark.pruning.read_optimized import slices_of_base_files
from handler.spark.pruning.read_options import AS_OF, Query, ReadOptions, agreed, read_options
from handler.spark.pruning.schemas import spark_schema
from handler.spark.reading.columns_by_id import check_names_stay
from handler.spark.source.given_schema import check_schema
from handler.spark.source.pushed_filters import condition_of_filters
from index_store import FileSlice
from index_store.opened_table import OpenTable, open_table
from index_store.table.table_options import USED, closest

__all__ = ["PruningSource", "SargoSource", "SlicePartition"]

_STORAGE, _TABLE = "storage.", "hoodie."
_OPTIONS = ("path", "as_of", "query")
#: Similarity from which an unknown option is taken for a misspelt one.
_MISSPELT = 0.75


Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


def tells_briefly(method: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The method, whose errors of ours have no traceback of their own: Spark prints it before their sentence."""

    @functools.wraps(method)
    def telling(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            return method(*args, **kwargs)
        except SargoError as error:
            told = error.with_traceback(None)
        raise told from None

    return telling


class SargoSource(DataSource):
    """The format "sargo" in sessions where pruning is unsound: every file slice is read."""

    _instant: str | None = None

    @classmethod
    def name(cls) -> str:
        return "sargo"

    @tells_briefly
    def schema(self) -> StructType:
        """The table's columns. Raises TableError and UnsupportedError, whose messages reach the user."""
        opened = self._open()
        self._instant = opened.at(self._asked_as_of()).slices.instant
        return table_columns(opened, self._instant)

    @tells_briefly
    def reader(self, schema: StructType) -> TableReader:
        """A reader of these columns."""
        return TableReader(self, schema)

    @property
    def path(self) -> str:
        """The table's path. Raises UnsupportedError when the option is missing."""
        path = self.options.get("path")
        if not path:
            raise UnsupportedError(
                'format("sargo") without a path: .load(path), or .option("path", ...). Spark does '
                "not pass on that of a table in the catalog: CREATE TEMPORARY VIEW ... USING sargo "
                "OPTIONS (path '...')"
            )
        return str(path)

    @property
    def read_optimized(self) -> bool:
        """Whether only base files are read."""
        return self._query() == "read_optimized"

    def _query(self) -> Query:
        query = self.options.get("query")
        if query is not None and query not in get_args(Query):
            raise UnsupportedError(f"query {query!r} (known: {', '.join(get_args(Query))})")
        return agreed("query", cast("Query | None", query), self._read_options().query) or "snapshot"

    def _asked_as_of(self) -> str | None:
        given: str | None = self.options.get("as_of")
        return agreed("as_of", given, self._read_options().as_of)

    def _read_options(self) -> ReadOptions:
        """Hudi's options among those given. Raises UnsupportedError for one that asks for other rows."""
        return read_options(
            {
                name: value
                for name, value in self.options.items()
                if name not in _OPTIONS and not name.startswith(_STORAGE)
            }
        )

    def storage_options(self) -> Mapping[str, str]:
        """The options of the table's file system."""
        return {name[len(_STORAGE) :]: value for name, value in self.options.items() if name.startswith(_STORAGE)}

    def open_at(self) -> tuple[OpenTable, str | None]:
        """The table, and the instant at which the DataFrame was made; None if that is the latest."""
        opened = self._open()
        as_of = self._instant or self._asked_as_of()
        last = opened.table.timeline.last
        return opened, None if last is not None and as_of == last.requested else as_of

    def _open(self) -> OpenTable:
        asked = self._read_options()
        self._query()
        for name in self.options:  # a catalog adds options such as "owner": only misspelt ones are refused
            meant = difflib.get_close_matches(name, _OPTIONS, 1, _MISSPELT) or _misspelt_table_option(name)
            if meant and name not in (*_OPTIONS, AS_OF):
                raise UnsupportedError(f'option {name} of format("sargo"): is {meant[0]} meant?')
        options = {name: value for name, value in asked.table.items() if name.startswith(_TABLE)}
        opened = open_table(self.path, options, storage_options=self.storage_options())
        if asked.by_id:
            check_names_stay(opened.table, 'format("hudi")')
        return opened


def table_columns(opened: OpenTable, instant: str | None) -> StructType:
    """The columns of the table at an instant, all of them nullable."""
    return StructType([StructField(field.name, field.dataType, True) for field in spark_schema(opened.table, instant)])


def _misspelt_table_option(name: str) -> list[str]:
    """The option of a table that is meant by a name without its prefix; ``open_table`` checks those that have it."""
    meant = "" if name.startswith((_TABLE, _STORAGE, "index.")) else closest(name, USED)
    return [meant] if meant else []


class PruningSource(SargoSource):
    """The format "sargo" in sessions where each scan keeps its own plan (``scan_plans``): filters prune file slices."""

    @tells_briefly
    def reader(self, schema: StructType) -> TableReader:
        """A reader of these columns that takes filters."""
        return PruningReader(self, schema)


class SlicePartition(InputPartition):
    """A kept slice, or None when no slice is kept. ``note``: the number of kept slices, which EXPLAIN shows."""

    def __init__(self, item: FileSlice | None, note: str) -> None:
        super().__init__(None)
        self.item = item
        self.note = note


class TableReader(DataSourceReader):
    """Plans on the driver and reads on executors; Spark pickles it before it plans."""

    def __init__(self, source: SargoSource, schema: StructType) -> None:
        self._source = source
        self._read_optimized = source.read_optimized
        opened, as_of = source.open_at()
        self._as_of = as_of
        instant = opened.at(as_of).slices.instant
        check_schema(schema, table_columns(opened, instant))
        self._slices = SliceSource.of(opened.table, source.path, instant, source.storage_options())
        self._schema = schema
        self._opened: OpenTable | None = opened
        self._condition: HudiExpression = Constant(True)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_opened": None, "_condition": Constant(True)}

    @tells_briefly
    def partitions(self) -> Sequence[InputPartition]:
        """One partition for each kept slice. Raises UnsupportedError when a slice cannot be read correctly."""
        opened = self._opened or self._source.open_at()[0]
        plan = plan_expression(opened, self._condition, "spark", self._as_of, "UTC", on_failure=OnFailure.SKIP_NOTHING)
        kept: Sequence[FileSlice] = plan.kept
        if self._read_optimized:
            kept = slices_of_base_files(plan)
        logged = next((one for one in kept if one.log_files), None)
        if logged is not None and not self._read_optimized and self._slices.not_merged:
            raise UnsupportedError(
                f"{logged.log_files[0]}: {self._slices.not_merged}. Use handler.spark.read with the "
                'Hudi bundle on the class path, or read the base files alone: option "query", '
                '"read_optimized"'
            )
        note = f"file slices kept: {len(kept)} of {len(plan.slices)}"
        return [SlicePartition(item, note) for item in kept] or [SlicePartition(None, note)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a slice."""
        item = cast(SlicePartition, partition).item
        if item is None:
            return
        try:
            yield from slice_batches(
                self._slices, item, to_arrow_schema(self._schema), read_optimized=self._read_optimized
            )
        except SargoError as error:
            told = error.with_traceback(None)
        else:
            return
        raise told from None


class PruningReader(TableReader):
    """The same with filters. Spark refuses such a reader where ``spark.sql.python.filterPushdown.enabled`` is off."""

    def pushFilters(self, filters: list[Any]) -> list[Any]:  # noqa: N802
        """Keep the filters for pruning, and return all of them, so that Spark applies them to the rows."""
        self._condition = condition_of_filters(filters, self._schema)
        return filters
