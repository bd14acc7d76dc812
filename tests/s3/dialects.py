"""The small S3 as Google and Azure speak: the requests that differ, with the same folder, counts and faults behind it.

    Google    the XML interface: ``x-goog-if-generation-match: 0`` for a new object, a removed object is not there
    Azure     the Blob interface below /account/container: ETags without quotes in a LIST of its own, blocks, batches

What they answer was compared with fake-gcs-server 1.56.1 and Azurite 3.35.0, where these have the request.
Sources: https://cloud.google.com/storage/docs/xml-api, https://learn.microsoft.com/en-us/rest/api/storageservices
"""

from __future__ import annotations

import re
from email.utils import formatdate
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.sax.saxutils import escape

from tests.s3.listing import _everything, _one_level, etag
from tests.s3.server import Server, _error

ACCOUNT = "acct"


class Recording(Server):
    """Keeps the headers of each request; ``allowed`` says who is let in, by the headers."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.headers: list[dict[str, str]] = []
        self.allowed = bool  # any headers
        self.refusal = (403, "AccessDenied", "Access denied")

    def answer(self, method, kind, bucket, key, asked, headers, body, fault):
        self.headers.append({"method": method, **headers})
        if not self.allowed(headers):
            status, code, message = self.refusal
            return status, _error(code, message, key), {"Content-Type": "application/xml"}
        return self.plain(method, kind, bucket, key, asked, headers, body, fault)

    def plain(self, method, kind, bucket, key, asked, headers, body, fault):
        return super().answer(method, kind, bucket, key, asked, headers, body, fault)


class Google(Recording):
    def plain(self, method, kind, bucket, key, asked, headers, body, fault):
        place = self.root / bucket / key
        if fault is None and (self.root / bucket).is_dir():
            if kind == "PUT" and headers.get("x-goog-if-generation-match") == "0" and place.exists():
                return 412, _error("PreconditionFailed", "a pre-condition did not hold", key), {}
            if kind == "DELETE" and not place.is_file():
                return 404, _error("NoSuchKey", "The specified key does not exist.", key), {}
        status, answer, extra = super().plain(method, kind, bucket, key, asked, headers, body, fault)
        if method in ("GET", "HEAD", "PUT") and status in (200, 206) and place.is_file():
            extra["x-goog-generation"] = str(place.stat().st_mtime_ns // 1000)
        return status, answer, extra


class Azure(Recording):
    def plain(self, method, kind, bucket, key, asked, headers, body, fault):
        container, _, name = key.partition("/")
        if bucket != ACCOUNT:
            return 400, _error("InvalidUri", "no account", key), {}
        if fault is not None and fault["kind"].isdigit():
            return super().plain(method, kind, container, name, asked, headers, body, fault)
        base = self.root / container
        if not base.is_dir():
            return 404, _error("ContainerNotFound", "The specified container does not exist.\nRequestId:1", key), {}
        if asked.get("comp") == "list":
            return 200, _azure_list(base, asked), {"Content-Type": "application/xml"}
        if asked.get("comp") == "batch":
            return self._batch(body, headers)
        if asked.get("comp") == "block":
            self.uploads.setdefault(key, {})[asked["blockid"]] = body
            return 201, b"", {}
        if asked.get("comp") == "blocklist":
            blocks = self.uploads.pop(key)
            body = b"".join(blocks[one] for one in re.findall(r"<\w+>([^<]+)</(?:Latest|Uncommitted)>", body.decode()))
        place = base / name
        if method == "PUT":
            if headers.get("if-none-match") == "*" and place.exists():
                return 409, _error("BlobAlreadyExists", "The specified blob already exists.", key), {}
            self.write(place, body)
            stat = place.stat()
            return 201, b"", {"ETag": etag(stat), "Last-Modified": formatdate(stat.st_mtime, usegmt=True)}
        if headers.get("range", "").startswith("bytes=-"):
            return 400, _error("InvalidHeaderValue", "a range has a start", key), {}
        status, answer, extra = super().plain(method, method, container, name, asked, headers, body, fault)
        code = {404: "BlobNotFound", 412: "ConditionNotMet", 416: "InvalidRange"}.get(status)
        if code:
            answer = _error(code, f"{code}\nRequestId:1\nTime:2", key)
        return (202 if method == "DELETE" else status), answer, extra

    def _batch(self, body, headers):
        """Each DELETE in the body, answered in the parts of another body."""
        mark = headers["content-type"].partition("boundary=")[2].strip('"')
        parts = []
        for number, path in enumerate(re.findall(r"DELETE (\S+) HTTP", body.decode())):
            place = self.root / unquote(urlsplit(path).path).lstrip("/").partition("/")[2]
            status = "202 Accepted" if place.is_file() else "404 BlobNotFound"
            place.unlink(missing_ok=True)
            text = f"--{mark}\r\nContent-Type: application/http\r\nContent-ID: {number}\r\n\r\nHTTP/1.1 {status}\r\n"
            parts.append(f"{text}x-ms-error-code: {status[4:]}\r\nContent-Length: 0\r\n\r\n\r\n")
        answer = "".join(parts) + f"--{mark}--\r\n"
        return 202, answer.encode(), {"Content-Type": f"multipart/mixed; boundary={mark}"}


def _azure_list(base: Path, asked: dict[str, str]) -> bytes:
    prefix, after = asked.get("prefix", ""), asked.get("marker", "")
    most = min(int(asked.get("maxresults", 5000)), 5000)
    found = _one_level(base, prefix) if asked.get("delimiter") else _everything(base, prefix)
    rest = [one for one in found if one[0] >= after]
    out = []
    for key, stat in rest[:most]:
        if stat is None:
            out.append(f"<BlobPrefix><Name>{escape(key)}</Name></BlobPrefix>")
            continue
        out.append(
            f"<Blob><Name>{escape(key)}</Name><Properties><Last-Modified>{formatdate(stat.st_mtime, usegmt=True)}"
            f"</Last-Modified><Etag>{etag(stat).strip(chr(34))}</Etag><Content-Length>{stat.st_size}</Content-Length>"
            "<Content-Type>application/octet-stream</Content-Type><ResourceType>file</ResourceType>"
            "</Properties></Blob>"
        )
    marker = escape(rest[most][0]) if len(rest) > most else ""
    text = f"<Prefix>{escape(prefix)}</Prefix><Blobs>{''.join(out)}</Blobs><NextMarker>{marker}</NextMarker>"
    return f'<?xml version="1.0" encoding="utf-8"?><EnumerationResults>{text}</EnumerationResults>'.encode()
