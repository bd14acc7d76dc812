"""A client over HDFS without Java (the package ``hdfs-native``, in Rust).

Hadoop's configuration files name the cluster, as for Java (``hadoop_configuration``): fs.defaultFS, nameservices with
several NameNodes, Kerberos. A path stands as it is, also with ``?``, ``#`` and percent signs.

Before the first call, and after a connection has failed, the NameNodes' ports are tried: the package waits for minutes
for a machine that does not answer. Retries are the storage's (``retries``), so the package tries each NameNode once
and waits only for one NameNode to take over from another. It panics at a range beyond the end of a file: ranges are
cut to the file before.
"""

from __future__ import annotations

import importlib
import socket
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from index_store.storage.client import ChangedError, LargeFileError, Listed, ShortReplyError, Whole
from index_store.storage.file_object import FileObject
from index_store.storage.hdfs_errors import cause_of, is_panic

__all__ = ["HdfsClient", "HdfsFile"]

T = TypeVar("T")

_PORT_SECONDS = 5.0
_CHUNK = 1 << 20
#: How often a folder is listed again while others remove folders of it.
_TRIES = 5


class HdfsClient:
    """One cluster.

    native      ``hdfs_native.Client``
    namenodes   ``host:port`` of each; none: their ports are not tried
    """

    kind = "hdfs"
    shares_files = True
    writes_at_once = False

    def __init__(self, native: Any, namenodes: Sequence[str] = ()) -> None:
        self.native = native
        self._namenodes = tuple(namenodes)
        self._is_reached = not namenodes

    # -- reading

    def whole(self, path: str, limit: int) -> Whole:
        file = self.open(path)
        if file.size() > limit:
            raise LargeFileError(file.size(), file)
        return Whole(file.read_at(file.size(), 0))

    def open(self, path: str, listed: Listed | None = None) -> HdfsFile:
        file = HdfsFile(self, self.told(lambda: self.native.read(path)))
        if listed is not None and file.size() < listed.size:
            raise ChangedError("it is shorter than when it was listed")
        return file

    def listed(self, path: str, *, recursive: bool = False) -> list[Listed]:
        return [
            Listed(one.path, int(one.length), "", one.modification_time / 1000)
            for one in self._entries(path, recursive=recursive, absent_is_empty=True)
            if not one.isdir and one.path != path
        ]

    def folders(self, path: str) -> list[str]:
        return [one.path for one in self._entries(path, recursive=False, absent_is_empty=False) if one.isdir]

    def _entries(self, path: str, *, recursive: bool, absent_is_empty: bool) -> list[Any]:
        """All of a folder, or none where there is no folder. A folder inside of it may vanish meanwhile."""
        for _ in range(_TRIES if recursive else 1):
            try:
                return self.told(lambda: list(self.native.list_status(path, recursive)))
            except FileNotFoundError:
                if not recursive or not self.exists(path):
                    if absent_is_empty:
                        return []
                    raise
        raise ChangedError("others remove folders of it at the same time")

    def exists(self, path: str) -> bool:
        try:
            self.told(lambda: self.native.get_file_info(path))
        except FileNotFoundError:
            return False
        return True

    # -- writing

    def create_folder(self, path: str) -> None:
        self.told(lambda: self.native.mkdirs(path, 0o755, True))

    def write(self, path: str, source: Path, *, new: bool = False) -> None:  # noqa: ARG002  names of parts are unique
        options = importlib.import_module("hdfs_native").WriteOptions(overwrite=True)
        with source.open("rb") as local:
            writer = self.told(lambda: self.native.create(path, options))
            while chunk := local.read(_CHUNK):
                self.told(partial(writer.write, chunk))
            self.told(writer.close)

    def move(self, path: str, to: str) -> None:
        """Rename a file, in place of one of that name. An attempt before may have done it, whose answer was lost."""
        try:
            self.told(lambda: self.native.rename(path, to, True))
        except FileNotFoundError:
            if not self.exists(to):
                raise

    def remove(self, path: str) -> None:
        if not self.told(lambda: self.native.delete(path, False)):
            raise FileNotFoundError("no such file")

    def remove_all(self, path: str) -> None:
        if not self.told(lambda: self.native.delete(path, True)):
            raise FileNotFoundError("no such folder")

    # -- calls

    def told(self, operation: Callable[[], T]) -> T:
        """The operation's result. Raises what went wrong in few words."""
        self._reach()
        try:
            return operation()
        except BaseException as error:
            if not isinstance(error, Exception) and not is_panic(error):
                raise
            cause = cause_of(error)
            if isinstance(cause, ConnectionError):
                self._is_reached = not self._namenodes
            raise cause from None

    def _reach(self) -> None:
        """Raises ConnectionError where no NameNode's port can be connected to."""
        if self._is_reached:
            return
        causes = []
        for address in self._namenodes:
            host, _, port = address.rpartition(":")
            try:
                socket.create_connection((host.strip("[]"), int(port)), _PORT_SECONDS).close()
            except OSError as error:
                causes.append(f"{address}: {_why(error)}")
            else:
                self._is_reached = True
                return
        raise ConnectionError(
            f"no NameNode answers ({'; '.join(causes)}): is it running, and is this its RPC address "
            "(fs.defaultFS or dfs.namenode.rpc-address in Hadoop's configuration, which HADOOP_CONF_DIR names)?"
        )


def _why(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {_PORT_SECONDS:g} seconds"
    if isinstance(error, socket.gaierror):
        return "there is no such host"
    return (error.strerror or str(error)).lower()


class HdfsFile(FileObject):
    """Random access to a file. Ranges may be read in several threads.

    The NameNode says length and blocks of a file together when it is opened, so all ranges are of one version.
    """

    def __init__(self, client: HdfsClient, reader: Any) -> None:
        super().__init__()
        self._client = client
        self._reader = reader
        self._size = int(reader.size)

    def size(self) -> int:
        return self._size

    def read_at(self, nbytes: int, offset: int) -> bytes:
        length = min(max(nbytes, 0), max(self._size - offset, 0))
        if offset < 0 or not length:
            return b""
        data = self._client.told(lambda: bytes(self._reader.read_range(offset, length)))
        if len(data) != length:
            raise ShortReplyError(len(data), length, offset)
        return data
