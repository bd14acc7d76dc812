"""The tables whose slices with log files PyPI's ``hudi`` (hudi-rs) merges as Hudi's own Spark reader does.

Each of these merge rules was compared with the rows of Hudi's own Spark reader, on real tables of each kind, for the
latest instant and for older ones:

    table version   rows are merged by
    6               event time, with ``OverwriteWithLatestAvroPayload`` or ``DefaultHoodieRecordPayload``
    8               event time, with ``DefaultHoodieRecordPayload``
    9               event time or commit time

Every other table is refused by name, for a wrong row is as bad as a lost one: other payloads and mergers, partial
updates by table property (hudi 0.5.0 returns Debezium's marker for "unavailable", and loses the old value of a map),
several ordering fields, partition columns that are not in the files, an older instant with another schema than
today's, and tables on whose commits Hudi's readers do not agree.

Facts: docs/facts/hudi-merging.md#the-package-hudi-hudi-rs.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from evaluator.language.errors import UnsupportedError
from evaluator.language.records import frozen
from index_store import Table
from index_store.storage.storage_options import read_options, split_common
from index_store.table.merge_rule import EVENT_TIME_STRATEGY, PAYLOAD_PACKAGE

__all__ = ["NO_PACKAGE", "store_options", "why_not_merged"]

_MODEL = f"{PAYLOAD_PACKAGE}."
_LATEST, _BY_DEFAULT = f"{_MODEL}OverwriteWithLatestAvroPayload", f"{_MODEL}DefaultHoodieRecordPayload"
_BY_EVENT, _BY_COMMIT = "EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"


@frozen
class _Merging:
    """How rows are merged according to a table's properties; "" for a property that is not set."""

    version: int
    mode: str = ""
    strategy: str = ""
    payload: str = ""
    legacy_payload: str = ""
    partial_update: str = ""

    @classmethod
    def of(cls, table: Table) -> _Merging:
        properties = table.properties
        return cls(
            table.version,
            properties.get("hoodie.record.merge.mode", "").upper(),
            (
                properties.get("hoodie.record.merge.strategy.id")
                or properties.get("hoodie.compaction.record.merger.strategy", "")
            ).lower(),
            properties.get("hoodie.compaction.payload.class", ""),
            properties.get("hoodie.table.legacy.payload.class", ""),
            properties.get("hoodie.table.partial.update.mode", "").upper(),
        )

    def __str__(self) -> str:
        named = (self.mode, self.strategy, self.payload, self.legacy_payload, self.partial_update)
        return f"table version {self.version}, {', '.join(filter(None, named)) or 'nothing said of merging'}"


#: The merge rules that were compared with the rows of Hudi's reader.
_PROVEN = frozenset(
    {
        _Merging(6, "", EVENT_TIME_STRATEGY, _LATEST),
        _Merging(6, "", EVENT_TIME_STRATEGY, _BY_DEFAULT),
        _Merging(8, _BY_EVENT, EVENT_TIME_STRATEGY, _BY_DEFAULT),
        _Merging(9, _BY_EVENT),
        _Merging(9, _BY_COMMIT),
        _Merging(9, _BY_EVENT, EVENT_TIME_STRATEGY, "", _LATEST),  # upgraded from version 6
        _Merging(9, _BY_EVENT, "", "", _BY_DEFAULT),
        _Merging(9, _BY_EVENT, "", "", f"{_MODEL}EventTimeAvroPayload"),
        _Merging(9, _BY_COMMIT, "", "", _LATEST),
    }
)
NO_PACKAGE = "slices with log files are merged by the package hudi: pip install 'sargo[spark]'"
_S3 = {
    "access_key": "aws_access_key_id",
    "secret_key": "aws_secret_access_key",
    "session_token": "aws_session_token",
    "region": "aws_region",
    "endpoint": "aws_endpoint",
}


def why_not_merged(table: Table, path: str, instant: str | None, options: Mapping[str, str]) -> str:
    """Why hudi-rs is not known to merge a table's rows correctly as of an instant; "" if it is.

    ``path`` and the ``options`` of the file system are those with which the table was opened.
    """
    properties = table.properties
    if table.table_type != "MERGE_ON_READ":
        return ""
    if find_spec("hudi") is None:
        return NO_PACKAGE
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
        store_options(path, options)
    except UnsupportedError as error:
        return error.what
    return ""


def store_options(path: str, options: Mapping[str, str]) -> dict[str, str]:
    """The options of the file system in hudi-rs's names. Raises UnsupportedError for a file system without support."""
    _, others = split_common(options)
    scheme = path.partition("://")[0].lower() if "://" in path else "file"
    if scheme in ("s3", "s3a"):
        given = read_options("s3", others)
        named = {theirs: str(getattr(given, ours)) for ours, theirs in _S3.items() if getattr(given, ours)}
        if named.get("aws_endpoint", "").startswith("http://"):
            named["aws_allow_http"] = "true"
        if getattr(given, "anonymous", False):
            named["aws_skip_signature"] = "true"
        return named
    if others or scheme not in ("file", "gs", "gcs", "az", "abfs", "abfss", "wasb", "wasbs"):
        raise UnsupportedError(f"log files at {scheme}:// with these options are not merged here")
    return {}
