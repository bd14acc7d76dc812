"""The sidecar's log: one JSON object a line on stderr, without data values unless ``log_values`` asks for them.

A line holds printable characters only: whatever a client names cannot begin a line, move the cursor or turn the
direction of the text. Others are escaped as JSON escapes them: a reader of the JSON gets the text as it was sent.
"""

from __future__ import annotations

import datetime
import json
import logging
import threading
import time
import traceback
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TextIO

from handler.sidecar.recording.reports import AnswerReport

__all__ = ["Journal", "json_line"]

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
#: So many lines of an event that anybody can cause are written in so many seconds.
_SELDOM, _SELDOM_SECONDS = 20, 10.0
_ENCODE = json.JSONEncoder(ensure_ascii=False, default=str).encode
#: The lines of errors and warnings that are kept for the page, and their length.
MAX_ERRORS, _MAX_ERROR_LENGTH = 30, 500


def json_line(fields: Mapping[str, Any]) -> str:
    """The fields as a JSON object of printable characters, without a line feed."""
    text = _ENCODE(fields)
    return text if text.isprintable() else "".join(char if char.isprintable() else _escape(char) for char in text)


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


class Journal:
    """Writes events. ``values`` allows filters, which hold values of the query, in the lines."""

    def __init__(self, stream: TextIO, level: str = "info", values: bool = False) -> None:
        self._values = values
        self._stream, self._least = stream, _LEVELS[level]
        self._lock = threading.Lock()
        self._seldom: dict[str, tuple[float, int]] = {}
        self._errors: deque[dict[str, Any]] = deque(maxlen=MAX_ERRORS)

    def say(self, event: str, level: str = "info", **fields: Any) -> None:
        """Any event; the fields must hold no data values."""
        if _LEVELS[level] >= logging.WARNING:
            line = json_line({"event": event, **fields})[:_MAX_ERROR_LENGTH]
            self._errors.append({"when": time.time(), "level": level, "text": line})
        if _LEVELS[level] < self._least:
            return
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        line = json_line({"time": now, "level": level, "event": event, **fields})
        with self._lock, suppress(OSError, ValueError):  # nobody reads the log any more: no call fails for that
            self._stream.write(f"{line}\n")
            self._stream.flush()

    def latest_errors(self) -> list[dict[str, Any]]:
        """The latest lines of a level above "info", cut, the latest first."""
        return list(reversed(self._errors))

    def say_seldom(self, event: str, level: str = "info", **fields: Any) -> None:
        """An event that peers without the secret can cause: at most 20 lines in 10 seconds, the others are counted."""
        begun, count = self._seldom.get(event, (0.0, 0))
        now = time.monotonic()
        if now - begun >= _SELDOM_SECONDS:
            if count > _SELDOM:
                self.say(event, level, left_out=count - _SELDOM)
            begun, count = now, 0
        if count < _SELDOM:
            self.say(event, level, **fields)
        self._seldom[event] = begun, count + 1

    def failure(self, where: str, error: BaseException) -> None:
        """A fault of the sidecar: the class and the stack of the error, without its text unless ``values`` is on."""
        places = [
            f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
            for frame in traceback.extract_tb(error.__traceback__)[-8:]
        ]
        self.say(
            "failure",
            "error",
            where=where,
            error=type(error).__name__,
            at=places,
            **({"text": str(error)} if self._values else {}),
        )

    def unexpected(self, context: Mapping[str, Any]) -> None:
        """An exception that reached the event loop, in the loop's own form."""
        error = context.get("exception")
        if isinstance(error, BaseException):
            self.failure("event loop", error)
        else:
            self.say("failure", "error", where="event loop", what=str(context.get("message", "")))

    def answered(self, report: AnswerReport, because: str, why: str = "") -> None:
        """One line for each answer. ``why``: the cause, where the table cannot be read."""
        if self._least > logging.INFO:
            return
        fields: dict[str, Any] = {
            "table": report.table,
            "instant": report.instant,
            "query_id": report.query_id,
            "user": report.user,
            "engine": report.engine,
            "query_type": report.query_type,
            "listed": report.listed,
            "known": report.covered,
            "skipped": report.skipped,
            "could_skip": report.could_skip,
            "milliseconds": round(report.seconds * 1000, 3),
            "report": report.id,
        }
        if because:
            fields["because"] = because
        if why:
            fields["why"] = why
        if self._values:
            decision = report.decision() if report.decision is not None else None
            fields["filter"] = decision.planned.text if decision is not None else None
            fields["reasons"] = report.reasons
        self.say("answered", **fields)
