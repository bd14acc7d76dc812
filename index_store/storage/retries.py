"""Retries of file system operations: tries, pauses between them, and a deadline (contract: late, but never wrong).

    transient   time-outs, throttling, 5xx, a connection that is refused or breaks     tried again
    final       no such file, no permission, wrong credentials, any unknown error       raised at once

A pause is drawn between half and all of ``first_pause * 2^n`` seconds, at most ``longest_pause``. An operation ends
after ``deadline`` seconds with all its tries, even one that hangs: it runs in a thread that is left behind. When
nothing has succeeded for that long, the file system counts as down, and for as long again every operation fails at
once: a table of a thousand files costs one deadline, not a thousand.

Facts: docs/facts/object-stores.md.
"""

from __future__ import annotations

import errno
import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

__all__ = ["Patience", "is_transient"]

T = TypeVar("T")

_FINAL_TYPES = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, NotImplementedError)
_TRANSIENT_CODES = frozenset(
    {
        errno.EAGAIN,
        errno.EINTR,
        errno.ETIMEDOUT,
        errno.ECONNRESET,
        errno.ECONNREFUSED,
        errno.ECONNABORTED,
        errno.EPIPE,
        errno.ENETDOWN,
        errno.ENETUNREACH,
        errno.ENETRESET,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.ESTALE,
    }
)
#: What stands before a number that is a status: paths hold other numbers.
_STATUS = r"(?:status(?: code)?|http(?:/[\d.]+)?|code|error|\])[\s:=(]*"
_FINAL_TEXT = re.compile(
    rf"(?i)access.?denied|forbidden|no.?such|not.?found|does not exist|invalid.?access|"
    rf"signature.?does.?not.?match|expired.?token|invalid.?token|unauthorized|"
    rf"auth(?:oriz|entic)ation.?fail|{_STATUS}4(?!08|29)\d\d\b"
)
_TRANSIENT_TEXT = re.compile(
    rf"(?i)time.?out|timed.?out|throttl|slow.?down|too many requests|rate.?limit|"
    rf"{_STATUS}(?:5\d\d|408|429)\b|internal.?(?:error|failure|server)|"
    rf"unavailable|deadline.?exceeded|resource.?exhausted|"
    rf"server.?(?:is )?busy|temporar|try again|network.?connection|curlCode|"
    rf"connection (?:was )?(?:reset|closed|refused|aborted)|broken pipe|unexpected eof"
)
_STATUS_NAMES = ("status_code", "status", "code")
_NEARLY = 0.99  # a clock may show that a time-out came a little early


def is_transient(error: BaseException) -> bool:
    """Whether the operation may succeed when it is tried again; an unknown error is final."""
    if isinstance(error, _FINAL_TYPES):
        return False
    if isinstance(error, TimeoutError | ConnectionError):
        return True
    for name in _STATUS_NAMES:  # errors of HTTP libraries carry it
        status = getattr(error, name, None)
        if isinstance(status, str) and status.isdigit():
            status = int(status)
        if isinstance(status, int) and 400 <= status < 600:
            return status >= 500 or status in (408, 429)
    if isinstance(error, OSError) and error.errno in _TRANSIENT_CODES:
        return True
    text = f"{type(error).__name__} {error}"
    return bool(_TRANSIENT_TEXT.search(text)) and not _FINAL_TEXT.search(text)


@dataclass(slots=True, kw_only=True)
class Patience:
    """The patience with one file system, shared by all that read from it; safe with threads.

    tries      of one operation, at least 1
    deadline   seconds: of one operation, and without any success
    abandon    whether an operation that hangs is left behind; costs a thread for each, so local disks do without
    """

    tries: int = 5
    deadline: float = 60.0
    first_pause: float = 0.1
    longest_pause: float = 5.0
    abandon: bool = False
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _failing: tuple[float, float] | None = field(default=None, init=False, repr=False)  # since, last seen
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def run(self, operation: Callable[[], T]) -> T:
        """The result of the operation. Raises its error when it is final, or when tries or time are used up."""
        began = self.clock()
        for attempt in range(max(self.tries, 1)):
            left = self._left(began)
            start = self.clock()
            try:
                found = _within(left, operation) if self.abandon else operation()
            except Exception as error:
                if not is_transient(error):
                    self._answered()
                    raise
                self._failed(start)
                pause = min(self.first_pause * 2**attempt, self.longest_pause) * random.uniform(0.5, 1)
                if attempt + 1 >= self.tries or pause >= began + self.deadline - self.clock():
                    raise
                self.sleep(pause)
            else:
                self._answered()
                return found
        raise AssertionError("unreachable")

    def _left(self, began: float) -> float:
        """Seconds until this operation must end. Raises TimeoutError while the file system counts as down."""
        now = self.clock()
        with self._lock:
            if self._failing is not None:
                since, last = self._failing
                if last - since >= _NEARLY * self.deadline and now - last < self.deadline:
                    raise TimeoutError(f"not tried: nothing could be read for {last - since:.0f} seconds")
        return max(began + self.deadline - now, 0.0)

    def _failed(self, start: float) -> None:
        now = self.clock()
        with self._lock:
            since, last = self._failing or (start, start)
            self._failing = (start if start - last >= self.deadline else min(start, since), now)

    def _answered(self) -> None:
        if self._failing is not None:
            with self._lock:
                self._failing = None


def _within(seconds: float, operation: Callable[[], T]) -> T:
    """Run the operation in a thread of its own; TimeoutError when it has not ended in time."""
    outcome: list[tuple[bool, Any]] = []

    def work() -> None:
        try:
            outcome.append((True, operation()))
        except BaseException as error:
            outcome.append((False, error))

    thread = threading.Thread(target=work, daemon=True, name="sargo-read")
    thread.start()
    thread.join(seconds)
    if not outcome:
        raise TimeoutError(f"no answer within {seconds:.0f} seconds")
    succeeded, value = outcome[0]
    if succeeded:
        found: T = value
        return found
    try:
        raise value
    finally:
        del value  # no cycle through the traceback
        outcome.clear()
