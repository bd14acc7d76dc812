"""The archived timeline: when the instants that Hudi has archived completed.

    version   where                            what is read of it
    8, 9      ``.hoodie/timeline/history/``    ``_version_`` holds N, ``manifest_N`` names the Parquet files that count,
                                               ``<first instant>_<last instant>_<level>.parquet``
    6         ``.hoodie/archived/``            nothing: an instant's name is all the time there is

Files whose names cover the wanted instant are read first, and the others when it is not in them: an upgrade from
version 6 writes instants in no order, and names a file by its first and last row. An instant that the
history does not know, or a history that cannot be read, has no completion time: the caller decides what is safe then.
Source: ``LSMTimeline``, ``CompletionTimeQueryViewV2``.

Facts: docs/facts/hudi-timeline.md#history.
"""

from __future__ import annotations

import re
from dataclasses import field
from functools import cached_property

import pyarrow as pa

from evaluator.language.records import frozen
from index_store.formats.bounded.json_text import MAX_DOCUMENT, parse_json
from index_store.formats.bounded.parquet_bounds import read_texts
from index_store.storage.errors import FormatError, TableError
from index_store.storage.storage import Storage

__all__ = ["History"]

VERSION = "_version_"
#: Bytes of the texts of a column, for each byte of its file.
TIME_BYTES = 32
_MANIFEST = re.compile(r"manifest_(\d+)")
_FILE = re.compile(r"(\d+)_(\d+)_\d+\.parquet")


@frozen(slots=False)
class History:
    """The archived instants below a directory, which may be absent. Files are read when an instant is looked up."""

    storage: Storage
    _times: dict[str, str] = field(default_factory=dict)
    _read: set[str] = field(default_factory=set)
    _faults: list[str] = field(default_factory=list)

    def completion(self, name: str) -> str | None:
        """The completion time of an archived instant, or None when the history lacks it."""
        for promised in (True, False):
            if name not in self._times:
                for file, first, last in self._files:
                    if (first <= name <= last) is promised and file not in self._read:
                        self._read.add(file)
                        self._load(file)
        return self._times.get(name)

    @property
    def fault(self) -> str:
        """The reason why the history could not be read, or ""."""
        return self._faults[0] if self._faults else ""

    @cached_property
    def _files(self) -> tuple[tuple[str, str, str], ...]:
        """The files that the latest manifest names, each with the range of its instants."""
        try:
            listed = [entry.path for entry in self.storage.files()]
            manifest = self._manifest(listed)
            if manifest is None:
                return ()
            text = self.storage.read(manifest, MAX_DOCUMENT)
            named = [entry["fileName"] for entry in parse_json(text, "the manifest")["files"]]
            ranges = [_FILE.fullmatch(name) for name in named]
            if None in ranges:
                raise ValueError(f"{named[ranges.index(None)]!r} is no file of a history")
        except TableError as error:
            self._faults.append(str(error))
            return ()
        except (FormatError, ValueError, KeyError, TypeError) as error:
            self._faults.append(f"{self.storage.root}: the history's manifest cannot be understood: {error}")
            return ()
        return tuple((match[0], match[1], match[2]) for match in ranges if match)

    def _manifest(self, listed: list[str]) -> str | None:
        """The manifest that ``_version_`` names, or the newest; None when the history is empty."""
        if VERSION in listed:
            return f"manifest_{int(self.storage.read(VERSION, MAX_DOCUMENT).decode('ascii').strip())}"
        versions = [int(match[1]) for match in map(_MANIFEST.fullmatch, listed) if match]
        return f"manifest_{max(versions)}" if versions else None

    def _load(self, file: str) -> None:
        try:
            with self.storage.input_file(file) as stream:
                size = stream.size()  # an instant takes more bytes than one
                columns = read_texts(stream, ["instantTime", "completionTime"], size, TIME_BYTES * size)
            self._times.update(zip(*(column.to_pylist() for column in columns), strict=True))
        except TableError as error:
            self._faults.append(str(error))
        except (FormatError, OSError, KeyError, pa.ArrowException) as error:
            self._faults.append(f"{self.storage.absolute(file)}: history cannot be read: {error}")
