"""A client of the sidecar at one address: a connection for each call, which may take ``seconds`` in all.

A call that is too long for a connection that has not shown the secret is sent after a short one that shows it. What the
sidecar says in words is printed on terminals, and therefore escaped as ``visible`` does.
"""

from __future__ import annotations

import contextlib
import copy
import socket
import ssl
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from thrift.Thrift import TApplicationException

from evaluator.language.errors import SargoError
from handler.sidecar.client.addresses import split_address
from handler.sidecar.client.cancellation import Cancellation
from handler.sidecar.idl import (
    MAX_FIRST_FRAME_BYTES,
    PROTOCOL_VERSION,
    PlanReply,
    PlanRequest,
    PruneReply,
    PruneRequest,
    Refused,
)
from handler.sidecar.wire import FrameError, call_message, read_reply
from handler.views.texts import visible

__all__ = ["Client", "ClientError", "read_secret"]

_MAX_ANSWER_BYTES = 64 << 20


class ClientError(SargoError):
    """There is no valid answer. ``why`` names the cause: the address, TLS or the answer."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Client:
    """Calls of the IDL to ``host:port``; with ``tls_ca`` over TLS. Raises ClientError, and Refused when it says so."""

    def __init__(
        self,
        address: str,
        seconds: float = 5.0,
        tls_ca: Path | None = None,
        secret: str | None = None,
    ) -> None:
        try:
            self._host, self._port = split_address(address)
        except ValueError as error:
            raise ClientError(str(error)) from error
        self.address = address
        self._seconds = seconds
        self._secret = secret
        self._cancellation = Cancellation()
        try:
            self._tls = None if tls_ca is None else ssl.create_default_context(cafile=tls_ca)
        except (OSError, ssl.SSLError) as error:
            raise ClientError(f"{tls_ca}: {error}") from error

    def within(self, seconds: float, cancellation: Cancellation) -> Client:
        """The same client for one call, which may take another time, and ends when it is cancelled."""
        client = copy.copy(self)
        client._seconds = seconds
        client._cancellation = cancellation
        return client

    def prune(
        self,
        table: str,
        filter_: bytes,
        names: Sequence[str],
        engine: str = "hive4",
        time_zone: str = "UTC",
    ) -> PruneReply:
        """Which of the names may be skipped."""
        request = PruneRequest(
            protocol_version=PROTOCOL_VERSION,
            table=table,
            filter=filter_,
            engine=engine,
            time_zone=time_zone,
            names="\n".join(names).encode(),
            name_count=len(names),
            secret=self._secret,
        )
        reply: PruneReply = self._call("prune", request=request)
        return reply

    def plan(
        self,
        table: str,
        instant: str,
        instant_count: int,
        partitions: Sequence[str] | None = None,
        filter_: bytes | None = None,
        query_type: str = "snapshot",
        engine: str = "hive4",
    ) -> PlanReply:
        """The files to read at an instant, of these partitions or of all."""
        request = PlanRequest(
            protocol_version=PROTOCOL_VERSION,
            table=table,
            filter=filter_,
            engine=engine,
            time_zone="UTC",
            query_type=query_type,
            instant=instant,
            instant_count=instant_count,
            partitions=None if partitions is None else "\n".join(partitions).encode(),
            partition_count=None if partitions is None else len(partitions),
            secret=self._secret,
        )
        reply: PlanReply = self._call("plan", request=request)
        return reply

    def explain(self, report_id: str) -> str:
        lines = str(self._call("explain", report_id=report_id, secret=self._secret)).split("\n")
        return "\n".join(map(visible, lines))

    def health(self, *, shows_secret: bool = False) -> str:
        """The state as JSON. ``shows_secret``: with why roots cannot be read."""
        if shows_secret and self._secret is not None:
            shown = ("version", _message("version", {"secret": self._secret}))
            return str(self._exchange([shown, ("health", _message("health", {}))]))
        return str(self._call("health"))

    def version(self) -> str:
        return str(self._call("version"))

    def _call(self, method: str, **arguments: Any) -> Any:
        calls = [(method, _message(method, arguments))]
        if self._secret is not None and len(calls[0][1]) > MAX_FIRST_FRAME_BYTES:
            calls.insert(0, ("version", _message("version", {"secret": self._secret})))
        return self._exchange(calls)

    def _exchange(self, calls: Sequence[tuple[str, bytes]]) -> Any:
        """The result of the last of these calls, by method and message, which are made on one connection."""
        value: Any = None
        end = time.monotonic() + self._seconds
        try:
            with self._connection(end) as connection:
                for method, message in calls:
                    _limit(connection, end)
                    connection.sendall(struct.pack("!i", len(message)) + message)
                    (length,) = struct.unpack("!i", _read(connection, 4, end))
                    if not 0 < length <= _MAX_ANSWER_BYTES:
                        raise ClientError("who listens there is no sidecar")
                    value = _result(method, _read(connection, length, end))
        except ssl.SSLError as error:
            raise ClientError(f"TLS: {error.reason or error}") from error
        except OSError as error:
            raise ClientError(f"{self._host}:{self._port}: {error.strerror or error}") from error
        except UnicodeError as error:
            raise ClientError(f"{self._host!r} is not the name of a host") from error
        return value

    @contextlib.contextmanager
    def _connection(self, end: float) -> Iterator[socket.socket]:
        """A connection to the first of the host's addresses that takes one."""
        plain = self._connected(end)
        with self._cancellation.closing(plain):
            if self._tls is None:
                yield plain
                return
            connection = self._tls.wrap_socket(plain, server_hostname=self._host, do_handshake_on_connect=False)
            with self._cancellation.closing(connection):
                _limit(connection, end)
                connection.do_handshake()
                yield connection

    def _connected(self, end: float) -> socket.socket:
        failure = OSError(f"{self._host} has no address")
        for family, kind, protocol, _, address in socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM):
            plain = socket.socket(family, kind, protocol)
            try:
                self._cancellation.watch(plain)
                _limit(plain, end)
                plain.connect(address)
            except OSError as error:
                self._cancellation.close(plain)
                failure = error
            else:
                return plain
        raise failure


