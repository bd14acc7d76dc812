"""Where commands print: stdout for people, and a spinner on stderr while they work."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from rich.console import Console

__all__ = ["spinner", "stdout_console"]


def stdout_console() -> Console:
    """Stdout, as wide as the terminal; 120 columns when it is not a terminal."""
    return Console(soft_wrap=False, width=None if sys.stdout.isatty() else 120, highlight=False)


def spinner(text: str) -> AbstractContextManager[Any]:
    """A spinner on stderr, if that is a terminal."""
    console = Console(stderr=True)
    return console.status(text) if console.is_terminal else nullcontext()
