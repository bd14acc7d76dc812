"""Running a builder and storing its rows: one file of statistics for each set of columns and types.

    build    files of the table -> rows of a builder -> a build
    merge    several builds -> one, without reading a file of the table

The files of a build appear together: after an error there are none.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from evaluator.language.records import frozen
from index_store.own.builder import FILE_ID, FILES, Aggregating, Builder, NewFiles, Progress
from index_store.own.builders.aggregates import AGGREGATES, united
from index_store.own.maintenance.table_files import partitions_of, with_ids
from index_store.own.store.folder import Folder, new_token
from index_store.own.store.manifest import FileList, ids_of, row_indices_of
from index_store.own.store.merged_slices import is_merged
from index_store.own.store.stored_table import TableWriter, read_groups, read_table
from index_store.own.store.versions import Build
from index_store.storage.errors import StatsError

__all__ = ["Built", "build", "merge"]

_PARTITION = "partition"
_ID = FILES.field(FILE_ID)


@frozen
class Built:
    """The files that have rows now, with ids from 0 on; and the files that have none (``unread``).

    ``rows`` and ``size``: how many of them are files of the table, and their bytes, without merged slices.
    """

    known: FileList
    unread: pa.Table
    rows: int
    size: int


def build(
    folder: Folder, builder: Builder, files: NewFiles, instant: str | None, progress: Progress | None = None
) -> Built:
    """Run a builder over files and store its rows. Raises StatsError for rows of other files, or two rows of one."""
    seen = np.zeros(len(files), np.bool_)
    paths = files.table.column("path")
    if progress is not None:
        progress("files", 0, len(files))
    with _BuildWriter(folder, instant) as writer:
        for batch in builder.build(files) if len(files) else ():
            rows = pa.Table.from_batches([batch])
            if (
                FILE_ID not in rows.column_names
                or rows.column(FILE_ID).null_count
                or (not pa.types.is_integer(rows.schema.field(FILE_ID).type))
            ):
                raise StatsError(folder.path, FILE_ID, "the builder gave rows without the id of a file")
            ids = ids_of(rows)
            if len(ids) and (
                ids.min() < 0 or ids.max() >= len(seen) or seen[ids].any() or len(np.unique(ids)) < len(ids)
            ):
                raise StatsError(
                    folder.path, FILE_ID, "the builder gave rows of files that it was not asked for, or twice"
                )
            seen[ids] = True
            writer.add(ids, rows.drop_columns([FILE_ID]), _aggregation(builder, paths))
            if progress is not None:
                progress("files", int(seen.sum()), len(files))
    known = files.table.filter(pa.array(seen))
    real = known.filter(pa.array(~is_merged(known.column("path"))))
    size = int(np.sum(real.column("size").to_numpy()))
    return Built(FileList(known, writer.build(len(seen))), files.table.filter(pa.array(~seen)), real.num_rows, size)


def merge(
    folder: Folder, known: FileList, files: pa.Table, instant: str | None, progress: Progress | None = None
) -> Built:
    """Copy the statistics of ``files`` into one build. They are known files, and get new ids in their order."""
    own = with_ids(files)
    new_id = np.full(max((one.first_id + one.span for one in known.builds), default=0), -1, np.int64)
    new_id[ids_of(known.files)] = row_indices_of(known.files.column("path"), known.files.column("size").to_numpy(), own)
    done, rows = 0, sum(part.rows for one in known.builds for part in one.parts)
    with _BuildWriter(folder, instant) as writer:
        for one in known.builds:
            for part in one.parts:
                for group in read_groups(folder, part):
                    ids = new_id[ids_of(group) + one.first_id]
                    live = ids >= 0
                    writer.add(ids[live], group.filter(pa.array(live)).drop_columns([FILE_ID]))
                    done += group.num_rows
                    if progress is not None:
                        progress("rows", done, rows)
            if all(other.aggregates for other in known.builds):  # otherwise they would not cover all files
                for aggregate in one.aggregates:
                    writer.add_aggregate(read_table(folder, aggregate))
    return Built(FileList(own, writer.build(own.num_rows)), own.slice(0, 0), own.num_rows, 0)


_Aggregate = Callable[[pa.Table], "pa.Table | None"]


def _aggregation(builder: Builder, paths: pa.ChunkedArray) -> _Aggregate | None:
    """The builder's aggregation by partition, of rows with ids; None for a builder without one."""
    if not isinstance(builder, Aggregating):
        return None

    def aggregate(rows: pa.Table) -> pa.Table | None:
        rows = rows.filter(pa.array(~is_merged(paths.take(pa.array(ids_of(rows))))))  # their files are counted
        partitions = partitions_of(paths.take(pa.array(ids_of(rows))))
        aggregates = builder.aggregate(rows.drop_columns([FILE_ID]).append_column(_PARTITION, partitions))
        if aggregates is not None and _PARTITION not in aggregates.column_names:
            raise StatsError("aggregates", _PARTITION, "the builder does not say of which partition they are")
        return aggregates

    return aggregate


@dataclass(slots=True)
class _BuildWriter:
    """Writes the files of a build, one for each set of columns and types. After an error none of them exists."""

    folder: Folder
    instant: str | None
    token: str = field(default_factory=new_token, init=False)
    writers: dict[pa.Schema, TableWriter] = field(default_factory=dict, init=False)
    aggregates: dict[pa.Schema, list[pa.Table]] = field(default_factory=dict, init=False)
    stack: ExitStack = field(default_factory=ExitStack, init=False)
    writers_of_aggregates: list[TableWriter] = field(default_factory=list, init=False)

    def __enter__(self) -> _BuildWriter:
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            try:
                for writer in self.writers.values():
                    writer.flush()
                self._write_aggregates()
            except BaseException as fault:
                self.stack.__exit__(type(fault), fault, fault.__traceback__)
                raise
        self.stack.__exit__(*error)  # type: ignore[arg-type]

    def add(self, ids: object, columns: pa.Table, aggregate: _Aggregate | None = None) -> None:
        """Write rows of the files with these ids."""
        if not columns.num_rows:
            return
        rows = columns.replace_schema_metadata(None).add_column(0, _ID, pa.array(ids, pa.int64()).cast(pa.int32()))
        if rows.schema not in self.writers:
            file = f"statistics/{self.instant or 0}-{self.token}-{len(self.writers)}.parquet"
            self.writers[rows.schema] = self.stack.enter_context(TableWriter(self.folder, file, rows.schema))
        writer = self.writers[rows.schema]
        if aggregate is not None and writer.on_group is None:
            writer.on_group = lambda group: self.add_aggregate(aggregate(group))
        writer.write(rows)

    def add_aggregate(self, rows: pa.Table | None) -> None:
        """Write aggregates of partitions."""
        if rows is not None:
            rows = rows.replace_schema_metadata(None)
            self.aggregates.setdefault(rows.schema, []).append(rows)

    def _write_aggregates(self) -> None:
        for number, (schema, tables) in enumerate(self.aggregates.items()):
            file = f"partitions/{self.instant or 0}-{self.token}-{number}.parquet"
            writer = self.stack.enter_context(TableWriter(self.folder, file, schema))
            self.writers_of_aggregates.append(writer)
            for one in [united(tables)] if schema == AGGREGATES else tables:
                writer.write(one)

    def build(self, span: int) -> tuple[Build, ...]:
        """What was written, as one build; none when there was no row."""
        parts = tuple(writer.stored for writer in self.writers.values())
        aggregates = tuple(writer.stored for writer in self.writers_of_aggregates)
        return (Build(0, span, parts, aggregates),) if parts else ()
