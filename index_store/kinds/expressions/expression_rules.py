"""Which statistics of an expression index are believed, file by file: the rules of ``file_rules`` for expressions.

    rows, sizes      never: ``valueCount`` counts non-null values, and the sizes are those of the file
    nulls            as stored, unless a bound has another type than the function's result
    bounds           only both together; text only where no writer orders it otherwise
    lower, upper     widened by the letters that engines map differently (``case_mappings``)
    a log file       of nulls only has no bounds, and adds none

Facts: docs/facts/hudi-expression-index.md#what-differs-between-the-writer-and-the-reader-of-an-index.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from evaluator.language.types import Kind
from evaluator.statistics.columns import UNKNOWN_COUNT
from evaluator.statistics.distrust import Trust, distrust_inverted_bounds, distrust_reordered_text
from index_store.kinds.column_stats.file_rules import FileStatistics
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.kinds.expression_functions import ExpressionFunction
from index_store.kinds.expressions.case_mappings import first_uncertain, widen_letter_case

__all__ = ["believe_expression"]


def believe_expression(rows: FileStatistics, files: SliceFiles, function: ExpressionFunction) -> FileStatistics:
    """Statistics of an expression as far as they hold for every engine.

    ``valueCount`` counts what is not null and the sizes are those of the file, so neither rows nor sizes are known.
    A log file of nulls has no bounds and adds none.
    """
    unknown = np.full(len(rows.file_index), UNKNOWN_COUNT, np.int64)
    null_only = files.is_log[rows.file_index] & (rows.rows == 0) & (rows.nulls > 0) & ~rows.lo_known & ~rows.hi_known
    rows = replace(rows, rows=unknown, size=unknown, nulls=np.maximum(rows.nulls, UNKNOWN_COUNT))
    wrong = rows.trust != Trust.OK
    rows = replace(
        rows,
        lo_known=rows.lo_known & ~wrong,
        hi_known=rows.hi_known & ~wrong,
        nulls=np.where(wrong, UNKNOWN_COUNT, rows.nulls),
    )
    rows = rows.distrusting(files.is_other[rows.file_index], Trust.NOT_PARQUET, counts_too=True)
    both = rows.lo_known & rows.hi_known
    inverted = np.zeros(len(both), np.bool_)
    inverted[both] = distrust_inverted_bounds(rows.lo[both], rows.hi[both])
    rows = rows.distrusting(inverted, Trust.INVERTED)
    rows = rows.distrusting(rows.lo_known != rows.hi_known, Trust.NO_BOUNDS)
    if function.result.kind is Kind.STRING:
        rows = _believe_text(rows, function.letters)
    null_only &= rows.trust == Trust.OK
    bare = ~rows.lo_known & ~rows.hi_known & ~null_only & (rows.trust == Trust.OK)
    return replace(rows, null_only=null_only, trust=np.where(bare, np.uint8(Trust.NO_BOUNDS), rows.trust))


def _believe_text(rows: FileStatistics, letters: str) -> FileStatistics:
    lo_bad: npt.NDArray[np.bool_] = rows.lo_known & distrust_reordered_text(rows.lo, upper=False)
    hi_bad: npt.NDArray[np.bool_] = rows.hi_known & distrust_reordered_text(rows.hi, upper=True)
    trust = np.where(lo_bad | hi_bad, np.uint8(Trust.TEXT_ORDER), rows.trust)
    lo, hi, lo_known, hi_known = rows.lo, rows.hi, rows.lo_known & ~lo_bad, rows.hi_known & ~hi_bad
    if letters:
        lo, hi, bounded = widen_letter_case(np.asarray(lo), np.asarray(hi), first_uncertain(letters))
        hi_known = hi_known & bounded
    return replace(rows, lo=lo, hi=hi, lo_known=lo_known, hi_known=hi_known, trust=trust)
