"""How much the ranges of each column overlap between file slices, for the page of ``sargo inspect``.

Where ranges do not overlap, an equality leaves one file slice; where all of them do, it leaves every slice. The score
is that of ``own.advice.selectivity_score``, on the bounds of the index kind that knows most slices.
"""

from __future__ import annotations

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.explain.file_ranges import FileRanges, file_ranges, most_known
from evaluator.language.records import frozen
from evaluator.language.schema import Field
from evaluator.language.types import Kind
from index_store.opened_table import OpenTable
from index_store.own.advice.selectivity_score import SelectivityScore, score_of_statistics
from index_store.table.table_schema import META_COLUMNS

__all__ = ["ColumnOverlap", "OverlapReport", "report_overlap"]

#: Columns that are looked at: bounds of each are read.
MAX_COLUMNS = 40


@frozen
class ColumnOverlap:
    """The ranges of a column, by the bounds of an index kind, and how well they tell slices apart."""

    column: Field
    kind: str
    score: SelectivityScore
    ranges: FileRanges


@frozen
class OverlapReport:
    """The columns of which bounds are known, those first that overlap most; and those of which none are.

    ``left_out``: how many columns were not looked at.
    """

    columns: tuple[ColumnOverlap, ...]
    without_bounds: tuple[str, ...]
    left_out: int

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns whose ranges are known."""
        return tuple(one.column for one in self.columns)


def report_overlap(opened: OpenTable, as_of: str | None = None) -> OverlapReport:
    """Report on a table's columns but Hudi's own. An index that cannot be read is left out (contract C4)."""
    every = [field for field in opened.table.schema if field.name not in META_COLUMNS]
    columns = [field for field in every if field.type.kind is not Kind.OTHER]
    looked_at = tuple(columns[:MAX_COLUMNS])
    provided = opened.at(as_of).provide(RequiredStatistics(bounds=looked_at), lambda *_: None)
    known: list[ColumnOverlap] = []
    unknown: list[str] = []
    for field in looked_at:
        best = most_known(provided.providers, field.name)
        ranges = None if best is None else file_ranges(field.name, best[1])
        if best is None or ranges is None:
            unknown.append(field.name)
        else:
            known.append(ColumnOverlap(field, best[0], score_of_statistics(best[1]), ranges))
    known.sort(key=lambda one: -one.score.left)
    return OverlapReport(tuple(known), tuple(unknown), len(columns) - len(looked_at))
