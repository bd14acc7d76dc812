"""The tables that may be read: those below the configured roots, in whatever spelling a request names them.

    file:/w/t   file:///w/t   file://localhost/w/t   /w/t    one local path, followed through its links
    hdfs://nn:8020/w/t   s3a://bucket/w/t                    scheme and authority as in the root; "s3a", "s3n" are "s3"

A path stands as it is, and the path of a URI is percent-encoded (``locations``).

Refused: a relative path, a segment ``.`` or ``..`` (as text or percent-encoded), control characters, queries and
fragments in a URI (they could lead to another server), a path in an object store that ends like options of the store,
and a local path whose target lies outside of the roots. Files of a local table are opened through
``SandboxedFileSystem``, so that a link inside of a table cannot lead out either.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from pyarrow import fs

from handler.sidecar.idl import Refused
from handler.sidecar.roots.locations import read_location
from handler.sidecar.roots.sandboxed_file_system import SandboxedFileSystem
from handler.sidecar.settings import SettingsError
from index_store.storage.file_systems import has_query

__all__ = ["AllowedRoots", "AllowedTable"]

_SCHEMES = {"s3a": "s3", "s3n": "s3"}
_MAX_LENGTH = 4096


@dataclass(frozen=True, slots=True)
class AllowedTable:
    """The location of a table, the same for all its spellings; and of a local one its root and sandboxed files."""

    path: str
    root: str | None = None
    filesystem: Any = None


@dataclass(frozen=True, slots=True)
class _Root:
    scheme: str
    authority: str
    path: str
    filesystem: Any = None


class AllowedRoots:
    """The allow-list. Raises SettingsError when a root cannot be one."""

    def __init__(self, roots: Iterable[str]) -> None:
        self._roots = tuple(_root(text) for text in roots)
        if not self._roots:
            raise SettingsError("roots is empty: name the folders below which tables may be read")

    def locate(self, table: str) -> AllowedTable:
        """The table that a request names. Raises Refused when it is not below a root."""
        try:
            scheme, authority, path = _split(table)
        except ValueError as error:
            raise Refused("table", f"the table's path {error}") from error
        if scheme == "file":
            path = os.path.realpath(path)
        for root in self._roots:
            if (root.scheme, root.authority) == (scheme, authority) and _is_below(path, root.path):
                if scheme == "file":
                    return AllowedTable(path, root.path, root.filesystem)
                return AllowedTable(f"{scheme}://{authority}{path}")
        raise Refused("table", "the table is not below the roots of this sidecar")


def _split(text: str) -> tuple[str, str, str]:
    """Scheme, authority and normal path. Raises ValueError, which does not repeat the text, for an invalid location."""
    if not text or len(text) > _MAX_LENGTH:
        raise ValueError("is empty or too long")
    scheme, authority, path = read_location(text)
    if any(ord(char) < 32 or ord(char) == 127 for char in authority + path):
        raise ValueError("holds control characters")
    if not path.startswith("/"):
        raise ValueError("is not absolute")
    if any(part in (".", "..") for part in (*path.split("/"), *unquote(path).split("/"))):
        raise ValueError("holds '.' or '..'")
    if scheme == "file":
        if authority not in ("", "localhost"):
            raise ValueError("names another host")
        authority = ""
    scheme, authority = _SCHEMES.get(scheme, scheme), authority.lower()
    path = posixpath.normpath(re.sub("/+", "/", path))
    if scheme != "file" and has_query(f"{scheme}://{authority}{path}"):
        raise ValueError("ends like options of an object store")
    return scheme, authority, path


def _root(text: str) -> _Root:
    try:
        scheme, authority, path = _split(text)
    except ValueError as error:
        raise SettingsError(f"root {text!r} {error}") from error
    if scheme == "file":
        path = os.path.realpath(path)
        return _Root(scheme, authority, path, fs.PyFileSystem(SandboxedFileSystem(path)))
    if ":" in authority.rpartition("@")[0]:
        raise SettingsError("a root holds a password: use storage_options")
    return _Root(scheme, authority, path)


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
