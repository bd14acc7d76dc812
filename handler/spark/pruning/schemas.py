"""The columns of a Hudi table as Spark sees them, without Hudi on Spark's class path.

    Avro, as the latest commit wrote it             Spark
    ============================================    ==============================================
    boolean, int, long, float, double               boolean, int, bigint, float, double
    string, enum                                    string
    bytes, fixed                                    binary
    decimal (bytes or fixed)                        decimal(p, s)
    date                                            date
    timestamp-millis, timestamp-micros              timestamp        an instant
    local-timestamp-millis, local-timestamp-micros  timestamp_ntz    a wall clock
    record, array, map                              struct, array, map with string keys
    a union with null                               the type of the rest, nullable

Hudi stores tinyint and smallint as int, and char and varchar as string. Its own columns (``_hoodie_*``) come first, if
the table fills them. A partition column that the files lack comes last, with the type in
``hoodie.table.create.schema``, else as a string. Partition columns are nullable whatever the writer declares, because
their values may be read from paths; Hudi itself follows the writer.

Source: Hudi's ``org.apache.spark.sql.avro.SchemaConverters`` and ``TableSchemaResolver``; tested against the
schemas that Hudi itself reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from index_store.storage.errors import FormatError, TableError
from index_store.table.table import Table
from index_store.table.table_schema import META_COLUMNS

__all__ = ["spark_schema"]

_PLAIN: Mapping[str, type[DataType]] = {
    "boolean": BooleanType,
    "int": IntegerType,
    "long": LongType,
    "float": FloatType,
    "double": DoubleType,
    "string": StringType,
    "enum": StringType,
    "bytes": BinaryType,
    "fixed": BinaryType,
}
_LOGICAL: Mapping[tuple[str, str], type[DataType]] = {
    ("int", "date"): DateType,
    ("long", "timestamp-millis"): TimestampType,
    ("long", "timestamp-micros"): TimestampType,
    ("long", "local-timestamp-millis"): TimestampNTZType,
    ("long", "local-timestamp-micros"): TimestampNTZType,
}


def spark_schema(table: Table, instant: str | None = None) -> StructType:
    """The schema of a table as of an instant of its timeline, by default of its latest commit.

    Raises TableError when no commit has a schema, or its schema has a type that Spark does not support.
    """
    created = table.properties.get("hoodie.table.create.schema")
    text = table.schema_text_at(instant) or created
    if not text:
        raise TableError(table.path, "no commit of the table tells its schema")
    try:
        schema = _AvroTypes().record(json.loads(text))
        declared = _AvroTypes().record(json.loads(created)) if created else StructType()
    except (FormatError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise TableError(table.path, f"the table's schema cannot be given to Spark: {error}") from error
    return _with_partitions(_with_meta_columns(schema, table), declared, table.partition_fields)


def _with_meta_columns(schema: StructType, table: Table) -> StructType:
    """Hudi's columns first, each once."""
    data = [field for field in schema if field.name not in META_COLUMNS]
    if table.properties.get("hoodie.populate.meta.fields", "true").lower() == "false":
        return StructType(data)
    return StructType([StructField(name, StringType()) for name in META_COLUMNS] + data)


def _with_partitions(schema: StructType, created: StructType, names: tuple[str, ...]) -> StructType:
    fields = [StructField(field.name, field.dataType, True) if field.name in names else field for field in schema]
    types = {field.name: field.dataType for field in created}
    fields += [StructField(name, types.get(name, StringType())) for name in names if name not in schema.names]
    return StructType(fields)


class _AvroTypes:
    """Converts Avro types to Spark's; a named type may be used again by its name."""

    def __init__(self) -> None:
        self._named: dict[str, DataType] = {}

    def record(self, schema: Any) -> StructType:
        spark_type, _ = self._type(schema)
        if not isinstance(spark_type, StructType):
            raise FormatError("it is no record")
        return spark_type

    def _type(self, schema: Any) -> tuple[DataType, bool]:
        """The Spark type of an Avro schema, and whether it may be NULL."""
        if isinstance(schema, list):
            return self._union(schema)
        if isinstance(schema, str):
            if schema in self._named:
                return self._named[schema], False
            schema = {"type": schema}
        base = schema["type"]
        if isinstance(base, dict | list):
            return self._type(base)
        match base:
            case "record":
                return self._struct(schema), False
            case "array":
                element, nullable = self._type(schema["items"])
                return ArrayType(element, nullable), False
            case "map":
                value, nullable = self._type(schema["values"])
                return MapType(StringType(), value, nullable), False
            case _:
                return self._keep(schema, self._atom(base, schema)), False

    def _union(self, branches: list[Any]) -> tuple[DataType, bool]:
        rest = [branch for branch in branches if branch != "null"]
        if len(rest) != 1:
            kinds = {branch for branch in rest if isinstance(branch, str)}
            if len(kinds) == len(rest) and kinds in ({"int", "long"}, {"float", "double"}):
                wide = LongType() if "long" in kinds else DoubleType()
                return wide, len(rest) < len(branches)
            raise FormatError("a union of several types is not supported")
        spark_type, nullable = self._type(rest[0])
        return spark_type, nullable or len(rest) < len(branches)

    def _struct(self, schema: Mapping[str, Any]) -> StructType:
        fields = []
        for entry in schema["fields"]:
            spark_type, nullable = self._type(entry["type"])
            fields.append(StructField(entry["name"], spark_type, nullable))
        struct = StructType(fields)
        self._keep(schema, struct)
        return struct

    def _atom(self, base: str, schema: Mapping[str, Any]) -> DataType:
        logical = schema.get("logicalType")
        if logical == "decimal" and base in ("bytes", "fixed"):
            return DecimalType(int(schema["precision"]), int(schema.get("scale", 0)))
        kind = _LOGICAL.get((base, str(logical)), _PLAIN.get(base))
        if kind is None:
            raise FormatError(f"type {base} is not known")
        return kind()

    def _keep(self, schema: Mapping[str, Any], spark_type: DataType) -> DataType:
        """A named type is known by its short and by its full name."""
        name = schema.get("name")
        if isinstance(name, str):
            self._named[name] = self._named[name.rsplit(".", 1)[-1]] = spark_type
            if schema.get("namespace"):
                self._named[f"{schema['namespace']}.{name}"] = spark_type
        return spark_type
