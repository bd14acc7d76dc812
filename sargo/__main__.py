"""``python -m sargo``, and the command ``sargo``: the command line, after a look at what shadows its packages."""

from __future__ import annotations

import sys

from sargo.shadowing import ShadowedError, raise_if_shadowed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["run"]

#: As ``handler.cli.exit_codes.NO_OUTPUT``, which cannot be imported when ``handler`` is another module.
_CANNOT_BE_LOADED = 4


def run() -> NoReturn:
    """Run the command line; the exit code is the one that it ends with."""
    try:
        raise_if_shadowed()
    except ShadowedError as error:
        sys.exit(_told(str(error)))
    from handler.cli.process import run as run_command_line

    run_command_line()


def _told(message: str) -> int:
    """Say it in one line on stderr; the exit code."""
    try:
        sys.stderr.write(f"sargo: {message}\n")
    except (OSError, ValueError, AttributeError):
        return _CANNOT_BE_LOADED
    return _CANNOT_BE_LOADED


if __name__ == "__main__":
    run()
