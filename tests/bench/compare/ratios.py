"""What is said of a path: the ratio of its CPU times, how far the rounds spread, and whether it became slower.

The ratio is between the least times: other work on the machine only adds. A path is slower when this ratio and the
median of the rounds' own ratios both are above the limit. So neither one lucky round of the base nor a machine that was
busy during half of the rounds makes a path slower.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Comparison", "shown"]


@dataclass(frozen=True)
class Comparison:
    """CPU seconds of one path by round; both sequences have the same length, at least 1.

    why   why there is no ratio, or ""
    """

    name: str
    base: Sequence[float]
    head: Sequence[float]
    why: str = ""

    @property
    def ratio(self) -> float:
        """Head to base, of the least times."""
        return min(self.head) / min(self.base)

    @property
    def ratios(self) -> list[float]:
        """Head to base, of each round, sorted."""
        return sorted(head / base for head, base in zip(self.head, self.base, strict=True))

    @property
    def spread(self) -> tuple[float, float, float]:
        """The lower quartile, the median and the upper quartile of the rounds' ratios."""
        ratios = self.ratios
        if len(ratios) == 1:
            return ratios[0], ratios[0], ratios[0]
        low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
        return low, middle, high

    def is_slower(self, limit: float) -> bool:
        """Whether the path takes more than ``limit`` times as long as in the base."""
        return not self.why and min(self.ratio, self.spread[1]) > limit


def shown(seconds: float) -> str:
    """A time, for people."""
    return f"{seconds * 1e6:,.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:,.2f} ms"
