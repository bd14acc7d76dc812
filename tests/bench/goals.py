"""The goals of speed, as ratios between figures of one run.

On data set E (2.27 million files), "Sargo" with indexed statistics:

    random layout, every shape                        <= 0.6 x Polars, <= 0.3 x DataFusion, <= 0.25 x DuckDB
    IN of 1,000                                       <= 0.04 x Polars; <= 0.1 x in the clustered layout
    random and clustered, equality and narrow range   <= 0.08 x a flat numpy scan
    clustered, equality and narrow range              <= 0.15 x DuckDB, which has zone maps
    random layout, scans only, every shape but IN     <= 0.6 x the time to stream the bounds, 8 bytes each

On data set C (1,050 files), the same "Sargo":

    equality, narrow range and ten leaves             <= 0.4 x Polars, <= 4 x a flat numpy scan

    20 slices, 5 leaves, with binding                 <= 40 microseconds

Two more lines are for comparison: the wide layout, and streaming at the speed of a pass that only reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.bench.engines.numpy_scan import NumpyScan
from tests.bench.engines.sargo import Sargo, SargoScan
from tests.bench.measurements import Measurement

__all__ = ["Verdict", "verdicts"]

_SELECTIVE = ("1 equality", "2-leaf range")
_LEAVES = (*_SELECTIVE, "10-leaf AND/OR")
_IN = "IN of 1,000"
_TINY_MICROSECONDS = 40


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
    small = {m.layout: m for m in measured if m.data == "C"}
    numpy, most = NumpyScan.name, _TINY_MICROSECONDS
    [(shape, seconds)] = tiny.seconds.items()
    return [
        _to_peer("E random, every shape", large, ["random"], None, "Polars", 0.6),
        _to_peer("E random, every shape", large, ["random"], None, "DataFusion", 0.3),
        _to_peer("E random, every shape", large, ["random"], None, "DuckDB", 0.25),
        _to_peer("E random, IN of 1,000", large, ["random"], [_IN], "Polars", 0.04),
        _to_peer("E clustered, IN of 1,000", large, ["clustered"], [_IN], "Polars", 0.1),
        _to_peer("E random and clustered, equality and range", large, ["random", "clustered"], _SELECTIVE, numpy, 0.08),
        _to_peer("E wide (1 % span all ids), equality and range", large, ["wide"], _SELECTIVE, numpy, 0.08),
        _to_peer("E clustered, equality and range", large, ["clustered"], _SELECTIVE, "DuckDB", 0.15),
        *(
            Verdict(
                f"E random, scans only, all but IN: at most 0.6 x streaming the bounds ({speed} speed)",
                0.6,
                _of_streaming(large.get("random"), speed),
            )
            for speed in ("copy", "read")
        ),
        _to_peer("C, equality, range and ten leaves", small, ["random", "clustered"], _LEAVES, "Polars", 0.4),
        _to_peer("C, equality, range and ten leaves", small, ["random", "clustered"], _LEAVES, numpy, 4),
        Verdict(
            f"20 slices, 5 leaves, with binding: at most {most} µs", most, {shape: seconds[Sargo.name] * 1e6}, "µs"
        ),
    ]


def _to_peer(
    what: str,
    measured: Mapping[str, Measurement],
    layouts: Sequence[str],
    shapes: Sequence[str] | None,
    peer: str,
    most: float,
) -> Verdict:
    figures = _ratios(measured, layouts, shapes, peer)
    return Verdict(f"{what}: at most {most} x {peer}", most, figures)


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
    measured: Mapping[str, Measurement], layouts: Sequence[str], shapes: Sequence[str] | None, peer: str
) -> dict[str, float]:
    return {
        f"{shape}, {layout}": seconds[Sargo.name] / seconds[peer]
        for layout in layouts
        if layout in measured
        for shape, seconds in measured[layout].seconds.items()
        if peer in seconds and (shapes is None or shape in shapes)
    }
