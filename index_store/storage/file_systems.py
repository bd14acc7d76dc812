"""Resolves a path or URI to a file system and a path in it.

    /data/t  file:/data/t  file:///data/t                   this machine
    s3://bucket/t  s3a://  s3n://                           S3 and what speaks its protocol (pyarrow)
    gs://bucket/t  gcs://                                   Google Cloud Storage (pyarrow)
    abfs[s]://container@account.dfs.core.windows.net/t      Azure (pyarrow); wasb[s]:// and az://container/t as well
    hdfs://namenode:8020/t  hdfs:///t  viewfs://cluster/t   HDFS through Hadoop's libhdfs (pyarrow)
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
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import parse_qsl, unquote

import pyarrow as pa
from pyarrow import fs

from index_store.storage.errors import TableError
from index_store.storage.masking import Mask, is_secret, masked_uri, plain_path, plain_uri
from index_store.storage.retries import Patience
from index_store.storage.storage_options import (
    COMMON,
    AzureOptions,
    GcsOptions,
    HdfsOptions,
    S3Options,
    is_option,
    read_options,
    split_common,
)

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
_SYSTEMS = {"s3": "S3FileSystem", "gs": "GcsFileSystem", "abfs": "AzureFileSystem", "hdfs": "HadoopFileSystem"}
_TOKEN_LIFE = timedelta(hours=1)


@dataclass(frozen=True, slots=True, repr=False)
class Location:
    """A directory: ``root`` in the terms of ``filesystem``; ``name`` is for people, without secrets."""

    filesystem: Any
    root: str
    name: str
    is_local: bool
    mask: Mask
    patience: Patience


@dataclass(frozen=True, slots=True, repr=False)
class _Parts:
    """A URI taken apart; a port is part of the host."""

    scheme: str
    user: str
    password: str
    host: str
    path: str
    query: Mapping[str, str]


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
            found, root, is_local = _given(filesystem, text)
        else:
            found, root, is_local = _opened(text, others)
    except TableError:
        raise
    except (ValueError, OSError, pa.ArrowException, ImportError) as error:
        raise TableError(mask(shown), f"no such file system: {mask(str(error))}") from None
    except Exception as error:  # clients that fsspec loads have errors of their own
        raise TableError(mask(shown), f"no such file system: {type(error).__name__} {mask(str(error))}") from None
    patience = Patience(abandon=not is_local)
    patience.tries = int(common.get("tries", patience.tries)) or 1
    patience.deadline = common.get("deadline", patience.deadline)
    name = root if is_local and filesystem is None else _shown(text, mask).rstrip("/") or "/"
    return Location(found, root, name, is_local, mask, patience)


def _shown(text: str, mask: Mask) -> str:
    """A location without credentials and options. Spark reads by it, so a path keeps what only looks like a secret."""
    scheme, colon, rest = text.partition(":")
    if scheme.lower() not in _STORES:
        return mask(plain_uri(text))
    return mask.values(plain_path(f"{scheme}{colon}{_split_query(scheme.lower(), rest)[0]}"))


def _opened(text: str, options: Mapping[str, str]) -> tuple[Any, str, bool]:
    local = local_path(text)
    if local is not None:
        _refuse_rest(options)
        return fs.LocalFileSystem(), local, True
    parts = _take_apart(text)
    store = _STORES.get(parts.scheme)
    if store is None or not hasattr(fs, _SYSTEMS[store]):
        return _through_fsspec(text, parts.scheme, options)
    known = read_options(store, {**parts.query, **options})
    match known:
        case S3Options():
            return _s3(parts, known)
        case GcsOptions():
            return _gcs(parts, known)
        case AzureOptions():
            return _azure(parts, known)
        case HdfsOptions():
            return _hdfs(parts, known)


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


def _take_apart(text: str) -> _Parts:
    scheme, _, rest = text.partition(":")
    scheme = scheme.lower()
    rest, query = _split_query(scheme, rest)
    if not rest.startswith("//"):
        return _Parts(scheme, "", "", "", rest, query)  # file:/data, hdfs:/data
    authority, slash, path = rest[2:].partition("/")
    if "@" in path and ":" in authority and not authority.rpartition(":")[2].isdigit():
        raise ValueError("what stands before @ must be escaped (%2F for /), or given as an option")
    userinfo, _, host = authority.rpartition("@")
    user, _, password = userinfo.partition(":")
    return _Parts(scheme, unquote(user), unquote(password), host, slash + path, query)


def _in_bucket(parts: _Parts) -> str:
    if not parts.host:
        raise ValueError("the URI names no bucket")
    return f"{parts.host}{parts.path}".rstrip("/")


def _endpoint(text: str, otherwise: str = "") -> tuple[str, str]:
    """Scheme and host of ``http://localhost:9000`` or ``localhost:9000``; without an endpoint the host is ""."""
    scheme, separator, rest = text.partition("://")
    return (scheme.lower(), rest.rstrip("/")) if separator else (otherwise or "https", text.rstrip("/"))


