"""The benefit of an index in the summaries of ``sargo index``: a line for each sketch, with its score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluator.language.errors import SargoError
from index_store import Table
from index_store.own.advice.benefit import Benefit, benefits_of
from index_store.own.advice.secondary_benefit import benefits_of_keys
from index_store.own.advice.selectivity_score import AT_MOST
from index_store.own.definition import SECONDARY_INDEX
from index_store.own.store.folder import Folder
from index_store.own.store.own_index import OwnIndex

__all__ = ["benefit_rows", "benefits_as_plain", "benefits_at"]

#: More sketches than these are left to --json.
MAX_ROWS = 12
_COUNTS = {"null_count": "IS NULL", "nan_count": "NaN"}


def benefits_at(table: Table, folder: Folder) -> tuple[Benefit, ...]:
    """The benefits of the index in a folder; none when they cannot be told: the summary does without."""
    try:
        index = OwnIndex.open(folder)
        return tuple(benefits_of_keys(index) if index.definition.kind == SECONDARY_INDEX else benefits_of(table, index))
    except SargoError:
        return ()


def benefit_rows(benefits: Sequence[Benefit]) -> list[tuple[str, str]]:
    """For people: ``effective``, ``min_max of city: score at least 83, an equality leaves 2.4 of 14 files``."""
    rows = [("effective", _text(one)) for one in benefits[:MAX_ROWS]]
    if len(benefits) > MAX_ROWS:
        rows.append(("", f"and {len(benefits) - MAX_ROWS} more (--json lists them all)"))
    return rows


def _text(one: Benefit) -> str:
    found, name = one.score, one.entry.sketch.partition("(")[0]
    asked = _COUNTS.get(name, "an equality")
    drawn = f", by {one.drawn} of them" if one.drawn < found.slices else ""
    left = f"{'at least ' if found.basis == AT_MOST else ''}{found.left:.3g} of {found.slices}"
    return (
        f"{one.entry.sketch} of {one.entry.on}: score {found.text} of 100, {asked} leaves {left} "
        f"file{' group' * (name == SECONDARY_INDEX)}{'' if found.slices == 1 else 's'}{drawn}"
    )


def benefits_as_plain(benefits: Sequence[Benefit]) -> list[dict[str, Any]]:
    """For JSON."""
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
