"""A file system on this disk that writes down what it is asked for, and fails when it is told to."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import fs


@dataclass(frozen=True)
class Call:
    """One request: "list", "info", "open" or "read", and of a read the range."""

    what: str
    path: str
    offset: int = 0
    length: int = 0


class RecordingStore(fs.FileSystemHandler):
    """A local file system through pyarrow's handler protocol; ``fault(call)`` may raise, ``latency`` is in seconds."""

    def __init__(self, fault: Callable[[Call], None] | None = None, latency: float = 0.0) -> None:
        self.base = fs.LocalFileSystem()
        self.calls: list[Call] = []
        self.fault = fault
        self.latency = latency
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()

    @property
    def filesystem(self) -> fs.PyFileSystem:
        return fs.PyFileSystem(self)

    def of(self, what: str) -> list[Call]:
        return [call for call in self.calls if call.what == what]

    def ask(self, what: str, path: str, offset: int = 0, length: int = 0) -> None:
        call = Call(what, path, offset, length)
        with self._lock:
            self.calls.append(call)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            if self.latency:
                time.sleep(self.latency)
            if self.fault is not None:
                self.fault(call)
        finally:
            with self._lock:
                self._at_once -= 1

    def get_type_name(self):
        return "recording"

    def normalize_path(self, path):
        return path

    def get_file_info(self, paths):
        for path in paths:
            self.ask("info", path)
        return self.base.get_file_info(paths)

    def get_file_info_selector(self, selector):
        self.ask("list", selector.base_dir)
        return self.base.get_file_info(selector)

    def open_input_file(self, path):
        self.ask("open", path)
        return pa.PythonFile(_Stream(self, path), mode="r")

    def open_input_stream(self, path):
        return self.open_input_file(path)

    def _refused(self, *_args, **_more):
        raise NotImplementedError("this store is only read")

    create_dir = delete_dir = delete_dir_contents = delete_root_dir_contents = delete_file = _refused
    move = copy_file = open_output_stream = open_append_stream = _refused


class _Stream(io.RawIOBase):
    """A file whose reads are written down."""

    def __init__(self, store: RecordingStore, path: str) -> None:
        self._file = None  # Python 3.13 closes what could not be opened, too
        self._store, self._path = store, path
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=0):
        return self._file.seek(offset, whence)

    def tell(self):
        return self._file.tell()

    def read(self, size=-1):
        place = self._file.tell()
        data = self._file.read(size)
        self._store.ask("read", self._path, place, len(data))
        return data

    def close(self):
        if self._file is not None:
            self._file.close()
        super().close()
