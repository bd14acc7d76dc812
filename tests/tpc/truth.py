"""Which slices a filter has to keep: those with a matching row, and those that exact bounds cannot rule out.

Nothing of Sargo is used. The filter is one with literals, so only its shape has to be understood:

    matching      the rows where it is TRUE, by pyarrow
    undecidable   the slices where it can be TRUE by the least and greatest value of each column alone. This is the
                  best that column statistics can do; a slice that is kept beyond has another reason
"""

from __future__ import annotations

import datetime
import functools
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import sqlglot
from sqlglot import exp


class Range(NamedTuple):
    """The least and the greatest value, None where there is none, and whether there is a NULL."""

    low: Any
    high: Any
    nulls: bool = False


Bounds = Mapping[str, Range]
#: A number that can be anything.
_ANY = Range(-math.inf, math.inf, True)

_COMPARISONS: Mapping[type[exp.Expr], tuple[str, Callable[[Any, Any], Any]]] = {
    exp.EQ: ("=", pc.equal),
    exp.NEQ: ("<>", pc.not_equal),
    exp.LT: ("<", pc.less),
    exp.LTE: ("<=", pc.less_equal),
    exp.GT: (">", pc.greater),
    exp.GTE: (">=", pc.greater_equal),
}
_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MIRRORED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


@functools.cache
def condition(filter_: str) -> exp.Expr:
    return sqlglot.parse_one(filter_, dialect="spark")


def columns(filter_: str) -> list[str]:
    return sorted({column.name for column in condition(filter_).find_all(exp.Column)})


def literal(node: exp.Expr) -> Any:
    if isinstance(node, exp.Paren):
        return literal(node.this)
    if isinstance(node, exp.Neg):
        return -literal(node.this)
    if isinstance(node, exp.Cast) and node.is_type("date"):
        return datetime.date.fromisoformat(node.this.this)
    assert isinstance(node, exp.Literal), node
    return node.this if node.is_string else Decimal(node.this)


def matching(filter_: str, rows: pa.Table) -> pa.Array:
    """A mask: TRUE where the filter is TRUE."""
    return pc.fill_null(_mask(condition(filter_), rows), False)


def _mask(node: exp.Expr, rows: pa.Table) -> Any:
    if isinstance(node, exp.Paren):
        return _mask(node.this, rows)
    if isinstance(node, exp.And | exp.Or):
        joined = pc.and_kleene if isinstance(node, exp.And) else pc.or_kleene
        return joined(_mask(node.this, rows), _mask(node.expression, rows))
    if isinstance(node, exp.Not):
        return pc.invert(_mask(node.this, rows))
    if isinstance(node, exp.Between):
        value = _values(node.this, rows)
        return pc.and_kleene(
            pc.greater_equal(value, _values(node.args["low"], rows)),
            pc.less_equal(value, _values(node.args["high"], rows)),
        )
    if isinstance(node, exp.In):
        value = _values(node.this, rows)
        members = pa.array([literal(member) for member in node.expressions])
        found = pc.is_in(value, value_set=members if pa.types.is_string(value.type) else members.cast(value.type))
        return pc.if_else(pc.is_null(value), None, found)
    if isinstance(node, exp.Is):
        assert isinstance(node.expression, exp.Null)
        return pc.is_null(_values(node.this, rows))
    if isinstance(node, exp.Like):
        return pc.match_like(_values(node.this, rows), literal(node.expression))
    left, right = _values(node.this, rows), _values(node.expression, rows)
    if pa.types.is_floating(left.type):
        right = right.cast(left.type)
    return _COMPARISONS[type(node)][1](left, right)


def _values(node: exp.Expr, rows: pa.Table) -> Any:
    if isinstance(node, exp.Column):
        return rows[node.name]
    if isinstance(node, exp.Substring):
        start, length = (int(literal(node.args[name])) for name in ("start", "length"))
        return pc.utf8_slice_codeunits(rows[node.this.name], start - 1, start - 1 + length)
    if isinstance(node, exp.Paren):
        return _values(node.this, rows)
    if isinstance(node, exp.Case):
        when, then = _branch(node)
        return pc.if_else(pc.fill_null(_mask(when, rows), False), _values(then, rows), None)
    if isinstance(node, exp.Div):
        dividend, divisor = (_values(part, rows).cast(pa.float64()) for part in (node.this, node.expression))
        return pc.if_else(pc.equal(divisor, 0), None, pc.divide(dividend, divisor))
    value = literal(node)
    return pa.scalar(value, pa.decimal128(15, 2)) if isinstance(value, Decimal) else pa.scalar(value)


