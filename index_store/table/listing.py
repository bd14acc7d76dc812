"""The files of a table by partition, without listing a directory (RFC-15).

The names come from the ``files`` partition of the metadata table. When the table has none, it lags behind the table's
commits or it cannot be read, directories are listed instead, and ``note`` says why. Either way a file counts when the
instant that its name carries has committed; superseded versions count until they are cleaned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.arrow_arrays import to_arrow
from index_store.storage.errors import TableError
from index_store.storage.storage import Storage
from index_store.table.files_partition import DataFile, PartitionFiles, read_files, read_partitions
from index_store.table.metadata_table import MetadataTable
from index_store.table.properties import HOODIE
from index_store.table.timeline import Timeline

__all__ = ["FROM_LISTING", "FROM_METADATA", "DataFile", "Listing", "PartitionFiles"]

FROM_METADATA, FROM_LISTING = "metadata table", "file listing"
#: ``parse_base_name`` and ``parse_log_name`` for a whole column (RE2). Groups cost four times as much.
_BASE = r"^[^._][^_]*_\d+-\d+-\d+_\d+\.(?:parquet|orc|hfile|vortex|lance)$"
_LOG = r"^\..+?_(?P<instant>\d+)\.log\.\d+(?:_\d+-\d+-\d+)?$"


class Listing:
    """The committed files of an open table, as of when it was opened; made by ``Table.listing``.

    A partition is named by its path as it is stored ("" when the table has none). Methods raise TableError.
    """

    def __init__(
        self,
        storage: Storage,
        timeline: Timeline,
        version: int,
        metadata: MetadataTable | None,
        *,
        escapes_paths: bool = False,
    ) -> None:
        """``version``: the table's version. ``escapes_paths``: whether the table's writer escapes partition values."""
        self._storage, self._timeline, self._version = storage, timeline, version
        self._metadata_table = metadata
        self._escapes_paths = escapes_paths
        self._known: dict[str, PartitionFiles] = {}
        self._names: tuple[str, ...] | None = None
        self._whole = False
        self._note: str | None = None

    @property
    def source(self) -> str:
        """Where the names come from: FROM_METADATA or FROM_LISTING."""
        return FROM_LISTING if self._metadata() is None else FROM_METADATA

    @property
    def note(self) -> str:
        """The reason why an existing metadata table is not used; "" otherwise."""
        self._metadata()
        return self._note or ""

    def partitions(self) -> tuple[str, ...]:
        """The paths of all partitions, in order."""
        if self._names is None:
            metadata = self._metadata()
            if metadata is not None:
                try:
                    self._names = read_partitions(metadata)
                except TableError as error:
                    self._give_up(error)
            if self._names is None:
                self._list_all()
        return self._names or ()

    def files(self, partition: str) -> PartitionFiles:
        """The files of one partition, by name. Raises TableError when the table has no such partition."""
        if not isinstance(partition, str):
            raise TypeError(f"a partition is text such as 'dt=2026-01-01', not {type(partition).__name__}")
        if partition not in self._known:
            found = PartitionFiles.of({}) if self._whole else self._one(partition)
            if not len(found) and partition not in self.partitions():
                raise TableError(self._storage.root, f"there is no partition {partition}")
            self._known[partition] = found
        return self._known[partition]

    def load(self) -> Mapping[str, PartitionFiles]:
        """The files of every partition, read together."""
        if not self._whole:
            metadata = self._metadata()
            if metadata is not None:
                try:
                    found = read_files(metadata)
                    empty = PartitionFiles.of({})
                    self._known = self._committed({one: found.get(one, empty) for one in self.partitions()})
                except TableError as error:
                    self._give_up(error)
            if self._metadata() is None:
                self._list_all()
            self._whole = True
        return self._known

    def decoded(self, partition: str) -> str:
        """A partition path for display: escapes are undone where the table's writer escapes."""
        return unquote(partition) if self._escapes_paths else partition

    def named(self, text: str) -> str:
        """The partition with this path, or the only partition whose decoded path is this text."""
        names = self.partitions()
        text = text.strip("/")
        found = [text] if text in names else [name for name in names if self.decoded(name) == text]
        if len(found) != 1:
            raise TableError(
                self._storage.root,
                f"there is no partition {text}"
                if not found
                else f"{len(found)} partitions read as {text}: name the path",
            )
        return found[0]

    # -- where the names come from

    def _metadata(self) -> MetadataTable | None:
        """The metadata table, unless it was given up."""
        metadata = self._metadata_table
        if metadata is None or self._note:
            return None
        if self._note is None:
            try:
                self._note = metadata.lag()
            except TableError as error:
                self._note = str(error)
        return None if self._note else metadata

    def _give_up(self, error: TableError) -> None:
        """List directories from now on. Names that came from the metadata table are dropped."""
        self._note = str(error)
        self._known, self._names, self._whole = {}, None, False

    def _one(self, partition: str) -> PartitionFiles:
        metadata = self._metadata()
        if metadata is not None:
            try:
                return self._committed(read_files(metadata, [partition])).get(partition, PartitionFiles.of({}))
            except TableError as error:
                self._give_up(error)
        entries = self._storage.files(partition)
        sizes = {entry.path.rpartition("/")[2]: entry.size for entry in entries}
        return self._committed({partition: PartitionFiles.of(sizes)})[partition]

    def _list_all(self) -> None:
        sizes: dict[str, dict[str, int]] = {}
        for entry in self._storage.files_outside(HOODIE):
            partition, _, name = entry.path.rpartition("/")
            sizes.setdefault(partition, {})[name] = entry.size
        found = self._committed({one: PartitionFiles.of(sizes[one]) for one in sorted(sizes)})
        self._known = {one: files for one, files in found.items() if len(files)}
        self._names = tuple(self._known)
        self._whole = True

    def _committed(self, files: Mapping[str, PartitionFiles]) -> dict[str, PartitionFiles]:
        """Of each partition, the data files whose instant has committed."""
        texts = pa.chunked_array([one.names for one in files.values()], pa.string())
        names = texts.cast(pa.large_string()).combine_chunks()
        is_log = pc.starts_with(names, ".").to_numpy(zero_copy_only=False)
        keep = pc.match_substring_regex(names, _BASE).to_numpy(zero_copy_only=False).copy()
        base = pc.split_pattern(names.filter(to_arrow(keep)), "_", max_splits=1, reverse=True)
        keep[keep] = _where(pc.list_element(base, 1), lambda tail: self._base_counts(tail.partition(".")[0]))
        logs = pc.struct_field(pc.extract_regex(names.filter(to_arrow(is_log)), _LOG), "instant")
        keep[is_log] = _where(logs.fill_null(""), self._log_counts)
        ends = np.cumsum([len(one) for one in files.values()])
        return {
            partition: one.where(keep[end - len(one) : end])
            for (partition, one), end in zip(files.items(), ends.tolist(), strict=True)
        }

    def _base_counts(self, instant: str) -> bool:
        return self._timeline.is_committed(instant)

    def _log_counts(self, instant: str) -> bool:
        """In version 6 a log file carries its base file's instant, which may be a pending compaction."""
        return bool(instant) and (
            self._timeline.is_committed(instant)
            or (self._version < 8 and instant in self._timeline.pending_compactions)
        )


def _where(texts: pa.StringArray, counts: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
    """``(n,) bool``: the result of ``counts`` for each text; it is called once for each distinct text."""
    coded = texts.dictionary_encode()
    good = np.array([counts(text) for text in coded.dictionary.to_pylist()], np.bool_)
    found: npt.NDArray[np.bool_] = good[coded.indices.to_numpy(zero_copy_only=False)]
    return found
