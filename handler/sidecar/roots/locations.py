"""The location of a table on the wire: ``PruneRequest.table``, and in the settings ``roots``.

    /w/a b%20c              a path as it stands: nothing in it is decoded
    file:/w/a%20b%2520c     the same folder as a URI, as the jar sends it (Hadoop's ``Path.toUri().toString()``)
    s3a://lake/a%23b        the key "a#b"

A text with a scheme is a URI: its path is decoded once, as UTF-8. A URI with a query, a fragment, or a percent sign
that begins no escape is refused, because it could mean another table.

Facts: docs/facts/hive-storage-handlers.md#the-interfaces
"""

from __future__ import annotations

import os
import re
from urllib.parse import quote, unquote

from index_store.storage.file_systems import has_query, local_path

__all__ = ["read_location", "wire_location"]

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):(?://([^/]*))?(/.*)?", re.DOTALL)
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
#: What Java's URI leaves as it is in a path.
_PLAIN = "/:@!$&'()*+,;=-._~"


def read_location(text: str) -> tuple[str, str, str]:
    """Scheme ("file" for a path), authority and literal path. Raises ValueError, which does not repeat the text."""
    match = None if text.startswith("/") else _URI.fullmatch(text)
    if match is None:
        return "file", "", text
    scheme, authority, path = match[1].lower(), match[2] or "", match[3] or ""
    if "?" in path or "#" in path:
        raise ValueError("holds a query or a fragment: in a URI ? is written %3F, and # is written %23")
    if _BROKEN_ESCAPE.search(path):
        raise ValueError("holds a percent sign that begins no escape: in a URI it is written %25")
    try:
        return scheme, authority, unquote(path, errors="strict")
    except UnicodeDecodeError:
        raise ValueError("holds escapes that are no UTF-8") from None


def wire_location(location: str | os.PathLike[str]) -> str:
    """A location as people write it, a path or a URI whose path stands as it is, in the form of the wire.

    Options after the ``?`` of an object store are left out: the sidecar has its own.
    """
    text = os.fspath(location)
    local = local_path(text)
    if local is not None:
        return local
    if has_query(text):
        text = text.rpartition("?")[0]
    scheme, separator, rest = text.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{separator}{authority}{slash}{quote(path, safe=_PLAIN)}"
