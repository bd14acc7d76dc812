"""Folders and files that nobody but the caller can have written.

What a snapshot says decides which files are skipped. It is believed only where the system vouches for its writer:

    folders above        owned by the caller or root. Others may write only where the sticky bit forbids to rename
    the folder           owned by the caller, not writable by others, no link. Created 0700, whatever the umask
    folders and files    the same. They are opened relative to their folder, not through links, and checked when open
    links above          followed when the caller or root owns them

Each call walks from ``/`` down and holds what it has checked, so nothing can be exchanged in between. Root can do all
of it anyway.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO

from evaluator.language.records import record

__all__ = ["Entry", "PrivateFile", "PrivateFolder", "UntrustedFolderError"]

_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
#: A pipe does not stop the reader, which refuses it then.
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_MAX_LINKS = 40
#: What opening a link as a folder fails with.
_LINK_ERRORS = (errno.ELOOP, errno.ENOTDIR)
#: Folders below a folder that is removed; a snapshot has two levels.
_MAX_DEPTH = 8


class UntrustedFolderError(PermissionError):
    """Somebody else may have written into the folder or file."""


@record
class Entry:
    """What a folder holds under a name; links are neither folder nor file."""

    name: str
    is_folder: bool
    is_file: bool
    size: int
    modified: float


@record
class PrivateFolder:
    """The folder ``root``, or one below it (``parts``). Methods raise OSError, of which UntrustedFolderError is one."""

    root: Path
    parts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return str(self.path)

    @property
    def path(self) -> Path:
        """The path, for messages."""
        return self.root.joinpath(*self.parts)

    @property
    def name(self) -> str:
        return self.parts[-1] if self.parts else self.root.name

    def __truediv__(self, name: str) -> PrivateFolder:
        """The folder of a name in this one."""
        if name in ("", ".", "..") or "/" in name or "\0" in name:
            raise UntrustedFolderError(f"{name!r} is no name")
        return PrivateFolder(self.root, (*self.parts, name))

    def file(self, name: str) -> PrivateFile:
        """The file of a name in this folder."""
        return PrivateFile(self, (self / name).name)

    def check(self) -> None:
        """Raise UntrustedFolderError unless the folder, or the place where it would be created, is the caller's."""
        with suppress(FileNotFoundError), self.opened():
            pass

    @contextmanager
    def opened(self, *, create: bool = False) -> Iterator[int]:
        """A descriptor of the folder; ``create``: with all folders on the way that are missing."""
        handle = _walked(self.root, create=create)
        try:
            for name in self.parts:
                handle = _entered(handle, name, create=create)
                _check_own(os.fstat(handle), self)
            yield handle
        finally:
            os.close(handle)

    def entries(self) -> list[Entry]:
        """What is in the folder, by name; nothing if there is no folder."""
        with suppress(FileNotFoundError), self.opened() as handle:
            return _entries(handle)
        return []

    def remove(self, name: str) -> None:
        """Remove a file, a link, or a folder with all that is in it. Links are not followed."""
        with self.opened() as handle:
            _remove(handle, (self / name).name, _MAX_DEPTH)


@record
class PrivateFile:
    """A file of a folder."""

    folder: PrivateFolder
    name: str

    def __str__(self) -> str:
        return str(self.folder.path / self.name)

    def beside(self, suffix: str) -> PrivateFile:
        """The file whose name has a suffix more."""
        return self.folder.file(self.name + suffix)

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """The file, open for reading. Raises UntrustedFolderError when it is not the caller's own."""
        with self.folder.opened() as handle, _stream(handle, self.name, self) as stream:
            yield stream

    def read_text(self, limit: int) -> str:
        """The text of a file of up to ``limit`` bytes. Raises OSError and ValueError."""
        with self.opened() as stream:
            data = stream.read(limit + 1)
        if len(data) > limit:
            raise ValueError(f"{self} has more than {limit} bytes")
        return data.decode("utf-8")

    def touch(self) -> None:
        """Set the time of the last change."""
        with self.folder.opened() as handle:
            os.utime(self.name, dir_fd=handle, follow_symlinks=False)

    @contextmanager
    def replacing(self) -> Iterator[IO[bytes]]:
        """A new file, which takes this one's place at the end, or vanishes after an error."""
        with self.folder.opened(create=True) as handle:
            temporary = f".{self.name}.{token_hex(8)}.tmp"
            stream = os.fdopen(os.open(temporary, _CREATE, 0o600, dir_fd=handle), "wb")
            try:
                with stream:
                    os.fchmod(stream.fileno(), 0o600)
                    yield stream
                os.replace(temporary, self.name, src_dir_fd=handle, dst_dir_fd=handle)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=handle)
                raise


