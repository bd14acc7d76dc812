"""Min to max of a column in each file as an SVG picture, beside the constants of a condition.

Files stand from left to right by their lower bound. Where the table is clustered by the column the ranges climb like
stairs, and a constant meets few of them; where it is not, nearly every range is as tall as the picture.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evaluator.explain.file_ranges import FileRanges, constants_of, file_ranges, most_known
from evaluator.language.records import frozen
from handler.advise.what_if import WhatIf
from handler.planning.explanation import Explanation

__all__ = ["RangeChart", "chart_of", "condition_charts", "layout_charts"]

MAX_CHARTS = 12
WIDTH, HEIGHT = 1000, 400
_MARGIN, _LEAST = 20, 5.0
#: From this share of the column's range on, a typical file is said to be wide.
_WIDE, _NARROW = 0.25, 0.1


@frozen(kw_only=True)
class RangeChart:
    """A picture of ranges.

    bars      (class, path of SVG, number of bars) for each kind of bar
    marks     (height in the picture, text) of each constant
    summary   the picture in words
    verdict   what the widths mean
    width     of a bar
    """

    title: str
    column: str
    source: str
    bars: tuple[tuple[str, str, int], ...]
    marks: tuple[tuple[float, str], ...]
    least: str
    greatest: str
    summary: str
    verdict: str
    bar_width: float


def condition_charts(explanation: Explanation) -> list[RangeChart]:
    """A picture for each condition on a bare column of which bounds are known; those that skip least first."""
    charts: list[tuple[int, RangeChart]] = []
    sought = explanation.bound.program.sought_values()
    for number, leaf in enumerate(explanation.bound.leaves):
        compared = constants_of(leaf.test)
        known = None if compared is None else most_known(explanation.providers, compared[0])
        if compared is None or known is None or len(charts) >= 4 * MAX_CHARTS:
            continue
        ranges = file_ranges(compared[0], known[1], compared[1])
        if ranges is None:
            continue
        out = (explanation.evaluation.leaf_at(number, ranges.slices) & sought[number].bit) == 0
        report = explanation.leaves[number]
        text = f"NOT {report.text}" if report.negated else report.text
        charts.append((report.skipped, chart_of(ranges, known[0], text, out, report.skipped)))
    return [chart for _, chart in sorted(charts, key=lambda one: one[0])[:MAX_CHARTS]]


def layout_charts(layout: WhatIf) -> list[tuple[str, RangeChart | None, RangeChart | None]]:
    """By column the picture of today's ranges and of those in the simulated layout."""
    return [
        (
            one.name,
            None if one.ranges_before is None else chart_of(one.ranges_before, "the files read", f"{one.name}, today"),
            None
            if one.ranges_after is None
            else chart_of(one.ranges_after, "the simulation", f"{one.name}, after {layout.arrangement}"),
        )
        for one in layout.columns[:MAX_CHARTS]
    ]


def chart_of(
    ranges: FileRanges,
    source: str,
    title: str,
    ruled_out: npt.NDArray[np.bool_] | None = None,
    skipped: int | None = None,
) -> RangeChart:
    """The picture of some ranges; ``ruled_out``: the bars of files that the condition skips, ``skipped`` in all."""
    step = WIDTH / max(len(ranges.lo), 1)
    groups: Sequence[tuple[str, npt.NDArray[np.bool_]]] = (
        [("plain", np.ones(len(ranges.lo), np.bool_))]
        if ruled_out is None
        else [("open", ~ruled_out), ("out", ruled_out)]
    )
    bars = tuple((style, _path(ranges, mask, step), int(mask.sum())) for style, mask in groups if mask.any())
    shown = len(ranges.lo)
    files = f"{ranges.known:,} file slices" if shown == ranges.known else f"{shown:,} of {ranges.known:,} file slices"
    summary = f"Ranges of {ranges.column} in {files}, from {ranges.least} to {ranges.greatest}"
    if skipped is not None:
        every = ranges.known + ranges.unknown
        summary += f"; the condition rules out {skipped:,} of {every:,} file slices"
    if ranges.unknown:
        summary += f"; {ranges.unknown:,} have no bounds here"
    return RangeChart(
        title=title,
        column=ranges.column,
        source=source,
        bars=bars,
        marks=tuple((_height(mark.at), mark.text + _beyond(mark.at)) for mark in ranges.marks),
        least=ranges.least,
        greatest=ranges.greatest,
        summary=summary + ".",
        verdict=_verdict(ranges),
        bar_width=round(max(min(step * 0.72, 40.0), 1.5), 2),
    )


def _verdict(ranges: FileRanges) -> str:
    width = ranges.typical_width
    share = "less than 1 %" if width < 0.01 else f"{100 * width:.0f} %"
    typical = f"A typical file covers {share} of {'the bounds' if ranges.by_rank else 'the range'} of {ranges.column}"
    if ranges.known < 2:
        return f"{typical}."
    if width >= _WIDE:
        return (
            f"{typical}: the ranges overlap, so a constant lies in many of them. "
            f"sargo inspect --what-if shows what sorting by {ranges.column} would do."
        )
    if width <= _NARROW:
        return f"{typical}: the ranges are narrow."
    return f"{typical}."


def _beyond(at: float) -> str:
    return " (above every file)" if at > 1 else " (below every file)" if at < 0 else ""


def _height(at: float) -> float:
    return round(HEIGHT - _MARGIN - at * (HEIGHT - 2 * _MARGIN), 1)


def _path(ranges: FileRanges, mask: npt.NDArray[np.bool_], step: float) -> str:
    parts = []
    for place in np.flatnonzero(mask).tolist():
        low, high = _height(float(ranges.lo[place])), _height(float(ranges.hi[place]))
        if low - high < _LEAST:
            middle = (low + high) / 2
            low, high = middle + _LEAST / 2, middle - _LEAST / 2
        parts.append(f"M{(place + 0.5) * step:.1f} {low:.1f}V{high:.1f}")
    return "".join(parts)
