"""The interface ``handler/sargo.thrift``: its structs and constants, and the exception that the sidecar raises.

The folder ``sargo_thrift`` is what the compiler of Apache Thrift writes from the IDL (``make thrift``); ``make lint``
says when it is not current.
"""

from __future__ import annotations

from handler.sidecar.sargo_thrift.constants import MAX_FIRST_FRAME_BYTES, MAX_UNKNOWN_PARTITIONS, PROTOCOL_VERSION
from handler.sidecar.sargo_thrift.ttypes import (
    AggregateReply,
    AggregateRequest,
    LayoutReply,
    LayoutRequest,
    PlanReply,
    PlanRequest,
    PruneReply,
    PruneRequest,
)
from handler.sidecar.sargo_thrift.ttypes import Refused as RefusedMessage

__all__ = [
    "MAX_FIRST_FRAME_BYTES",
    "MAX_UNKNOWN_PARTITIONS",
    "PROTOCOL_VERSION",
    "AggregateReply",
    "AggregateRequest",
    "LayoutReply",
    "LayoutRequest",
    "PlanReply",
    "PlanRequest",
    "PruneReply",
    "PruneRequest",
    "Refused",
    "RefusedMessage",
    "forget_frames",
    "refuse",
]


class Refused(Exception):  # noqa: N818 - the IDL's name
    """A request that gets no answer: ``code`` is one of those in the IDL, ``why`` holds no data values."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code
        self.why = why


def refuse(error: Refused) -> RefusedMessage:
    """The IDL's exception for it."""
    return RefusedMessage(why=error.why, code=error.code)


def forget_frames(error: BaseException | None) -> None:
    """Drop the tracebacks of an exception that was dealt with, and of its causes.

    ``asyncio`` lets an exception and the frames that it passed refer to each other. They would keep the bytes of a
    request until the garbage collector runs, which counts objects and not bytes.
    """
    while error is not None and error.__traceback__ is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__
