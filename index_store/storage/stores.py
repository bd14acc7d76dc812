"""Opens a store named by a URI: S3, Google Cloud Storage, Azure, HDFS.

Object stores are read through obstore, which needs half of the requests (``object_client``), and through pyarrow where
obstore knows no way to the credentials: ``object_stores`` says where. HDFS is read through pyarrow where Hadoop's
client is there, and else through hdfs-native, which needs no Java. What a store
needs is imported when the first table in one is opened.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

from pyarrow import fs

from evaluator.language.records import frozen
from index_store.storage.aws_credentials import Keys, keys_of, read_profile
from index_store.storage.client import Client
from index_store.storage.storage_options import Access, AzureOptions, GcsOptions, HdfsOptions, S3Options

__all__ = ["Opened", "Parts", "open_store"]

_TOKEN_LIFE = timedelta(hours=1)
#: What Azure's names of hosts differ in: ``account.dfs.core.windows.net``, ``account.z1.blob.storage.azure.net``.
_AZURE_SERVICE = re.compile(r"(^|\.)(?:dfs|blob)\.")


@frozen(shown=False)
class Opened:
    """What a path or URI leads to; without a client, the file system is read through pyarrow.

    ``host``: the endpoint and account that the options give, "" for the usual ones; None when it is not known.
    """

    open_filesystem: Callable[[], Any]
    root: str
    client: Client | None = None
    is_local: bool = False
    host: str | None = None


@frozen(shown=False)
class Parts:
    """A URI taken apart; a port is part of the host."""

    scheme: str
    user: str
    password: str
    host: str
    path: str
    query: Mapping[str, str]


def open_store(parts: Parts, options: Access) -> Opened:
    """The store of a URI. Raises ValueError, ImportError or OSError; nothing is read yet."""
    match options:
        case S3Options():
            return replace(_s3(parts, options), host=options.endpoint.rstrip("/"))
        case GcsOptions():
            return replace(_gcs(parts, options), host=options.endpoint.rstrip("/"))
        case AzureOptions():
            return replace(_azure(parts, options), host=f"{options.account_name} {options.endpoint}".rstrip("/ "))
        case HdfsOptions():
            return replace(_hdfs(parts, options), host=parts.host or None)


def _in_bucket(parts: Parts) -> str:
    if not parts.host:
        raise ValueError("the URI names no bucket")
    return f"{parts.host}{parts.path}".rstrip("/")


def _endpoint(text: str, otherwise: str = "") -> tuple[str, str]:
    """Scheme and host of ``http://localhost:9000`` or ``localhost:9000``; without an endpoint the host is ""."""
    scheme, separator, rest = text.partition("://")
    return (scheme.lower(), rest.rstrip("/")) if separator else (otherwise or "https", text.rstrip("/"))


def _s3(parts: Parts, options: S3Options) -> Opened:
    from index_store.storage.object_stores import s3_client

    root = _in_bucket(parts)
    scheme, host = _endpoint(options.endpoint, options.scheme)
    scheme = scheme if options.ssl else "http"
    region = options.region or ("us-east-1" if host else _region_of(parts.host))
    access_key, secret_key = options.access_key or parts.user, options.secret_key or parts.password
    if bool(access_key) != bool(secret_key):
        raise ValueError("access_key and secret_key go together")
    keys = Keys(access_key, secret_key, options.session_token) if access_key else None
    endpoint = f"{scheme}://{host}" if host else ""
    client = s3_client(parts.host, endpoint, region, keys, options)
    if client is None and (options.request_payer or options.server_side_encryption or options.sse_customer_key):
        raise ValueError("request_payer and encryption need keys, not a role or a profile without keys")
    shown = keys or (keys_of(read_profile(options.profile) or {}) if options.profile else None)
    user = {"access_key": shown.access_key, "secret_key": shown.secret_key} if shown else {}
    if shown and shown.session_token:
        user["session_token"] = shown.session_token
    role = {
        "role_arn": options.role_arn,
        "session_name": options.session_name or "sargo",
        "external_id": options.external_id or None,
    }

    @functools.cache
    def through_pyarrow() -> Any:
        return fs.S3FileSystem(
            anonymous=options.anonymous,
            region=region,
            endpoint_override=host or None,
            scheme=scheme,
            force_virtual_addressing=not options.path_style,
            connect_timeout=options.connect_timeout,
            request_timeout=options.request_timeout,
            retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=1),
            **(role if options.role_arn else user),
        )

    return Opened(through_pyarrow, root, client)


