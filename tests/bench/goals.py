"""The goals of speed, as ratios between figures of one run.

On data set E, "Sargo" with indexed statistics:

    random layout, every shape                      <= 0.6 x Polars, <= 0.3 x DataFusion, <= 0.25 x DuckDB
    random layout, IN of 1,000                      <= 0.06 x Polars
    random and clustered, equality and narrow range <= 0.1 x a flat numpy scan
    random layout, scans only, every shape but IN   <= 0.8 x the time to stream the bounds, 8 bytes each
    20 slices, 5 leaves, with binding               <= 50 microseconds

Two more lines are for comparison: the wide layout, and streaming at the speed of a pass that only reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.bench.engines.numpy_scan import NumpyScan
from tests.bench.engines.sargo import Sargo, SargoScan
from tests.bench.measurements import Measurement

__all__ = ["Verdict", "verdicts"]

_SELECTIVE = ("1 equality", "2-leaf range")
_IN = "IN of 1,000"


@dataclass(frozen=True)
class Verdict:
    """A goal, the figures it is about (each with where it was measured), and the most that they may be."""

    goal: str
    most: float
    figures: Mapping[str, float]
    unit: str = "x"

    @property
    def worst(self) -> tuple[str, float] | None:
        """Where the goal is farthest, and the figure there."""
        return max(self.figures.items(), key=lambda item: item[1], default=None)

    @property
    def is_met(self) -> bool:
        return all(figure <= self.most for figure in self.figures.values())


def verdicts(measured: Sequence[Measurement], tiny: Measurement) -> list[Verdict]:
    """Every goal; one without a figure was not measured in this run."""
    large = {m.layout: m for m in measured if m.data == "E"}
    [(shape, seconds)] = tiny.seconds.items()
    return [
        *(
            Verdict(f"E random, every shape: at most {most} x {peer}", most, _ratios(large, ["random"], None, peer))
            for peer, most in (("Polars", 0.6), ("DataFusion", 0.3), ("DuckDB", 0.25))
        ),
        Verdict("E random, IN of 1,000: at most 0.06 x Polars", 0.06, _ratios(large, ["random"], [_IN], "Polars")),
        Verdict(
            "E random and clustered, equality and range: at most 0.1 x a flat numpy scan",
            0.1,
            _ratios(large, ["random", "clustered"], _SELECTIVE, NumpyScan.name),
        ),
        Verdict(
            "E wide (1 % span all ids), equality and range: at most 0.1 x a flat numpy scan",
            0.1,
            _ratios(large, ["wide"], _SELECTIVE, NumpyScan.name),
        ),
        *(
            Verdict(
                f"E random, scans only, all but IN: at most 0.8 x streaming the bounds ({speed} speed)",
                0.8,
                _of_streaming(large.get("random"), speed),
            )
            for speed in ("copy", "read")
        ),
        Verdict("20 slices, 5 leaves, with binding: at most 50 µs", 50, {shape: seconds[Sargo.name] * 1e6}, "µs"),
    ]


def _of_streaming(measured: Measurement | None, speed: str) -> dict[str, float]:
    """Scans of codes against streaming the bounds."""
    return (
        {}
        if measured is None
        else {
            shape: seconds[SargoScan.name] / measured.streaming[speed][shape]
            for shape, seconds in measured.seconds.items()
            if shape != _IN
        }
    )


def _ratios(
    large: Mapping[str, Measurement], layouts: Iterable[str], shapes: Iterable[str] | None, peer: str
) -> dict[str, float]:
    return {
        f"{shape}, {layout}": seconds[Sargo.name] / seconds[peer]
        for layout in layouts
        if layout in large
        for shape, seconds in large[layout].seconds.items()
        if peer in seconds and (shapes is None or shape in shapes)
    }
