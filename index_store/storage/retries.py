"""Retries of file system operations: tries, pauses between them, and a deadline (contract: late, but never wrong).

    transient   time-outs, throttling, 5xx, a connection that is refused or breaks     tried again
    final       no such file, no permission, wrong credentials, any unknown error       raised at once

A pause is drawn between half and all of ``first_pause * 2^n`` seconds, at most ``longest_pause``. An operation ends
after ``deadline`` seconds with all its tries, even one that hangs: it runs in a thread that is left behind, one of at
most MAX_LEFT_BEHIND. A small read that takes several times as long as the others is begun a second time beside the
first; the first answer counts. When nothing has succeeded for the deadline, the file system counts as down, and for as
long again every operation fails at once: a table of a thousand files costs one deadline, not a thousand.

Facts: docs/facts/object-stores.md.
"""

from __future__ import annotations

import errno
import queue
import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from index_store.storage.pace import Pace

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
#: A small read is begun a second time after so many times its usual seconds, and never sooner than _SOONEST.
_TIMES_USUAL, _SOONEST, _SMOOTHING = 5.0, 1.0, 0.2
#: Threads of reads that hang which one file system may hold. Beyond it nothing is tried until one of them ends.
MAX_LEFT_BEHIND = 64
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
    pace: Pace = field(default_factory=Pace, repr=False)
    _usual: float = field(default=0.0, init=False, repr=False)  # seconds of a small read, smoothed
    _failing: tuple[float, float] | None = field(default=None, init=False, repr=False)  # since, last seen
    _running: dict[object, float] = field(default_factory=dict, init=False, repr=False)  # since when
    _left_behind: int = field(default=0, init=False, repr=False)  # threads
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def run(self, operation: Callable[[], T], *, small: bool = False) -> T:
        """The result of the operation. Raises its error when it is final, or when tries or time are used up.

        ``small``: it reads little and changes nothing, so it may be begun a second time while it hangs.
        """
        began = self.clock()
        key = object()
        self._running[key] = began
        try:
            return self._tried(operation, began, small)
        finally:
            del self._running[key]

    def _tried(self, operation: Callable[[], T], began: float, small: bool) -> T:
        for attempt in range(max(self.tries, 1)):
            left = self._left(began)
            start = self.clock()
            try:
                found = self._within(left, operation, self._late if small else left) if self.abandon else operation()
            except Exception as error:
                if not is_transient(error):
                    self.answered()
                    raise
                self._failed(start)
                pause = min(self.first_pause * 2**attempt, self.longest_pause) * random.uniform(0.5, 1)
                if attempt + 1 >= self.tries or pause >= began + self.deadline - self.clock():
                    raise
                self.sleep(pause)
            else:
                self.answered()
                if small:
                    self._usual += _SMOOTHING * (self.clock() - start - self._usual)
                return found
        raise AssertionError("unreachable")

    @property
    def _late(self) -> float:
        """After how many seconds a small read counts as hanging."""
        return max(_SOONEST, _TIMES_USUAL * self._usual)

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

    def waited(self) -> float:
        """For how many seconds the oldest operation that has not ended has been running."""
        return self.clock() - min(list(self._running.values()), default=self.clock())

    def answered(self) -> None:
        """The file system has answered: it does not count as down any more."""
        if self._failing is not None:
            with self._lock:
                self._failing = None

    def _within(self, seconds: float, operation: Callable[[], T], late: float) -> T:
        """Run the operation in a thread of its own; TimeoutError when it has not ended in time.

        After ``late`` seconds it is begun once more beside the first; the first answer counts, also an error.
        """
        outcomes: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()
        begun, ended, is_left = 0, 0, False

        def work() -> None:
            nonlocal ended
            try:
                outcomes.put((True, operation()))
            except BaseException as error:
                outcomes.put((False, error))
            finally:
                with self._lock:
                    ended += 1
                    self._left_behind -= is_left

        if self._left_behind >= MAX_LEFT_BEHIND:
            raise TimeoutError(f"not tried: {self._left_behind} reads before it hang")
        try:
            for wait in (late, seconds - late) if late < seconds else (seconds,):
                threading.Thread(target=work, daemon=True, name="sargo-read").start()
                begun += 1
                try:
                    succeeded, value = outcomes.get(timeout=wait)
                except queue.Empty:
                    continue
                if succeeded:
                    found: T = value
                    return found
                try:
                    raise value
                finally:
                    del value  # no cycle through the traceback
            raise TimeoutError(f"no answer within {seconds:.0f} seconds")
        finally:
            with self._lock:
                is_left = True
                self._left_behind += begun - ended