def _walked(path: Path, *, create: bool) -> int:
    """A descriptor of the folder at a path, all folders on the way to it checked."""
    if os.open not in os.supports_dir_fd or not hasattr(os, "geteuid"):
        raise UntrustedFolderError(f"{path}: the system does not tell who may write into a folder")
    names = deque(part for part in os.path.abspath(path).split("/") if part)
    links = 0
    handle = os.open("/", _DIRECTORY)
    try:
        while True:
            if not names:
                _check_own(os.fstat(handle), path)
                return handle
            _check_above(os.fstat(handle), path)
            name = names.popleft()
            try:
                handle = _entered(handle, name, create=create)
                continue
            except OSError as error:
                target = _link(handle, name, path) if error.errno in _LINK_ERRORS else None
                if target is None:
                    raise
            links += 1
            if not names or links > _MAX_LINKS:
                raise UntrustedFolderError(f"{path}: it is a link")
            names.extendleft(reversed([part for part in target.split("/") if part not in ("", ".")]))
            if target.startswith("/"):
                start = os.open("/", _DIRECTORY)
                os.close(handle)
                handle = start
    except BaseException:
        os.close(handle)
        raise


def _link(handle: int, name: str, path: Path) -> str | None:
    """Where a link leads that may be followed; None for what is no link, or not there."""
    try:
        found = os.stat(name, dir_fd=handle, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISLNK(found.st_mode):
        return None
    if found.st_uid not in (0, os.geteuid()):
        raise UntrustedFolderError(f"{path}: a link on the way to it belongs to somebody else")
    return os.readlink(name, dir_fd=handle)


def _entered(handle: int, name: str, *, create: bool) -> int:
    """A descriptor of a folder in an open folder, which is closed unless this fails."""
    if create:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=handle)
            os.chmod(name, 0o700, dir_fd=handle)  # the umask may have taken more away
    below = os.open(name, _DIRECTORY, dir_fd=handle)
    os.close(handle)
    return below


@contextmanager
def _closing(handle: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(handle)


def _check_above(found: os.stat_result, path: Path) -> None:
    if found.st_uid not in (0, os.geteuid()):
        raise UntrustedFolderError(f"{path}: a folder above it belongs to somebody else")
    if found.st_mode & _OTHERS_WRITE and not found.st_mode & stat.S_ISVTX:
        raise UntrustedFolderError(f"{path}: others may write into a folder above it")


def _check_own(found: os.stat_result, path: object) -> None:
    if found.st_uid != os.geteuid():
        raise UntrustedFolderError(f"{path}: it belongs to somebody else")
    if found.st_mode & _OTHERS_WRITE:
        raise UntrustedFolderError(f"{path}: others may write into it")


@contextmanager
def _stream(handle: int, name: str, path: object) -> Iterator[IO[bytes]]:
    with os.fdopen(os.open(name, _READ, dir_fd=handle), "rb") as stream:
        found = os.fstat(stream.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise UntrustedFolderError(f"{path}: not a file of one name")
        _check_own(found, path)
        yield stream


def _entries(handle: int) -> list[Entry]:
    found = []
    with os.scandir(handle) as listed:
        for one in listed:
            with suppress(FileNotFoundError):
                about = one.stat(follow_symlinks=False)
                is_folder, is_file = stat.S_ISDIR(about.st_mode), stat.S_ISREG(about.st_mode)
                found.append(Entry(one.name, is_folder, is_file, about.st_size, about.st_mtime_ns / 1e9))
    return sorted(found, key=lambda entry: entry.name)


def _remove(handle: int, name: str, depth: int) -> None:
    """What others may write to is removed as well: only names in open folders are."""
    try:
        below = os.open(name, _DIRECTORY, dir_fd=handle)
    except FileNotFoundError:
        return
    except OSError:  # no folder, or a link to one
        os.unlink(name, dir_fd=handle)
        return
    with _closing(below):
        if depth:
            for entry in _entries(below):
                with suppress(OSError):
                    _remove(below, entry.name, depth - 1)
    os.rmdir(name, dir_fd=handle)
