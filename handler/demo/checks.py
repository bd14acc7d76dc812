"""The conditions of the demo's filters, written by hand for pyarrow, so that the proof is independent of Sargo.

Each takes the rows of a file and returns TRUE, FALSE or NULL for each row.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa

from evaluator.language import arrow_functions as pc

__all__ = ["CHECKS"]

Check = Callable[[pa.Table], Any]


def _between(values: Any, low: object, high: object) -> Any:
    return pc.and_kleene(pc.greater_equal(values, low), pc.less_equal(values, high))


def _i_in_p1(rows: pa.Table) -> Any:
    return pc.and_kleene(_between(rows["i"], 400, 700), pc.equal(rows["p"], "p1"))


def _two_pairs(rows: pa.Table) -> Any:
    first = pc.and_kleene(pc.equal(rows["i"], 100), pc.equal(rows["p"], "p1"))
    second = pc.and_kleene(pc.equal(rows["i"], 500), pc.equal(rows["p"], "p0"))
    return pc.or_kleene(first, second)


def _bananas(rows: pa.Table) -> Any:
    return pc.starts_with(rows["s"], "banana-0")


def _i_outside(rows: pa.Table) -> Any:
    return pc.invert(_between(rows["i"], 0, 1400))


def _extremes_not_in_p2(rows: pa.Table) -> Any:
    extreme = pc.or_kleene(pc.less(rows["i"], -200), pc.greater(rows["dec"], Decimal("150.5")))
    return pc.and_kleene(extreme, pc.invert(pc.equal(rows["p"], "p2")))


def _in_2020(rows: pa.Table) -> Any:
    return _between(rows["dt"], datetime.date(2020, 1, 1), datetime.date(2020, 12, 31))


def _below_five_and_a_half(rows: pa.Table) -> Any:
    return pc.less(pc.cast(rows["i"], pa.float64()), 5.5)


#: By the SQL text in ``data/filters.json``.
CHECKS: Mapping[str, Check] = {
    "i between 400 and 700 and p = 'p1'": _i_in_p1,
    "(i = 100 and p = 'p1') or (i = 500 and p = 'p0')": _two_pairs,
    "s like 'banana-0%'": _bananas,
    "not (i between 0 and 1400)": _i_outside,
    "(i < -200 or dec > 150.5) and not (p = 'p2')": _extremes_not_in_p2,
    "year(dt) = 2020": _in_2020,
    "i < 5.5": _below_five_and_a_half,
}
