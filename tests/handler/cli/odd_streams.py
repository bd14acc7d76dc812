"""Streams that fail or cannot encode, and a run of the command line on one of them in this process."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass
from unittest import mock

from handler.cli.main import main


class Refusing(io.RawIOBase):
    """Bytes that the system refuses with an error number, until that is 0."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        if self.number:
            raise OSError(self.number, os.strerror(self.number))
        return len(data)


def refusing(number: int) -> io.TextIOWrapper:
    """A stdout whose first bytes are refused, when they are flushed at the latest."""
    return io.TextIOWrapper(io.BufferedWriter(Refusing(number)), encoding="utf-8")


def encoding(name: str) -> io.TextIOWrapper:
    """A stdout of an encoding, with the strict errors of Python's own."""
    return io.TextIOWrapper(io.BytesIO(), encoding=name, errors="strict", write_through=True)


@dataclass(frozen=True)
class Ended:
    """How a run ended: the exit code and what stderr got."""

    code: object
    stderr: str


def run_on(stdout, *arguments: object) -> Ended:
    """Run the command line with this stdout. It must end by SystemExit and leave the streams where they were."""
    stderr = io.StringIO()
    with mock.patch.object(sys, "stdout", stdout), mock.patch.object(sys, "stderr", stderr):
        try:
            main([str(one) for one in arguments])
        except SystemExit as end:
            code = end.code
        assert sys.stdout is stdout
        assert sys.stderr is stderr
    raw = getattr(getattr(stdout, "buffer", None), "raw", None)
    if isinstance(raw, Refusing):
        raw.number = 0  # Python 3.13 reports what a stream cannot write when it is deleted
    return Ended(code, stderr.getvalue())
