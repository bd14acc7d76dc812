"""A console for names and values of tables: their control characters are printed as escapes."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from handler.cli.output.encodable_output import escaped

__all__ = ["PlainConsole"]


class PlainConsole(Console):
    """``rich``'s console; what it writes for colours stays as it is."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else escaped(segment.text, keep="\n")
            yield segment if text == segment.text else Segment(text, segment.style)
