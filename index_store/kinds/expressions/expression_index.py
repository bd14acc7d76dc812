"""Hudi's expression indexes (``expr_index_<name>``): bounds of a function of a column, or filters of its values.

    column_stats type    file key: column id + partition id + file id, 48 characters; the bounds are of the *expression*
    bloom_filters type   file key: partition id + file id, 36 characters; the texts of the expression's values

An index is used for its function of its column, and only if its definition in ``index.json`` has no option beside the
function's name. It answers look-ups of the column itself and of the other letter case, too (``images``), and nothing
about other functions: Hudi itself applies an index of ``year(dt)`` to ``month(dt)``, and loses rows. The supported
functions are in ``expression_functions``, the rules by which their bounds are believed in ``expression_rules``.

A file without a record makes its slice unknown, such as a log file of deletions. Filters are used where the slice is
one base file. Records of whole partitions are not used. Source: ``HoodieExpressionIndex``,
docs/facts/hudi-expression-index.md; checked against the rows of tables of Hudi 1.0.2 and 1.1.1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evaluator.binding.leaves import Lookup
from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import Declined, StatisticsProvider
from evaluator.language.records import frozen
from evaluator.language.schema import Field
from evaluator.language.types import Kind
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics
from evaluator.statistics.distrust import ANCIENT_DAY, Trust
from index_store.formats.bloom import BloomFilter
from index_store.formats.bloom_keys import ProbedKeys
from index_store.formats.keys import column_id, file_name_id, partition_id
from index_store.kinds.base import ColumnCoverage, Coverage, column_coverage
from index_store.kinds.column_stats.column_stats import ColumnStats, read_columns
from index_store.kinds.column_stats.column_stats import make as column_stats
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.kinds.column_stats.slice_union import unite
from index_store.kinds.column_stats.stats_by_slice import RecordMatcher
from index_store.kinds.expression_functions import (
    EXPRESSION_FUNCTIONS,
    IDENTITY,
    ExpressionFunction,
)
from index_store.kinds.expressions.expression_keys import texts_of_bound, texts_of_bounds, texts_of_values
from index_store.kinds.expressions.expression_rules import believe_expression
from index_store.kinds.expressions.images import images_of, might_lie_in
from index_store.kinds.index_info import EXPRESSION_PREFIX, IndexInfo, read_index_info
from index_store.kinds.record_keys.bloom_filters import load_filters
from index_store.kinds.record_keys.record_keys import too_many_probes
from index_store.kinds.statistics_memory import NoMemory, StatisticsMemory
from index_store.storage.errors import StatsError, naming_column
from index_store.table.merge_rule import merges_to_stored_values
from index_store.table.metadata_table import Deletes, MetadataTable
from index_store.table.schema_history import read_name_history

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["ExpressionIndex", "make"]

Mask = npt.NDArray[np.bool_]


def make(table: Table, slices: FileSlices) -> ExpressionIndex | None:
    """The kind, if the table has expression indexes and its metadata table describes the latest commit."""
    if (
        table.metadata is None
        or not table.metadata_is_current
        or not any(name.startswith(EXPRESSION_PREFIX) for name in table.available_indexes)
    ):
        return None
    return ExpressionIndex(table, slices, table.metadata)


@frozen
class _Index:
    """One index that is used: its partition of the metadata table, and the function and the column that it is of."""

    partition: str
    is_filter: bool
    function: ExpressionFunction
    column: str

    def is_of(self, name: str, column: Field) -> bool:
        """Whether it indexes exactly this function of this column."""
        return self.column == column.name and name in self.function.names and column.type.kind is self.function.over

    def version_over(self, column: Field) -> str:
        """What ``index.json`` says of it, which is no part of a table's state."""
        return json.dumps([self.function.names[0], str(self.function.result), column.name, str(column.type)])


