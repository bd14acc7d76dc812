"""Resolves a path or URI to a file system and a path in it.

    /data/t  file:/data/t  file:///data/t                   this machine
    s3://bucket/t  s3a://  s3n://                           S3 and what speaks its protocol (obstore, ``object_stores``)
    gs://bucket/t  gcs://                                   Google Cloud Storage (obstore)
    abfs[s]://container@account.dfs.core.windows.net/t      Azure (obstore); wasb[s]:// and az://container/t as well
    hdfs://namenode:8020/t  hdfs:///t  viewfs://cluster/t   HDFS through Hadoop's libhdfs (pyarrow), or hdfs-native
    webhdfs://  memory://  sftp://  oss://  ...             any other scheme of fsspec, with the package for it

The path of a location stands as it is: nothing in it is percent-decoded, as Hadoop, Spark and Hive read a location. A
``file:`` URI that names no folder so is decoded, because other programs write it encoded (``pathlib.Path.as_uri``).
Options of a store may follow the last ``?`` of its URI: ``s3://bucket/t?region=eu-west-1``. A ``?`` that no option of
that store follows, and nothing that looks like a secret, is part of the path.

A file system object of pyarrow or fsspec, with a path in it, works too. Retries happen in one place (``retries``), so
the retries of clients are switched off. Listings that fsspec caches are dropped, since opening a table lists it anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote

import pyarrow as pa
from pyarrow import fs

from evaluator.language.records import frozen
from index_store.storage.arrow_client import ArrowClient
from index_store.storage.client import Client
from index_store.storage.errors import TableError
from index_store.storage.masking import Mask, is_secret, masked_uri, plain_path, plain_uri
from index_store.storage.retries import Patience
from index_store.storage.storage_options import COMMON, is_option, read_options, split_common
from index_store.storage.stores import Opened, Parts, open_store

__all__ = ["Location", "has_query", "local_path", "locate"]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?=/)")
_STORES = {
    "s3": "s3",
    "s3a": "s3",
    "s3n": "s3",
    "gs": "gs",
    "gcs": "gs",
    "abfs": "abfs",
    "abfss": "abfs",
    "wasb": "abfs",
    "wasbs": "abfs",
    "az": "abfs",
    "hdfs": "hdfs",
    "viewfs": "hdfs",
}
_SYSTEMS = {"s3": "S3FileSystem", "gs": "GcsFileSystem", "abfs": "AzureFileSystem"}


@frozen(shown=False)
class Location:
    """A directory: ``root`` in the terms of the file system; ``name`` is for people, without secrets.

    client              what storages read and write through
    open_filesystem     opens pyarrow's file system of the same place, once
    host                as in ``Opened``
    """

    client: Client
    open_filesystem: Callable[[], Any]
    root: str
    name: str
    is_local: bool
    mask: Mask
    patience: Patience
    host: str | None = None

    @property
    def filesystem(self) -> Any:
        """The ``pyarrow.fs.FileSystem``; reads through it are not retried."""
        return self.open_filesystem()


def locate(path: str | os.PathLike[str], filesystem: Any = None, options: Mapping[str, str] | None = None) -> Location:
    """The file system and the directory for a local path, a URI, or a path of the file system given.

    ``filesystem``: of pyarrow or of fsspec. ``options``: see ``storage_options``; with a file system given, only
    those for waiting. Raises TableError when there is no such file system or an option is wrong; nothing is read yet.
    """
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(
            f"the options of a file system are a dict such as {{'region': ...}}, not {type(options).__name__}"
        )
    text = os.fspath(path)
    shown = masked_uri(text)
    mask = Mask.of(options or {})
    try:
        common, others = split_common(options or {})
        if filesystem is not None:
            if others:
                raise ValueError(f"option {next(iter(others))} is for a file system that is opened here")
            found = _given(filesystem, text)
        else:
            found = _opened(text, others)
        client = found.client or ArrowClient(found.open_filesystem(), is_local=found.is_local)
    except TableError:
        raise
    except (ValueError, OSError, pa.ArrowException, ImportError) as error:
        raise TableError(mask(shown), f"no such file system: {mask(str(error))}") from None
    except Exception as error:  # clients that fsspec loads have errors of their own
        raise TableError(mask(shown), f"no such file system: {type(error).__name__} {mask(str(error))}") from None
    is_local, root = found.is_local, found.root
    patience = Patience(abandon=not is_local)
    patience.tries = int(common.get("tries", patience.tries)) or 1
    patience.deadline = common.get("deadline", patience.deadline)
    name = root if is_local and filesystem is None else _shown(text, mask).rstrip("/") or "/"
    return Location(client, found.open_filesystem, root, name, is_local, mask, patience, found.host)


def _shown(text: str, mask: Mask) -> str:
    """A location without credentials and options. Spark reads by it, so a path keeps what only looks like a secret."""
    scheme, colon, rest = text.partition(":")
    if scheme.lower() not in _STORES:
        return mask(plain_uri(text))
    return mask.values(plain_path(f"{scheme}{colon}{_split_query(scheme.lower(), rest)[0]}"))


def _opened(text: str, options: Mapping[str, str]) -> Opened:
    local = local_path(text)
    if local is not None:
        _refuse_rest(options)
        return Opened(fs.LocalFileSystem, local, is_local=True, host="")
    parts = _take_apart(text)
    store = _STORES.get(parts.scheme)
    if store is None or (store != "hdfs" and not hasattr(fs, _SYSTEMS[store])):
        return _through_fsspec(text, parts.scheme, options)
    return open_store(parts, read_options(store, {**parts.query, **options}))


def local_path(text: str) -> str | None:
    """The absolute path that a location names on this machine, None for one in another file system."""
    if text.startswith("/") or (_SCHEME.match(text) is None and "://" not in text):
        return os.path.abspath(text)
    parts = _take_apart(text)
    if parts.scheme not in ("file", "local"):
        return None
    plain = parts.path if os.path.exists(parts.path) else unquote(parts.path)
    return os.path.abspath(plain)


def has_query(text: str) -> bool:
    """Whether the URI of a store ends with options, which are no part of its path."""
    scheme, _, rest = text.partition(":")
    return bool(_split_query(scheme.lower(), rest)[1])


def _split_query(scheme: str, rest: str) -> tuple[str, Mapping[str, str]]:
    """The URI of a store without the options after its last ``?``, and these options."""
    path, mark, tail = rest.rpartition("?")
    store = _STORES.get(scheme)
    if store is None or not mark:
        return rest, {}
    query = dict(parse_qsl(tail, keep_blank_values=True))
    return (path, query) if any(is_option(store, name) or is_secret(name) for name in query) else (rest, {})


def _refuse_rest(options: Mapping[str, str]) -> None:
    if options:
        raise ValueError(f"option {next(iter(options))} is not known for local paths (known: {', '.join(COMMON)})")


def _take_apart(text: str) -> Parts:
    scheme, _, rest = text.partition(":")
    scheme = scheme.lower()
    rest, query = _split_query(scheme, rest)
    if not rest.startswith("//"):
        return Parts(scheme, "", "", "", rest, query)  # file:/data, hdfs:/data
    authority, slash, path = rest[2:].partition("/")
    if "@" in path and ":" in authority and not authority.rpartition(":")[2].isdigit():
        raise ValueError("what stands before @ must be escaped (%2F for /), or given as an option")
    userinfo, _, host = authority.rpartition("@")
    user, _, password = userinfo.partition(":")
    return Parts(scheme, unquote(user), unquote(password), host, slash + path, query)


def _through_fsspec(text: str, scheme: str, options: Mapping[str, str]) -> Opened:
    try:
        from fsspec.core import url_to_fs
        from fsspec.registry import known_implementations
    except ImportError:
        raise ValueError(f"{scheme}:// is read through fsspec: pip install fsspec") from None
    try:
        found, root = url_to_fs(text, **{"use_listings_cache": False, "skip_instance_cache": True, **options})
    except ImportError as error:
        advice = known_implementations.get(scheme, {}).get("err") or f"{scheme}:// needs a package: {error}"
        raise ValueError(advice) from None
    wrapped = _wrapped(found)
    return Opened(lambda: wrapped, root.rstrip("/") or "/")


def _wrapped(filesystem: Any) -> Any:
    filesystem.invalidate_cache()
    return fs.PyFileSystem(fs.FSSpecHandler(filesystem))


def _given(filesystem: Any, text: str) -> Opened:
    scheme, separator, rest = ("", "", "") if text.startswith("/") else text.partition("://")
    path = _split_query(scheme.lower(), rest)[0] if separator else text
    if hasattr(filesystem, "_strip_protocol"):  # fsspec's
        root = str(filesystem._strip_protocol(text)).rstrip("/") or "/"
        wrapped = _wrapped(filesystem)
        return Opened(lambda: wrapped, root)
    if not isinstance(filesystem, fs.FileSystem):
        raise ValueError(f"{type(filesystem).__name__} is no file system of pyarrow or fsspec")
    if isinstance(filesystem, fs.PyFileSystem) and isinstance(filesystem.handler, fs.FSSpecHandler):
        filesystem.handler.fs.invalidate_cache()
    return Opened(lambda: filesystem, path.rstrip("/") or "/", is_local=_is_local(filesystem))


def _is_local(filesystem: Any) -> bool:
    if isinstance(filesystem, fs.SubTreeFileSystem):
        return _is_local(filesystem.base_fs)
    if isinstance(filesystem, fs.PyFileSystem):  # a handler over the local disk says so
        return getattr(filesystem.handler, "is_local", False) is True
    return isinstance(filesystem, fs.LocalFileSystem)
