"""The kept slices of a plan, split into those whose footers give the exact value of every aggregate, and the rest.

    a kept slice is answered when
    ---------------------------------------------------------------------------------
    every row of it satisfies the condition: its outcome is {TRUE} (contract C1)
    it is one Parquet base file, without log files, of a table that was not bootstrapped
    its rows are no changes (``_hoodie_operation``), of which some stand for deletions
    its footer is among the first ``MAX_FOOTERS``, and is read within ``SECONDS``
    the footer proves the value of each aggregate (``file_values``); for ``sum``, that all values are the same

Every other kept slice is scanned, with the reason.

    split = split_aggregates(plan, [Aggregate.parse("count(*)"), Aggregate.parse("max(ts)")])
    split.totals                                 of the slices that are answered: (1200, 1764547200000000)
    [one.item for one in split.scanned]          the slices to scan
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from evaluator.language.column_resolution import resolve_column, with_near_names
from evaluator.language.errors import SargoError, UnknownColumnError, UnsupportedError
from evaluator.language.records import frozen
from evaluator.language.schema import Field, Schema
from evaluator.language.types import BIGINT, Kind, Type
from evaluator.language.value_texts import ordinal_text
from handler.aggregates.aggregate import Aggregate
from handler.aggregates.file_values import ColumnValues, FileValues
from handler.planning.plan import Plan, slice_as_dict
from index_store import FileSlice, Table
from index_store.formats.parquet_footers import FOOTER_BYTES, Footers

__all__ = ["MAX_FOOTERS", "AggregateSplit", "AnsweredSlice", "ScannedSlice", "scan_all", "split_aggregates"]

#: The most footers that are read for one query, and for how many seconds: more files are scanned.
MAX_FOOTERS = 4096
SECONDS = 10.0
#: Reasons in ``str(split)``.
MAX_SHOWN = 8
_CHANGES = "_hoodie_operation"
_BOOTSTRAP = "hoodie.bootstrap.base.path"
_LEAST, _GREATEST = -(1 << 63), (1 << 63) - 1
#: A sum of longer decimals has no digits to spare in Spark and Hive, and is NULL where it overflows.
_MAX_SUMMED_DIGITS = 28


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


@frozen(slots=False, eq=False, kw_only=True, shown=False)
class AggregateSplit:
    """How the aggregates of a query are answered.

    table, instant   the table, and the instant of its file slices
    slices           how many file slices the table has
    aggregates       those of the query, in its order; of one that is only scanned its text
    types            of the values, by aggregate; not known of one that is only scanned
    answered         the slices that are not read; values are in ordinal form (``evaluator.statistics.columns``)
    scanned          the slices that are read
    """

    table: str
    instant: str | None
    slices: int
    aggregates: tuple[Aggregate | str, ...]
    types: tuple[Type | None, ...] = field(default=())
    answered: tuple[AnsweredSlice, ...] = ()
    scanned: tuple[ScannedSlice, ...]

    @cached_property
    def totals(self) -> tuple[Any, ...]:
        """The value of each aggregate over all rows of the slices that are answered; empty when none is."""
        columns = zip(*(one.values for one in self.answered), strict=True)
        return tuple(
            aggregate.total(values)
            for aggregate, values in zip(self.aggregates, columns, strict=False)
            if isinstance(aggregate, Aggregate)
        )

    @cached_property
    def reasons(self) -> tuple[tuple[str, int], ...]:
        """Why slices are scanned, with the number of slices, most slices first."""
        return tuple(Counter(one.reason for one in self.scanned).most_common())

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.aggregates))
        return (
            f"<AggregateSplit of {self.table} as of {self.instant}: {shown}: {len(self.answered)} file slices answered "
            f"by footers, {len(self.scanned)} scanned, {self._skipped} skipped>"
        ).replace("\n", " ")

    def __str__(self) -> str:
        lines = [
            f"{self.table} as of {self.instant or 'no commit'}: {len(self.answered)} of {self.slices} file slices are "
            f"answered by footers, {len(self.scanned)} are scanned, {self._skipped} are skipped"
        ]
        lines += [
            f"  {aggregate}: {'NULL' if value is None else value if of is None else ordinal_text(value, of)} by footers"
            for aggregate, of, value in zip(self.aggregates, self.types, self.totals, strict=False)
        ]
        lines += [f"  {count} scanned: {reason}" for reason, count in self.reasons[:MAX_SHOWN]]
        rest = self.reasons[MAX_SHOWN:]
        if rest:
            lines.append(f"  {sum(count for _, count in rest)} scanned: {len(rest)} other reasons")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON. Values are texts, as they depend on the column's type; NULL is None."""
        values = [
            None if value is None else str(value) if of is None else ordinal_text(value, of)
            for of, value in zip(self.types, self.totals, strict=False)
        ]
        return {
            "table": self.table,
            "instant": self.instant,
            "aggregates": [str(one) for one in self.aggregates],
            "counts": {
                "slices": self.slices,
                "answered": len(self.answered),
                "scanned": len(self.scanned),
                "skipped": self._skipped,
            },
            "answered": [slice_as_dict(one.item) for one in self.answered],
            "values": values,
            "scanned": [{**slice_as_dict(one.item), "reason": one.reason} for one in self.scanned],
        }

    @property
    def _skipped(self) -> int:
        return self.slices - len(self.answered) - len(self.scanned)


