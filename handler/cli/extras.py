"""What a command says when the libraries of an extra are missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from handler.cli.exit_codes import InputError

__all__ = ["needs_extra"]

_OUR_PACKAGES = ("evaluator", "handler", "index_store", "sarg")


@contextmanager
def needs_extra(command: str, extra: str) -> Iterator[None]:
    """For imports of the libraries of an extra: one that is missing is an InputError that says what to install."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] in _OUR_PACKAGES:
            raise
        raise InputError(
            f"'sargo {command}' needs the extra '{extra}' ({error.name} is missing): pip install 'sargo[{extra}]'"
        ) from error
