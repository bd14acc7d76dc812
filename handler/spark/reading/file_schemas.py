"""Groups the base files of a table by the schema in their Parquet footers.

The footer decides, because the schema in a commit may differ from the files'. The driver reads up to
``MAX_FOOTERS_ON_DRIVER`` footers, in parallel on a remote file system. A Spark job reads more of them and returns each
schema once per task.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import SparkSession

from handler.rows.slice_rows import instants_in_int96
from handler.rows.slice_source import SliceSource
from index_store.storage.storage import SIDE_BY_SIDE, Storage

__all__ = ["MAX_FOOTERS_ON_DRIVER", "FilesOfSchema", "group_by_schema"]

MAX_FOOTERS_ON_DRIVER = 500
_FILES_PER_TASK = 64


@dataclass(frozen=True, slots=True)
class FilesOfSchema:
    """Base files with the same columns in the same types."""

    schema: pa.Schema
    files: tuple[str, ...]


def group_by_schema(spark: SparkSession, source: SliceSource, files: Sequence[str]) -> list[FilesOfSchema]:
    """The Parquet files by schema, in the order of the first file of each. Raises TableError."""
    schemas = (
        _on_driver(source.storage(), files)
        if len(files) <= MAX_FOOTERS_ON_DRIVER
        else _on_executors(spark, source, files)
    )
    groups: dict[str, tuple[pa.Schema, list[str]]] = {}
    for file, (key, schema) in zip(files, schemas, strict=True):
        groups.setdefault(key, (schema, []))[1].append(file)
    return [FilesOfSchema(schema, tuple(members)) for schema, members in groups.values()]


def _on_driver(storage: Storage, files: Sequence[str]) -> list[tuple[str, pa.Schema]]:
    if storage.is_local or len(files) < 2:
        schemas = [_schema(storage, file) for file in files]
    else:
        with ThreadPoolExecutor(min(SIDE_BY_SIDE, len(files)), "sargo-schemas") as pool:
            schemas = list(pool.map(lambda file: _schema(storage, file), files))
    return [(_key(schema), schema) for schema in schemas]


def _on_executors(spark: SparkSession, source: SliceSource, files: Sequence[str]) -> list[tuple[str, pa.Schema]]:
    tasks = -(-len(files) // _FILES_PER_TASK)
    frame = spark.createDataFrame(
        [(position, file) for position, file in enumerate(files)], "position int, file string"
    )
    rows = (
        frame.repartition(tasks)
        .mapInArrow(partial(_schemas_of_batches, source), "position int, key string, schema binary")
        .collect()
    )
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
    def read(stream: Any) -> pa.Schema:
        with parquet.ParquetFile(stream, coerce_int96_timestamp_unit="us") as opened:
            return instants_in_int96(opened)

    return storage.apply(file, read)


def _key(schema: pa.Schema) -> str:
    return hashlib.sha256(schema.serialize().to_pybytes()).hexdigest()
