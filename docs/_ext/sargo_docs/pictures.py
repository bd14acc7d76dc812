"""``{picture} sargo ...``: the command runs on the demo's table, and what it prints becomes an SVG in the page.

The command runs in this process with consoles that record, so the picture is made by the code that prints. Two
pictures are made, for the light and the dark theme. Fonts are those of the reader's machine: nothing is loaded.
"""

from __future__ import annotations

import io
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from html import escape
from unittest import mock

from docutils import nodes
from docutils.parsers.rst import directives
from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, DIMMED_MONOKAI, TerminalTheme
from rich.text import Text
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from handler.cli.main import main
from handler.cli.output import consoles
from sargo_docs.playground import playground

__all__ = ["Picture", "record", "setup"]

#: Characters in a line: a picture as wide as this is readable in a page.
COLUMNS = 100
_THEMES: dict[str, TerminalTheme] = {"only-light": DEFAULT_TERMINAL_THEME, "only-dark": DIMMED_MONOKAI}


@contextmanager
def _recording(columns: int) -> Iterator[list[Console]]:
    """Have the commands print on consoles that record."""
    made: list[Console] = []

    def console() -> Console:
        made.append(_console(columns, highlight=False))
        return made[-1]

    with mock.patch.object(consoles, "new_stdout_console", console):
        yield made


def _console(columns: int, *, highlight: bool = True) -> Console:
    """A console that records what is printed, with colours, on every machine alike."""
    return Console(
        file=io.StringIO(),
        record=True,
        width=columns,
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        highlight=highlight,
    )


@cache
def record(command: str) -> tuple[str, ...]:
    """Run a ``sargo`` command beside the demo's playground; the lines that it printed, with their colours."""
    program, *arguments = shlex.split(command)
    if program != "sargo":
        raise ValueError(f"{command}: not a sargo command")
    before = os.getcwd()
    os.chdir(playground().parent)
    try:
        with _recording(COLUMNS) as recorded:
            main.main(arguments, prog_name="sargo")
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{command}: exit code {end.code}") from end
    finally:
        os.chdir(before)
    if len(recorded) != 1:
        raise RuntimeError(f"{command}: printed on {len(recorded)} consoles")
    return tuple(recorded[0].export_text(styles=True).splitlines())


def _svg(command: str, lines: tuple[str, ...], theme: TerminalTheme, name: str) -> str:
    console = _console(COLUMNS)
    for line in lines:
        console.print(Text.from_ansi(line, no_wrap=True), overflow="crop")
    drawing = console.export_svg(title=command, theme=theme, unique_id=name)
    drawing = re.sub(r"@font-face\s*{[^}]*}|<!--.*?-->", "", drawing, flags=re.DOTALL)
    return drawing.replace("Fira Code", "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono")


class Picture(SphinxDirective):
    """One command and its picture; ``:lines: 1-40`` shows a part, and the page says so."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {"lines": directives.unchanged_required}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        command = self.arguments[0]
        lines = record(command)
        part = self.options.get("lines")
        if part is not None:
            first, last = (int(number) for number in part.split("-"))
            if not 1 <= first <= last <= len(lines):
                raise self.error(f"{command} prints {len(lines)} lines, not {part}")
            lines = lines[first - 1 : last]
        name = f"picture-{self.env.new_serialno('picture')}-{self.env.docname.replace('/', '-')}"
        pictures = "".join(
            f'<div class="sargo-picture {shown}" role="img" aria-label="{escape(command)}">'
            f"{_svg(command, lines, theme, f'{name}-{shown}')}</div>"
            for shown, theme in _THEMES.items()
        )
        return [nodes.raw("", pictures, format="html")]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("picture", Picture)