def _region_of(bucket: str) -> str | None:
    """Where Amazon has the bucket; None leaves it to the SDK's configuration."""
    try:
        found: str = fs.resolve_s3_region(bucket)
    except OSError:
        return None
    return found


def _gcs(parts: Parts, options: GcsOptions) -> Opened:
    from index_store.storage.object_stores import gcs_client

    root = _in_bucket(parts)
    scheme, host = _endpoint(options.endpoint, options.scheme)
    more: dict[str, Any] = {}
    if options.access_token:
        more = {
            "access_token": options.access_token,
            "credential_token_expiration": datetime.now(timezone.utc) + _TOKEN_LIFE,
        }

    @functools.cache
    def through_pyarrow() -> Any:
        return fs.GcsFileSystem(
            anonymous=options.anonymous or (bool(host) and not more),
            scheme=scheme,
            endpoint_override=host or None,
            target_service_account=options.service_account or None,
            project_id=options.project_id or None,
            retry_time_limit=timedelta(seconds=1),
            **more,
        )

    return Opened(through_pyarrow, root, gcs_client(parts.host, f"{scheme}://{host}" if host else "", options))


def _azure(parts: Parts, options: AzureOptions) -> Opened:
    from index_store.storage.object_stores import azure_client

    container = parts.user or parts.host
    account, _, domain = parts.host.partition(".") if parts.user else (options.account_name, "", "")
    account = account or options.account_name
    if not account or not container:
        raise ValueError("name container and account: abfss://container@account.dfs.core.windows.net/path")
    more: dict[str, Any] = {}
    blob = ""
    if options.endpoint:
        scheme, host = _endpoint(options.endpoint)
        host, _, inside = host.partition("/")
        more = {
            "blob_storage_authority": host,
            "dfs_storage_authority": host,
            "blob_storage_scheme": scheme,
            "dfs_storage_scheme": scheme,
        }
        named = host.startswith(f"{account}.") or inside.strip("/") == account
        blob = f"{scheme}://{host}/{inside}".rstrip("/") if named else f"{scheme}://{host}/{account}"
    elif domain and not domain.endswith("core.windows.net"):  # sovereign clouds, Fabric, zones of Azure's DNS
        there, lake = (_AZURE_SERVICE.sub(rf"\1{service}.", domain, 1) for service in ("blob", "dfs"))
        more = {"blob_storage_authority": f".{there}", "dfs_storage_authority": f".{lake}"}
        blob = f"https://{account}.{there}"
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
    found = functools.cache(lambda: fs.AzureFileSystem(account, **more))
    client = azure_client(container, account, blob, parts.password, options)
    return Opened(found, f"{container}{parts.path}".rstrip("/"), client)


def _hdfs(parts: Parts, options: HdfsOptions) -> Opened:
    """Through Hadoop's own client where it is there, else without Java (``hdfs_cluster``)."""
    host, _, port = parts.host.partition(":")
    if port and not port.isdigit():
        raise ValueError(f"{port} is not a port")
    if options.client not in ("", "java", "native"):
        raise ValueError("option client is neither java nor native")
    options = replace(options, user=options.user or parts.user)
    root = parts.path.rstrip("/") or "/"
    why = ""
    if options.client != "native" and not options.kerberos_principal and not options.kerberos_keytab:
        if parts.scheme == "viewfs":
            host = f"viewfs://{host}"
        ticket = options.kerberos_ticket or None
        try:
            found = fs.HadoopFileSystem(
                host or "default", int(port or 0), user=options.user or None, kerb_ticket=ticket
            )
            return Opened(lambda: found, root)
        except (OSError, AttributeError) as error:  # AttributeError: pyarrow was built without it
            why = f"Hadoop's client cannot be used ({' '.join(str(error).split())}): "
            if options.client == "java":
                raise ValueError(f"{why}set HADOOP_HOME, JAVA_HOME and CLASSPATH") from error
    from index_store.storage.hdfs_cluster import arrow_filesystem, native_client

    try:
        client = native_client(parts.scheme, parts.host, options)
    except ImportError:
        raise ValueError(
            f"{why}pip install 'sargo[hdfs]', which needs no Java{' (or' if why else ''}"
            f"{' set HADOOP_HOME, JAVA_HOME and CLASSPATH, or read through webhdfs://)' if why else ''}"
        ) from None
    except ValueError as error:
        raise ValueError(f"{why}{error}") from None
    return Opened(functools.cache(lambda: arrow_filesystem(client)), root, client)