def _s3(parts: _Parts, options: S3Options) -> tuple[Any, str, bool]:
    root = _in_bucket(parts)
    scheme, host = _endpoint(options.endpoint, options.scheme)
    region = options.region or ("us-east-1" if host else _region_of(parts.host))
    access_key, secret_key = options.access_key or parts.user, options.secret_key or parts.password
    if bool(access_key) != bool(secret_key):
        raise ValueError("access_key and secret_key go together")
    more: dict[str, Any] = {}
    if options.role_arn:
        more = {
            "role_arn": options.role_arn,
            "session_name": options.session_name or "sargo",
            "external_id": options.external_id or None,
        }
    elif access_key:
        more = {"access_key": access_key, "secret_key": secret_key, "session_token": options.session_token or None}
    return (
        fs.S3FileSystem(
            anonymous=options.anonymous,
            region=region,
            endpoint_override=host or None,
            scheme=scheme if options.ssl else "http",
            force_virtual_addressing=not options.path_style,
            connect_timeout=options.connect_timeout,
            request_timeout=options.request_timeout,
            retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=1),
            **more,
        ),
        root,
        False,
    )


def _region_of(bucket: str) -> str | None:
    """Where Amazon has the bucket; None leaves it to the SDK's configuration."""
    try:
        found: str = fs.resolve_s3_region(bucket)
    except OSError:
        return None
    return found


def _gcs(parts: _Parts, options: GcsOptions) -> tuple[Any, str, bool]:
    root = _in_bucket(parts)
    scheme, host = _endpoint(options.endpoint, options.scheme)
    more: dict[str, Any] = {}
    if options.access_token:
        more = {
            "access_token": options.access_token,
            "credential_token_expiration": datetime.now(timezone.utc) + _TOKEN_LIFE,
        }
    return (
        fs.GcsFileSystem(
            anonymous=options.anonymous or (bool(host) and not more),
            scheme=scheme,
            endpoint_override=host or None,
            target_service_account=options.service_account or None,
            project_id=options.project_id or None,
            retry_time_limit=timedelta(seconds=1),
            **more,
        ),
        root,
        False,
    )


def _azure(parts: _Parts, options: AzureOptions) -> tuple[Any, str, bool]:
    container = parts.user or parts.host
    account, _, domain = parts.host.partition(".") if parts.user else (options.account_name, "", "")
    account = account or options.account_name
    if not account or not container:
        raise ValueError("name container and account: abfss://container@account.dfs.core.windows.net/path")
    more: dict[str, Any] = {}
    if options.endpoint:
        scheme, host = _endpoint(options.endpoint)
        more = {
            "blob_storage_authority": host,
            "dfs_storage_authority": host,
            "blob_storage_scheme": scheme,
            "dfs_storage_scheme": scheme,
        }
    elif domain and not domain.endswith("core.windows.net"):  # sovereign clouds, Fabric
        tail = domain.partition(".")[2]
        more = {"blob_storage_authority": f".blob.{tail}", "dfs_storage_authority": f".dfs.{tail}"}
    if options.sas_token:
        more["sas_token"] = options.sas_token
    elif options.account_key or parts.password:
        more["account_key"] = options.account_key or parts.password
    elif options.client_id:
        more |= {
            "client_id": options.client_id,
            "tenant_id": options.tenant_id or None,
            "client_secret": options.client_secret or None,
        }
    return fs.AzureFileSystem(account, **more), f"{container}{parts.path}".rstrip("/"), False


def _hdfs(parts: _Parts, options: HdfsOptions) -> tuple[Any, str, bool]:
    host, _, port = parts.host.partition(":")
    if port and not port.isdigit():
        raise ValueError(f"{port} is not a port")
    if parts.scheme == "viewfs":
        host = f"viewfs://{host}"
    try:
        found = fs.HadoopFileSystem(
            host or "default",
            int(port or 0),
            user=options.user or parts.user or None,
            kerb_ticket=options.kerberos_ticket or None,
        )
    except OSError as error:
        why = " ".join(str(error).split())
        raise ValueError(
            f"Hadoop's client cannot be used ({why}): set HADOOP_HOME, JAVA_HOME and CLASSPATH, or "
            "read through webhdfs://, which needs neither"
        ) from error
    return found, parts.path.rstrip("/") or "/", False


def _through_fsspec(text: str, scheme: str, options: Mapping[str, str]) -> tuple[Any, str, bool]:
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
    return _wrapped(found), root.rstrip("/") or "/", False


def _wrapped(filesystem: Any) -> Any:
    filesystem.invalidate_cache()
    return fs.PyFileSystem(fs.FSSpecHandler(filesystem))


def _given(filesystem: Any, text: str) -> tuple[Any, str, bool]:
    scheme, separator, rest = ("", "", "") if text.startswith("/") else text.partition("://")
    path = _split_query(scheme.lower(), rest)[0] if separator else text
    if hasattr(filesystem, "_strip_protocol"):  # fsspec's
        root = str(filesystem._strip_protocol(text)).rstrip("/") or "/"
        return _wrapped(filesystem), root, False
    if not isinstance(filesystem, fs.FileSystem):
        raise ValueError(f"{type(filesystem).__name__} is no file system of pyarrow or fsspec")
    if isinstance(filesystem, fs.PyFileSystem) and isinstance(filesystem.handler, fs.FSSpecHandler):
        filesystem.handler.fs.invalidate_cache()
    return filesystem, path.rstrip("/") or "/", _is_local(filesystem)


def _is_local(filesystem: Any) -> bool:
    if isinstance(filesystem, fs.SubTreeFileSystem):
        return _is_local(filesystem.base_fs)
    if isinstance(filesystem, fs.PyFileSystem):  # a handler over the local disk says so
        return getattr(filesystem.handler, "is_local", False) is True
    return isinstance(filesystem, fs.LocalFileSystem)
