"""A flame graph as SVG of the documentation: callers above what they call, the wider the longer.

Each box is a function, with its share in a tooltip. What takes less than ``_LEAST`` of the time is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape

from tests.bench.flames.stacks import Stack

__all__ = ["COLOURS", "flame_graph"]

_WIDTH, _ROW, _TOP, _LETTER = 920, 17, 26, 6.2
_LEAST = 0.008
_INK = "var(--color-foreground-primary, #1f2328)"
#: By the folder of a function's file; the last one is everybody else's.
COLOURS = {
    "evaluator": "#1f6feb",
    "index_store": "#1a7f37",
    "handler": "#8250df",
    "sarg": "#bf3989",
    "": "#57606a",
}


def flame_graph(title: str, stacks: Mapping[Stack, int]) -> str:
    """An SVG document. Raises ValueError where there is no stack."""
    total = sum(stacks.values())
    if not total:
        raise ValueError("there is no stack to draw")
    boxes = list(_boxes(stacks, total))
    height = _TOP + _ROW * (1 + max((depth for _, depth, _, _ in boxes), default=0)) + 4
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        'font-family="sans-serif" font-size="11">',
        f"<title>{escape(title)}</title>",
        f'<text x="2" y="16" font-size="12" font-weight="bold" fill="{_INK}">{escape(title)}</text>',
    ]
    for frame, depth, begin, share in boxes:
        x, width, y = begin * _WIDTH, share * _WIDTH, _TOP + depth * _ROW
        parts.append(f"<g><title>{escape(frame)}: {share:.1%}</title>")
        parts.append(
            f'<rect x="{x:.1f}" y="{y}" width="{max(width - 0.6, 0.4):.1f}" height="{_ROW - 1}" '
            f'fill="{_colour(frame)}"/>'
        )
        name = _shortened(frame.partition(" (")[0], width)
        if name:
            parts.append(f'<text x="{x + 3:.1f}" y="{y + 12}" fill="#ffffff">{escape(name)}</text>')
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"]) + "\n"


def _boxes(stacks: Mapping[Stack, int], total: int) -> Iterator[tuple[str, int, float, float]]:
    """Function, depth, where it begins and how much it has, as shares of the whole; wide boxes first."""
    waiting: list[tuple[int, float, Mapping[Stack, int]]] = [(0, 0.0, stacks)]
    while waiting:
        depth, begin, below = waiting.pop()
        counts: Counter[str] = Counter()
        for stack, count in below.items():
            if len(stack) > depth:
                counts[stack[depth]] += count
        for frame, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])):
            share = count / total
            if share < _LEAST:
                break
            yield frame, depth, begin, share
            waiting.append((depth + 1, begin, {s: n for s, n in below.items() if s[depth : depth + 1] == (frame,)}))
            begin += share


def _colour(frame: str) -> str:
    folder = frame.partition(" (")[2].partition("/")[0]
    return COLOURS.get(folder, COLOURS[""])


def _shortened(name: str, width: float) -> str:
    """As much of a name as fits; nothing where that says little."""
    letters = int((width - 6) / _LETTER)
    return name if len(name) <= letters else f"{name[: letters - 1]}…" if letters > 3 else ""