def split_aggregates(
    plan: Plan, aggregates: Sequence[Aggregate], kept: Sequence[FileSlice] | None = None
) -> AggregateSplit:
    """Split the slices that a plan keeps, or those given, by whether footers answer all of the aggregates exactly.

    What cannot be read is scanned, with the reason. Raises UnknownColumnError for a column that the table does not
    have, UnsupportedError for one that is not plain, or for a plan without its table.
    """
    if plan.opened is None:
        raise UnsupportedError(f"the plan of {plan.table} has no table: plan again in this process")
    items = plan.kept if kept is None else kept
    table = plan.opened.table
    try:
        values = FileValues(table, plan.instant)
    except SargoError as error:
        return scan_all(plan, [str(one) for one in aggregates], str(error), items)
    columns = [None if one.column is None else _column(one.column, values.schema) for one in aggregates]
    resolved = [
        Aggregate(one.function, None if column is None else column.name)
        for one, column in zip(aggregates, columns, strict=True)
    ]
    for one, column in zip(resolved, columns, strict=True):
        if column is not None and not _may_be_exact(one, column):
            why = f"{one}: footers have no exact answer for the type {column.type}"
            return scan_all(plan, list(map(str, resolved)), why, items)
    answered: list[AnsweredSlice] = []
    scanned: list[ScannedSlice] = []
    totals: list[Any] = [None] * len(resolved)
    for item, found in _values_by_slice(plan, table, values, items, resolved, columns):
        if isinstance(found, str):
            scanned.append(ScannedSlice(item, found))
            continue
        sums = [one.total(parts) for one, *parts in zip(resolved, totals, found, strict=True)]
        if any(
            one.function == "sum" and _overflows(total, of)
            for one, total, of in zip(resolved, sums, columns, strict=True)
        ):
            scanned.append(ScannedSlice(item, "the sum is beyond the type of the result"))
            continue
        totals = sums
        answered.append(AnsweredSlice(item, found))
    return AggregateSplit(
        table=plan.table,
        instant=plan.instant,
        slices=len(plan.slices),
        aggregates=tuple(resolved),
        types=tuple(
            BIGINT if one.function == "count" or column is None else column.type
            for one, column in zip(resolved, columns, strict=True)
        ),
        answered=tuple(answered),
        scanned=tuple(scanned),
    )


def scan_all(
    plan: Plan, aggregates: Sequence[str], reason: str, kept: Sequence[FileSlice] | None = None
) -> AggregateSplit:
    """The split where every kept slice is scanned, for one reason."""
    return AggregateSplit(
        table=plan.table,
        instant=plan.instant,
        slices=len(plan.slices),
        aggregates=tuple(aggregates),
        scanned=tuple(ScannedSlice(item, reason) for item in (plan.kept if kept is None else kept)),
    )


