"""Where commands print: stdout for people or as JSON, and a spinner on stderr while they work."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO, cast

from handler.cli.output.encodable_output import EncodableOutput

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["print_json", "print_text", "spinner", "stderr_console", "stdout_console"]

#: A narrower terminal breaks lines itself.
_LEAST_COLUMNS = 40


def stdout_console() -> Console:
    """Stdout, as wide as the terminal; 120 columns when it is not a terminal."""
    return new_stdout_console()


def new_stdout_console() -> Console:
    """What ``stdout_console`` returns; the documentation puts a console here that records."""
    from handler.cli.output.plain_console import PlainConsole

    output = EncodableOutput(sys.stdout)
    return PlainConsole(
        file=cast(TextIO, output), soft_wrap=False, width=None if output.isatty() else 120, highlight=False
    )


def stderr_console() -> Console | None:
    """Stderr if it is a terminal, for what shows progress."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    from rich.console import Console

    console = Console(file=cast(TextIO, EncodableOutput(sys.stderr)))
    return console if console.is_terminal else None


def print_json(document: object) -> None:
    """One JSON document on stdout."""
    from handler.views.json_text import json_text

    EncodableOutput(sys.stdout).write_json(json_text(document) + "\n")


def print_text(text: str, *, newline: bool = True) -> None:
    """A text on stdout, as it is."""
    EncodableOutput(sys.stdout).write(text + "\n" * newline)


def spinner(text: str) -> AbstractContextManager[Any]:
    """A spinner on stderr, if that is a terminal."""
    console = stderr_console()
    if console is None:
        return nullcontext()
    return console.status(text, spinner="line" if console.options.ascii_only else "dots")
