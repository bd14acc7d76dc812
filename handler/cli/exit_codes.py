"""The exit codes of ``sargo``, and the one line on stderr that goes with each error.

An error that is not named here is a fault of Sargo's own: it ends with ``OWN_FAULT``, and the line says where it arose.
SARGO_TRACEBACK=1 prints the whole traceback, for a report.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from typing import NoReturn

import click

from evaluator.language.errors import SargoError
from handler.cli.output.encodable_output import OutputError, one_line

__all__ = ["EXIT_CODES", "NO_SPACE", "InputError", "code_and_message", "exit_code_lines", "leave_with", "message_line"]

OK, FOUND, BAD_INPUT, UNREADABLE, NO_OUTPUT, OWN_FAULT = 0, 1, 2, 3, 4, 70
HUNG_UP, STOPPED, TERMINATED = 129, 130, 143

#: Every code that ``sargo`` ends with, and its meaning; the page of the command line has the same table.
EXIT_CODES: Mapping[int, str] = {
    OK: "answered; also when the reader of stdout has left, as `head` does",
    FOUND: "`sargo doctor` found something that fails; `sargo demo` found a lost row",
    BAD_INPUT: "bad input: an argument, a filter, or a file or folder that an option names",
    UNREADABLE: "the table or one of its indexes cannot be read or written; the sidecar does not answer",
    NO_OUTPUT: "stdout is closed or full, no space is left, the system refuses a file, memory or a library, "
    "or another module has the name of one of Sargo's packages",
    OWN_FAULT: "a fault of Sargo's own; SARGO_TRACEBACK=1 shows where, for a report",
    HUNG_UP: "stopped by SIGHUP",
    STOPPED: "stopped by Ctrl-C",
    TERMINATED: "stopped by SIGTERM; `sargo serve` finishes its calls and ends with 0",
}

#: The numbers of the system's errors for a full disk and a full quota.
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_CLOSED = "cannot write to stdout: it is closed"
#: Longer messages are cut.
_MAX_MESSAGE = 1200
#: Set to anything, it prints the traceback of a fault of Sargo's own.
TRACEBACK_VARIABLE = "SARGO_TRACEBACK"


class InputError(click.ClickException):
    """An argument or a file that an option names cannot be used."""

    exit_code = BAD_INPUT


def exit_code_lines() -> str:
    """The exit codes for ``sargo --help``: one paragraph that click does not wrap."""
    lines = [f"{code:>5}  {meaning.replace('`', '')}" for code, meaning in EXIT_CODES.items()]
    return "\n".join(["\b", "Exit codes:", *lines])


def code_and_message(error: Exception) -> tuple[int, str]:
    """The exit code of an error, and what is said on stderr; the message is empty when nothing is to be said."""
    match error:
        case click.exceptions.Abort():
            return STOPPED, "stopped"
        case click.UsageError():
            return BAD_INPUT, _with_place(error)
        case click.ClickException():
            return BAD_INPUT, error.format_message()
        case OutputError():
            return (OK, "") if error.reader_left else (NO_OUTPUT, str(error))
        case SargoError():
            return _code_of_sargo_error(error), _with_hint(error)
        case BrokenPipeError():
            return OK, ""
        case OSError(errno=errno.EBADF, filename=None):
            return NO_OUTPUT, _CLOSED
        case ValueError() if sys.stdout is not None and sys.stdout.closed:
            return NO_OUTPUT, _CLOSED
        case MemoryError():
            return NO_OUTPUT, "there is not enough memory"
        case RuntimeError() if "start new thread" in str(error):
            return NO_OUTPUT, "the system refuses another thread"
        case ImportError():
            return NO_OUTPUT, f"a library cannot be loaded, check the installation: {one_line(str(error))[:300]}"
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return NO_OUTPUT, f"{_named_file(error)}: no space is left"
        case OSError():
            return NO_OUTPUT, f"{_named_file(error)}: {error.strerror or error}"
        case _:
            return OWN_FAULT, _own_fault(error)


def leave_with(code: int, message: str) -> NoReturn:
    """End the command with a code, after one line on stderr; a stderr that cannot be written changes nothing."""
    if message:
        with suppress(OSError, ValueError):
            click.echo(f"sargo: {message_line(message)}", err=True)
    sys.exit(code)


def message_line(message: str) -> str:
    """The message in one line; the middle of a long one is left out."""
    line = one_line(message)
    return line if len(line) <= _MAX_MESSAGE else f"{line[: _MAX_MESSAGE - 300]} ... {line[-295:]}"


def _with_place(error: click.UsageError) -> str:
    """The error, and where a condition belongs that follows the table with no option before it."""
    text = error.format_message()
    options = [] if error.ctx is None else [one.name for one in error.ctx.command.params]
    is_extra = text.startswith("Got unexpected extra argument") and "where" in options
    return f"{text}: a condition goes behind --where, in one pair of quotes" if is_extra else text


def _code_of_sargo_error(error: SargoError) -> int:
    from index_store.storage.errors import StatsError, TableError

    if not isinstance(error, TableError | StatsError):
        return BAD_INPUT
    from index_store.own.store.optimistic_commit import IndexExistsError

    if isinstance(error, IndexExistsError):
        return BAD_INPUT
    return NO_OUTPUT if _system_error(error) in NO_SPACE else UNREADABLE


def _system_error(error: BaseException | None) -> int | None:
    """The number of the system's error that an error was raised from."""
    while error is not None:
        if isinstance(error, OSError) and error.errno is not None:
            return error.errno
        error = error.__cause__
    return None


def _with_hint(error: SargoError) -> str:
    """The error, and a hint at the remedy."""
    from index_store.storage.errors import StatsError, TableError
    from sarg.kryo.errors import DecodeError

    text = str(error)
    if isinstance(error, TableError) and "not a Hudi table" in error.why:
        return f"{text}: give the folder that holds .hoodie"
    if isinstance(error, StatsError):
        return f"{text}: leave out --strict to answer without this index"
    if isinstance(error, DecodeError):
        return f"{text}: give the whole value of hive.io.filter.expr.serialized, or @FILE"
    if type(error).__name__ == "SqlError":  # its module would load sqlglot
        return f"{text}: see 'sargo prune --help' for examples"
    return text


def _named_file(error: OSError) -> str:
    name = error.filename2 or error.filename
    return os.fsdecode(name) if isinstance(name, str | bytes) else "the system refuses"


def _own_fault(error: Exception) -> str:
    """The kind of the error and the line of this package that it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    what = one_line(f"{type(error).__name__}: {error}")[:300]
    return f"a fault of Sargo's own, please report it: {what}{place} ({TRACEBACK_VARIABLE}=1 shows more)"
