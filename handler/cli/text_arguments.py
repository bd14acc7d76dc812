"""Arguments whose value may stand in a file or on stdin: ``@FILE`` and ``-``, with a limit on what is read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from handler.cli.exit_codes import InputError

__all__ = ["MAX_FILTER_BYTES", "MAX_SQL_BYTES", "read_filter_argument", "read_sql_argument", "reading"]

#: The largest file or stdin of a condition in SQL: some 20,000 comparisons.
MAX_SQL_BYTES = 1 << 20
#: The largest file or stdin of a Hive filter: 16 MiB of bytes, the most that is decoded, in Base64 with line ends.
MAX_FILTER_BYTES = 24 << 20


def read_sql_argument(argument: str) -> str:
    """The condition itself, or the UTF-8 text of ``@FILE`` or of stdin (``-``). Raises InputError."""
    content = _content(argument, MAX_SQL_BYTES)
    if content is None:
        return argument
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{_name(argument)} is not UTF-8 text: byte {error.start} is {content[error.start]:#04x}"
        ) from error


def read_filter_argument(argument: str) -> str | bytes:
    """The Base64 itself, or the Base64 or raw bytes of ``@FILE`` or of stdin (``-``). Raises InputError."""
    from handler.planning.filters import is_hive_filter

    content = _content(argument, MAX_FILTER_BYTES)
    if content is None:
        return argument
    text = content.decode("ascii", errors="replace")
    return text.strip() if is_hive_filter(text) else content


def _name(argument: str) -> str:
    return "stdin" if argument == "-" else argument[1:]


def _content(argument: str, limit: int) -> bytes | None:
    """What the argument names, or None when it is the value itself."""
    if argument != "-" and not argument.startswith("@"):
        return None
    with reading(argument if argument == "-" else argument[1:]) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise InputError(f"{_name(argument)} is larger than {limit >> 20} MiB")
    return content


@contextmanager
def reading(path: str, remedy: str = "") -> Iterator[BinaryIO]:
    """A file, or stdin for ``-``, opened to read its bytes. Raises InputError for what the system refuses."""
    if path == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise InputError("cannot read stdin: it is closed")
        with _refused_as_input_error("stdin", remedy):
            yield sys.stdin.buffer
        return
    if not path or "\0" in path:
        raise InputError(f"{path!r} is not the name of a file")
    with _refused_as_input_error(path, remedy), open(path, "rb") as file:
        yield file


@contextmanager
def _refused_as_input_error(name: str, remedy: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror or error}{remedy and '; ' + remedy}") from error
