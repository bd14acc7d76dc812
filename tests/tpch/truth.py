"""Which slices a filter has to keep: those with a matching row, and those that exact bounds cannot rule out.

Nothing of Sargo is used. The filter is one with literals, so only its shape has to be understood:

    matching      the rows where it is TRUE, by pyarrow
    undecidable   the slices where it can be TRUE by the least and greatest value of each column alone. This is the
                  best that column statistics can do; a slice that is kept beyond has another reason
"""

from __future__ import annotations

import datetime
import functools
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlglot
from sqlglot import exp

Bounds = Mapping[str, tuple[Any, Any]]

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
        return pc.is_in(value, value_set=members.cast(value.type) if not pa.types.is_string(value.type) else members)
    if isinstance(node, exp.Like):
        return pc.match_like(_values(node.this, rows), literal(node.expression))
    return _COMPARISONS[type(node)][1](_values(node.this, rows), _values(node.expression, rows))


def _values(node: exp.Expr, rows: pa.Table) -> Any:
    if isinstance(node, exp.Column):
        return rows[node.name]
    if isinstance(node, exp.Substring):
        start, length = (int(literal(node.args[name])) for name in ("start", "length"))
        return pc.utf8_slice_codeunits(rows[node.this.name], start - 1, start - 1 + length)
    value = literal(node)
    return pa.scalar(value, pa.decimal128(15, 2)) if isinstance(value, Decimal) else pa.scalar(value)


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
        assert not negated or type(node) in _COMPARISONS, node
        if isinstance(node, exp.Between):
            low, high = self._range(node.this)
            return bool(literal(node.args["low"]) <= high and low <= literal(node.args["high"]))
        if isinstance(node, exp.In):
            low, high = self._range(node.this)
            return any(low <= literal(member) <= high for member in node.expressions)
        sign = _COMPARISONS[type(node)][0]
        return self._compare(_OPPOSITE[sign] if negated else sign, node.this, node.expression)

    def _range(self, node: exp.Expr) -> tuple[Any, Any]:
        if isinstance(node, exp.Column):
            return self.bounds[node.name]
        if isinstance(node, exp.Substring):
            start, length = (int(literal(node.args[name])) for name in ("start", "length"))
            assert start == 1
            low, high = self.bounds[node.this.name]
            return low[:length], high[:length]
        value = literal(node)
        return value, value

    def _compare(self, sign: str, left: exp.Expr, right: exp.Expr) -> bool:
        (low1, high1), (low2, high2) = self._range(left), self._range(right)
        if sign in ("<", "<="):
            return bool({"<": operator.lt, "<=": operator.le}[sign](low1, high2))
        if sign in (">", ">="):
            return self._compare(_MIRRORED[sign], right, left)
        if sign == "=":
            return bool(low1 <= high2 and low2 <= high1)
        return not low1 == high1 == low2 == high2

    def _like(self, node: exp.Like, negated: bool) -> bool:
        low, high = self._range(node.this)
        pattern = literal(node.expression)
        prefix = pattern.partition("%")[0]
        assert "_" not in pattern
        if negated:
            return not (pattern in (prefix, prefix + "%") and low.startswith(prefix) and high.startswith(prefix))
        return bool(low[: len(prefix)] <= prefix <= high[: len(prefix)])
