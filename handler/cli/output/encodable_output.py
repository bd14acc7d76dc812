"""Stdout as the commands write it: every character can be encoded, and a failed write is an ``OutputError``.

A stream whose encoding lacks a character gets a plain one instead: ``#`` for a full block, ``|`` for a line of a box.
In JSON it gets an escape, so that the document stays the same. The caller's ``sys.stdout`` is not changed.
"""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from collections.abc import Mapping
from typing import TextIO

__all__ = ["EncodableOutput", "OutputError", "encoding_of", "escaped", "json_for", "one_line", "text_for"]

_LINES = {
    **dict.fromkeys("─━═╌┄╴╶╸╺", "-"),
    **dict.fromkeys("│┃║╎┆╵╷", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯┏┓┗┛┡┩╇╈╞╪╡┢┪", "+"),
}
#: What stands for a character of the views in an encoding that lacks it.
PLAIN: Mapping[str, str] = {
    **_LINES,
    "█": "#",
    "░": ".",
    "…": "...",
    "·": ".",
    "•": "*",
    "→": "->",
    "►": ">",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "\u00d7": "x",
    "µ": "u",
    **dict.fromkeys("\u2013\u2014", "-"),
    **dict.fromkeys("\u2018\u2019", "'"),
    **dict.fromkeys("\u201c\u201d", '"'),
}
#: Control characters, line and paragraph separators, and marks that reorder text.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class OutputError(Exception):
    """Stdout cannot be written. It is no OSError, because rich and click answer those by leaving."""

    def __init__(self, error: OSError | ValueError) -> None:
        number = error.errno if isinstance(error, OSError) else None
        self.reader_left = number in (errno.EPIPE, errno.ESHUTDOWN)
        why = error.strerror if isinstance(error, OSError) else "it is closed"
        super().__init__(f"cannot write to stdout: {why or error}")


def encoding_of(stream: TextIO) -> str:
    """The encoding to write a stream in. LC_ALL=C asks for ASCII, although Python itself then takes UTF-8."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    asked = os.environ.get("LC_ALL") in ("C", "POSIX")
    chosen = os.environ.get("PYTHONIOENCODING") or os.environ.get("PYTHONUTF8")
    return "ascii" if asked and not chosen and stream is sys.__stdout__ else encoding


def text_for(text: str, encoding: str) -> str:
    """The text with plain characters, or escapes such as ``\\u4e00``, for what the encoding lacks."""
    if _fits(text, encoding):
        return text
    return "".join(
        one if _fits(one, encoding) else PLAIN.get(one) or one.encode("ascii", "backslashreplace").decode()
        for one in text
    )


def json_for(text: str, encoding: str) -> str:
    """The JSON text with JSON's escapes for what the encoding lacks and for control characters, all in strings."""
    text = _UNPRINTABLE.sub(lambda match: match[0] if match[0] == "\n" else _json_escape(match[0]), text)
    if _fits(text, encoding):
        return text
    return "".join(one if _fits(one, encoding) else _json_escape(one) for one in text)


def _json_escape(one: str) -> str:
    units = one.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def _fits(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def escaped(text: str, keep: str = "") -> str:
    """The text with escapes for control characters and reordering marks, but for those to keep."""
    return _UNPRINTABLE.sub(lambda match: match[0] if match[0] in keep else _escape(match[0]), text)


def one_line(text: str) -> str:
    """The text in one line that a terminal prints as it is."""
    return escaped(" ".join(text.split()))


def _escape(one: str) -> str:
    return f"\\x{ord(one):02x}" if ord(one) < 256 else f"\\u{ord(one):04x}"


class EncodableOutput:
    """A stream for ``rich``. Writes raise OutputError; a stream that is None swallows what is written."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        #: what characters must fit in; rich draws boxes of ASCII when it is not UTF
        self.encoding = "utf-8" if stream is None else encoding_of(stream)

    def write(self, text: str) -> int:
        self._write(text_for(text, self.encoding))
        return len(text)

    def write_json(self, text: str) -> None:
        """Write a JSON document."""
        self._write(json_for(text, self.encoding))

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
        except (OSError, ValueError) as error:  # ValueError: it was closed
            raise OutputError(error) from error

    def flush(self) -> None:
        if self._stream is None:
            return
        try:
            self._stream.flush()
        except (OSError, ValueError) as error:
            raise OutputError(error) from error

    def isatty(self) -> bool:
        return self._stream is not None and not self._stream.closed and self._stream.isatty()

    def fileno(self) -> int:
        if self._stream is None:
            raise io.UnsupportedOperation("fileno")
        return self._stream.fileno()