def read_secret(path: Path | None, address: str) -> str | None:
    """The secret for an address: from a line ``host:port secret``, as in Hive's file, else the whole file."""
    if path is None:
        return None
    try:
        text = path.read_text("utf-8").strip()
    except OSError as error:
        raise ClientError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ClientError(f"{path} is not UTF-8 text") from error
    for line in text.splitlines():
        where, _, secret = line.strip().partition(" ")
        if where == address:
            return secret.strip()
    return text


def _message(method: str, arguments: Mapping[str, Any]) -> bytes:
    try:
        return call_message(method, dict(arguments))
    except UnicodeEncodeError as error:
        raise ClientError(f"{error.object!r} cannot be sent: it is not valid text") from error


def _result(method: str, frame: bytes) -> Any:
    """The value in a reply. Raises what the reply says."""
    try:
        reply = read_reply(method, frame)
    except FrameError as error:
        raise ClientError(f"who listens there is no sidecar: {error.why}") from error
    if isinstance(reply, TApplicationException):
        raise ClientError(f"the sidecar cannot answer: {visible(str(reply.message))}")
    refused = getattr(reply, "refused", None)
    if refused is not None:
        raise Refused(visible(str(refused.code or "")), visible(str(refused.why or "")))
    return reply.success


def _limit(connection: socket.socket, end: float) -> None:
    """Let the next operation last until ``end``. Raises TimeoutError after it."""
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    connection.settimeout(left)


def _read(connection: socket.socket, length: int, end: float) -> bytes:
    data = bytearray()
    while len(data) < length:
        _limit(connection, end)
        piece = connection.recv(min(1 << 20, length - len(data)))
        if not piece:
            raise ClientError("the connection was closed without an answer (is TLS wanted?)")
        data += piece
    return bytes(data)
