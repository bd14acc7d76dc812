"""What Parquet footers answer exactly of some slices, slice by slice.

    a slice is answered when
    ---------------------------------------------------------------------------------
    every row of it satisfies the condition: its outcome is {TRUE} (contract C1)
    it is one Parquet base file, without log files, of a table that was not bootstrapped
    its rows are no changes (``_hoodie_operation``), of which some stand for deletions
    its footer is among the first ``MAX_FOOTERS``, and is read within ``SECONDS``
    the footer proves the value of each aggregate (``file_values``)
    a ``sum``: the footer proves that all values are the same, or an own index has the sum (the sketch ``sum``), of as
    many rows and NULLs as the footer says, between its bounds

Every other slice is scanned, with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from evaluator.language.column_resolution import resolve_column, with_near_names
from evaluator.language.errors import SargoError, UnknownColumnError, UnsupportedError
from evaluator.language.records import frozen
from evaluator.language.schema import Field, Schema
from evaluator.language.types import BIGINT, Kind, Type, decimal_type
from handler.aggregates.aggregate import Aggregate
from handler.aggregates.file_values import ColumnValues, FileValues
from handler.aggregates.footer_facts import FooterFacts, KeptFacts, facts_of
from index_store import FileSlice, Table
from index_store.formats.parquet_footers import FOOTER_BYTES, Footers
from index_store.own.provider.file_sums import FileSum, file_sums
from index_store.own.provider.own_indexes import own_indexes_of
from index_store.storage.errors import TableError
from index_store.table.file_slices import FileSlices

__all__ = ["MAX_FOOTERS", "SECONDS", "AnsweredSlice", "Answers", "ScannedSlice", "answer_slices"]

#: The most footers that are read for one query, and for how many seconds: more files are scanned.
MAX_FOOTERS = 4096
SECONDS = 10.0
_CHANGES = "_hoodie_operation"
_BOOTSTRAP = "hoodie.bootstrap.base.path"
_LEAST, _GREATEST = -(1 << 63), (1 << 63) - 1
#: The digits that Spark and Hive add for a sum. One of longer decimals has none to spare, and is NULL beyond them.
_MORE_DIGITS = 10
_MAX_SUMMED_DIGITS = 38 - _MORE_DIGITS


@frozen
class AnsweredSlice:
    """A slice that is not read: the value of each aggregate over its rows."""

    item: FileSlice
    values: tuple[Any, ...]


@frozen
class ScannedSlice:
    """A slice that is read, and why: a sentence for people."""

    item: FileSlice
    reason: str


@frozen(kw_only=True)
class Answers:
    """``aggregates`` with the names of the table's columns, and the ``types`` of their values.

    Types are not known where all slices are scanned. Values of answered slices are in
    ordinal form (``evaluator.statistics.columns``).
    """

    aggregates: tuple[Aggregate, ...]
    types: tuple[Type | None, ...] = field(default=())
    answered: tuple[AnsweredSlice, ...] = ()
    scanned: tuple[ScannedSlice, ...] = ()

    @property
    def totals(self) -> tuple[Any, ...]:
        """The value of each aggregate over all rows of the slices that are answered; empty when none is."""
        columns = zip(*(one.values for one in self.answered), strict=True)
        return tuple(one.total(values) for one, values in zip(self.aggregates, columns, strict=False))


def answer_slices(
    table: Table,
    slices: FileSlices,
    items: Sequence[FileSlice],
    matched: Collection[FileSlice],
    aggregates: Sequence[Aggregate],
    seconds: float = SECONDS,
    kept: KeptFacts | None = None,
) -> Answers:
    """Ask the footers of ``items``, which are some of the table's slices at an instant.

    ``matched``: the slices on whose rows the condition holds. ``kept``: what earlier questions read of footers, which
    are not read again; what this one reads is added. What cannot be read is scanned, with the reason. Raises
    UnknownColumnError for a column that the table does not have, UnsupportedError for one that is not plain.
    """
    try:
        values = FileValues(table, slices.instant)
    except SargoError as error:
        return _scanned(items, aggregates, str(error))
    columns = [None if one.column is None else _column(one.column, values.schema) for one in aggregates]
    resolved = [
        Aggregate(one.function, None if column is None else column.name)
        for one, column in zip(aggregates, columns, strict=True)
    ]
    for one, column in zip(resolved, columns, strict=True):
        if column is not None and not _may_be_exact(one, column):
            return _scanned(items, resolved, f"{one}: footers have no exact answer for the type {column.type}")
    types = tuple(_type_of(one, column) for one, column in zip(resolved, columns, strict=True))
    answered: list[AnsweredSlice] = []
    scanned: list[ScannedSlice] = []
    totals: list[Any] = [None] * len(resolved)
    source = _Sources(table, slices, seconds, KeptFacts() if kept is None else kept)
    for item, found in _values_by_slice(table, values, items, matched, resolved, columns, source):
        if isinstance(found, str):
            scanned.append(ScannedSlice(item, found))
            continue
        sums = [one.total(parts) for one, *parts in zip(resolved, totals, found, strict=True)]
        if any(
            one.function == "sum" and _overflows(total, of)
            for one, total, of in zip(resolved, sums, types, strict=True)
        ):
            scanned.append(ScannedSlice(item, "the sum is beyond the type of the result"))
            continue
        totals = sums
        answered.append(AnsweredSlice(item, found))
    return Answers(
        aggregates=tuple(resolved),
        types=types,
        answered=tuple(answered),
        scanned=tuple(scanned),
    )


def _scanned(items: Sequence[FileSlice], aggregates: Sequence[Aggregate], reason: str) -> Answers:
    """All slices are, for one reason."""
    return Answers(aggregates=tuple(aggregates), scanned=tuple(ScannedSlice(item, reason) for item in items))


def _column(name: str, schema: Schema) -> Field:
    try:
        found = schema.resolve(name, case_sensitive=True) or resolve_column(name, schema, case_sensitive=False)
    except UnknownColumnError as error:
        raise with_near_names(error, schema) from None
    if "." in found.name:
        raise UnsupportedError(f"{found.name} is a field of a struct, which is NULL where the struct is")
    return found


def _type_of(aggregate: Aggregate, column: Field | None) -> Type:
    """The type of the aggregate's values, as in Spark and Hive."""
    if aggregate.function == "count" or column is None:
        return BIGINT
    of = column.type
    if aggregate.function != "sum":
        return of
    return decimal_type(of.precision + _MORE_DIGITS, of.scale) if of.kind is Kind.DECIMAL else BIGINT


