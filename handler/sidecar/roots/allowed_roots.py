"""The tables that may be read: those below the configured roots, in whatever spelling a request names them.

    file:/w/t   file:///w/t   file://localhost/w/t   /w/t    one local path, followed through its links
    hdfs://nn:8020/w/t   hdfs://nn/w/t   s3a://bucket/w/t    a cluster or bucket under all its names (``cluster_names``)
    s3://bucket   s3://bucket/                               the whole bucket

A table is opened under the name that its root has in the settings, so the root says through which client.

A path stands as it is, and the path of a URI is percent-encoded (``locations``).

Refused: a relative path, a segment ``.`` or ``..`` (as text or percent-encoded), control characters, queries and
fragments in a URI (they could lead to another server), a path in an object store that ends like options of the store,
and a local path whose target lies outside of the roots. Files of a local table are opened through
``SandboxedFileSystem``, so that a link inside of a table cannot lead out either.
"""

from __future__ import annotations

import functools
import os
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import unquote

from pyarrow import fs

from evaluator.language.records import frozen
from handler.sidecar.idl import Refused
from handler.sidecar.roots.cluster_names import HADOOP_SCHEMES, ClusterNames, Place
from handler.sidecar.roots.locations import read_location
from handler.sidecar.roots.root_checks import check_roots
from handler.sidecar.roots.sandboxed_file_system import SandboxedFileSystem
from handler.sidecar.settings import Settings, SettingsError
from index_store.storage.file_systems import has_query
from index_store.storage.hadoop_configuration import configuration_folder, hadoop_properties

__all__ = ["AllowedRoots", "AllowedTable", "split_location"]

_WITH_BUCKETS = ("s3", "gs", "gcs")
_HADOOP = tuple(f"{scheme}:" for scheme in HADOOP_SCHEMES)
_MAX_LENGTH = 4096

T = TypeVar("T")


@frozen
class AllowedTable:
    """The location of a table, the same for all its spellings; and of a local one its root and sandboxed files."""

    path: str
    root: str | None = None
    filesystem: Any = None


@frozen
class _Root:
    """``place``: the normal form of scheme and authority. ``start``: the URI of the root without its path."""

    place: Place
    path: str
    start: str = ""
    filesystem: Any = None

    def at(self, path: str) -> AllowedTable:
        if self.filesystem is not None:
            return AllowedTable(path, self.path, self.filesystem)
        return AllowedTable(f"{self.start}{path}")


class AllowedRoots:
    """The allow-list. Raises SettingsError when a root cannot be one."""

    def __init__(
        self, roots: Iterable[str], aliases: Iterable[str] = (), properties: Mapping[str, str] | None = None
    ) -> None:
        """``properties``: of Hadoop's configuration."""
        self._options_of: Callable[[str], Mapping[str, str]] = lambda _: {}
        self._names = ClusterNames(properties or {}, aliases)
        self._roots = tuple(_root(text, self._names) for text in roots)
        if not self._roots:
            raise SettingsError("roots is empty: name the folders below which tables may be read")

    @classmethod
    def of(cls, settings: Settings) -> AllowedRoots:
        """The roots of the settings; Hadoop's configuration is read when one of them, or an alias, names HDFS."""
        names_hdfs = any(scheme in text.lower() for scheme in _HADOOP for text in (*settings.roots, *settings.aliases))
        try:
            properties = hadoop_properties(configuration_folder()) if names_hdfs else {}
        except ValueError as error:
            raise SettingsError(f"Hadoop's configuration: {error}") from error
        found = cls(settings.roots, settings.aliases, properties)
        found._options_of = settings.options_of
        return found

    @property
    def tops(self) -> list[AllowedTable]:
        """The folders themselves."""
        return [root.at(root.path) for root in self._roots]

    def check(self, options: Mapping[str, str] | None = None, seconds: float = 10.0) -> dict[str, str]:
        """Why roots cannot be read, by root; those that can be read are left out. Blocks for ``seconds`` at most.

        ``options``: ``storage_options`` beside those of the settings. Never raises.
        """
        each = {root.path: {**self._options_of(root.path), **(options or {})} for root in self.tops}
        return check_roots({root.path: root.filesystem for root in self.tops}, each, seconds)

    def named(self, tables: Iterable[str]) -> list[AllowedTable]:
        """The tables that the settings name. Raises SettingsError."""
        try:
            return list({found.path: found for found in map(self.locate, tables)}.values())
        except Refused as error:
            raise SettingsError(f"tables: {error.why}") from error

    def by_location(self, named: Mapping[str, T]) -> dict[str, T]:
        """What the settings say of tables, by the location of each; what is not below a root says nothing."""
        found = {}
        for table, value in named.items():
            with suppress(Refused):
                found[self.locate(table).path] = value
        return found

    def locate(self, table: str) -> AllowedTable:
        """The table that a request names. Raises Refused when it is not below a root."""
        try:
            scheme, authority, path = split_location(table)
        except ValueError as error:
            raise Refused("table", f"the table's path {error}") from error
        if scheme == "file":
            path = os.path.realpath(path)
        place = self._names.normal(scheme, authority)
        for root in self._roots:
            if root.place == place and _is_below(path, root.path):
                return root.at(path)
        raise Refused("table", "the table is not below the roots of this sidecar")


@functools.lru_cache(maxsize=512)
def split_location(text: str) -> tuple[str, str, str]:
    """Scheme, authority and normal path. Raises ValueError, which does not repeat the text, for an invalid location."""
    if not text or len(text) > _MAX_LENGTH:
        raise ValueError("is empty or too long")
    scheme, authority, path = read_location(text)
    if any(ord(char) < 32 or ord(char) == 127 for char in authority + path):
        raise ValueError("holds control characters")
    if not path and authority and scheme != "file":
        path = "/"  # a whole bucket, or a whole cluster
    if not path.startswith("/"):
        raise ValueError("is not absolute")
    if any(part in (".", "..") for part in (*path.split("/"), *unquote(path).split("/"))):
        raise ValueError("holds '.' or '..'")
    if scheme == "file":
        if authority not in ("", "localhost"):
            raise ValueError("names another host")
        authority = ""
    path = posixpath.normpath(re.sub("/+", "/", path))
    if scheme != "file" and has_query(f"{scheme}://{authority}{path}"):
        raise ValueError("ends like options of an object store")
    return scheme, authority, path


def _root(text: str, names: ClusterNames) -> _Root:
    try:
        scheme, authority, path = split_location(text)
    except ValueError as error:
        raise SettingsError(f"root {text!r} {error}") from error
    if scheme == "file":
        path = os.path.realpath(path)
        return _Root(names.normal(scheme, authority), path, filesystem=fs.PyFileSystem(SandboxedFileSystem(path)))
    scheme, authority = names.spelled(scheme, authority)
    if not authority and scheme in _WITH_BUCKETS:
        raise SettingsError(f"root {text!r} names no bucket")
    if ":" in authority.rpartition("@")[0]:
        raise SettingsError("a root holds a password: use storage_options")
    return _Root(names.normal(scheme, authority), path, f"{scheme}://{authority}")


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
