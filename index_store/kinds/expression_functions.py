"""Which functions of a column an expression index may speak for, and how its bounds are widened where engines differ.

Hudi's index was computed by the Spark session that wrote a file; a filter is computed by the engine that reads it. So a
function is here only if both yield the same value, or if what may differ can be allowed for:

    function               column   result   what may differ
    ---------------------  -------  -------  ------------------------------------------------------------------------
    year, month, day       DATE     INT      days before 1582, by calendar: the column's own lower bound must be later
    length                 STRING   INT      nothing: characters in both
    trim, ltrim, rtrim     STRING   STRING   nothing: spaces only in both
    lower                  STRING   STRING   'I', and what is beyond ASCII, by locale and version of Unicode
    upper                  STRING   STRING   'i', and what is beyond ASCII

Functions of a timestamp (hour, date_format, from_unixtime) depend on the zone of the writer's session, which nobody
knows, and functions with options must agree in each of them: an index of such an expression says nothing.
Source: ``ExpressionIndexSparkFunctions``; the names are those of ``indexFunction`` in ``index.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.bounds import Trust, distrust_inverted_bounds, distrust_reordered_text
from evaluator.columns import UNKNOWN_COUNT
from evaluator.functions.letter_case import successor
from evaluator.types import INT, STRING, Kind, Type
from index_store.kinds.file_rules import FileStatistics
from index_store.kinds.slice_union import SliceFiles

__all__ = ["EXPRESSION_FUNCTIONS", "ExpressionFunction", "believe_expression", "is_used",
           "widen_letter_case"]


@dataclass(frozen=True, slots=True)
class ExpressionFunction:
    """A function of one column.

    names            what a filter may call it
    over             the kind of the column
    result           its type
    first_uncertain  the least ASCII letter that a character with more than one image may become; "" if there is none
    """

    names: tuple[str, ...]
    over: Kind
    result: Type
    first_uncertain: str = ""


EXPRESSION_FUNCTIONS: Mapping[str, ExpressionFunction] = {
    "year": ExpressionFunction(("year",), Kind.DATE, INT),
    "month": ExpressionFunction(("month",), Kind.DATE, INT),
    "day": ExpressionFunction(("day", "dayofmonth"), Kind.DATE, INT),
    "length": ExpressionFunction(("length",), Kind.STRING, INT),
    "trim": ExpressionFunction(("trim",), Kind.STRING, STRING),
    "ltrim": ExpressionFunction(("ltrim",), Kind.STRING, STRING),
    "rtrim": ExpressionFunction(("rtrim",), Kind.STRING, STRING),
    "lower": ExpressionFunction(("lower", "lcase"), Kind.STRING, STRING, "i"),
    "upper": ExpressionFunction(("upper", "ucase"), Kind.STRING, STRING, "A"),
}


#: Options that a bloom filter's size depends on, not its values.
_SIZE_OPTIONS = frozenset({"numentries", "fpp", "filtertype", "maxentries"})


def is_used(definition: Mapping[str, Any]) -> bool:
    """Whether an index of this definition in ``index.json`` is used: nothing but its name makes out the function."""
    kind, function = definition.get("indexType"), definition.get("indexFunction")
    options: Mapping[str, Any] = definition.get("indexOptions") or {}
    known = function in EXPRESSION_FUNCTIONS if kind == "column_stats" else function == "identity"
    of_size = _SIZE_OPTIONS if kind == "bloom_filters" else frozenset()
    return (kind in ("column_stats", "bloom_filters") and known and set(options) - of_size <= {"expr"}
            and options.get("expr", function) == function)


def widen_letter_case(lo: str, hi: str, first_uncertain: str) -> tuple[str, str | None]:
    """Bounds of the images under any locale, from bounds of the images under one: ``None`` is no upper bound.

    Two images of one text first differ where a character has more than one image: both go on with ``first_uncertain``
    or something greater there, or behind such a character. So bounds hold as far as they stay below it:
    'banana' .. 'elder' becomes 'bai' .. 'f' for lower.
    """
    low = next((i for i, char in enumerate(lo) if char >= first_uncertain), None)
    high = next((i for i, char in enumerate(hi) if char >= first_uncertain), None)
    return (lo if low is None else lo[:low] + first_uncertain), (hi if high is None else successor(hi[:high]))


def believe_expression(rows: FileStatistics, files: SliceFiles, function: ExpressionFunction) -> FileStatistics:
    """Statistics of an expression as far as they hold for every engine.

    ``valueCount`` counts what is not null and the sizes are those of the file, so neither rows nor sizes are known.
    A log file of nulls has no bounds and adds none.
    """
    unknown = np.full(len(rows.place), UNKNOWN_COUNT, np.int64)
    null_only = files.is_log[rows.place] & (rows.rows == 0) & (rows.nulls > 0) & ~rows.lo_known & ~rows.hi_known
    rows = replace(rows, rows=unknown, size=unknown, nulls=np.maximum(rows.nulls, UNKNOWN_COUNT))
    wrong = rows.trust != Trust.OK
    rows = replace(rows, lo_known=rows.lo_known & ~wrong, hi_known=rows.hi_known & ~wrong,
                   nulls=np.where(wrong, UNKNOWN_COUNT, rows.nulls))
    rows = rows.distrusting(files.is_other[rows.place], Trust.NOT_PARQUET, counts_too=True)
    both = rows.lo_known & rows.hi_known
    inverted = np.zeros(len(both), np.bool_)
    inverted[both] = distrust_inverted_bounds(rows.lo[both], rows.hi[both])
    rows = rows.distrusting(inverted, Trust.INVERTED)
    rows = rows.distrusting(rows.lo_known != rows.hi_known, Trust.NO_BOUNDS)
    if function.result.kind is Kind.STRING:
        rows = _believe_text(rows, function.first_uncertain)
    null_only &= rows.trust == Trust.OK
    bare = ~rows.lo_known & ~rows.hi_known & ~null_only & (rows.trust == Trust.OK)
    return replace(rows, null_only=null_only, trust=np.where(bare, np.uint8(Trust.NO_BOUNDS), rows.trust))


def _believe_text(rows: FileStatistics, first_uncertain: str) -> FileStatistics:
    lo_bad: npt.NDArray[np.bool_] = rows.lo_known & distrust_reordered_text(rows.lo, upper=False)
    hi_bad: npt.NDArray[np.bool_] = rows.hi_known & distrust_reordered_text(rows.hi, upper=True)
    trust = np.where(lo_bad | hi_bad, np.uint8(Trust.TEXT_ORDER), rows.trust)
    lo, hi, lo_known, hi_known = rows.lo.copy(), rows.hi.copy(), rows.lo_known & ~lo_bad, rows.hi_known & ~hi_bad
    if first_uncertain:
        for i in np.flatnonzero(rows.lo_known).tolist():
            lo[i], high = widen_letter_case(lo[i], hi[i], first_uncertain)
            hi[i], hi_known[i] = high or "", hi_known[i] and high is not None
    return replace(rows, lo=lo, hi=hi, lo_known=lo_known, hi_known=hi_known, trust=trust)