def _branch(node: exp.Case) -> tuple[exp.Expr, exp.Expr]:
    """The condition and the value of a CASE with one branch and nothing else."""
    (only,) = node.args["ifs"]
    assert node.this is None
    assert isinstance(node.args["default"], exp.Null)
    return only.this, only.args["true"]


def undecidable(filter_: str, bounds: Bounds) -> bool:
    """Whether a file with these bounds of its columns could hold a match."""
    return _Box(bounds).can_be_true(condition(filter_))


@dataclass(frozen=True)
class _Box:
    bounds: Bounds

    def can_be_true(self, node: exp.Expr, negated: bool = False) -> bool:
        if isinstance(node, exp.Paren):
            return self.can_be_true(node.this, negated)
        if isinstance(node, exp.Not):
            return self.can_be_true(node.this, not negated)
        if isinstance(node, exp.And | exp.Or):
            parts = [self.can_be_true(part, negated) for part in (node.this, node.expression)]
            return all(parts) if isinstance(node, exp.And) is not negated else any(parts)
        if isinstance(node, exp.Like):
            return self._like(node, negated)
        if isinstance(node, exp.Is):
            low, _, nulls = self._range(node.this)
            return low is not None if negated else nulls
        assert not negated or type(node) in _COMPARISONS, node
        if isinstance(node, exp.Between):
            low, high, _ = self._range(node.this)
            return low is not None and bool(literal(node.args["low"]) <= high and low <= literal(node.args["high"]))
        if isinstance(node, exp.In):
            low, high, _ = self._range(node.this)
            return low is not None and any(low <= literal(member) <= high for member in node.expressions)
        sign = _COMPARISONS[type(node)][0]
        return self._compare(_OPPOSITE[sign] if negated else sign, node.this, node.expression)

    def _range(self, node: exp.Expr) -> Range:
        if isinstance(node, exp.Paren):
            return self._range(node.this)
        if isinstance(node, exp.Column):
            return self.bounds[node.name]
        if isinstance(node, exp.Substring):
            start, length = (int(literal(node.args[name])) for name in ("start", "length"))
            assert start == 1
            low, high, nulls = self.bounds[node.this.name]
            return Range(low and low[:length], high and high[:length], nulls)
        if isinstance(node, exp.Case):
            when, then = _branch(node)
            return self._range(then) if self.can_be_true(when) else Range(None, None, True)
        if isinstance(node, exp.Div):
            return _quotient(self._range(node.this), self._range(node.expression))
        value = literal(node)
        return Range(value, value)

    def _compare(self, sign: str, left: exp.Expr, right: exp.Expr) -> bool:
        (low1, high1, _), (low2, high2, _) = self._range(left), self._range(right)
        if low1 is None or low2 is None:
            return False
        if sign in ("<", "<="):
            return bool({"<": operator.lt, "<=": operator.le}[sign](low1, high2))
        if sign in (">", ">="):
            return self._compare(_MIRRORED[sign], right, left)
        if sign == "=":
            return bool(low1 <= high2 and low2 <= high1)
        return not low1 == high1 == low2 == high2

    def _like(self, node: exp.Like, negated: bool) -> bool:
        low, high, _ = self._range(node.this)
        if low is None:
            return False
        pattern = literal(node.expression)
        prefix = pattern.partition("%")[0]
        assert "_" not in pattern
        if negated:
            return not (pattern in (prefix, prefix + "%") and low.startswith(prefix) and high.startswith(prefix))
        return bool(low[: len(prefix)] <= prefix <= high[: len(prefix)])


def _quotient(dividend: Range, divisor: Range) -> Range:
    if dividend.low is None or divisor.low is None:
        return Range(None, None, True)
    if divisor.low <= 0 <= divisor.high:
        return _ANY
    corners = [float(above) / float(below) for above in dividend[:2] for below in divisor[:2]]
    return Range(min(corners), max(corners), dividend.nulls or divisor.nulls)
