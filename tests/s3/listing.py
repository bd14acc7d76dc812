"""The LIST of the small S3: keys of a local folder, a page at a time."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

__all__ = ["etag", "list_page"]

PAGE = 1000


def etag(stat: os.stat_result) -> str:
    """The version of an object: another one for each content that is written."""
    return f'"{hashlib.md5(f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ino}".encode()).hexdigest()}"'


def list_page(base: Path, asked: Mapping[str, str], how: str) -> bytes:
    """A page of keys below a prefix, as S3 answers ListObjectsV2. ``how``: a fault."""
    prefix, delimiter = asked.get("prefix", ""), asked.get("delimiter", "")
    after = asked.get("continuation-token") or asked.get("start-after") or ""
    most = min(int(asked.get("max-keys", PAGE)), PAGE)
    found = _one_level(base, prefix) if delimiter == "/" else _everything(base, prefix)
    if how == "empty":
        found = []
    if how == "lag":
        found = [
            one
            for one in found
            if one[1] is None or one[1].st_mtime_ns != max((s.st_mtime_ns for _, s in found if s), default=0)
        ]
    rest = [one for one in found if one[0] > after]
    page, more = rest[:most], len(rest) > most
    out = [
        f'<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>{base.name}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(page)}</KeyCount><MaxKeys>{most}</MaxKeys>"
        f"<IsTruncated>{str(more).lower()}</IsTruncated>"
    ]
    if more:
        out.append(f"<NextContinuationToken>{escape(page[-1][0])}</NextContinuationToken>")
    for key, stat in page:
        if stat is None:
            out.append(f"<CommonPrefixes><Prefix>{escape(key)}</Prefix></CommonPrefixes>")
        else:
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(stat.st_mtime))
            out.append(
                f"<Contents><Key>{escape(key)}</Key><LastModified>{stamp}</LastModified><ETag>{escape(etag(stat))}"
                f"</ETag><Size>{stat.st_size}</Size><StorageClass>STANDARD</StorageClass></Contents>"
            )
    return ("".join(out) + "</ListBucketResult>").encode()


def _everything(base: Path, prefix: str) -> list[tuple[str, os.stat_result | None]]:
    """All keys below a prefix."""
    folder = base / prefix.rpartition("/")[0]
    found: list[tuple[str, os.stat_result | None]] = []
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            key = os.path.relpath(path, base)
            if key.startswith(prefix) and not name.endswith(".s3tmp"):
                found.append((key, os.stat(path)))
    return sorted(found, key=lambda one: one[0].encode())


def _one_level(base: Path, prefix: str) -> list[tuple[str, os.stat_result | None]]:
    """Keys and common prefixes of a LIST with delimiter /, without walking what is below."""
    folder, _, start = prefix.rpartition("/")
    out: list[tuple[str, os.stat_result | None]] = []
    try:
        entries = list(os.scandir(base / folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    for one in entries:
        if not one.name.startswith(start) or one.name.endswith(".s3tmp"):
            continue
        key = f"{folder}/{one.name}" if folder else one.name
        if one.is_dir():
            if any(names for _, _, names in os.walk(one.path)):
                out.append((key + "/", None))
        else:
            out.append((key, one.stat()))
    return sorted(out, key=lambda one: one[0].encode())
