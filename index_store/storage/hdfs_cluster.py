"""Which NameNodes a URI of HDFS means, and a client of them without Java.

    hdfs://nn:8020    one NameNode
    hdfs://nn         the same, at Hadoop's default port, unless ``nn`` is a nameservice
    hdfs://lake       a nameservice: dfs.ha.namenodes.lake and dfs.namenode.rpc-address.lake.* of Hadoop's configuration
    hdfs:///          fs.defaultFS
    viewfs://lake     mounts of the configuration: fs.viewfs.mounttable.lake.link.*, linkFallback, linkMergeSlash

The configuration is read by ``hadoop_configuration``, so that one reading of it decides which tables are allowed and
which are opened.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

from pyarrow import fs

from index_store.storage.hadoop_configuration import configuration_folder, hadoop_properties
from index_store.storage.hdfs_client import HdfsClient
from index_store.storage.storage_options import HdfsOptions

__all__ = ["arrow_filesystem", "native_client"]

_DEFAULT_PORT = 8020
_HA = "dfs.ha.namenodes."
#: Waiting for one NameNode to take over from another; all other retries are the storage's.
_FAILOVER = {"dfs.client.failover.sleep.base.millis": "200", "dfs.client.failover.sleep.max.millis": "1000"}
_FURTHER_ATTEMPTS = 2
#: The package wants a place for paths that no mount has. Hadoop has none for them: a folder that nobody makes.
_NO_MOUNT = "/.no-mount-of-viewfs"
#: Another DataNode is asked when one does not answer for so long, unless the configuration says otherwise.
_DATANODE_MILLIS = ("dfs.client.socket-timeout", "10000")


def native_client(scheme: str, host: str, options: HdfsOptions) -> HdfsClient:
    """A client; nothing is contacted yet. Raises ImportError without the package, ValueError for what cannot be."""
    package = importlib.import_module("hdfs_native")
    if options.user:
        raise ValueError("the option user needs Hadoop's own client: without it, HADOOP_USER_NAME names the user")
    try:
        properties = hadoop_properties(configuration_folder())
    except ValueError as error:
        raise ValueError(f"Hadoop's configuration: {error}") from None
    scheme, host = _cluster(scheme, host, properties)
    namenodes = [] if scheme == "viewfs" else _namenodes(host, properties)
    is_alone = len(namenodes) == 1
    if is_alone:
        host = namenodes[0]
    configuration = {key: _without_spaces(key, value) for key, value in properties.items()}
    configuration |= {_DATANODE_MILLIS[0]: properties.get(*_DATANODE_MILLIS)} | _FAILOVER
    configuration["dfs.client.failover.max.attempts"] = str(1 if is_alone else len(namenodes) + _FURTHER_ATTEMPTS)
    if scheme == "viewfs":
        configuration.update(_fallback(host, properties))
    kerberos = _kerberos(options)
    if kerberos:
        configuration.setdefault("hadoop.security.authentication", "kerberos")
    try:
        # The package would read the files itself, and without what ${...} in them stands for: it is given no folder.
        native = package.Client(f"{scheme}://{host}", configuration, os.devnull, **kerberos)
    except Exception as error:
        raise ValueError(f"hdfs-native does not take {scheme}://{host}: {' '.join(str(error).split())}") from None
    return HdfsClient(native, namenodes)


def _cluster(scheme: str, host: str, properties: Mapping[str, str]) -> tuple[str, str]:
    if host:
        return scheme, host
    default = properties.get("fs.defaultFS") or properties.get("fs.default.name") or ""
    found, separator, rest = default.partition("://")
    authority = rest.partition("/")[0]
    if not separator or found not in ("hdfs", "viewfs") or not authority:
        raise ValueError(
            f"{scheme}:/// names no cluster, and fs.defaultFS does not either: "
            "write hdfs://namenode:8020/..., or let HADOOP_CONF_DIR name the folder of core-site.xml"
        )
    return found, authority


def _namenodes(host: str, properties: Mapping[str, str]) -> list[str]:
    """``host:port`` of each NameNode."""
    if f"{_HA}{host}" in properties:
        nodes = [one.strip() for one in properties[f"{_HA}{host}"].split(",") if one.strip()]
        addresses = [properties.get(f"dfs.namenode.rpc-address.{host}.{node}", "").strip() for node in nodes]
        found = [_with_port(address) for address in addresses if address]
        if not found:
            raise ValueError(f"Hadoop's configuration has no dfs.namenode.rpc-address.{host}.* of {_HA}{host}")
        return found
    return [_with_port(host)]


def _fallback(table: str, properties: Mapping[str, str]) -> dict[str, str]:
    """Where paths of a mount table without a mount are: linkFallback, linkMergeSlash (all paths), or nowhere."""
    prefix = f"fs.viewfs.mounttable.{table}."
    key = f"{prefix}linkFallback"
    if key in properties:
        return {}
    if whole := properties.get(f"{prefix}linkMergeSlash"):
        return {key: whole.strip()}
    links = [value.strip() for name, value in sorted(properties.items()) if name.startswith(f"{prefix}link.")]
    if not links:
        raise ValueError(f"Hadoop's configuration has no mounts of viewfs://{table}: {prefix}link.*")
    scheme, _, rest = links[0].partition("://")
    return {key: f"{scheme}://{rest.partition('/')[0]}{_NO_MOUNT}"}


def _with_port(address: str) -> str:
    name, separator, port = address.rpartition(":")
    if separator and not name.endswith(":") and "]" not in port:
        if not port.isdigit() or int(port) > 0xFFFF:
            raise ValueError(f"{port} is not a port")
        return address
    return f"{address}:{_DEFAULT_PORT}"


def _without_spaces(key: str, value: str) -> str:
    """Hadoop ignores spaces between the names of a list, the package does not."""
    return "".join(value.split()) if key.startswith(_HA) else value.strip()


def _kerberos(options: HdfsOptions) -> dict[str, str]:
    if not options.kerberos_principal:
        if options.kerberos_keytab or options.kerberos_ticket:
            raise ValueError("the options kerberos_keytab and kerberos_ticket need kerberos_principal")
        return {}
    found = {"kerberos_principal": options.kerberos_principal}
    if options.kerberos_keytab:
        try:
            with open(options.kerberos_keytab, "rb") as file:
                file.read(1)
        except OSError as error:
            raise ValueError(f"the keytab {options.kerberos_keytab} cannot be read: {error.strerror}") from None
        found["kerberos_keytab"] = options.kerberos_keytab
    if options.kerberos_ticket:
        found["kerberos_cache"] = options.kerberos_ticket
    return found


def arrow_filesystem(client: HdfsClient) -> Any:
    """The cluster as a file system of pyarrow, for readers that take no other."""
    package = importlib.import_module("hdfs_native.fsspec")
    system = importlib.import_module("fsspec").AbstractFileSystem

    class Whole(package.HdfsFileSystem):  # type: ignore[misc, name-defined]
        """With paths as they are: the package reads them as URIs, and cuts them at a ? or #."""

        cachable = False

        def __init__(self) -> None:
            system.__init__(self)
            self.host = self.port = None
            self.client = client.native

        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            return path.rstrip("/") or "/"

    return fs.PyFileSystem(fs.FSSpecHandler(Whole()))
