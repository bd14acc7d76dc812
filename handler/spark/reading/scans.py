"""Slices whose base files alone are read: a scan of Spark's own Parquet reader for all files that have the same schema.

A file is read in its own types, then each column is converted to the table's type (P19). Dictionary filtering is off
for files with floats, because parquet-mr distinguishes -0.0 and 0.0 in a dictionary, and Spark would lose rows.

Pitfall P19 is described in docs/facts/pitfalls.md#p19.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import ArrayType, DataType, DoubleType, FloatType, MapType, StructType

from evaluator.language.errors import UnsupportedError
from handler.rows.slice_rows import check_base_file, check_names
from handler.rows.slice_source import SliceSource
from handler.spark.arrow_schemas import to_arrow_schema
from handler.spark.reading.column_changes import converted, reads_alike
from handler.spark.reading.file_schemas import FilesOfSchema, group_by_schema
from handler.spark.reading.known_files import frame_of_files
from index_store import FileSlice

__all__ = ["MAX_SCANS", "quoted", "scans_of"]

#: The number of scans in one DataFrame; with more schemas, Python workers read the files.
MAX_SCANS = 32


def scans_of(
    spark: SparkSession, source: SliceSource, slices: Sequence[FileSlice], schema: StructType
) -> list[DataFrame] | None:
    """A scan for each schema of the base files; None, if there are more than ``MAX_SCANS``."""
    for one in slices:
        check_base_file(one.base_file or "")
    partitions = {one.base_file: one.partition for one in slices}
    wanted = to_arrow_schema(schema)
    groups: dict[tuple[int, tuple[tuple[str, Any], ...]], list[str]] = {}
    schemas = group_by_schema(spark, source, [one.base_file or "" for one in slices])
    for number, group in enumerate(schemas):
        check_names(group.schema, wanted.names, group.files[0])
        have = frozenset(group.schema.names)
        fixed: dict[str, tuple[tuple[str, Any], ...]] = {}
        for file in group.files:
            partition = partitions[file]
            if partition not in fixed:
                fixed[partition] = tuple(source.partitions.values(partition, wanted, have).items())
            groups.setdefault((number, fixed[partition]), []).append(file)
    if len(groups) > MAX_SCANS:
        return None
    return [
        _scan(spark, source, files, schemas[number], dict(values), schema) for (number, values), files in groups.items()
    ]


def _scan(
    spark: SparkSession,
    source: SliceSource,
    files: Sequence[str],
    group: FilesOfSchema,
    fixed: Mapping[str, Any],
    wanted: StructType,
) -> DataFrame:
    """Files of one schema, read in their own types; then each column is converted to the table's type."""
    have = group.schema
    names = [name for name in wanted.names if name in have.names and name not in fixed]
    physical = _spark_types(pa.schema([have.field(name) for name in names]), files[0])
    storage = source.storage()
    prefix = "file://" if storage.is_local else ""
    options = {
        "__globPaths__": "false",
        "recursiveFileLookup": "true",
        "mergeSchema": "false",
        "ignoreMissingFiles": "false",
        "ignoreCorruptFiles": "false",
    }
    if any(_holds_floats(field.dataType) for field in physical):
        options |= {"parquet.filter.dictionary.enabled": "false", "parquet.filter.bloom.enabled": "false"}
    places = {file: f"{prefix}{storage.absolute(file)}" for file in files}
    facts = {places[file]: group.facts[file] for file in files} if group.facts else {}
    frame = frame_of_files(spark, list(places.values()), facts, physical, options)
    if physical.names == wanted.names and all(
        reads_alike(a.dataType, b.dataType) for a, b in zip(physical, wanted, strict=True)
    ):
        return frame
    columns = []
    for field in wanted:
        if field.name in names:
            column = converted(
                frame[f"`{quoted(field.name)}`"],
                physical[field.name].dataType,
                field.dataType,
                f"{files[0]}, column {field.name}",
            )
        else:
            column = F.lit(fixed.get(field.name)).cast(field.dataType)
        columns.append(column.alias(field.name))
    return frame.select(*columns)


def _spark_types(schema: pa.Schema, file: str) -> StructType:
    for one in schema:
        if pa.types.is_timestamp(one.type) and one.type.unit == "ns":
            raise UnsupportedError(f"{file}, column {one.name}: timestamps in nanoseconds")
    try:
        return from_arrow_schema(schema, prefer_timestamp_ntz=True)
    except PySparkException as error:
        raise UnsupportedError(f"{file}: {error}") from error


def quoted(name: str) -> str:
    """A name in backticks' text: each backtick twice."""
    return name.replace("`", "``")


def _holds_floats(kind: DataType) -> bool:
    match kind:
        case FloatType() | DoubleType():
            return True
        case StructType():
            return any(_holds_floats(field.dataType) for field in kind)
        case ArrayType():
            return _holds_floats(kind.elementType)
        case MapType():
            return _holds_floats(kind.keyType) or _holds_floats(kind.valueType)
        case _:
            return False
