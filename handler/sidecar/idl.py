"""The interface ``handler/sargo.thrift``, loaded from the IDL when it is first used, without generated code.

thriftpy2 makes the classes; ``PruneRequest`` and ``PruneReply`` below are their types for mypy.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Protocol

import thriftpy2

__all__ = ["PruneReply", "PruneRequest", "Refused", "forget_frames", "interface", "refuse"]

_IDL = Path(__file__).parent.parent / "sargo.thrift"


class PruneRequest(Protocol):
    """The struct of that name in the IDL; an optional field that was not sent is None."""

    protocol_version: int
    table: str
    filter: bytes
    filter_text: str | None
    engine: str
    engine_version: str | None
    time_zone: str | None
    query_type: str | None
    instant: str | None
    names: bytes
    names_compressed: bool | None
    name_count: int
    query_id: str | None
    secret: str | None
    user: str | None


class PruneReply(Protocol):
    """The struct of that name in the IDL."""

    protocol_version: int
    skip: bytes
    name_count: int
    instant: str | None
    covered: int | None
    skipped: int
    fully_matched: int | None
    report_id: str | None
    reasons: list[str] | None
    digest: int | None


@functools.cache
def interface() -> Any:
    """The IDL as a module: ``Sargo``, ``PruneRequest``, ``PruneReply``, ``Refused``, and the constants."""
    return thriftpy2.load(str(_IDL), module_name="sargo_thrift")


class Refused(Exception):  # noqa: N818 - the IDL's name
    """A request that gets no answer: ``code`` is one of those in the IDL, ``why`` holds no data values."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code
        self.why = why


def refuse(error: Refused) -> Exception:
    """The IDL's exception for it."""
    exception: Exception = interface().Refused(why=error.why, code=error.code)
    return exception


def forget_frames(error: BaseException | None) -> None:
    """Drop the tracebacks of an exception that was dealt with, and of its causes.

    ``asyncio`` lets an exception and the frames that it passed refer to each other. They would keep the bytes of a
    request until the garbage collector runs, which counts objects and not bytes.
    """
    while error is not None and error.__traceback__ is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__
