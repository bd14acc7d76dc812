"""Bounds of an expression over the rows of a file: ``lower(city)``, ``to_date(ts)``, ``amount * 1.1``.

The evaluator computes the function of each distinct input as a single value, under the rules of every engine that binds
the expression to the same canonical key (``evaluator.binding.canonical_keys``). The result is an interval with every
value that an engine may compute: engines differ in rounding, overflow and letters that depend on the locale. The index
stores the hull of all intervals. So a file of ASCII text has exact bounds of ``lower(city)``, and one with a Turkish İ
has wider ones.

    distinct inputs of a batch    up to INPUTS    each is evaluated as a single value
                                  more            sorted and merged into INPUTS ranges

An expression is unknown in a file that has a column of it in another type than the table, dates or moments that readers
may rebase, or an interval without a bound. The zone is the index's option ``time_zone``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from evaluator.binding.bind import bind_operand
from evaluator.binding.canonical_keys import canonical_key
from evaluator.binding.interval_evaluation import interval_of
from evaluator.binding.operands import BoundFunction, columns_of
from evaluator.language import expression as ex
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.records import frozen
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.types import Kind, Type
from evaluator.statistics.distrust import ANCIENT_DAY, ANCIENT_MICROS
from index_store.own.sketches.min_max import cut_off, raised
from index_store.own.sketches.values import python_values, value_bytes
from index_store.storage.errors import FormatError
from index_store.table.file_rows import ColumnRows
from index_store.table.file_types import EMPTY, FileType

__all__ = ["EXPRESSION", "INPUTS", "ZONE", "BoundsOfExpression", "Expression", "from_json", "to_json"]

#: The options of a definition that hold an expression as JSON, by its text, and the zone ("UTC" if there is none).
EXPRESSION, ZONE = "expression:", "time_zone"
#: How many distinct inputs of a batch are evaluated one by one.
INPUTS = 1000
_SMALLEST = 5e-324
#: Types that Python holds as such in a constant.
_PLAIN = (bool, int, float, str)


def to_json(operand: ex.Operand) -> str:
    """An expression of columns, constants, casts and functions as JSON. Raises UnsupportedError for any other."""

    def plain(node: ex.Node, children: list[Any]) -> Any:
        match node:
            case ex.Column(path=path):
                return {"column": list(path)}
            case ex.Literal(value=value, type=of):
                if value is None or isinstance(value, _PLAIN):
                    return {"constant": value, "type": str(of)}
                if not isinstance(value, Decimal | Fraction):
                    raise UnsupportedError(f"an index with a constant of type {of} is not supported")
                return {"number": str(value), "type": str(of)}
            case ex.Cast(type=to):
                return {"cast": children[0], "type": str(to)}
            case ex.Call(function=name):
                return {"call": name, "arguments": children}
            case _:
                raise UnsupportedError(f"an index of {type(node).__name__} is not supported")

    return json.dumps(ex.fold(operand, plain), sort_keys=True)


def from_json(text: str) -> ex.Operand:
    """The reverse of ``to_json``. Raises FormatError."""
    try:
        return _operand(json.loads(text))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(f"no expression: {error}") from error


def _operand(plain: Mapping[str, Any]) -> ex.Operand:
    if "column" in plain:
        return ex.Column(tuple(map(str, plain["column"])))
    if "constant" in plain:
        return ex.Literal(plain["constant"], Type.parse(plain["type"]))
    if "number" in plain:
        return ex.Literal(_number(plain["number"], Type.parse(plain["type"])), Type.parse(plain["type"]))
    if "cast" in plain:
        return ex.Cast(_operand(plain["cast"]), Type.parse(plain["type"]))
    return ex.Call(str(plain["call"]), tuple(map(_operand, plain["arguments"])))


def _number(text: str, of: Type) -> object:
    return Decimal(text) if of.kind is Kind.DECIMAL else Fraction(text)


@frozen(slots=False)
class Expression:
    """An expression of an index: its tree, over the columns of a table, in a zone."""

    operand: ex.Operand
    schema: Schema
    units: Mapping[str, str]
    zone: str = "UTC"

    @cached_property
    def bound(self) -> tuple[BoundFunction, ...]:
        """The expression as each engine binds it whose canonical key is that of Spark.

        Raises UnsupportedError for an expression that is not a function, cannot be bound, or has no canonical key.
        """
        bound = [bind_operand(self.operand, self.schema, Semantics.named("spark", self.zone))]
        if not isinstance(bound[0], BoundFunction) or canonical_key(bound[0]) is None:
            raise UnsupportedError("the expression is no function of columns whose results are compared")
        wanted = canonical_key(bound[0])
        for engine in ENGINES:
            try:
                one = bind_operand(self.operand, self.schema, Semantics.named(engine, self.zone))
            except UnsupportedError:
                raise UnsupportedError(f"the expression is not decided under {engine}") from None
            if isinstance(one, BoundFunction) and canonical_key(one) == wanted:
                bound.append(one)
        return tuple(one for one in dict.fromkeys(bound) if isinstance(one, BoundFunction))

    @property
    def key(self) -> str:
        """The canonical key, by which filters find the expression."""
        key = canonical_key(self.bound[0])
        assert key is not None
        return key[0]

    @property
    def result(self) -> Type:
        """The type of its values."""
        return self.bound[0].type

    @cached_property
    def columns(self) -> tuple[Field, ...]:
        """The columns that the expression reads."""
        return tuple(columns_of(self.bound[0]).values())


class BoundsOfExpression:
    """Collects the hull of an expression over the rows of one file."""

    def __init__(self, expression: Expression) -> None:
        self._expression = expression
        self._why = ""
        self._rows = 0
        self._known: dict[tuple[Any, ...], Interval | None] = {}
        self._lo: Any = None
        self._hi: Any = None
        self._null = self._value = False

    def add(self, columns: Mapping[str, ColumnRows], rows: int) -> None:
        """The next rows, with the columns of the expression."""
        if rows == 0 or self._why:
            return
        self._rows += rows
        for field in self._expression.columns:
            column = columns[field.name]
            wanted = FileType.of(field.type, self._expression.units.get(field.name, ""))
            if column.values is None or column.type != wanted:
                self._why = f"{field.name} is {column.type.text.lstrip('!')} in the file"
                return
        inputs = self._inputs({field.name: columns[field.name].values for field in self._expression.columns})
        for row in inputs:
            if row not in self._known:
                self._known[row] = None
                if not self._include(row):
                    self._why = "an interval without a bound"
                    return

    def _inputs(self, arrays: Mapping[str, pa.Array]) -> list[tuple[Any, ...]]:
        """Distinct inputs: for each column lo, hi, may be NULL, may be a value."""
        fields = self._expression.columns
        table = pa.table(dict(arrays)).group_by(list(arrays), use_threads=False).aggregate([])
        columns = [list(python_values(table[field.name].combine_chunks(), field.type)) for field in fields]
        if any(_is_ancient(values, field.type) for values, field in zip(columns, fields, strict=True)):
            self._why = "values that a reader may rebase"
            return []
        if table.num_rows <= INPUTS:
            return [
                tuple(_range_of([value], field.type) for value, field in zip(row, fields, strict=True))
                for row in zip(*columns, strict=True)
            ]
        first = columns[0]
        order = sorted(
            range(len(first)),
            key=lambda at: (
                (first[at] is None, first[at] != first[at], first[at] or 0)
                if not isinstance(first[at], str | bytes)
                else (False, False, first[at])
            ),
        )
        return [
            tuple(
                _range_of([values[at] for at in some], field.type)
                for values, field in zip(columns, fields, strict=True)
            )
            for some in np.array_split(np.array(order), INPUTS)
        ]

    def _include(self, row: Sequence[Any]) -> bool:
        """Widen the hull by the results of an input; False when they have no bounds."""
        at = {field.name: one for field, one in zip(self._expression.columns, row, strict=True)}
        for function in self._expression.bound:
            result = interval_of(function, at, ordinal=False)
            self._null |= result.null
            if not result.value:
                continue
            self._value = True
            if not result.is_bounded:
                return False
            self._lo = result.lo if self._lo is None else min(self._lo, result.lo)
            self._hi = result.hi if self._hi is None else max(self._hi, result.hi)
        return True

    def stored(self) -> tuple[str, int, bytes | None, bytes | None]:
        """The values of the columns of an index: type, number of NULLs (-1: some), and the bytes of the bounds."""
        if self._why:
            return FileType.unknown(self._why).text, -1, None, None
        if not self._rows:
            return EMPTY.text, 0, None, None
        nulls = 0 if not self._null else -1 if self._value else self._rows
        if not self._value:
            return self._expression.key, nulls, None, None
        return self._expression.key, nulls, *_bytes(self._lo, self._hi, self._expression.result)


def _is_ancient(values: Sequence[Any], of: Type) -> bool:
    cutoff = ANCIENT_DAY if of.kind is Kind.DATE else ANCIENT_MICROS if of.kind.is_timestamp else None
    return cutoff is not None and any(value is not None and value < cutoff for value in values)


def _range_of(values: Sequence[Any], of: Type) -> Interval:
    """The hull of some values of a column, in the form of arrays."""
    present = [value for value in values if value is not None]
    null = len(present) < len(values)
    if not present:
        return Interval(null=True, value=False)
    if any(value != value for value in present):  # NaN
        return Interval(null=null)
    lo, hi = min(present), max(present)
    if of.kind.is_fractional and lo <= 0.0 <= hi:  # of either sign
        lo, hi = min(lo, -_SMALLEST), max(hi, _SMALLEST)
    return Interval(lo, hi, null)


def _bytes(lo: Any, hi: Any, of: Type) -> tuple[bytes | None, bytes | None]:
    """The bytes of bounds in plain form, rounded outward."""
    if isinstance(lo, str | bytes):
        low, high = (one.encode("utf-8", "surrogatepass") if isinstance(one, str) else one for one in (lo, hi))
        return cut_off(low, is_text=of.kind.is_text), raised(high, is_text=of.kind.is_text)
    if of.kind.is_fractional:
        return value_bytes(float(lo), of), value_bytes(float(hi), of)
    scale = 10**of.scale if of.kind is Kind.DECIMAL else 1
    low, high = Fraction(lo) * scale, Fraction(hi) * scale
    limit = 1 << (127 if of.kind is Kind.DECIMAL and of.precision > 18 else 63)
    floor, ceiling = low.numerator // low.denominator, -(-high.numerator // high.denominator)
    return (
        value_bytes(floor, of) if -limit <= floor < limit else None,
        value_bytes(ceiling, of) if -limit <= ceiling < limit else None,
    )
