"""The columns of a Hudi table in Arrow's types, as Hudi's reader returns them.

    Avro, as the latest commit wrote it             Arrow
    ============================================    ===================================================
    boolean, int, long, float, double               bool, int32, int64, float, double
    string, enum                                    string
    bytes, fixed                                    binary
    decimal (bytes or fixed)                        decimal128(p, s)
    date                                            date32
    timestamp-millis, timestamp-micros              timestamp[us, UTC]     an instant
    local-timestamp-millis, local-timestamp-micros  timestamp[us]          a wall clock
    record, array, map                              struct, list, map with string keys
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
from functools import lru_cache
from typing import Any

import pyarrow as pa

from index_store.storage.errors import FormatError, TableError
from index_store.table.table import Table
from index_store.table.table_schema import MAX_PRECISION, META_COLUMNS

__all__ = ["arrow_schema"]

_MAX_SCHEMAS = 32
_PLAIN: Mapping[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "enum": pa.string(),
    "bytes": pa.binary(),
    "fixed": pa.binary(),
}
_INSTANT, _WALL_CLOCK = pa.timestamp("us", "UTC"), pa.timestamp("us")
_LOGICAL: Mapping[tuple[str, str], pa.DataType] = {
    ("int", "date"): pa.date32(),
    ("long", "timestamp-millis"): _INSTANT,
    ("long", "timestamp-micros"): _INSTANT,
    ("long", "local-timestamp-millis"): _WALL_CLOCK,
    ("long", "local-timestamp-micros"): _WALL_CLOCK,
}


def arrow_schema(table: Table, instant: str | None = None) -> pa.Schema:
    """The schema of a table as of an instant of its timeline, by default of its latest commit.

    Raises TableError when no commit has a schema, or its schema has a type that Spark does not support.
    """
    created = table.properties.get("hoodie.table.create.schema")
    text = table.schema_text_at(instant) or created
    if not text:
        raise TableError(table.path, "no commit of the table tells its schema")
    has_meta_columns = table.properties.get("hoodie.populate.meta.fields", "true").lower() != "false"
    try:
        return _schema_of(text, created or "", has_meta_columns, table.partition_fields)
    except (FormatError, KeyError, TypeError, AttributeError, ValueError, RecursionError, pa.ArrowException) as error:
        raise TableError(table.path, f"the table's schema cannot be read: {error}") from error


@lru_cache(maxsize=_MAX_SCHEMAS)
def _schema_of(text: str, created: str, has_meta_columns: bool, partition_fields: tuple[str, ...]) -> pa.Schema:
    """The same schema object for the same texts: of a wide table it takes milliseconds to make."""
    fields = _AvroTypes().record(json.loads(text))
    declared = _AvroTypes().record(json.loads(created)) if created else []
    fields = _with_meta_columns(fields) if has_meta_columns else _without_meta_columns(fields)
    return pa.schema(_with_partitions(fields, declared, partition_fields))


def _with_meta_columns(fields: list[pa.Field]) -> list[pa.Field]:
    """Hudi's columns first, each once."""
    return [pa.field(name, pa.string()) for name in META_COLUMNS] + _without_meta_columns(fields)


def _without_meta_columns(fields: list[pa.Field]) -> list[pa.Field]:
    return [field for field in fields if field.name not in META_COLUMNS]


def _with_partitions(fields: list[pa.Field], created: list[pa.Field], names: tuple[str, ...]) -> list[pa.Field]:
    here = [field.with_nullable(True) if field.name in names else field for field in fields]
    types = {field.name: field.type for field in created}
    known = {field.name for field in here}
    return here + [pa.field(name, types.get(name, pa.string())) for name in names if name not in known]


class _AvroTypes:
    """Converts Avro types to Arrow's; a named type may be used again by its name."""

    def __init__(self) -> None:
        self._named: dict[str, pa.DataType] = {}

    def record(self, schema: Any) -> list[pa.Field]:
        arrow_type, _ = self._type(schema)
        if not pa.types.is_struct(arrow_type):
            raise FormatError("it is no record")
        return [arrow_type.field(i) for i in range(arrow_type.num_fields)]

    def _type(self, schema: Any) -> tuple[pa.DataType, bool]:
        """The Arrow type of an Avro schema, and whether it may be NULL."""
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
                return pa.list_(pa.field("element", element, nullable)), False
            case "map":
                value, nullable = self._type(schema["values"])
                return pa.map_(pa.string(), pa.field("value", value, nullable)), False
            case _:
                return self._keep(schema, self._atom(base, schema)), False

    def _union(self, branches: list[Any]) -> tuple[pa.DataType, bool]:
        rest = [branch for branch in branches if branch != "null"]
        if len(rest) != 1:
            kinds = {branch for branch in rest if isinstance(branch, str)}
            if len(kinds) == len(rest) and kinds in ({"int", "long"}, {"float", "double"}):
                return pa.int64() if "long" in kinds else pa.float64(), len(rest) < len(branches)
            raise FormatError("a union of several types is not supported")
        arrow_type, nullable = self._type(rest[0])
        return arrow_type, nullable or len(rest) < len(branches)

    def _struct(self, schema: Mapping[str, Any]) -> pa.DataType:
        fields = []
        for entry in schema["fields"]:
            arrow_type, nullable = self._type(entry["type"])
            fields.append(pa.field(entry["name"], arrow_type, nullable))
        return self._keep(schema, pa.struct(fields))

    def _atom(self, base: str, schema: Mapping[str, Any]) -> pa.DataType:
        logical = schema.get("logicalType")
        if logical == "decimal" and base in ("bytes", "fixed"):
            precision, scale = int(schema["precision"]), int(schema.get("scale", 0))
            if not 0 <= scale <= precision <= MAX_PRECISION:
                raise FormatError(f"decimal({precision},{scale}) is not supported")
            return pa.decimal128(precision, scale)
        kind = _LOGICAL.get((base, str(logical)), _PLAIN.get(base))
        if kind is None:
            raise FormatError(f"type {base} is not known")
        return kind

    def _keep(self, schema: Mapping[str, Any], arrow_type: pa.DataType) -> pa.DataType:
        """A named type is known by its short and by its full name."""
        name = schema.get("name")
        if isinstance(name, str):
            self._named[name] = self._named[name.rsplit(".", 1)[-1]] = arrow_type
            if schema.get("namespace"):
                self._named[f"{schema['namespace']}.{name}"] = arrow_type
        return arrow_type
