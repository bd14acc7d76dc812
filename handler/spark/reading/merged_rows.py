"""The merged rows of slices with log files, read by PyPI's ``hudi`` (hudi-rs), where that is known to be right.

``why_not_here`` is the rule. What it lets through was held against the rows of Hudi's own Spark reader, on real tables
of each kind, now and as of older instants:

    table version   rows are merged by
    6               event time, with ``OverwriteWithLatestAvroPayload`` or ``DefaultHoodieRecordPayload``
    8               event time, with ``DefaultHoodieRecordPayload``
    9               event time or commit time

All else is refused by name, for a wrong row is as bad as a lost one: other payloads and mergers, partial updates by
table property (hudi 0.5.0 gives out Debezium's marker for "unavailable", and loses the old value of a map), several
ordering fields, partition columns left out of the files, an older instant whose schema is not today's, tables on whose
commits Hudi's readers do not agree. Log blocks in the types of an older schema are an error of hudi's.

Facts: docs/facts/hudi-merging.md#the-package-hudi-hudi-rs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evaluator.language.errors import SargoError, UnsupportedError
from handler.rust_panic import panic
from handler.spark.reading.file_columns import in_table_type
from index_store import FileSlice, Table, TableError
from index_store.storage.storage import Storage
from index_store.storage.storage_options import read_options, split_common

if TYPE_CHECKING:
    from handler.spark.reading.slice_rows import SliceSource

__all__ = ["merged_batches", "why_not_here"]

_MODEL = "org.apache.hudi.common.model."
_LATEST, _BY_DEFAULT = f"{_MODEL}OverwriteWithLatestAvroPayload", f"{_MODEL}DefaultHoodieRecordPayload"
_EVENT_TIME = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
_BY_EVENT, _BY_COMMIT = "EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"


@dataclass(frozen=True, slots=True)
class _Merging:
    """How a table's properties say that rows are merged; "" for what they do not say."""

    version: int
    mode: str = ""
    strategy: str = ""
    payload: str = ""
    legacy_payload: str = ""
    partial_update: str = ""

    @classmethod
    def of(cls, table: Table) -> _Merging:
        said = table.properties
        return cls(
            table.version,
            said.get("hoodie.record.merge.mode", "").upper(),
            (
                said.get("hoodie.record.merge.strategy.id") or said.get("hoodie.compaction.record.merger.strategy", "")
            ).lower(),
            said.get("hoodie.compaction.payload.class", ""),
            said.get("hoodie.table.legacy.payload.class", ""),
            said.get("hoodie.table.partial.update.mode", "").upper(),
        )

    def __str__(self) -> str:
        named = (self.mode, self.strategy, self.payload, self.legacy_payload, self.partial_update)
        return f"table version {self.version}, {', '.join(filter(None, named)) or 'nothing said of merging'}"


#: What was held against Hudi's rows, and nothing else.
_PROVEN = frozenset(
    {
        _Merging(6, "", _EVENT_TIME, _LATEST),
        _Merging(6, "", _EVENT_TIME, _BY_DEFAULT),
        _Merging(8, _BY_EVENT, _EVENT_TIME, _BY_DEFAULT),
        _Merging(9, _BY_EVENT),
        _Merging(9, _BY_COMMIT),
        _Merging(9, _BY_EVENT, _EVENT_TIME, "", _LATEST),  # upgraded from version 6
        _Merging(9, _BY_EVENT, "", "", _BY_DEFAULT),
        _Merging(9, _BY_EVENT, "", "", f"{_MODEL}EventTimeAvroPayload"),
        _Merging(9, _BY_COMMIT, "", "", _LATEST),
    }
)
_INSTEAD = (
    'With the Hudi bundle on the class path reader="hudi" reads it; query="read_optimized" reads only the base files'
)
_NO_PACKAGE = "slices with log files are merged by the package hudi: pip install 'sargo[spark]'"
_S3 = {
    "access_key": "aws_access_key_id",
    "secret_key": "aws_secret_access_key",
    "session_token": "aws_session_token",
    "region": "aws_region",
    "endpoint": "aws_endpoint",
}


