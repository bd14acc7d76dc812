"""The local file system, read-only and limited to one folder: the target of a link that leads out of it is not found.

The links of every path are resolved before it is opened or listed. A link can be exchanged between the check and the
opening only by a user who may write to the folder, and who could as well put the bytes there.
"""

from __future__ import annotations

import errno
import os
from typing import Any, NoReturn

from pyarrow import fs

__all__ = ["SandboxedFileSystem"]


class SandboxedFileSystem(fs.FileSystemHandler):  # type: ignore[misc]
    """A handler for ``pyarrow.fs.PyFileSystem``. ``root`` is absolute and free of links."""

    is_local = True

    def __init__(self, root: str) -> None:
        self.root = root
        self._below = root.rstrip("/") + "/"
        self._local = fs.LocalFileSystem()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SandboxedFileSystem) and other.root == self.root

    def __hash__(self) -> int:
        return hash(self.root)

    def _is_inside(self, path: str) -> bool:
        real = os.path.realpath(path)
        return real == self.root or real.startswith(self._below)

    def _check(self, path: str) -> str:
        if not self._is_inside(path):
            raise PermissionError(errno.EACCES, "leads out of the table roots", path)
        return path

    # -- reading

    def get_type_name(self) -> str:
        return "confined"

    def normalize_path(self, path: str) -> str:
        return path

    def get_file_info(self, paths: list[str]) -> list[Any]:
        return [
            self._local.get_file_info(path) if self._is_inside(path) else fs.FileInfo(path, fs.FileType.NotFound)
            for path in paths
        ]

    def get_file_info_selector(self, selector: Any) -> list[Any]:
        self._check(selector.base_dir)
        infos: list[Any] = self._local.get_file_info(selector)
        return infos

    def open_input_file(self, path: str) -> Any:
        return self._local.open_input_file(self._check(path))

    def open_input_stream(self, path: str) -> Any:
        return self._local.open_input_stream(self._check(path))

    # -- nothing is written

    def _refuse(self, *given: Any) -> NoReturn:
        raise PermissionError(errno.EROFS, "the sidecar writes nothing", str(given[0]) if given else "")

    def create_dir(self, path: str, recursive: bool) -> None:
        self._refuse(path, recursive)

    def delete_dir(self, path: str) -> None:
        self._refuse(path)

    def delete_dir_contents(self, path: str, missing_dir_ok: bool = False) -> None:
        self._refuse(path, missing_dir_ok)

    def delete_root_dir_contents(self) -> None:
        self._refuse()

    def delete_file(self, path: str) -> None:
        self._refuse(path)

    def move(self, src: str, dest: str) -> None:
        self._refuse(src, dest)

    def copy_file(self, src: str, dest: str) -> None:
        self._refuse(src, dest)

    def open_output_stream(self, path: str, metadata: Any) -> Any:
        self._refuse(path, metadata)

    def open_append_stream(self, path: str, metadata: Any) -> Any:
        self._refuse(path, metadata)