def _may_be_exact(aggregate: Aggregate, column: Field) -> bool:
    """Whether the footer of some file may have the value; where not, none is read."""
    kind = column.type.kind
    if aggregate.function == "sum":
        return kind.is_integer or (kind is Kind.DECIMAL and column.type.precision <= _MAX_SUMMED_DIGITS)
    return kind is not Kind.OTHER and (aggregate.function == "count" or not (kind.is_fractional or kind is Kind.BINARY))


def _values_by_slice(
    table: Table,
    values: FileValues,
    items: Sequence[FileSlice],
    matched: Collection[FileSlice],
    aggregates: Sequence[Aggregate],
    columns: Sequence[Field | None],
    source: _Sources,
) -> Iterator[tuple[FileSlice, tuple[Any, ...] | str]]:
    """Each slice with the exact value of each aggregate, or with the reason why it is scanned."""
    changes = values.schema.resolve(_CHANGES, case_sensitive=True) is not None
    blocker = "the table was bootstrapped" if _BOOTSTRAP in table.properties else ""
    blocker = blocker or ("the rows of the table are changes, which may be deletions" if changes else "")
    reasons = [blocker or _why_not_one_file(item, is_matched=item in matched) for item in items]
    paths = [item.base_file or "" for item, why in zip(items, reasons, strict=True) if not why][:MAX_FOOTERS]
    needed = list({column.name: column for column in columns if column is not None}.values())
    known = source.facts(paths, [column.name for column in needed])
    summed = {one.column for one in aggregates if one.function == "sum"}
    sums = {column.name: source.sums(column, list(known)) for column in needed if column.name in summed}
    for item, why in zip(items, reasons, strict=True):
        path = item.base_file or ""
        if why:
            yield item, why
        elif path not in known:
            yield item, source.limit
        elif (facts := known[path]) is None:
            yield item, "the footer of the base file cannot be read"
        else:
            found = values.read(facts, item, needed)
            of_file = {name: by_path.get(path) for name, by_path in sums.items()}
            yield item, found if isinstance(found, str) else _of_file(aggregates, columns, *found, of_file)


