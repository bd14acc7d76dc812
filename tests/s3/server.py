"""A small S3 (path style, HTTP) over a local folder, with latency, a rate per connection, counts and faults; for tests.

    Server(root)                         root/<bucket>/<key> are the objects; ``tests.s3.store`` runs it
    requests, most, connections          what was asked, how much of it at once
    latency, rate, faults, random        seconds, bytes a second for each connection, what goes wrong
    conditions                           what becomes of If-None-Match: kept, ignored or refused (501)

A fault: {"kind": ..., "p": probability, "method": regex, "path": regex, "agent": regex, "skip": n first matches,
          "count": at most n}
    503 500 429 404 403 ...   that status, with S3's XML error (no body for HEAD)
    reset                     RST after half of the body (or before the header when there is no body)
    cut                       right Content-Length, half the body, then a clean FIN
    short                     half the body, and a Content-Length that says so
    lost                      what was asked is done, and the answer is 500
    hang                      never answers (until the client leaves)
    stall                     header and half the body, then nothing
    etag                      another ETag; with "size": +n the object shows n bytes more (HEAD) or less
    empty                     a LIST that shows nothing; "lag": a LIST without its newest key
    flip                      one byte in the middle is another
    swap                      the body of another file: {"with": "/absolute/file"}
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import re
import socket
import struct
import time
import uuid
from email.utils import formatdate
from pathlib import Path
from urllib.parse import parse_qsl, unquote
from xml.sax.saxutils import escape, unescape

from tests.s3.listing import etag, list_page


class Server:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.latency, self.rate, self.faults = 0.0, 0.0, []
        self.random, self.conditions = random.Random(0), "kept"
        self.requests, self.flying, self.most, self.connections = [], 0, 0, 0
        self.uploads: dict[str, dict[int, bytes]] = {}

    # -- faults

    def fault(self, method: str, path: str, kind: str, agent: str = ""):
        asked = {"method": f"{method} {kind}", "path": path, "agent": agent}
        for one in self.faults:
            if not all(re.search(one.get(name, ""), text) for name, text in asked.items()):
                continue
            one["seen"] = one.get("seen", 0) + 1
            if one["seen"] <= one.get("skip", 0) or one.get("done", 0) >= one.get("count", 10**9):
                continue
            if self.random.random() < one.get("p", 1.0):
                one["done"] = one.get("done", 0) + 1
                return one
        return None

    # -- HTTP

    async def client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while await self.one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def one(self, reader, writer) -> bool:
        first = await reader.readexactly(1)
        if first == b"\x16":  # a client that speaks TLS
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return False
        head = first + await reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        headers = {}
        for line in lines[1:]:
            name, separator, value = line.partition(":")
            if separator:
                headers[name.strip().lower()] = value.strip()
        if headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if headers.get("transfer-encoding", "").lower() == "chunked":
            body = b""
            while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
                body += (await reader.readexactly(size + 2))[:-2]
            await reader.readuntil(b"\r\n")
        else:
            body = await reader.readexactly(int(headers.get("content-length") or 0))
        raw, _, query = target.partition("?")
        if "aws-chunked" in headers.get("content-encoding", "") or headers.get("x-amz-content-sha256", "").startswith(
            "STREAMING"
        ):
            body = _unchunked(body)
        path, asked = unquote(raw), dict(parse_qsl(query, keep_blank_values=True))
        bucket, _, key = path.lstrip("/").partition("/")
        kind = method
        if method == "GET" and not key:
            kind = "LIST"
        elif method == "HEAD" and not key:
            kind = "HEADBUCKET"
        elif method == "POST":
            kind = "POST" + next((f"-{name}" for name in ("uploads", "delete", "uploadId") if name in asked), "")
        elif method == "PUT" and "uploadId" in asked:
            kind = "PUT-part"
        record = {
            "t": time.monotonic(),
            "kind": kind,
            "path": path if kind != "LIST" else f"/{bucket}/{asked.get('prefix', '')}",
            "range": headers.get("range", ""),
            "sent": 0,
            "got": len(body),
            "if": headers.get("if-match") or headers.get("if-none-match") or "",
            "agent": headers.get("user-agent", ""),
        }
        self.requests.append(record)
        self.flying += 1
        self.most = max(self.most, self.flying)
        try:
            fault = self.fault(method, record["path"], kind, record["agent"])
            if fault:
                record["fault"] = fault["kind"]
            if fault and fault["kind"] == "hang":
                await asyncio.wait([asyncio.ensure_future(reader.read(1))], timeout=fault.get("seconds", 3600))
                return False
            if self.latency:
                await asyncio.sleep(self.latency)
            status, answer, extra = self.answer(method, kind, bucket, key, asked, headers, body, fault)
            if fault and fault["kind"] == "lost":
                status, answer, extra = 500, _error("InternalError", "injected", key), {}
            record["status"] = status
            return await self.send(writer, method, status, answer, extra, fault, record)
        finally:
            record["end"] = time.monotonic()
            self.flying -= 1

    async def send(self, writer, method, status, answer, extra, fault, record) -> bool:
        length = extra.pop("Content-Length", len(answer))
        how = fault["kind"] if fault else ""
        body = b"" if method == "HEAD" else answer
        if how == "short" and method != "HEAD":
            body = body[: len(body) // 2]
            length = len(body)
        if how == "flip" and body:
            middle = fault.get("at", len(body) // 2)
            body = body[:middle] + bytes([body[middle] ^ 0x01]) + body[middle + 1 :]
        header = [
            f"HTTP/1.1 {status} X",
            f"Content-Length: {length}",
            f"Date: {formatdate(usegmt=True)}",
            f"x-amz-request-id: {uuid.uuid4().hex[:16]}",
            "Server: AmazonS3",
        ]
        header += [f"{name}: {value}" for name, value in extra.items()]
        data = ("\r\n".join(header) + "\r\n\r\n").encode()
        if how in ("reset", "cut", "stall"):
            half = body[: len(body) // 2]
            if half or how != "reset":
                writer.write(data + half)
                await writer.drain()
                record["sent"] = len(half)
            if how == "stall":
                await asyncio.sleep(fault.get("seconds", 3600))
            if how == "reset":
                await asyncio.sleep(0.005)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
            return False
        writer.write(data)
        began, step = time.monotonic(), 64 << 10
        for start in range(0, len(body), step):
            writer.write(body[start : start + step])
            await writer.drain()
            record["sent"] += len(body[start : start + step])
            if self.rate and len(body) > step:
                ahead = record["sent"] / self.rate - (time.monotonic() - began)
                if ahead > 0.002:
                    await asyncio.sleep(ahead)
        await writer.drain()
        return True

    def answer(self, method, kind, bucket, key, asked, headers, body, fault):
        how = fault["kind"] if fault else ""
        if how.isdigit():
            code = {
                "501": "NotImplemented",
                "409": "ConditionalRequestConflict",
                "412": "PreconditionFailed",
                "503": "SlowDown",
                "500": "InternalError",
                "404": "NoSuchKey",
                "403": "AccessDenied",
                "429": "TooManyRequests",
                "401": "Unauthorized",
                "400": "ExpiredToken",
                "301": "PermanentRedirect",
            }.get(how, "Injected")
            return (
                int(how),
                _error(fault.get("code", code), fault.get("message", "injected"), key),
                {"Content-Type": "application/xml"},
            )
        base = self.root / bucket
        if not base.is_dir():
            if kind in ("PUT",) and not key:
                base.mkdir()
                return 200, b"", {}
            return (
                404,
                _error("NoSuchBucket", "The specified bucket does not exist", bucket),
                {"Content-Type": "application/xml"},
            )
        if kind == "HEADBUCKET":
            return 200, b"", {"x-amz-bucket-region": "us-east-1"}
        if kind == "LIST":
            return 200, list_page(base, asked, how), {"Content-Type": "application/xml"}
        place = base / key
        if method in ("GET", "HEAD"):
            if not place.is_file():
                return (
                    404,
                    _error("NoSuchKey", "The specified key does not exist.", key),
                    {"Content-Type": "application/xml"},
                )
            if how == "swap":
                place = Path(fault["with"])
            stat = place.stat()
            version = etag(stat) if how != "etag" else f'"{uuid.uuid4().hex}"'
            extra = {
                "ETag": version,
                "Last-Modified": formatdate(stat.st_mtime, usegmt=True),
                "Accept-Ranges": "bytes",
                "Content-Type": "application/octet-stream",
            }
            if headers.get("if-match") and headers["if-match"].strip('"') != version.strip('"'):  # S3 takes both
                return (
                    412,
                    _error("PreconditionFailed", "At least one of the pre-conditions you specified did not hold", key),
                    {"Content-Type": "application/xml"},
                )
            size = stat.st_size
            if how == "etag":
                size = int(size * fault.get("scale", 1)) + fault.get("size", 0)
            if method == "HEAD":
                return 200, b"", {**extra, "Content-Length": size}
            with place.open("rb") as file:
                match = re.fullmatch(r"bytes=(\d*)-(\d*)", headers.get("range", ""))
                if not match:
                    return 200, file.read(), extra
                if match[1]:
                    start, end = int(match[1]), min(int(match[2] or stat.st_size - 1), stat.st_size - 1)
                else:
                    start, end = max(0, stat.st_size - int(match[2])), stat.st_size - 1
                if start >= stat.st_size:
                    return (
                        416,
                        _error("InvalidRange", "The requested range is not satisfiable", key),
                        {"Content-Type": "application/xml"},
                    )
                file.seek(start)
                return (
                    206,
                    file.read(end - start + 1),
                    {**extra, "Content-Range": f"bytes {start}-{end}/{stat.st_size}"},
                )
        if kind == "PUT":
            if headers.get("if-none-match") and self.conditions == "refused":
                return 501, _error("NotImplemented", "If-None-Match is not implemented", key), {}
            if headers.get("if-none-match") == "*" and place.exists() and self.conditions == "kept":
                return 412, _error("PreconditionFailed", "exists", key), {"Content-Type": "application/xml"}
            if key.endswith("/"):
                return 200, b"", {"ETag": '"d41d8cd98f00b204e9800998ecf8427e"'}
            self.write(place, body)
            return 200, b"", {"ETag": etag(place.stat())}
        if kind == "POST-uploads":
            upload = uuid.uuid4().hex
            self.uploads[upload] = {}
            return (
                200,
                (
                    f"<InitiateMultipartUploadResult><Bucket>{bucket}</Bucket><Key>{escape(key)}</Key>"
                    f"<UploadId>{upload}</UploadId></InitiateMultipartUploadResult>"
                ).encode(),
                {},
            )
        if kind == "PUT-part":
            self.uploads[asked["uploadId"]][int(asked["partNumber"])] = body
            return 200, b"", {"ETag": f'"{hashlib.md5(body).hexdigest()}"'}
        if kind == "POST-uploadId":
            parts = self.uploads.pop(asked["uploadId"], None)
            if parts is None:
                return 404, _error("NoSuchUpload", "The specified upload does not exist", key), {}
            self.write(place, b"".join(parts[number] for number in sorted(parts)))
            return (
                200,
                (
                    f"<CompleteMultipartUploadResult><Bucket>{bucket}</Bucket><Key>{escape(key)}</Key>"
                    '<ETag>"x"</ETag></CompleteMultipartUploadResult>'
                ).encode(),
                {},
            )
        if kind == "DELETE":
            if "uploadId" in asked:
                self.uploads.pop(asked["uploadId"], None)
            elif place.is_file():
                place.unlink()
            return 204, b"", {}
        if kind == "POST-delete":
            keys = re.findall(r"<Key>(.*?)</Key>", body.decode())
            for one in keys:
                target = base / unescape(one, {"&quot;": '"', "&apos;": "'"})
                if target.is_file():
                    target.unlink()
            return (
                200,
                (
                    "<DeleteResult>"
                    + "".join(f"<Deleted><Key>{one}</Key></Deleted>" for one in keys)
                    + "</DeleteResult>"
                ).encode(),
                {},
            )
        return 501, _error("NotImplemented", f"{method} {kind}", key), {}

    @staticmethod
    def write(place: Path, body: bytes) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary = place.with_name(f".{uuid.uuid4().hex}.s3tmp")
        temporary.write_bytes(body)
        os.replace(temporary, place)


def _error(code: str, message: str, resource: str) -> bytes:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>{escape(message)}</Message>'
        f"<Resource>{escape(resource)}</Resource><RequestId>LAB</RequestId></Error>"
    ).encode()


def _unchunked(body: bytes) -> bytes:
    out, at = b"", 0
    while at < len(body):
        end = body.index(b"\r\n", at)
        size = int(body[at:end].split(b";")[0], 16)
        if not size:
            break
        out += body[end + 2 : end + 2 + size]
        at = end + 2 + size + 2
    return out