class ExpressionIndex:
    """All expression indexes of a table. Each is read when a filter first uses its expression."""

    name = "expression_index"

    def __init__(self, table: Table, slices: FileSlices, metadata: MetadataTable) -> None:
        self._table = table
        self._slices = slices
        self._metadata = metadata
        self._known: dict[str, ColumnStatistics | None] = {}
        self._blooms: dict[str, dict[int, BloomFilter | None]] = {}
        self._doubtful: dict[str, tuple[Mask, Mask]] = {}
        self._own: dict[str, ColumnStatistics | None] = {}
        self._memory: StatisticsMemory = NoMemory()

    def remember_statistics(self, memory: StatisticsMemory) -> None:
        """Take the bounds that others have read of the same state of the table, and keep those that are read."""
        self._memory = memory

    def requires(self, asked: RequiredStatistics) -> RequiredStatistics:
        """Functions that have an index of bounds, and look-ups in functions that have an index of filters."""
        return RequiredStatistics(
            functions=tuple([one for one in asked.functions if any(self._of(*one, is_filter=False))]),
            keys=tuple([one for one in asked.keys if self._answers(one)]),
        )

    def provide(self, required: RequiredStatistics) -> StatisticsProvider:
        """Bounds of the functions; filters are read at a look-up, for the slices that are still candidates."""
        return StatisticsProvider(self.name, {}, self.might_contain, self.expressions(required.functions))

    def expressions(self, functions: Sequence[tuple[str, Field]]) -> Mapping[tuple[str, str], ColumnStatistics]:
        """Statistics of functions of columns, by (function, column). Raises StatsError or TableError."""
        found: dict[tuple[str, str], ColumnStatistics] = {}
        for name, column in functions:
            for one in self._of(name, column, is_filter=False):
                if one.partition not in self._known:
                    with naming_column(self._metadata.storage.absolute(one.partition), column.name):
                        self._known[one.partition] = self._kept(one, column)
                statistics = self._known[one.partition]
                if statistics is not None:
                    found[name, column.name] = statistics
        return found

    def _answers(self, lookup: Lookup) -> bool:
        """Whether a filter, or the bounds of another function, may rule slices out."""
        return bool(self._of(lookup.function, lookup.column, is_filter=True)) or any(
            one.is_filter or images_of(one.function, lookup) is not None for one in self._of_images(lookup)
        )

    def _of_images(self, lookup: Lookup) -> list[_Index]:
        """The indexes of functions that have few results where the lookup finds a row, if there is none of its own."""
        column = lookup.column
        if column.name in self._table.partition_fields or any(
            self._of(lookup.function, column, is_filter=is_filter) for is_filter in (True, False)
        ):
            return []
        return [
            one
            for one in self._used
            if one.column == lookup.column.name
            and one.function.names[0] not in ("", lookup.function)
            and (not lookup.function or (one.function.letters and not one.is_filter))
            and one.is_of(one.function.names[0], lookup.column)
        ]

    def might_contain(self, lookup: Lookup, candidates: Mask | None = None) -> Mask | Declined | None:
        """False for the slices whose filter or bounds hold none of the values that such a row has."""
        by_bounds = self._within_bounds(lookup)
        by_filter = self._in_filters(lookup, candidates)
        if by_bounds is None or isinstance(by_filter, Declined):
            return by_filter if by_bounds is None else by_bounds
        return by_bounds if by_filter is None else by_bounds & by_filter

    def _within_bounds(self, lookup: Lookup) -> Mask | None:
        mask: Mask | None = None
        for one in self._of_images(lookup):
            images = None if one.is_filter else images_of(one.function, lookup)
            name = one.function.names[0]
            statistics = None if images is None else self.expressions([(name, lookup.column)])
            if images and statistics:
                within = might_lie_in(images, statistics[name, lookup.column.name])
                mask = within if mask is None else mask & within
        return mask

    def _in_filters(self, lookup: Lookup, candidates: Mask | None) -> Mask | Declined | None:
        filters = list(self._of(lookup.function, lookup.column, is_filter=True))
        others = [one for one in self._of_images(lookup) if one.is_filter]
        asked = len(self._slices) if candidates is None else int(np.count_nonzero(candidates))
        too_many = too_many_probes(len(lookup.values), asked) if filters or others else None
        if too_many is not None:
            return too_many
        of_results = [(one, texts_of_values(one.function, lookup.values)) for one in filters]
        of_column = [(one, texts_of_bounds(one.function, lookup.values)) for one in others]
        found = [(one, texts) for one, texts in [*of_results, *of_column] if texts is not None]
        if not found or self._is_reused(lookup.column):
            return None
        mask = np.ones(len(self._slices), np.bool_)
        ancient, other = self._doubts(lookup.column)
        usable = ~(ancient | other) if candidates is None else candidates & ~(ancient | other)
        for one, texts in found:
            probed = ProbedKeys(texts)
            for slice_index, bloom in self._filters(one, np.flatnonzero(usable).tolist()).items():
                self._check_column(one, lookup.column, slice_index, bloom)
                mask[slice_index] &= probed.any_in(bloom)
        return mask

    def _check_column(self, one: _Index, column: Field, slice_index: int, bloom: BloomFilter) -> None:
        """Raises StatsError when a filter lacks the column's own bounds, which are values: it is of another column.

        ``index.json``, which names the column, has no checksum. Only filters that are looked into anyway are checked.
        """
        own = self._own.get(column.name)
        if own is None or own.trust[slice_index] != Trust.OK:
            return
        for bound, known in ((own.lo, own.lo_known), (own.hi, own.hi_known)):
            texts = texts_of_bound(one.function, bound[slice_index]) if known[slice_index] else None
            if texts and not any(bloom.might_contain(text) for text in texts):
                why = f"{one.partition} lacks a value of the column, so it is of another one"
                raise StatsError(self._table.path, column.name, why)

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """How many slices have usable statistics or filters of each expression, ``lower(s)``; a column's own: ``s``."""
        n = len(self._slices)
        known: dict[str, ColumnCoverage] = {}
        for column in columns:
            for one in self._used:
                name = one.function.names[0]
                if not one.is_of(name, column):
                    continue
                if one.is_filter:
                    usable = 0 if self._is_reused(column) else len(self._filters(one, range(n)))
                    reasons = {Trust.OK: usable, Trust.NO_RECORD: n - usable}
                    covered = ColumnCoverage(usable, {why: count for why, count in reasons.items() if count})
                else:
                    statistics = self.expressions([(name, column)]).get((name, column.name))
                    covered = column_coverage(
                        statistics or ColumnStatistics.unknown(one.function.result, n, Trust.NO_RECORD)
                    )
                text = f"{name}({column.name})" if name else column.name
                if text not in known or covered.usable > known[text].usable:
                    known[text] = covered
        return Coverage(self.name, self._slices.instant, n, known)

    @cached_property
    def _used(self) -> tuple[_Index, ...]:
        """The indexes that are used at all (``IndexInfo.read``). Raises TableError."""
        return tuple(
            _index_of(info)
            for info in read_index_info(self._table)
            if info.read and info.name.startswith(EXPRESSION_PREFIX)
        )

    def _of(self, name: str, column: Field, *, is_filter: bool) -> list[_Index]:
        return [one for one in self._used if one.is_filter is is_filter and one.is_of(name, column)]

    @cached_property
    def _matcher(self) -> RecordMatcher:
        return RecordMatcher(SliceFiles.of(self._slices))

    def _is_reused(self, column: Field) -> bool:
        """Whether the column's name once meant another column, whose values the index may be of."""
        return column.name in read_name_history(self._table.storage).reused

    def _kept(self, one: _Index, column: Field) -> ColumnStatistics | None:
        """The statistics of an index that the memory has, or those that are read."""
        of = Field(one.partition, one.function.result)
        return self._memory.statistics(of, one.version_over(column), lambda: self._build(one, column))

    def _build(self, one: _Index, column: Field) -> ColumnStatistics | None:
        """Match the records with files, apply the rules of belief, unite per slice."""
        function, files = one.function, self._matcher.files
        latest = read_columns(self._metadata.all_layers(one.partition), [column])[column_id(column.name)].latest()
        found = self._matcher.of(latest, column.name.encode())  # records of partitions name no file
        if not found.count:
            return None
        if self._is_reused(column):
            return ColumnStatistics.unknown(function.result, files.slices, Trust.RENAMED)
        rows = believe_expression(found.statistics(function.result, "", self._table.version), files, function)
        united = unite(
            rows,
            files,
            self._matcher.of_names(latest.deleted),
            custom_merge=not merges_to_stored_values(self._table.properties),
        )
        ancient, other = self._doubts(column)
        doubtful = ancient | other
        trust = np.where(ancient & (united.trust == Trust.OK), np.uint8(Trust.ANCIENT), united.trust)
        return replace(
            united,
            parts=None,
            lo_known=united.lo_known & ~doubtful,
            hi_known=united.hi_known & ~doubtful,
            null_count=np.where(doubtful, UNKNOWN_COUNT, united.null_count),
            trust=np.where(other, np.uint8(Trust.WRONG_TYPE), trust),
        )

    def _doubts(self, column: Field) -> tuple[Mask, Mask]:
        """Slices that the column's own statistics make doubtful: days of another calendar, or another type."""
        if column.name not in self._doubtful:
            kind = column_stats(self._table, self._slices)
            own = None if kind is None else self._bounds_of(kind, column)
            ancient = other = np.zeros(len(self._slices), np.bool_)
            if column.type.kind is Kind.DATE:
                ancient = ~ancient if own is None else ~own.lo_known | (np.asarray(own.lo) < ANCIENT_DAY)
            if own is not None:
                other = own.trust == Trust.WRONG_TYPE
            self._doubtful[column.name] = ancient, other
            self._own[column.name] = own
        return self._doubtful[column.name]

    def _bounds_of(self, kind: ColumnStats, column: Field) -> ColumnStatistics | None:
        required = RequiredStatistics(bounds=(column,))
        return self._memory.in_front_of(kind).provide(required).statistics.get(column.name)

    def _filters(self, one: _Index, slice_indices: Iterable[int]) -> Mapping[int, BloomFilter]:
        """The filters of these slices, as far as they are one base file and have one. Each is read once."""
        known = self._blooms.setdefault(one.partition, {})
        wanted: dict[bytes, int] = {}
        for slice_index in slice_indices:
            item = self._slices[slice_index]
            if slice_index not in known and item.base_file and not item.log_files:
                wanted[partition_id(item.partition) + file_name_id(item.base_file.rpartition("/")[2])] = slice_index
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
            known.update({slice_index: found.get(key) for key, slice_index in wanted.items()})
        return {slice_index: bloom for slice_index in slice_indices if (bloom := known.get(slice_index)) is not None}


def _index_of(info: IndexInfo) -> _Index:
    function = IDENTITY if info.function == "identity" else EXPRESSION_FUNCTIONS[info.function]
    return _Index(info.name, info.type == "bloom_filters", function, info.columns[0])
