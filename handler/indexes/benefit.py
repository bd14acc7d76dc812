"""The selectivity scores of an index in the reports of ``sargo index``, for people and for JSON.

effective    min_max of city: score at least 83 of 100, an equality leaves 2.4 of 14 files
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluator.language.errors import SargoError
from index_store import Table
from index_store.own.advice.benefit import Benefit, benefits_of
from index_store.own.advice.secondary_benefit import benefits_of_keys
from index_store.own.advice.selectivity_score import AT_MOST
from index_store.own.definition import SECONDARY_INDEX
from index_store.own.store.own_index import OwnIndex

__all__ = ["benefit_rows", "benefits_as_plain", "benefits_at"]

#: At most so many sketches are printed; --json lists all.
MAX_ROWS = 12
_TESTS_OF_COUNTS = {"null_count": "IS NULL", "nan_count": "NaN"}


def benefits_at(table: Table, index: OwnIndex) -> tuple[Benefit, ...]:
    """The benefits of an index; none when they cannot be computed, as a report is useful without."""
    try:
        return tuple(benefits_of_keys(index) if index.definition.kind == SECONDARY_INDEX else benefits_of(table, index))
    except SargoError:
        return ()


def benefit_rows(benefits: Sequence[Benefit]) -> list[tuple[str, str]]:
    """Rows of a report: a label, and the score of a sketch as text."""
    rows = [("effective", _text(one)) for one in benefits[:MAX_ROWS]]
    if len(benefits) > MAX_ROWS:
        rows.append(("", f"and {len(benefits) - MAX_ROWS} more (--json lists them all)"))
    return rows


def _text(one: Benefit) -> str:
    score, name = one.score, one.entry.sketch.partition("(")[0]
    test = _TESTS_OF_COUNTS.get(name, "an equality")
    drawn = f", by {one.drawn} of them" if one.drawn < score.slices else ""
    left = f"{'at least ' if score.basis == AT_MOST else ''}{score.left:.3g} of {score.slices}"
    return (
        f"{one.entry.sketch} of {one.entry.on}: score {score.text} of 100, {test} leaves {left} "
        f"file{' group' * (name == SECONDARY_INDEX)}{'' if score.slices == 1 else 's'}{drawn}"
    )


def benefits_as_plain(benefits: Sequence[Benefit]) -> list[dict[str, Any]]:
    """The benefits as plain values for JSON."""
    return [
        {
            "on": one.entry.on,
            "sketch": one.entry.sketch,
            "score": round(one.score.score, 2),
            "basis": one.score.basis or "exact",
            "left": round(one.score.left, 2),
            "files": one.score.slices,
            "drawn": one.drawn,
        }
        for one in benefits
    ]