def why_not_here(table: Table, path: str, instant: str | None, options: Mapping[str, str]) -> str:
    """Why a table's merged rows, as of an instant, are not known to be read rightly here; "" if they are.

    ``path`` and ``options`` of its file system, as it was opened with.
    """
    properties = table.properties
    if table.table_type != "MERGE_ON_READ":
        return ""
    if find_spec("hudi") is None:
        return _NO_PACKAGE
    if properties.get("hoodie.table.base.file.format", "PARQUET").upper() != "PARQUET":
        return f"base files of format {properties['hoodie.table.base.file.format']} are not merged here"
    if properties.get("hoodie.datasource.write.drop.partition.columns", "false").lower() == "true":
        return "log files without the partition columns are not merged here"
    ordering = properties.get("hoodie.table.ordering.fields") or properties.get("hoodie.table.precombine.field", "")
    if "," in ordering:
        return f"rows with several ordering fields ({ordering}) are not merged here"
    merging = _Merging.of(table)
    if merging not in _PROVEN:
        return f"rows are not merged here by the rule of this table ({merging})"
    if table.schema.resolve("_hoodie_operation", case_sensitive=True) is not None:
        return "files that keep changes as rows (_hoodie_operation) are not merged here"
    if "local-timestamp" in table.schema_text:
        return "timestamps without a zone are not merged here"  # hudi 0.5.0 panics on them in a log file
    if table.schema_text_at(instant) != table.schema_text:
        return "log files are not read in the schema of an older instant"
    if table.disputed:
        return "Hudi's readers do not agree on what is committed (archived beyond a savepoint)"
    try:
        _store_options(path, options)
    except UnsupportedError as error:
        return error.what
    return ""


def merged_batches(source: SliceSource, item: FileSlice, wanted: pa.Schema, batch_rows: int) -> Iterator[Any]:
    """Batches of a slice's merged rows with the columns wanted.

    Whether they are right is ``why_not_here``'s to say. Raises TableError, UnsupportedError.
    """
    reader, options = _reader(source.path, source.instant, tuple(sorted(source.options.items())), batch_rows)
    path = item.log_files[0]
    try:
        for batch in reader.read_file_slice_from_paths_stream(item.base_file or "", list(item.log_files), options):
            names = batch.schema.names
            made = []
            for one in wanted:
                if one.name not in names:
                    raise UnsupportedError(f"{path}: the merged rows lack column {one.name}")
                made.append(in_table_type(batch.column(one.name), one.type, f"{path}, column {one.name}"))
            yield pa.RecordBatch.from_arrays(made, schema=wanted)
    except SargoError:
        raise
    except (Exception, panic()) as error:  # hudi's errors have no common base that it exports
        raise TableError(source.storage().absolute(path), f"cannot be merged here: {error}. {_INSTEAD}") from error


@lru_cache(maxsize=4)
def _reader(path: str, instant: str | None, options: tuple[tuple[str, str], ...], batch_rows: int) -> tuple[Any, Any]:
    """A reader of a table's file slices as of an instant, and its options; it reads the timeline once."""
    try:
        import hudi
    except ImportError:
        raise UnsupportedError(_NO_PACKAGE) from None
    storage = Storage.at(path, None, dict(options))
    try:
        table = (
            hudi.HudiTableBuilder.from_base_uri(storage.root)
            .with_storage_options(_store_options(path, dict(options)))
            .build()
        )
        asked = hudi.HudiReadOptions().with_batch_size(batch_rows)
        if instant is not None:
            asked = asked.with_as_of_timestamp(instant)
        return table.create_file_group_reader_with_options(asked), asked
    except SargoError:
        raise
    except (Exception, panic()) as error:
        raise TableError(storage.root, f"cannot be opened to merge log files: {error}") from error


def _store_options(path: str, options: Mapping[str, str]) -> dict[str, str]:
    """The options of the file system in hudi-rs's terms. Raises UnsupportedError for a store that it has not."""
    _, others = split_common(options)
    scheme = path.partition("://")[0].lower() if "://" in path else "file"
    if scheme in ("s3", "s3a"):
        found = read_options("s3", others)
        named = {theirs: str(getattr(found, ours)) for ours, theirs in _S3.items() if getattr(found, ours)}
        if named.get("aws_endpoint", "").startswith("http://"):
            named["aws_allow_http"] = "true"
        if getattr(found, "anonymous", False):
            named["aws_skip_signature"] = "true"
        return named
    if others or scheme not in ("file", "gs", "gcs", "az", "abfs", "abfss", "wasb", "wasbs"):
        raise UnsupportedError(f"log files at {scheme}:// with these options are not merged here")
    return {}
