"""Groups the base files of a table by the schema in their Parquet footers.

The footer decides, because the schema in a commit may differ from the files'. The driver reads up to
``MAX_FOOTERS_ON_DRIVER`` footers, in parallel on a remote file system. A Spark job reads more of them and returns each
schema once per task.

A process reads a footer once (``_Footers``): Hudi writes no base file anew under the same name. A local file is read
again when its size or its time of change is another.
"""

from __future__ import annotations

import datetime
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from functools import lru_cache, partial
from typing import Any

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import SparkSession

from evaluator.language.records import frozen
from handler.rows.slice_rows import instants_in_int96
from handler.rows.slice_source import SliceSource
from handler.spark.distributed.python_workers import for_workers, worker_errors
from index_store.storage.storage import SIDE_BY_SIDE, Storage
from index_store.table.file_slices import parse_base_name

__all__ = ["MAX_FOOTERS_ON_DRIVER", "FileFacts", "FilesOfSchema", "group_by_schema"]

MAX_FOOTERS_ON_DRIVER = 500
_FILES_PER_TASK = 64
#: Of so many files of a table the footers are kept.
_MAX_KEPT = 100_000


@frozen
class FileFacts:
    """Size in bytes and time of the last change in milliseconds; for a remote file that of its commit, in UTC."""

    size: int
    changed: int


@frozen
class FilesOfSchema:
    """Base files with the same columns in the same types. ``facts``: of each file; of none, if executors read them."""

    schema: pa.Schema
    files: tuple[str, ...]
    facts: Mapping[str, FileFacts] = field(default_factory=dict)


@frozen
class _Footer:
    key: str
    schema: pa.Schema
    facts: FileFacts


class _Footers:
    """The footers that this process has read of one table."""

    def __init__(self) -> None:
        self._footers: dict[str, _Footer] = {}
        self._schemas: dict[str, pa.Schema] = {}

    def get(self, storage: Storage, file: str) -> _Footer | None:
        found = self._footers.get(file)
        if found is None or not storage.is_local:
            return found
        return found if found.facts == _local_facts(storage.absolute(file)) else None

    def add(self, file: str, schema: pa.Schema, facts: FileFacts) -> _Footer:
        if len(self._footers) >= _MAX_KEPT:
            self._footers.clear()
            self._schemas.clear()
        key = _key(schema)
        footer = _Footer(key, self._schemas.setdefault(key, schema), facts)
        self._footers[file] = footer
        return footer


@lru_cache(maxsize=8)
def _footers(path: str, options: tuple[tuple[str, str], ...]) -> _Footers:
    """The footers of the table at this place, with these options of the file system."""
    del path, options
    return _Footers()


def group_by_schema(spark: SparkSession, source: SliceSource, files: Sequence[str]) -> list[FilesOfSchema]:
    """The Parquet files by schema, in the order of the first file of each. Raises TableError."""
    if len(files) > MAX_FOOTERS_ON_DRIVER:
        groups: dict[str, tuple[pa.Schema, list[str]]] = {}
        for file, (key, schema) in zip(files, _on_executors(spark, source, files), strict=True):
            groups.setdefault(key, (schema, []))[1].append(file)
        return [FilesOfSchema(schema, tuple(members)) for schema, members in groups.values()]
    by_key: dict[str, list[tuple[str, _Footer]]] = {}
    kept = _Footers()
    if source.filesystem is None:
        kept = _footers(source.path, tuple(sorted(source.options.items())))
    for file, footer in zip(files, _on_driver(source.storage(), kept, files), strict=True):
        by_key.setdefault(footer.key, []).append((file, footer))
    return [
        FilesOfSchema(
            members[0][1].schema,
            tuple(file for file, _ in members),
            {file: footer.facts for file, footer in members},
        )
        for members in by_key.values()
    ]


def _on_driver(storage: Storage, footers: _Footers, files: Sequence[str]) -> list[_Footer]:
    known = {file: footers.get(storage, file) for file in files}
    missing = [file for file, footer in known.items() if footer is None]

    def read(file: str) -> None:
        known[file] = footers.add(file, *_footer(storage, file))

    if storage.is_local or len(missing) < 2:
        for file in missing:
            read(file)
    else:
        with ThreadPoolExecutor(min(SIDE_BY_SIDE, len(missing)), "sargo-schemas") as pool:
            list(pool.map(read, missing))
    return [footer for file in files if (footer := known[file]) is not None]


def _on_executors(spark: SparkSession, source: SliceSource, files: Sequence[str]) -> list[tuple[str, pa.Schema]]:
    tasks = -(-len(files) // _FILES_PER_TASK)
    frame = spark.createDataFrame(
        [(position, file) for position, file in enumerate(files)], "position int, file string"
    )
    read = for_workers(partial(_schemas_of_batches, source))
    with worker_errors():
        rows = frame.repartition(tasks).mapInArrow(read, "position int, key string, schema binary").collect()
    schemas = {row["key"]: pa.ipc.read_schema(pa.py_buffer(row["schema"])) for row in rows if row["schema"] is not None}
    return [(row["key"], schemas[row["key"]]) for row in sorted(rows, key=lambda row: int(row["position"]))]


def _schemas_of_batches(source: SliceSource, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    storage, sent = source.storage(), set[str]()
    for batch in batches:
        keys, texts = [], []
        for file in batch.column("file").to_pylist():
            schema = _schema(storage, file)
            keys.append(_key(schema))
            texts.append(None if keys[-1] in sent else schema.serialize().to_pybytes())
            sent.add(keys[-1])
        yield pa.RecordBatch.from_arrays(
            [batch.column("position"), pa.array(keys, pa.string()), pa.array(texts, pa.binary())],
            ["position", "key", "schema"],
        )


def _schema(storage: Storage, file: str) -> pa.Schema:
    return _footer(storage, file)[0]


def _footer(storage: Storage, file: str) -> tuple[pa.Schema, FileFacts]:
    def read(stream: Any) -> tuple[pa.Schema, int]:
        with parquet.ParquetFile(stream, coerce_int96_timestamp_unit="us") as opened:
            return instants_in_int96(opened), stream.size()

    before = _local_facts(storage.absolute(file)) if storage.is_local else None
    schema, size = storage.apply(file, read)
    return schema, before or FileFacts(size, _committed(file))


def _local_facts(path: str) -> FileFacts | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return FileFacts(found.st_size, found.st_mtime_ns // 1_000_000)


def _committed(file: str) -> int:
    """The moment of the commit that wrote a base file, in milliseconds; 0 when its name does not tell."""
    name = parse_base_name(file.rpartition("/")[2])
    try:
        moment = datetime.datetime.strptime(name.instant[:14] if name else "", "%Y%m%d%H%M%S")
    except ValueError:
        return 0
    return int(moment.replace(tzinfo=datetime.timezone.utc).timestamp() * 1000)


def _key(schema: pa.Schema) -> str:
    return hashlib.sha256(schema.serialize().to_pybytes()).hexdigest()
