"""A sidecar whose answers the test gives: which of the listed names may be skipped, or what goes wrong instead."""

from __future__ import annotations

import json
import socketserver
import struct
import threading
import time
import zlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from handler.sidecar.idl import PROTOCOL_VERSION, AggregateReply, LayoutReply, PruneReply, RefusedMessage
from handler.sidecar.wire import ThriftCall, failure, read_call, result

__all__ = ["FakeSidecar", "Question", "nothing"]


@dataclass(frozen=True)
class Question:
    """A request for pruning: its fields, the listed names, and the conditions of its filter."""

    fields: Any
    names: list[str]
    conditions: list[dict[str, Any]]

    @classmethod
    def of(cls, request: Any) -> Question:
        names = zlib.decompress(request.names) if request.names_compressed else bytes(request.names)
        return cls(request, names.decode().split("\n"), json.loads(bytes(request.filter))["conditions"])


def nothing(_: object) -> Collection[str]:
    """Skips no name, and changes nothing of a reply."""
    return ()


def without_layout(_: object) -> LayoutReply:
    """Tells of no buckets."""
    return LayoutReply(protocol_version=PROTOCOL_VERSION, why="no buckets")


class FakeSidecar:
    """Serves on the loopback address until it is closed. ``asked`` are the questions so far.

    ``answer`` takes a question and returns the names to skip. Whatever it raises refuses the request. ``wrong`` changes
    the reply before it is sent, and ``delay`` is how many seconds each answer takes. ``layout`` answers the call of
    that name, and so does ``aggregate``; without one the call is not known, as in earlier sidecars.
    """

    def __init__(self) -> None:
        self.answer: Callable[[Question], Collection[str]] = nothing
        self.wrong: Callable[[PruneReply], object] = nothing
        self.delay = 0.0
        self.layout: Callable[[Any], LayoutReply] = without_layout
        self.aggregate: Callable[[Question, AggregateReply], object] | None = None
        self.asked: list[Question] = []
        fake = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                while len(head := self.rfile.read(4)) == 4:
                    frame = self.rfile.read(*struct.unpack("!i", head))
                    reply = fake.reply(memoryview(frame))
                    self.wfile.write(struct.pack("!i", len(reply)) + reply)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        host, port = self._server.server_address[:2]
        return f"{host!s}:{port}"

    def reply(self, frame: memoryview) -> bytes:
        call = read_call(frame)
        if call.method == "version":
            return result(call, json.dumps({"sargo": "0", "protocol": PROTOCOL_VERSION}))
        if call.method == "layout":
            return result(call, self.layout(call.arguments[0]))
        if call.method == "aggregate":
            return failure(call, "no such method") if self.aggregate is None else self._aggregated(call)
        question = Question.of(call.arguments[0])
        self.asked.append(question)
        time.sleep(self.delay)
        try:
            skip = set(self.answer(question))
        except Exception as error:
            return result(call, refused=RefusedMessage(why=str(error), code="request"))
        bits = bytearray((len(question.names) + 7) // 8)
        for index, name in enumerate(question.names):
            bits[index >> 3] |= (name in skip) << (index & 7)
        reply = PruneReply(
            protocol_version=PROTOCOL_VERSION,
            skip=bytes(bits),
            name_count=len(question.names),
            skipped=sum(name in skip for name in question.names),
            report_id="r-1",
            digest=zlib.crc32(bytes(question.fields.names)),
        )
        self.wrong(reply)
        return result(call, reply)

    def _aggregated(self, call: ThriftCall) -> bytes:
        """Every file is answered; ``aggregate`` sets the values, and what else it will."""
        assert self.aggregate is not None
        question = Question.of(call.arguments[0])
        count = len(question.names)
        reply = AggregateReply(
            protocol_version=PROTOCOL_VERSION,
            answered=((1 << count) - 1).to_bytes((count + 7) // 8, "little"),
            name_count=count,
            answered_count=count,
            digest=zlib.crc32(bytes(question.fields.names)),
        )
        self.aggregate(question, reply)
        return result(call, reply)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
