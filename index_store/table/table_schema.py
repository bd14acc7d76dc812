"""A table's columns: from the Avro schema in a commit's file, or from a Parquet footer.

    Avro                                   type
    ============================  ==================
    int, long, float, double,     INT, BIGINT, FLOAT, DOUBLE,
    boolean, string, enum, bytes  BOOLEAN, STRING, STRING, BINARY
    date                          DATE
    decimal (bytes or fixed)      DECIMAL(p, s)
    timestamp-millis|micros|..    TIMESTAMP_LTZ       an instant
    local-timestamp-*             TIMESTAMP           a wall clock
    record                        OTHER, and its fields beside it with dotted names
    all else                      OTHER

The unit of a timestamp stays with the column (``TableSchema.units``), since old statistics lack it (hudi#9884).
Every field is nullable here. A schema's NOT NULL is a promise of the last writer alone: files of earlier commits hold
NULLs all the same, and a field below a nullable record is NULL where the record is (P19). What a file promises about
itself stands in its footer, where a required column has no NULL (``kinds.footer_statistics``).

Pitfall P19 is described in docs/facts/pitfalls.md#p19.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import pyarrow as pa

from evaluator.language.records import record
from evaluator.language.schema import Field, Schema
from evaluator.language.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    Kind,
    Type,
    decimal_type,
)
from index_store.formats.bounded.json_text import parse_schema
from index_store.storage.errors import FormatError

__all__ = ["META_COLUMNS", "RECORD_KEY", "TableSchema", "from_arrow", "from_avro", "with_columns"]

#: The meta column that holds the record key.
RECORD_KEY = "_hoodie_record_key"
#: The columns that Hudi adds to every row.
META_COLUMNS = (
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    RECORD_KEY,
    "_hoodie_partition_path",
    "_hoodie_file_name",
)
_PLAIN = {
    "int": INT,
    "long": BIGINT,
    "float": FLOAT,
    "double": DOUBLE,
    "boolean": BOOLEAN,
    "string": STRING,
    "bytes": BINARY,
    "enum": STRING,
    "fixed": BINARY,
}
#: Characters of all dotted names, and 64 for each: a type that is used by name is listed at each place.
MAX_NAMES = 16 << 20
#: The most digits of a decimal in Hive and Spark.
MAX_PRECISION = 38
_UNITS = ("millis", "micros", "nanos")


@record
class TableSchema:
    """The columns, and for each timestamp column the unit of its values in the files: millis, micros or nanos.

    ``filled`` are the columns that a file without them does not leave NULL: a default, or another name to read.
    """

    schema: Schema
    units: Mapping[str, str] = field(default_factory=dict)
    filled: frozenset[str] = frozenset()


def from_avro(text: str) -> TableSchema:
    """The columns of an Avro record schema in JSON. Raises FormatError when it is not one."""
    record = parse_schema(text, "the table's schema")
    if not isinstance(record, Mapping) or record.get("type") != "record":
        raise FormatError("the table's schema is not an Avro record")
    reader = _AvroFields()
    try:
        fields = tuple(reader.fields(record))
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise FormatError(f"the table's schema cannot be understood: {error}") from error
    return TableSchema(Schema(fields), reader.units, frozenset(reader.filled))


class _AvroFields:
    """Lists the fields of an Avro schema, nested ones as ``parent.child``.

    named    the types that the schema defines by name
    units    the units of timestamp columns
    filled   columns that readers fill with something else than NULL where a file lacks them
    """

    def __init__(self) -> None:
        self.named: dict[str, Any] = {}
        self.units: dict[str, str] = {}
        self.filled: set[str] = set()
        self._room = MAX_NAMES

    def fields(
        self,
        record: Mapping[str, Any],
        prefix: str = "",
        *,
        inside: tuple[int, ...] = (),
    ) -> Iterator[Field]:
        """The fields of a record. ``inside``: the records around it, so that a recursive schema ends."""
        if "name" in record:
            self.named[record["name"]] = record
        for entry in record["fields"]:
            schema, nullable = _without_null(entry["type"])
            if isinstance(schema, str) and schema.rsplit(".", 1)[-1] in self.named:
                schema = self.named[schema.rsplit(".", 1)[-1]]
            if isinstance(schema, Mapping) and schema.get("type") == "fixed":
                self.named[schema.get("name", "")] = schema
            name = f"{prefix}{entry['name']}"
            self._room -= len(name) + 64
            if self._room < 0:
                raise FormatError("the names of the table's columns are too many or too long")
            if entry.get("default") is not None or entry.get("aliases") or not nullable:
                self.filled.add(name)
            column_type, unit = _type(schema)
            if unit:
                self.units[name] = unit
            yield Field(name, column_type, unit=unit)
            if isinstance(schema, Mapping) and schema.get("type") == "record" and id(schema) not in inside:
                yield from self.fields(schema, f"{name}.", inside=(*inside, id(schema)))


def _without_null(schema: Any) -> tuple[Any, bool]:
    """A union with null is a nullable field; a union of several types is of no comparable type."""
    if not isinstance(schema, list):
        return schema, False
    rest = [branch for branch in schema if branch != "null"]
    return (rest[0] if len(rest) == 1 else {"type": "union"}), len(rest) < len(schema)


def _type(schema: Any) -> tuple[Type, str]:
    """Type and timestamp unit of an Avro schema without its null."""
    if isinstance(schema, str):
        return _PLAIN.get(schema, Type(Kind.OTHER, name=schema)), ""
    base = schema.get("type")
    if isinstance(base, (Mapping, list)):
        return _type(_without_null(base)[0])
    logical = schema.get("logicalType")
    if logical == "decimal" and base in ("bytes", "fixed"):
        return _decimal(schema["precision"], schema.get("scale", 0)), ""
    if logical == "date" and base == "int":
        return DATE, ""
    if isinstance(logical, str) and base == "long":
        stem, _, unit = logical.rpartition("-")
        if unit in _UNITS and stem in ("timestamp", "local-timestamp"):
            return (TIMESTAMP_LTZ if stem == "timestamp" else TIMESTAMP), unit
    if logical is not None and logical not in ("uuid", "string"):
        return Type(Kind.OTHER, name=str(logical)), ""
    return _PLAIN.get(str(base), Type(Kind.OTHER, name=str(base))), ""


def _decimal(precision: Any, scale: Any) -> Type:
    if not (isinstance(precision, int) and isinstance(scale, int) and 0 <= scale <= precision <= MAX_PRECISION):
        return Type(Kind.OTHER, name=f"decimal({precision},{scale})"[:64])
    return decimal_type(precision, scale)


def from_arrow(schema: pa.Schema) -> TableSchema:
    """The columns of an Arrow schema, as a Parquet footer gives it."""
    units: dict[str, str] = {}
    return TableSchema(Schema(_arrow_fields(schema, "", units)), units)


def _arrow_fields(fields: Iterable[Any], prefix: str, units: dict[str, str]) -> Iterator[Field]:
    for entry in fields:
        name = f"{prefix}{entry.name}"
        found = _arrow_type(entry.type)
        unit = ""
        if pa.types.is_timestamp(entry.type):
            unit = units[name] = {"ms": "millis", "us": "micros", "ns": "nanos"}.get(entry.type.unit, "")
        yield Field(name, found, unit=unit)
        if pa.types.is_struct(entry.type):
            below = [entry.type.field(i) for i in range(entry.type.num_fields)]
            yield from _arrow_fields(below, f"{name}.", units)


def _arrow_type(arrow: Any) -> Type:
    t = pa.types
    if t.is_decimal(arrow):
        return _decimal(arrow.precision, arrow.scale)
    if t.is_timestamp(arrow):
        return TIMESTAMP_LTZ if arrow.tz else TIMESTAMP
    tests: Sequence[tuple[Any, Type]] = (
        (t.is_boolean, BOOLEAN),
        (t.is_int8, TINYINT),
        (t.is_int16, SMALLINT),
        (t.is_int32, INT),
        (t.is_int64, BIGINT),
        (t.is_float32, FLOAT),
        (t.is_float64, DOUBLE),
        (t.is_string, STRING),
        (t.is_large_string, STRING),
        (t.is_binary, BINARY),
        (t.is_large_binary, BINARY),
        (t.is_fixed_size_binary, BINARY),
        (t.is_date32, DATE),
    )
    return next((found for test, found in tests if test(arrow)), Type(Kind.OTHER, name=str(arrow)))


def with_columns(table: TableSchema, names: Iterable[str], column_type: Type) -> TableSchema:
    """The schema with columns of one type added, where it does not have them yet."""
    missing = [Field(name, column_type) for name in names if table.schema.resolve(name, case_sensitive=True) is None]
    return replace(table, schema=Schema((*table.schema, *missing))) if missing else table