def _column(name: str, schema: Schema) -> Field:
    try:
        found = schema.resolve(name, case_sensitive=True) or resolve_column(name, schema, case_sensitive=False)
    except UnknownColumnError as error:
        raise with_near_names(error, schema) from None
    if "." in found.name:
        raise UnsupportedError(f"{found.name} is a field of a struct, which is NULL where the struct is")
    return found


def _may_be_exact(aggregate: Aggregate, column: Field) -> bool:
    """Whether the footer of some file may have the value; where not, none is read."""
    kind = column.type.kind
    if aggregate.function == "sum":
        return kind.is_integer or (kind is Kind.DECIMAL and column.type.precision <= _MAX_SUMMED_DIGITS)
    return kind is not Kind.OTHER and (aggregate.function == "count" or not (kind.is_fractional or kind is Kind.BINARY))


def _values_by_slice(
    plan: Plan,
    table: Table,
    values: FileValues,
    items: Sequence[FileSlice],
    aggregates: Sequence[Aggregate],
    columns: Sequence[Field | None],
) -> Iterator[tuple[FileSlice, tuple[Any, ...] | str]]:
    """Each slice with the exact value of each aggregate, or with the reason why it is scanned."""
    matched = frozenset(plan.fully_matched)
    changes = values.schema.resolve(_CHANGES, case_sensitive=True) is not None
    blocker = "the table was bootstrapped" if _BOOTSTRAP in table.properties else ""
    blocker = blocker or ("the rows of the table are changes, which may be deletions" if changes else "")
    reasons = [blocker or _why_not_one_file(item, is_matched=item in matched) for item in items]
    paths = [item.base_file or "" for item, why in zip(items, reasons, strict=True) if not why][:MAX_FOOTERS]
    footers = Footers(table.storage, MAX_FOOTERS, SECONDS)
    known = {path: footers.read(path) for path in footers.read_within(paths, SECONDS)}
    needed = list({column.name: column for column in columns if column is not None}.values())
    for item, why in zip(items, reasons, strict=True):
        path = item.base_file or ""
        if why:
            yield item, why
        elif path not in known:
            yield item, f"the limit of {MAX_FOOTERS} footers, {SECONDS:g} seconds, {FOOTER_BYTES >> 20} MiB is reached"
        elif known[path] is None:
            yield item, "the footer of the base file cannot be read"
        else:
            found = values.read(known[path], item, needed)
            yield item, found if isinstance(found, str) else _of_file(aggregates, columns, *found)


def _why_not_one_file(item: FileSlice, *, is_matched: bool) -> str:
    """Why the slice is not one Parquet file whose rows all satisfy the condition, or ""."""
    if item.log_files:
        return "log files may change or delete rows"
    if not (item.base_file or "").endswith(".parquet"):
        return "the slice has no base file in Parquet"
    return "" if is_matched else "the condition may not hold on every row"


def _of_file(
    aggregates: Sequence[Aggregate], columns: Sequence[Field | None], rows: int, values: Any
) -> tuple[Any, ...] | str:
    """The value of each aggregate over the rows of a file, or why one is not exact."""
    answers = []
    for aggregate, column in zip(aggregates, columns, strict=True):
        is_exact, value = (True, rows) if column is None else _of_column(aggregate, column, rows, values[column.name])
        if not is_exact:
            return str(value)
        answers.append(value)
    return tuple(answers)


def _of_column(aggregate: Aggregate, column: Field, rows: int, found: ColumnValues) -> tuple[bool, Any]:
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
    return (True, lo * count) if lo == hi else (False, f"the file holds several values of column {column.name}")


def _overflows(total: Any, column: Field | None) -> bool:
    """Whether a sum of whole numbers is none of 64 bits."""
    is_whole = column is not None and column.type.kind.is_integer
    return is_whole and total is not None and not _LEAST <= total <= _GREATEST
