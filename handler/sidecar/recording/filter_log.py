"""The filter log: one line of JSON for every filter that was answered, the workload for ``sargo advise``.

    {"time": "2026-11-21T10:00:00.000+00:00", "table": "/warehouse/trips", "engine": "hive4", "time_zone": "UTC",
     "filter": Base64 as Hive sent it, or JSON as Spark sent it, "listed": 2000, "skipped": 1980}

Filters contain values of the data. The log is therefore off by default, and its files are readable by their owner only:
a file that is already there gets the mode 0600. It is refused when it is a link, not a regular file, owned by somebody
else, or reachable under a second name. A full file is renamed to ``PATH.1``, an older one to ``PATH.2`` and so on; the
oldest one is deleted.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import logging
import logging.handlers
import os
import stat
from io import TextIOWrapper
from pathlib import Path

from handler.sidecar.recording.journal import Journal, json_line
from handler.sidecar.settings import SettingsError
from handler.sidecar.view import FilterQuery

__all__ = ["FilterLog"]


class FilterLog:
    """Appends to a file. A line that cannot be written is lost; the journal says so once."""

    def __init__(self, path: Path, max_bytes: int, older: int, journal: Journal) -> None:
        """``older``: the number of full files that are kept. Raises SettingsError when the file cannot be opened."""
        try:
            self._handler = _Files(path, max_bytes, older, journal)
        except OSError as error:
            raise SettingsError(f"filter_log {path}: {error.strerror}") from error

    def write(self, table: str, query: FilterQuery, listed: int, skipped: int) -> None:
        """Append one filter that was answered."""
        now = datetime.datetime.now(datetime.timezone.utc)
        line = json_line(
            {
                "time": now.isoformat(timespec="milliseconds"),
                "table": table,
                "engine": query.engine,
                "time_zone": query.time_zone,
                "filter": query.text,
                "listed": listed,
                "skipped": skipped,
            }
        )
        self._handler.handle(logging.makeLogRecord({"msg": line}))

    def close(self) -> None:
        self._handler.close()


class _Files(logging.handlers.RotatingFileHandler):
    def __init__(self, path: Path, max_bytes: int, older: int, journal: Journal) -> None:
        self._journal: Journal | None = journal
        for number in range(1, older + 1):
            with contextlib.suppress(FileNotFoundError):
                os.close(_open_own(f"{path}.{number}", os.O_RDONLY))
        super().__init__(path, maxBytes=max_bytes, backupCount=older, encoding="utf-8")

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding="utf-8", opener=_open_own)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the base class's name
        """The base class would print the line, with its values."""
        del record
        if self._journal is not None:
            self._journal.say(
                "filter_log_failed",
                "error",
                path=self.baseFilename,
                consequence="filters are not logged as long as the file cannot be written",
            )
            self._journal = None


def _open_own(path: str, flags: int) -> int:
    """A descriptor of a regular file that its owner, who is this process's user, alone can read. Raises OSError."""
    only_here = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe without a reader would block
    descriptor = os.open(path, flags | only_here, 0o600)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        if hasattr(os, "geteuid"):
            if found.st_uid != os.geteuid():
                raise OSError(errno.EPERM, "it belongs to another user")
            if found.st_nlink > 1:
                raise OSError(errno.EMLINK, "it has a second name (a hard link)")
            os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
