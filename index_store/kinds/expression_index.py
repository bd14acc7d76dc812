"""Hudi's expression indexes (``expr_index_<name>``): bounds of a function of a column, or filters of a column's values.

    column_stats type    file key: column id + partition id + file id, 48 characters; the bounds are of the *expression*
    bloom_filters type   file key: partition id + file id, 36 characters; read for ``identity`` of a text column

An index is used for the very same function of the very same column, and only if its definition in ``index.json`` has no
option beside the function's name; other functions of that column learn nothing from it (real Hudi asks an index of
``year(dt)`` about ``month(dt)`` and loses rows). Which functions, and how their bounds are believed:
``expression_functions``. A file without a record makes its slice unknown, such as a log file of deletions. Records of
whole partitions are not used. Source: ``HoodieExpressionIndex``, hudi.md B2.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evaluator.bounds import Trust
from evaluator.columns import UNKNOWN_COUNT, ColumnStatistics
from evaluator.needs import Needs
from evaluator.schema import Field
from evaluator.sources import Source
from evaluator.types import Kind
from index_store.errors import TableError, naming_column
from index_store.formats.avro_columns import ColumnStatsDecoder, StatsRecord
from index_store.formats.bloom import BloomFilter
from index_store.formats.hfile import entries
from index_store.formats.keys import column_id, file_name_id, partition_id
from index_store.index_info import DEFINITIONS
from index_store.kinds.base import ColumnCoverage, Coverage, answer_of_keys, column_coverage
from index_store.kinds.bloom_filters import load_filters
from index_store.kinds.column_stats import make as column_stats
from index_store.kinds.expression_functions import (
    EXPRESSION_FUNCTIONS,
    ExpressionFunction,
    believe_expression,
    is_used,
)
from index_store.kinds.file_rules import FileStatistics
from index_store.kinds.slice_union import SliceFiles, unite
from index_store.merge_rule import merges_to_stored_values
from index_store.metadata_table import Deletes, MetadataTable
from index_store.schema_history import read_name_history

if TYPE_CHECKING:
    from index_store.file_slices import FileSlices
    from index_store.table import Table

__all__ = ["PREFIX", "ExpressionIndex", "make"]

PREFIX = "expr_index_"
VERSION = 9
_FILE_KEY = 48


def make(table: Table, slices: FileSlices) -> ExpressionIndex | None:
    """The kind, if the table has expression indexes and its metadata table describes the latest commit.

    Indexes of tables before version 9 were never held against the rows, and are not used.
    """
    if table.version < VERSION or table.metadata is None or not table.metadata_is_current:
        return None
    partitions = tuple(name for name in table.available_indexes if name.startswith(PREFIX))
    return ExpressionIndex(table, slices, table.metadata, partitions) if partitions else None


@dataclass(frozen=True, slots=True)
class _Definition:
    """One index: its partition of the metadata table, and the function and the column that it is of."""

    partition: str
    type: str
    function: str
    column: str


@dataclass(slots=True)
class _Stored:
    """What an index holds of each file, by key, and the keys that are marked as deleted."""

    records: dict[bytes, list[StatsRecord]] = field(default_factory=dict)
    deleted: dict[bytes, bytes] = field(default_factory=dict)

    def put(self, key: bytes, record: StatsRecord | None) -> None:
        """Put a newer record on top, as in ``column_stats``: deleted or tight replaces, anything else widens."""
        if record is None or record.deleted:
            self.records.pop(key, None)
            if record is not None:
                self.deleted[key] = record.file_name
        else:
            self.deleted.pop(key, None)
            there = [] if record.tight else self.records.get(key, [])
            self.records[key] = [*(one for one in there if one != record), record]


class ExpressionIndex:
    """All expression indexes of a table. Each is read when its column is first asked for."""

    name = "expression_index"

    def __init__(self, table: Table, slices: FileSlices, metadata: MetadataTable, partitions: tuple[str, ...]) -> None:
        self._table = table
        self._slices = slices
        self._metadata = metadata
        self._partitions = partitions
        self._files: SliceFiles | None = None
        self._known: dict[str, ColumnStatistics | None] = {}
        self._blooms: dict[str, dict[int, BloomFilter | None]] = {}

    def needs(self, asked: Needs) -> Needs:
        """The very functions that there are bounds of, and look-ups of columns that there are filters of."""
        return Needs(functions=tuple([(name, column) for name, column in asked.functions
                                      if self._bounds_of(name, column)]),
                     keys=tuple([one for one in asked.keys if not one.function
                                 and any(_is_bloom_of(index, one.column) for index in self._definitions)]))

    def answer(self, needs: Needs) -> Source:
        """Bounds of the functions; filters are read for the slices that a look-up comes to."""
        return replace(answer_of_keys(self.name, self.may_hold), expressions=self.expressions(needs.functions))

    def expressions(self, functions: Sequence[tuple[str, Field]]) -> Mapping[tuple[str, str], ColumnStatistics]:
        """Statistics of functions of columns, by (function, column). Raises StatsError or TableError."""
        found: dict[tuple[str, str], ColumnStatistics] = {}
        for name, column in functions:
            for one, function in self._bounds_of(name, column):
                if one.partition not in self._known:
                    with naming_column(self._metadata.storage.absolute(one.partition), column.name):
                        self._known[one.partition] = self._build(one, column, function)
                statistics = self._known[one.partition]
                if statistics is not None:
                    found[name, column.name] = statistics
        return found

    def _bounds_of(self, name: str, column: Field) -> list[tuple[_Definition, ExpressionFunction]]:
        """The indexes of the bounds of this function of this column."""
        found = ((one, EXPRESSION_FUNCTIONS.get(one.function)) for one in self._definitions
                 if one.column == column.name and one.type == "column_stats")
        return [(one, function) for one, function in found
                if function is not None and name in function.names and column.type.kind is function.over]

    def may_hold(self, column: Field, values: Sequence[object], candidates: npt.NDArray[np.bool_] | None = None
                 ) -> npt.NDArray[np.bool_] | None:
        """False for the slices whose filter of the column's own values holds none of these."""
        texts = [value for value in values if isinstance(value, str) and value]
        found = [one for one in self._definitions if _is_bloom_of(one, column)]
        if not found or len(texts) < len(values):
            return None
        raw = [text.encode("utf-8", "surrogatepass") for text in texts]
        mask = np.ones(len(self._slices), np.bool_)
        places = range(len(mask)) if candidates is None else np.flatnonzero(candidates).tolist()
        for one in found:
            for place, bloom in self._filters(one, places).items():
                mask[place] &= any(bloom.may_hold(key) for key in raw)
        return mask

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """How many slices have usable statistics of each expression, and filters of each column."""
        functions = [(function, column) for column in columns for function in EXPRESSION_FUNCTIONS]
        known = {f"{function}({column})": column_coverage(statistics)
                 for (function, column), statistics in self.expressions(functions).items()}
        n = len(self._slices)
        for column in columns:
            for one in self._definitions:
                if _is_bloom_of(one, column):
                    usable = len(self._filters(one, range(n)))
                    reasons = {Trust.OK: usable, Trust.NO_RECORD: n - usable}
                    known[column.name] = ColumnCoverage(usable, {why: count for why, count in reasons.items() if count})
        return Coverage(self.name, self._slices.instant, n, known)

    @cached_property
    def _definitions(self) -> tuple[_Definition, ...]:
        """What index.json says of the indexes, where that is no more than a function and one column."""
        storage = self._table.storage
        path = self._table.properties.get("hoodie.table.index.defs.path") or DEFINITIONS
        path = path[len(storage.root):].lstrip("/") if path.startswith(storage.root) else path
        try:
            bodies = json.loads(storage.read(path))["indexDefinitions"]
            found = [(name, bodies[name]) for name in self._partitions if name in bodies]
            return tuple(_Definition(name, str(body["indexType"]), str(body["indexFunction"]), body["sourceFields"][0])
                         for name, body in found
                         if len(body["sourceFields"]) == 1 and is_used(body))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            why = f"the index definitions cannot be understood: {error}"
            raise TableError(storage.absolute(path), why) from error

    @property
    def _slice_files(self) -> SliceFiles:
        if self._files is None:
            self._files = SliceFiles.of(self._slices)
        return self._files

    def _build(self, one: _Definition, column: Field, function: ExpressionFunction) -> ColumnStatistics | None:
        """Join the records with the slices' files, believe what can be believed, unite per slice."""
        stored, files = self._read(one), self._slice_files
        records: list[StatsRecord] = []
        places: list[int] = []
        for key, versions in stored.records.items():
            place = self._place(versions[0].file_name, key)
            if place >= 0 and all(record.column == column.name.encode() for record in versions):
                records.extend(versions)
                places.extend([place] * len(versions))
        if not records:
            return None
        if column.name in read_name_history(self._table.storage).reused:
            return ColumnStatistics.unknown(function.result, files.slices, Trust.RENAMED)
        gone = [place for key, name in stored.deleted.items() if (place := self._place(name, key)) >= 0]
        rows = FileStatistics.of(records, np.array(places, np.intp), function.result, "", self._table.version)
        custom = not merges_to_stored_values(self._table.properties)
        found = unite(believe_expression(rows, files, function), files, np.array(gone, np.intp), custom_merge=custom)
        return self._with_column(found, column)

    def _with_column(self, found: ColumnStatistics, column: Field) -> ColumnStatistics:
        """Leave out what the column's own statistics doubt: days of another calendar, files with another type."""
        kind = column_stats(self._table, self._slices)
        own = None if kind is None else kind.statistics([column]).get(column.name)
        n = len(found)
        ancient = np.zeros(n, np.bool_)
        if column.type.kind is Kind.DATE:
            ancient = np.ones(n, np.bool_) if own is None else ~own.lo_known
        other = np.zeros(n, np.bool_) if own is None else own.trust == Trust.WRONG_TYPE
        usable = ~ancient & ~other
        trust = np.where(ancient & (found.trust == Trust.OK), np.uint8(Trust.ANCIENT), found.trust)
        return replace(found, parts=None, lo_known=found.lo_known & usable, hi_known=found.hi_known & usable,
                       null_count=np.where(usable, found.null_count, UNKNOWN_COUNT),
                       trust=np.where(other, np.uint8(Trust.WRONG_TYPE), trust))

    def _place(self, file_name: bytes, key: bytes) -> int:
        """Which file of the slices a record describes, or -1, as in ``column_stats``."""
        files = self._slice_files
        place = files.by_name.get(file_name, -1)
        return place if place != SliceFiles.AMBIGUOUS else files.by_partition.get((key[12:24], file_name), -1)

    def _read(self, one: _Definition) -> _Stored:
        """The records of single files; those of partitions have shorter keys."""
        prefix, stored = column_id(one.column), _Stored()
        for group in self._metadata.groups(one.partition):
            for layer in self._metadata.layers(group):
                if isinstance(layer, Deletes):
                    for text in layer.keys:
                        stored.put(text.encode("utf-8", "surrogatepass"), None)
                    continue
                with naming_column(layer.path, one.column):
                    decode = ColumnStatsDecoder(layer.hfile.schema).decode
                    for block in layer.hfile.blocks([prefix]):
                        for key, start, end in entries(block):
                            if len(key) == _FILE_KEY and key.startswith(prefix):
                                stored.put(key, decode(block, start, end) if end > start else None)
        return stored

    def _filters(self, one: _Definition, places: Iterable[int]) -> Mapping[int, BloomFilter]:
        """The filters of these slices, as far as they are one base file and have one. Each is read once."""
        known = self._blooms.setdefault(one.partition, {})
        wanted: dict[bytes, int] = {}
        for place in places:
            item = self._slices[place]
            if place not in known and item.base_file and not item.log_files:
                wanted[partition_id(item.partition) + file_name_id(item.base_file.rpartition("/")[2])] = place
        if wanted:
            found: dict[bytes, BloomFilter] = {}
            with naming_column(self._metadata.storage.absolute(one.partition), one.column):
                for group in self._metadata.groups(one.partition):
                    for layer in self._metadata.layers(group):
                        if isinstance(layer, Deletes):
                            for key in layer.keys:
                                found.pop(key.encode("utf-8", "surrogatepass"), None)
                        else:
                            with naming_column(layer.path, one.column):
                                load_filters(layer.hfile, wanted, found)
            known.update({place: found.get(key) for key, place in wanted.items()})
        return {place: bloom for place in places if (bloom := known.get(place)) is not None}


def _is_bloom_of(one: _Definition, column: Field) -> bool:
    return (one.type == "bloom_filters" and one.function == "identity" and one.column == column.name
            and column.type.kind is Kind.STRING)