@frozen
class _Sources:
    """The footers of a table's base files, and the sums of its own indexes, for one question."""

    table: Table
    slices: FileSlices
    seconds: float
    kept: KeptFacts

    def sums(self, column: Field, paths: Sequence[str]) -> dict[str, FileSum]:
        """The sums of a column in files, of those that an own index knows."""
        try:
            own = None if self.table.disputed else own_indexes_of(self.table, self.slices)
            return {} if own is None else file_sums(own, column, paths)
        except TableError:  # the indexes cannot be listed
            return {}

    @property
    def limit(self) -> str:
        """Why a footer that could be read is not."""
        return f"the limit of {MAX_FOOTERS} footers, {self.seconds:g} seconds, {FOOTER_BYTES >> 20} MiB is reached"

    def facts(self, paths: Sequence[str], names: Sequence[str]) -> dict[str, FooterFacts | None]:
        """What the footers say of columns, by path; None for one that cannot be read. Beyond the limits, none."""
        absolute = {path: self.table.storage.absolute(path) for path in paths}
        kept = self.kept.of(absolute.values(), names)
        found: dict[str, FooterFacts | None] = {path: kept[absolute[path]] for path in paths if absolute[path] in kept}
        added: dict[str, FooterFacts] = {}
        footers = Footers(self.table.storage, MAX_FOOTERS, self.seconds)
        for path in footers.read_within([path for path in paths if path not in found], self.seconds):
            footer = footers.read(path)
            if footer is None:
                found[path] = None
            else:
                found[path] = added[absolute[path]] = facts_of(footer, names)
        self.kept.keep(added)
        return found


def _why_not_one_file(item: FileSlice, *, is_matched: bool) -> str:
    """Why the slice is not one Parquet file whose rows all satisfy the condition, or ""."""
    if item.log_files:
        return "log files may change or delete rows"
    if not (item.base_file or "").endswith(".parquet"):
        return "the slice has no base file in Parquet"
    return "" if is_matched else "the condition may not hold on every row"


def _of_file(
    aggregates: Sequence[Aggregate],
    columns: Sequence[Field | None],
    rows: int,
    values: Mapping[str, ColumnValues],
    sums: Mapping[str, FileSum | None],
) -> tuple[Any, ...] | str:
    """The value of each aggregate over the rows of a file, or why one is not exact. ``sums``: what own indexes have."""
    answers = []
    for aggregate, column in zip(aggregates, columns, strict=True):
        is_exact, value = True, rows
        if column is not None:
            is_exact, value = _of_column(aggregate, column, rows, values[column.name], sums.get(column.name))
        if not is_exact:
            return str(value)
        answers.append(value)
    return tuple(answers)


def _of_column(
    aggregate: Aggregate, column: Field, rows: int, found: ColumnValues, known: FileSum | None
) -> tuple[bool, Any]:
    """Whether the aggregate is exact in a file, and its value, or why it is not."""
    if found.nulls is None:
        return False, found.why
    count = rows - found.nulls
    if aggregate.function == "count":
        return True, count
    if not count:
        return True, None
    if found.bounds is None:
        return False, found.why
    lo, hi = found.bounds
    if aggregate.function == "min":
        return True, lo
    if aggregate.function == "max":
        return True, hi
    if lo == hi:
        return True, lo * count
    if known is None:
        return False, f"the file holds several values of column {column.name}, and no own index has their sum"
    if (known.rows, known.nulls) != (rows, found.nulls) or not lo * count <= known.total <= hi * count:
        return False, f"the footer contradicts the sum of column {column.name} in an own index"
    return True, known.total


def _overflows(total: int | None, of: Type) -> bool:
    """Whether a sum is none of its type."""
    if total is None:
        return False
    return abs(total) >= 10**of.precision if of.kind is Kind.DECIMAL else not _LEAST <= total <= _GREATEST
