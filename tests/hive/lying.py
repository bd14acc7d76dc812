"""A sidecar between Hive and the real one that changes the answers to plan()."""

from __future__ import annotations

import socket
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from handler.sidecar.idl import PlanReply
from handler.sidecar.wire import read_call, read_reply, result
from tests.hive.sidecars import framed, read_frame

__all__ = ["Plan", "lying"]


@dataclass
class Plan:
    """The files of an answer; ``wrong`` has fields of the reply that are not what follows from them."""

    names: list[str]
    lengths: list[int]
    slices: list[int]
    instant: str
    skipped: int
    digest: int
    wrong: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, reply: PlanReply) -> Plan:
        names = zlib.decompress(reply.names).decode()
        return cls(
            names.split("\n") if names else [],
            np.frombuffer(zlib.decompress(reply.lengths), "<i8").tolist(),
            np.frombuffer(zlib.decompress(reply.slices), "<i4").tolist(),
            reply.instant,
            reply.skipped,
            reply.digest,
        )

    def reply(self) -> PlanReply:
        streams = {
            "names": zlib.compress("\n".join(self.names).encode()),
            "lengths": zlib.compress(np.array(self.lengths, "<i8").tobytes()),
            "slices": zlib.compress(np.array(self.slices, "<i4").tobytes()),
        }
        streams |= {name: self.wrong[name] for name in streams if name in self.wrong}
        fields = {
            "protocol_version": 1,
            "instant": self.instant,
            "file_count": len(self.names),
            "slice_count": len(set(self.slices)),
            "skipped": self.skipped,
            "digest": self.digest,
            "checksum": zlib.crc32(b"".join(streams.values())),
        }
        return PlanReply(**{**fields, **streams, **self.wrong})


def lying(port: int, change: Callable[[Plan], object]) -> Callable[[socket.socket, bytes], None]:
    """Forwards to the real sidecar at this port; ``change`` is called with each answer to plan()."""

    def behave(connection: socket.socket, frame: bytes) -> None:
        call = read_call(memoryview(frame))
        with socket.create_connection(("127.0.0.1", port)) as real:
            real.sendall(framed(frame))
            answer = read_frame(real)
        if call.method == "plan":
            plan = Plan.of(read_reply("plan", answer).success)
            change(plan)
            answer = result(call, plan.reply())
        connection.sendall(framed(answer))

    return behave
