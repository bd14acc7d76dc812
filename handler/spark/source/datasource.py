"""``spark.read.format("sargo")``: a Hudi table as a Python data source, of which a query reads the files it needs.

    spark.read.format("sargo").load("/data/trips").where("fare > 50")
    CREATE TEMPORARY VIEW trips USING sargo OPTIONS (path '/data/trips')

    path            the table's path or URI
    as_of           an instant or a date; by default the latest commit when the DataFrame is made, which it keeps to
    query           "snapshot", or "read_optimized": base files alone
    storage.<name>  what the file system needs: ``storage.region``, ``storage.endpoint`` and so on
    hoodie.<name>   what only the table's entry in a catalog says of it, such as ``hoodie.index.type``

The optimizer pushes filters (``pushed_filters``); they prune the table's file slices and are given back, so that Spark
applies them to the rows. Each kept slice is a partition, read in Arrow batches on an executor (``slice_rows``); where
``own_scans`` is in the session, only the columns of the query are read. ``handler.spark.register`` makes the format
known.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import Constant, HudiExpression
from handler.planning.prune import prune
from handler.spark.pruning.schemas import spark_schema
from handler.spark.reading.slice_rows import slice_batches
from handler.spark.reading.slice_source import SliceSource
from handler.spark.source.pushed_filters import condition_of_filters
from index_store import FileSlice
from index_store.opened_table import OpenTable, open_table

__all__ = ["PruningSource", "SargoSource", "SlicePartition"]

_QUERIES = ("snapshot", "read_optimized")
_STORAGE, _TABLE = "storage.", "hoodie."
_KNOWN = ("path", "as_of", "query")
_ALIKE = 0.75


class SargoSource(DataSource):
    """The format "sargo" where scans may not be pruned: it reads every file slice."""

    _instant: str | None = None

    @classmethod
    def name(cls) -> str:
        return "sargo"

    def schema(self) -> StructType:
        """The table's columns. Raises TableError and UnsupportedError; what they say reaches the user."""
        opened = self._open()
        self._instant = opened.at(self.options.get("as_of")).slices.instant
        found = spark_schema(opened.table, self._instant)
        return StructType([StructField(field.name, field.dataType, True) for field in found])

    def reader(self, schema: StructType) -> TableReader:
        """A reader of these columns."""
        return TableReader(self, schema)

    @property
    def path(self) -> str:
        """Where the table is. Raises UnsupportedError when nobody said it."""
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
        """Whether log files are left out."""
        return bool(self._query() == _QUERIES[1])

    def _query(self) -> str:
        query = str(self.options.get("query", _QUERIES[0]))
        if query not in _QUERIES:
            raise UnsupportedError(f"query {query!r} (known: {', '.join(_QUERIES)})")
        return query

    def storage_options(self) -> Mapping[str, str]:
        """The options of the table's file system."""
        return {name[len(_STORAGE) :]: value for name, value in self.options.items() if name.startswith(_STORAGE)}

    def open_at(self) -> tuple[OpenTable, str | None]:
        """The table, and as of when it is read: the instant when the DataFrame was made, or None for the latest."""
        opened = self._open()
        as_of = self._instant or self.options.get("as_of")
        last = opened.table.timeline.last
        return opened, None if last is not None and as_of == last.requested else as_of

    def _open(self) -> OpenTable:
        self._query()
        for name in self.options:  # a catalog adds others, such as "owner": only a slip of the pen is refused
            meant = difflib.get_close_matches(name, _KNOWN, 1, _ALIKE)
            if meant and name not in _KNOWN:
                raise UnsupportedError(f'option {name} of format("sargo"): is {meant[0]} meant?')
        options = {name: value for name, value in self.options.items() if name.startswith(_TABLE)}
        return open_table(self.path, options, storage_options=self.storage_options())


class PruningSource(SargoSource):
    """The format "sargo" where each scan keeps what it planned (``own_scans``): filters prune file slices."""

    def reader(self, schema: StructType) -> TableReader:
        """A reader of these columns that takes filters."""
        return PruningReader(self, schema)


class SlicePartition(InputPartition):
    """A kept slice, or none at all. ``note`` says how many are kept; EXPLAIN takes it from here (``own_scans``)."""

    def __init__(self, item: FileSlice | None, note: str) -> None:
        super().__init__(None)
        self.item = item
        self.note = note


class TableReader(DataSourceReader):
    """Plans on the driver, and reads on executors, to which it travels before it has planned."""

    def __init__(self, source: SargoSource, schema: StructType) -> None:
        self._source = source
        self._read_optimized = source.read_optimized
        opened, as_of = source.open_at()
        self._as_of = as_of
        instant = opened.at(as_of).slices.instant
        self._slices = SliceSource.of(opened.table, source.path, instant, source.storage_options())
        self._schema = schema
        self._opened: OpenTable | None = opened
        self._condition: HudiExpression = Constant(True)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_opened": None, "_condition": Constant(True)}

    def partitions(self) -> Sequence[InputPartition]:
        """One for each kept slice. Raises UnsupportedError when one cannot be read rightly."""
        opened = self._opened or self._source.open_at()[0]
        plan = prune(opened, self._condition, "spark", self._as_of, time_zone="UTC")
        kept: Sequence[FileSlice] = plan.kept
        if self._read_optimized:  # an index may know of a row only what the log made of it
            rows = {(one.partition, one.file_id) for one in kept}
            kept = [
                one for one in plan.slices if one.base_file and (one.log_files or (one.partition, one.file_id) in rows)
            ]
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
        if item is not None:
            yield from slice_batches(
                self._slices, item, to_arrow_schema(self._schema), read_optimized=self._read_optimized
            )


class PruningReader(TableReader):
    """The same with filters. Spark refuses such a reader where ``spark.sql.python.filterPushdown.enabled`` is off."""

    def pushFilters(self, filters: list[Any]) -> list[Any]:  # noqa: N802
        """Take note of the filters, and give them all back: rows are Spark's business."""
        self._condition = condition_of_filters(filters, self._schema)
        return filters
