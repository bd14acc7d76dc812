"""A client of the sidecar for ``sargo doctor`` and ``sargo report``: one connection for each call.

A call that is too long for a connection that has not shown the secret is sent after a short one that shows it. What the
sidecar says in words is printed on terminals, and therefore escaped as ``visible`` does.
"""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from thriftpy2.protocol.binary import TBinaryProtocol
from thriftpy2.thrift import TApplicationException, TMessageType

from evaluator.language.errors import SargoError
from handler.sidecar.idl import PruneReply, Refused, interface
from handler.sidecar.wire import MemoryTransport
from handler.views.texts import visible

__all__ = ["Client", "ClientError", "read_secret"]

_MAX_PORT = 65535
_BinaryProtocol: Any = TBinaryProtocol
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
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal() or len(port) > 5 or int(port) > _MAX_PORT:
            raise ClientError(f"{address!r} is not HOST:PORT")
        self._host, self._port = host.strip("[]"), int(port)
        self._seconds = seconds
        self._secret = secret
        try:
            self._tls = None if tls_ca is None else ssl.create_default_context(cafile=tls_ca)
        except (OSError, ssl.SSLError) as error:
            raise ClientError(f"{tls_ca}: {error}") from error

    def prune(
        self,
        table: str,
        filter_: bytes,
        names: Sequence[str],
        engine: str = "hive4",
        time_zone: str = "UTC",
    ) -> PruneReply:
        """Which of the names may be skipped."""
        request = interface().PruneRequest(
            protocol_version=interface().PROTOCOL_VERSION,
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

    def explain(self, report_id: str) -> str:
        lines = str(self._call("explain", report_id=report_id, secret=self._secret)).split("\n")
        return "\n".join(map(visible, lines))

    def health(self) -> str:
        return str(self._call("health"))

    def version(self) -> str:
        return str(self._call("version"))

    def _call(self, method: str, **arguments: Any) -> Any:
        calls = [(method, _message(method, arguments))]
        if self._secret is not None and len(calls[0][1]) > interface().MAX_FIRST_FRAME_BYTES:
            calls.insert(0, ("version", _message("version", {"secret": self._secret})))
        return self._exchange(calls)

    def _exchange(self, calls: Sequence[tuple[str, bytes]]) -> Any:
        """The result of the last of these calls, by method and message, which are made on one connection."""
        value: Any = None
        try:
            with socket.create_connection((self._host, self._port), self._seconds) as plain:
                connection = plain if self._tls is None else self._tls.wrap_socket(plain, server_hostname=self._host)
                with connection:
                    for method, message in calls:
                        connection.sendall(struct.pack("!i", len(message)) + message)
                        (length,) = struct.unpack("!i", _read(connection, 4))
                        if not 0 < length <= _MAX_ANSWER_BYTES:
                            raise ClientError("who listens there is no sidecar")
                        value = _result(method, _read(connection, length))
        except ssl.SSLError as error:
            raise ClientError(f"TLS: {error.reason or error}") from error
        except OSError as error:
            raise ClientError(f"{self._host}:{self._port}: {error.strerror or error}") from error
        except UnicodeError as error:
            raise ClientError(f"{self._host!r} is not the name of a host") from error
        return value


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
    memory = MemoryTransport()
    protocol = _BinaryProtocol(memory)
    protocol.write_message_begin(method, TMessageType.CALL, 1)
    getattr(interface().Sargo, f"{method}_args")(**arguments).write(protocol)
    return memory.written()


def _result(method: str, frame: bytes) -> Any:
    """The value in a reply. Raises what the reply says."""
    service = interface().Sargo
    answer = _BinaryProtocol(MemoryTransport(frame), strict_decode=True)
    try:
        _, kind, _ = answer.read_message_begin()
        if kind == TMessageType.EXCEPTION:
            error = TApplicationException()
            error.read(answer)
            raise ClientError(f"the sidecar cannot answer: {visible(str(error.message))}")
        result = getattr(service, f"{method}_result")()
        result.read(answer)
    except ClientError:
        raise
    except Exception as error:  # the bytes are no Thrift message
        raise ClientError(f"who listens there is no sidecar: {type(error).__name__}") from error
    refused = getattr(result, "refused", None)
    if refused is not None:
        raise Refused(visible(str(refused.code or "")), visible(str(refused.why or "")))
    return result.success


def _read(connection: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        piece = connection.recv(min(1 << 20, length - len(data)))
        if not piece:
            raise ClientError("the connection was closed without an answer (is TLS wanted?)")
        data += piece
    return bytes(data)
