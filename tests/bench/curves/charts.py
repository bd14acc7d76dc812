"""Curves on two logarithmic axes, as SVG of the documentation: files to the right, CPU time upwards.

Text and axes have the colours of the page's theme, as the other drawings of ``docs/diagrams`` have.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["Curve", "chart"]

#: Points: number of files, seconds.
Curve = Sequence[tuple[float, float]]

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 460, 300, 56, 120, 28, 34
_INK, _PALE = "var(--color-foreground-primary, #1f2328)", "var(--color-foreground-muted, #57606a)"
_LINE = "var(--color-background-border, #d0d7de)"
_COLOURS = ("#1f6feb", "#8250df", "#57606a", "#bf3989", "#9a6700", "#1a7f37")


def chart(title: str, curves: Mapping[str, Curve]) -> str:
    """An SVG document. Raises ValueError when no curve has a point."""
    points = [point for curve in curves.values() for point in curve]
    if not points:
        raise ValueError("no curve has a point")
    left, right = (edge(math.log10(x) for x, _ in points) for edge in (min, max))
    low, high = (
        math.floor(min(math.log10(y) for _, y in points)),
        math.ceil(max(math.log10(y) for _, y in points)),
    )

    def x_of(files: float) -> float:
        return _LEFT + (math.log10(files) - left) / max(right - left, 1e-9) * (_WIDTH - _LEFT - _RIGHT)

    def y_of(seconds: float) -> float:
        return _HEIGHT - _BOTTOM - (math.log10(seconds) - low) / max(high - low, 1) * (_HEIGHT - _TOP - _BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="11">',
        f"<title>{escape(title)}</title>",
        f'<text x="{_LEFT}" y="16" font-size="12" font-weight="bold" fill="{_INK}">{escape(title)}</text>',
    ]
    for power in range(low, high + 1):
        y = y_of(10.0**power)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="{_LINE}" fill="none"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="{_PALE}">{_time(power)}</text>')
    for power in range(math.ceil(left), math.floor(right) + 1):
        x = x_of(10.0**power)
        parts.append(f'<path d="M{x:.1f} {_TOP}V{_HEIGHT - _BOTTOM}" stroke="{_LINE}" fill="none"/>')
        label = f'10<tspan dy="-4" font-size="8">{power}</tspan>'
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 16}" text-anchor="middle" fill="{_PALE}">{label}</text>')
    ends: list[float] = []
    named = sorted(zip(curves.items(), _COLOURS, strict=False), key=lambda one: one[0][1][-1][1], reverse=True)
    for (name, curve), colour in named:
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in curve)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        end = max(y_of(curve[-1][1]), ends[-1] + 13 if ends else 0.0)  # names do not overlap
        ends.append(end)
        parts.append(f'<text x="{_WIDTH - _RIGHT + 6}" y="{end + 4:.1f}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _time(power: int) -> str:
    for unit, exponent in (("s", 0), ("ms", -3), ("µs", -6)):
        if power >= exponent:
            return f"{10 ** (power - exponent)} {unit}"
    return f"1e{power} s"
