"""A Hudi table, read directly: properties, timeline, schema and file slices (C3 to C5).

    properties, timeline    read when the table is opened
    schema, columns         from the latest commit, or from a Parquet footer
    slices(as_of)           the file slices of an instant, from the metadata table or a listing
    partitions(), files()   the committed files, by partition

Table versions 6, 8 and 9 are supported; any other is refused by name. A table shows the state in which it was opened.
It knows no index kind: ``index_store.indexed_table`` adds them.

Pitfall P19 is described in docs/facts/pitfalls.md#p19.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import pyarrow as pa
from pyarrow import parquet

from evaluator.language.collector import CollectorAtRest
from evaluator.language.schema import Schema
from evaluator.language.types import STRING, Kind, Type
from index_store.formats.parquet_footers import Footers
from index_store.storage.errors import FormatError, TableError
from index_store.storage.storage import Storage
from index_store.table.documents import Documents
from index_store.table.file_slices import FileSlices, build_slices, parse_base_name, parse_log_name
from index_store.table.instant_details import rows_written
from index_store.table.listing import FROM_LISTING, FROM_METADATA, Listing, PartitionFiles
from index_store.table.listing_checks import MAX_CHECKED, missing_written
from index_store.table.metadata_table import METADATA, MetadataTable, timeline_directory
from index_store.table.partition_paths import is_dropped
from index_store.table.properties import HOODIE, names, read_properties
from index_store.table.reads import DEFINITIONS, begin_contents, begin_folders, begin_opening, begin_timelines
from index_store.table.schema_texts import SchemaTexts
from index_store.table.table_schema import META_COLUMNS, TableSchema, from_arrow, from_avro, with_columns
from index_store.table.time_travel import check_not_cleaned, instant_at
from index_store.table.timeline import Timeline, read_timeline

__all__ = ["Table"]

VERSIONS = (6, 8, 9)
_THEN = "type of an older schema"
TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")


class Table:
    """An open table. Everything beyond the properties and the timeline is read when it is first used."""

    def __init__(
        self, storage: Storage, options: Mapping[str, str] | None = None, *, for_filters: bool = False
    ) -> None:
        """``for_filters``: what a filter needs beside the files is fetched ahead, too."""
        self.storage = storage
        self.options: Mapping[str, str] = dict(options or {})
        self.path: str = storage.root
        begin_opening(storage, for_filters=for_filters)
        self.properties: Mapping[str, str] = read_properties(storage)
        self.name = self.properties.get("hoodie.table.name", "")
        self.version = self._version()
        begin_timelines(storage, self.version, for_filters=for_filters)
        self.table_type = self.properties.get("hoodie.table.type", TYPES[0])
        if self.table_type not in TYPES:
            raise TableError(self.path, f"table type {self.table_type} is not known")
        self.partition_fields = tuple(
            field.partition(":")[0] for field in names(self.properties.get("hoodie.table.partition.fields"))
        )
        self.record_key_fields = names(self.properties.get("hoodie.table.recordkey.fields"))
        directory = timeline_directory(self.version, self.properties.get("hoodie.timeline.path", ""))
        history = self.properties.get("hoodie.timeline.history.path") or "history"
        self.timeline: Timeline = read_timeline(storage.below(directory), history)
        if not self.timeline.instants and not self.timeline.pending:
            if not storage.exists(directory):
                raise TableError(storage.absolute(directory), "the table's timeline is missing")
            # Without an instant the table has no row. A store's listing may be empty once, so it is asked again.
            self.timeline = read_timeline(storage.below(directory).afresh(), history)

    def __repr__(self) -> str:
        return f"Table({self.path!r}, version={self.version}, {self.table_type})"

    def _version(self) -> int:
        text = self.properties.get("hoodie.table.version", "0")
        if text not in map(str, VERSIONS):
            raise TableError(
                self.path, f"table version {text} is not supported (supported: {', '.join(map(str, VERSIONS))})"
            )
        return int(text)

    @property
    def schema(self) -> Schema:
        """Data columns, Hudi's meta columns and partition columns of the latest commit."""
        return self.columns.schema

    @cached_property
    def columns(self) -> TableSchema:
        """The schema and the units of its timestamps. Raises TableError when no commit and no file has one."""
        found, created = self._latest_schema(), self.properties.get("hoodie.table.create.schema")
        table = found or (self._avro(created, "hoodie.table.create.schema") if created else self._footer_schema())
        missing = [field for field in self.partition_fields if table.schema.resolve(field, case_sensitive=True) is None]
        if missing and created:  # dropped from the files: the creator knew the type
            known = self._avro(created, "hoodie.table.create.schema").schema
            for name in missing:
                field = known.resolve(name, case_sensitive=True)
                if field is not None:
                    table = with_columns(table, [name], field.type)
        # A column that no file and no creator has is text, as in Hudi's reader, which takes it from the path.
        unknown = STRING if is_dropped(self) else Type(Kind.OTHER, name="unknown")
        table = with_columns(table, self.partition_fields, unknown)
        return with_columns(table, META_COLUMNS, STRING)

    def _avro(self, text: str, where: str) -> TableSchema:
        try:
            return from_avro(text)
        except FormatError as error:
            raise TableError(self.path, f"{where}: {error}") from error

    def _latest_schema(self) -> TableSchema | None:
        text, where = self._schema_texts.latest
        return self._avro(text, where) if text else None

    @cached_property
    def _schema_texts(self) -> SchemaTexts:
        return SchemaTexts(self.timeline)

    def schema_at(self, name: str | None) -> Schema:
        """``schema`` for a filter as of an instant: columns that were absent, or of another type, get none (P19).

        A reader of an older instant uses the schema of its time, and what ``i + 2147483647`` is depends on the type.
        """
        text, where = self._schema_texts.at(name)
        if text == self.schema_text:
            return self.schema
        then = {field.name: field.type for field in self._avro(text, where).schema} if text else {}
        beside = {*self.partition_fields, *META_COLUMNS}
        return Schema(
            tuple(
                field
                if field.name in beside or then.get(field.name) == field.type
                else replace(field, type=Type(Kind.OTHER, name=_THEN))
                for field in self.schema
            )
        )

    @property
    def schema_text(self) -> str:
        """The Avro schema of the latest commit that wrote one, or ""."""
        return self._schema_texts.latest[0]

    def schema_text_at(self, name: str | None) -> str:
        """``schema_text`` for a reader as of an instant; by default, and after the last commit, the latest one."""
        return self._schema_texts.at(name)[0]

    def _footer_schema(self) -> TableSchema:
        for file_slice in self.slices():
            if file_slice.base_file and file_slice.base_file.endswith(".parquet"):
                try:
                    with self.storage.input_file(file_slice.base_file) as stream:
                        return from_arrow(parquet.read_schema(stream))
                except (OSError, pa.ArrowException) as error:
                    path = self.storage.absolute(file_slice.base_file)
                    raise TableError(path, f"no Parquet footer: {error}") from error
        raise TableError(self.path, "the table has no schema: no commit and no base file tells one")

    @cached_property
    def metadata(self) -> MetadataTable | None:
        """The metadata table, if the table's properties name one."""
        if "files" not in self.available_indexes:
            return None
        initial = self.properties.get("hoodie.table.initial.version", "")
        return MetadataTable(self.storage.below(METADATA), self.version, self.timeline, initial not in ("8", "9"))

    @cached_property
    def documents(self) -> Documents:
        """The small files beside the data."""
        return Documents(self.storage)

    @property
    def notes(self) -> list[str]:
        """Why less is known of the table than its files tell: documents and footers that were not read."""
        undefined = (f"the indexes that it defines are not used: {error}" for error in self.documents.faults)
        return [*undefined, *self.footers.notes]

    @cached_property
    def footers(self) -> Footers:
        """The Parquet footers of the table's base files; one limit holds for all callers."""
        return Footers(self.storage)

    @cached_property
    def available_indexes(self) -> tuple[str, ...]:
        """The metadata table's partitions that are complete: listed, and not being built."""
        building = names(self.properties.get("hoodie.table.metadata.partitions.inflight"))
        listed = names(self.properties.get("hoodie.table.metadata.partitions"))
        return tuple(name for name in listed if name not in building)

    @cached_property
    def metadata_is_current(self) -> bool:
        """Whether the metadata table describes the latest commit. False when that cannot be determined."""
        try:
            return self.metadata is not None and not self.metadata.lag()
        except TableError:
            return False

    def slices(self, as_of: str | None = None) -> FileSlices:
        """The file slices as of an instant, the latest completed one by default.

        ``as_of`` is an instant or a date; the latest completed instant that is not later counts. The files come from
        the metadata table, or from listing the table when there is none, it lags or it cannot be read (``note``).
        Raises TableError when no instant is that old, or files of that time have been cleaned away.
        """
        last = self.timeline.last
        if as_of is not None:
            try:
                last = instant_at(self.timeline, as_of)
            except (ValueError, LookupError) as error:
                raise TableError(self.path, str(error)) from error
        files, source, note = self._files
        if last is None:
            return FileSlices(None, source, (), note)
        if last is not self.timeline.last:
            check_not_cleaned(last.requested, files, self.timeline, self.version, self.replaced, self.path)
        unsure: list[str] = []
        with CollectorAtRest():
            items = build_slices(
                files,
                self.timeline,
                self.version,
                last.requested,
                self.replaced,
                lambda partition, name: unsure.append(f"{partition}/{name}"),
            )
        notes = (note, self._doubts(unsure), self.disputed, self._not_replaced)
        return FileSlices(last.requested, source, items, "; ".join(filter(None, notes)))

    @cached_property
    def disputed(self) -> str:
        """The reason why Hudi's readers disagree on the table's rows, or "" (``Timeline.is_disputed``)."""
        if not self.timeline.writes or self.timeline.start == self.timeline.writes[0].requested:
            return ""
        for partition, name in self._pairs():
            parsed = parse_log_name(name) if name.startswith(".") else parse_base_name(name)
            if parsed is not None and self.timeline.is_disputed(parsed.instant):
                return (
                    f"nothing is skipped: {partition}/{name} is of an instant archived beyond a savepoint, which "
                    "Hudi's readers take for uncommitted"
                )
        return ""

    def _doubts(self, unsure: Sequence[str]) -> str:
        """A note on log files that may be compacted, and count as if they were not; "" without any."""
        if not unsure:
            return ""
        fault = self.timeline.history.fault if self.timeline.history else ""
        return (
            f"{len(unsure)} log files, such as {unsure[0].lstrip('/')}, may be compacted and count as if they were "
            f"not: {fault or 'the history does not tell when they completed'}"
        )

    def begin_reading(self, partitions: Iterable[str] = (), listed: Iterable[str] = ()) -> None:
        """Start to read the latest commit, and what these partitions of the metadata table hold now.

        ``listed``: partitions that are only listed, for what is read of them depends on the filter.
        """
        present = [one for one in partitions if one in self.available_indexes]
        place = self.properties.get("hoodie.table.index.defs.path") or DEFINITIONS
        defined = ("record_index", "secondary_index", "expr_index")
        if (
            self.version >= 8
            and place == DEFINITIONS
            and any(one.startswith(defined) for one in self.available_indexes)
        ):
            self.storage.begin([DEFINITIONS])
        listed = [one for one in listed if one in self.available_indexes]
        begin_folders(self.timeline, self.metadata, [*present, *listed])
        begin_contents(self.metadata, present)

    @cached_property
    def _files(self) -> tuple[Mapping[str, Mapping[str, int]], str, str]:
        """Names and sizes by partition, their source, and why the metadata table is not used, or ""."""
        note = ""
        if self.metadata is not None:
            self.begin_reading(["files"])
            try:
                note = self.metadata.lag()
                if not note:
                    files = self.metadata.files()
                    note = self._unlisted(files)
                    if not note:
                        return files, FROM_METADATA, ""
            except TableError as error:
                note = str(error)
        files = defaultdict(dict)
        for entry in self.storage.files_outside(HOODIE):
            partition, _, name = entry.path.rpartition("/")
            files[partition][name] = entry.size
        # A store may answer late, or empty; on a local disk a file that is not listed is gone.
        why = "" if self.storage.is_local else self._unlisted(files, "the store")
        if why:
            raise TableError(self.path, why)
        return files, FROM_LISTING, note

    def _pairs(self) -> Iterator[tuple[str, str]]:
        return ((partition, name) for partition, names in self._files[0].items() for name in names)

    def _unlisted(self, files: Mapping[str, Mapping[str, int]], who: str = "the metadata table") -> str:
        """Which file a list lacks that must be there, or "" (C10); ``who`` made the list.

        The latest commit's file is read for its schema anyway.
        """
        last = self.timeline.last
        if last is not None and last.size <= MAX_CHECKED:
            self.written_rows.update(rows_written(self.timeline.details(last)))
        why = missing_written(self.timeline, files, self.has_replaced)
        return f"{who} {why}" if why else ""

    @cached_property
    def written_rows(self) -> dict[str, int]:
        """The rows of base files, by path, as the commits say that were read so far; none is read for this."""
        return {}

    @cached_property
    def replaced(self) -> Mapping[tuple[str, str], str]:
        """File groups that a clustering or an overwrite replaced, and the instant that did it."""
        gone: dict[tuple[str, str], str] = {}
        replacing = [instant for instant in self.timeline.writes if instant.action == "replacecommit"]
        with self.timeline.ahead(replacing):
            for instant in replacing:
                details = self.timeline.details(instant)
                self.written_rows.update(rows_written(details))
                replaced = details.get("partitionToReplaceFileIds") or {}
                for partition, file_ids in replaced.items():
                    for file_id in file_ids:
                        gone.setdefault((partition, file_id), instant.requested)
        return gone

    @cached_property
    def _not_replaced(self) -> str:
        """A note on a replaced file group that is not there and was not cleaned: another one may be meant; or ""."""
        cleaned = max((one.requested for one in self.timeline.instants if one.action == "clean"), default="")
        recent = {group: instant for group, instant in self.replaced.items() if instant > cleaned}
        if not recent:
            return ""
        there = {(partition, name.partition("_")[0].lstrip(".")) for partition, name in self._pairs()}
        for (partition, file_id), instant in recent.items():
            if (partition, file_id) not in there:
                return (
                    f"{instant} replaced the file group {file_id} of {partition or 'the table'}, which does not exist"
                )
        return ""

    def has_replaced(self, group: tuple[str, str]) -> bool:
        """Whether a file group (partition, file id) was replaced by an instant that is still in the timeline."""
        return group in self.replaced

    @cached_property
    def listing(self) -> Listing:
        """The table's committed files by partition, and where their names come from."""
        self.begin_reading(["files"])
        escapes = self.properties.get("hoodie.datasource.write.partitionpath.urlencode", "false") == "true"
        return Listing(self.storage, self.timeline, self.version, self.metadata, escapes_paths=escapes)

    def partitions(self) -> tuple[str, ...]:
        """The paths of the table's partitions; ("",) when it has none. Raises TableError."""
        return self.listing.partitions()

    def files(self, partition: str = "") -> PartitionFiles:
        """The committed files of one partition with their sizes, by name. Raises TableError.

        No directory is listed while the metadata table serves (``listing.source``, ``listing.note``).
        """
        return self.listing.files(partition)

    def file_slices(self, as_of: str | None = None) -> FileSlices:
        """The file slices as of an instant, as RFC-15 calls them: ``slices``."""
        return self.slices(as_of)
