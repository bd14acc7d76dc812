"""What a reader of Hudi makes of a partition's path: which columns it takes from there, and their values (C11).

Hudi's reader in Spark gives every row of a file the values that stand in the path of its partition, whatever the file
holds. Only the columns below come from the file:

    column                                          value
    ----------------------------------------------  ----------------------------------------------------------------
    of TimestampBasedKeyGenerator                   the file's
    of CustomKeyGenerator, ``ts:TIMESTAMP``         the file's; every column of one whose fields name no way
    the ordering field                              the file's
    a field of a struct                             the file's
    any other, or with drop.partition.columns       the path's

A table of version 6 is read by 0.15, too. That takes every column of a COPY_ON_WRITE table from the path, and every
column of a MERGE_ON_READ table from the files. Where this makes a difference, it is not known what a reader returns.

The text in the path becomes a value as follows:

    partition columns   path                value
    -----------------   -----------------   --------------------------------------------------------------------------
    one                 2022/12/31          the whole path, as text
    one                 p=2022/12/31        what follows ``p=``, as text
    any                 one part for each   what follows the first ``=``, or the part; ``%2F`` is a slash; NULL for
                                            ``__HIVE_DEFAULT_PARTITION__``; read in the column's type
    several             a/b=1/c             not known: the reader fails, or reads the files' values
    any                 not of the type     not known: the reader fails

Source: ``HoodieHadoopFsRelationFactory.partitionColumnsToRead``, ``HoodieSparkUtils.parsePartitionColumnValues``,
``SparkParsePartitionUtil``; what real readers returned is in tests/data/keygen.
Facts: docs/facts/hudi-timeline.md#partition-paths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from math import isfinite
from typing import Any, Protocol
from urllib.parse import unquote

from evaluator.language.records import record
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import to_ordinal

__all__ = [
    "HIVE_NULL",
    "READERS_DIFFER",
    "READ_FROM_PATH",
    "PathRules",
    "custom_fields",
    "is_dropped",
    "is_from_path",
    "is_read_from_path",
    "path_text",
    "shown_as_text",
    "value_of_text",
]

HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
#: Stands before the name of a column whose value a reader takes from the path: another column than the stored one.
READ_FROM_PATH = "path:"
#: The same where readers differ, or fail.
READERS_DIFFER = "path?"
#: The table version that Hudi 1.0 introduced; 0.15 and 1.x read the older ones.
_VERSION_OF_1 = 8
_DROPPED = "hoodie.datasource.write.drop.partition.columns"
_ORDERING = ("hoodie.table.ordering.fields", "hoodie.table.precombine.field")
_INTEGER = re.compile(r"-?\d{1,19}", re.ASCII)
_DECIMAL = re.compile(r"-?\d{1,38}(\.\d{1,38})?", re.ASCII)
_FLOAT = re.compile(r"-?\d{1,20}(\.\d{1,20})?(E-?\d{1,3})?", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_MICROS = re.compile(r"\d{12,19}", re.ASCII)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_EPOCH = 719_163
_NULLS = frozenset({HIVE_NULL, "__null__", "null", "default"})
#: Key generators that write the column's value as it is, by the type that versions 8 and 9 store.
_PLAIN_GENERATORS = frozenset({"SIMPLE", "COMPLEX", "SIMPLE_AVRO", "COMPLEX_AVRO"})
#: The types of the classes, which version 6 stores.
_TYPES = {
    "SimpleKeyGenerator": "SIMPLE",
    "SimpleAvroKeyGenerator": "SIMPLE_AVRO",
    "ComplexKeyGenerator": "COMPLEX",
    "ComplexAvroKeyGenerator": "COMPLEX_AVRO",
    "BuiltinKeyGenerator": "SIMPLE",
    "CustomKeyGenerator": "CUSTOM",
    "CustomAvroKeyGenerator": "CUSTOM_AVRO",
    "TimestampBasedKeyGenerator": "TIMESTAMP",
    "TimestampBasedAvroKeyGenerator": "TIMESTAMP_AVRO",
}


class PartitionedTable(Protocol):
    """What is asked of a table here."""

    properties: Mapping[str, str]
    partition_fields: tuple[str, ...]
    version: int
    table_type: str


@record
class PathRules:
    """What the paths of a table's partitions say of its partition columns. It is small, and pickled to executors.

    fields      the partition columns, in the order of the path
    copied      those of which the key generator writes the column's own value
    from_path   those that Hudi 1.x takes from the path when Spark reads
    disputed    those that some release takes from the path, and some from the file
    """

    fields: tuple[str, ...]
    copied: frozenset[str]
    from_path: frozenset[str]
    disputed: frozenset[str] = frozenset()
    is_hive_style: bool = False
    is_encoded: bool = False

    @classmethod
    def of(cls, table: PartitionedTable) -> PathRules:
        """Those of a table."""
        properties, fields = table.properties, table.partition_fields
        from_path = frozenset(name for name in fields if is_from_path(table, name))
        by_old_release = frozenset(name for name in fields if _is_from_path_before_1(table, name))
        return cls(
            fields,
            frozenset(fields) - custom_fields(table),
            from_path,
            from_path ^ by_old_release if table.version < _VERSION_OF_1 else frozenset(),
            properties.get("hoodie.datasource.write.hive_style_partitioning", "false") == "true",
            properties.get("hoodie.datasource.write.partitionpath.urlencode", "false") == "true",
        )

    def read(self, path: str, name: str, column_type: Type) -> tuple[bool, Any]:
        """(known, value or None for NULL) that Hudi's reader in Spark takes from a path."""
        is_known, text = path_text(path, self.fields, self.fields.index(name))
        if not is_known or text is None:
            return is_known, None
        if column_type.kind is Kind.STRING:
            return True, text
        if len(path.split("/")) != len(self.fields):
            return False, None  # a reader takes the text of a whole path for a value of any type, and fails
        if column_type.kind.is_timestamp and _MICROS.fullmatch(text):
            return True, None  # microseconds, which Spark does not read as a timestamp
        return value_of_text(text, column_type)

    def stored(self, path: str, name: str, column_type: Type) -> tuple[bool, Any]:
        """(known, value or None) that the files of a path hold; None is NULL, and of text NULL or ""."""
        parts = path.split("/")
        if name not in self.copied or len(parts) != len(self.fields):
            return False, None  # a value with slashes, or a date written with them
        text = parts[self.fields.index(name)]
        is_named = text.startswith(f"{name}=")
        if is_named and not self.is_hive_style and column_type.kind.is_text:
            return False, None  # Hive style though not declared, or the value
        if self.is_hive_style or is_named:
            named, equals, text = text.partition("=")
            if not equals or named != name:
                return False, None
        if text == HIVE_NULL:
            return True, None
        if text in _NULLS or not text:
            return False, None  # null, or a value that reads the same
        if column_type.kind is Kind.DOUBLE:
            return False, None  # a number has many texts
        if "%" not in text:
            return value_of_text(text, column_type)
        if not self.is_encoded:
            return False, None  # escaped or not: it cannot be told
        try:
            return value_of_text(unquote(text, errors="strict"), column_type)
        except UnicodeDecodeError:
            return False, None

    def is_as_stored(self, path: str, name: str, column_type: Type) -> bool:
        """Whether every reader returns the value that the files of a path hold."""
        if name not in self.from_path and name not in self.disputed:
            return True
        return self.agree(path, name, column_type)

    def agree(self, path: str, name: str, column_type: Type) -> bool:
        """Whether a path says the value that its files hold."""
        is_stored, stored = self.stored(path, name, column_type)
        is_known, read = self.read(path, name, column_type)
        return is_stored and is_known and read == stored and not (stored is None and column_type.kind.is_text)


def is_from_path(table: PartitionedTable, name: str) -> bool:
    """Whether Hudi 1.x takes a partition column's value from the path when Spark reads."""
    properties = table.properties
    if is_dropped(table):
        return True
    if "." in name or name in _ordering_fields(properties):
        return False
    generator = _generator(properties)
    if generator.startswith("TIMESTAMP"):
        return False
    if generator.startswith("CUSTOM"):
        ways = _ways(properties)
        return "" not in ways.values() and ways.get(name) != "TIMESTAMP"
    return True


def _is_from_path_before_1(table: PartitionedTable, name: str) -> bool:
    """The same of 0.15: every column of a COPY_ON_WRITE table, none of one whose log files are merged."""
    return is_dropped(table) or ("." not in name and table.table_type != "MERGE_ON_READ")


def is_dropped(table: PartitionedTable) -> bool:
    """Whether the files lack the partition columns."""
    return table.properties.get(_DROPPED, "false").lower() == "true"


def shown_as_text(table: PartitionedTable) -> tuple[str, ...]:
    """The partition columns that Hudi's reader in Spark takes from the file and shows as text, whatever their type."""
    if is_dropped(table):
        return ()
    return table.partition_fields if _generator(table.properties).startswith("TIMESTAMP") else ()


def custom_fields(table: PartitionedTable) -> frozenset[str]:
    """Partition columns whose path is not their own value.

    CUSTOM generators name the way of each field (``ts:TIMESTAMP``, ``city:SIMPLE``). Of any other unknown generator all
    partition columns are custom.
    """
    generator = _generator(table.properties)
    if generator in _PLAIN_GENERATORS:
        return frozenset()
    if generator.startswith("CUSTOM"):
        ways = _ways(table.properties)
        return frozenset(name for name in table.partition_fields if ways.get(name) != "SIMPLE")
    return frozenset(table.partition_fields)


def is_read_from_path(name: str) -> bool:
    """Whether the name of a column stands for the value that a reader takes from the path."""
    return name.startswith((READ_FROM_PATH, READERS_DIFFER))


def _generator(properties: Mapping[str, str]) -> str:
    """The type of the key generator as versions 8 and 9 name it; of a class that is not Hudi's, the class."""
    kind = properties.get("hoodie.table.keygenerator.type", "").upper()
    made_by = properties.get("hoodie.table.keygenerator.class", "").rpartition(".")[2]
    return kind or _TYPES.get(made_by, made_by)


def _ordering_fields(properties: Mapping[str, str]) -> frozenset[str]:
    return frozenset(part.strip() for key in _ORDERING for part in properties.get(key, "").split(","))


def _ways(properties: Mapping[str, str]) -> dict[str, str]:
    parts = (part.strip().partition(":") for part in properties.get("hoodie.table.partition.fields", "").split(","))
    return {name: way.upper() for name, _, way in parts}


def path_text(path: str, fields: tuple[str, ...], index: int) -> tuple[bool, str | None]:
    """(known, text or None for NULL) of a partition column, before it is read in the column's type."""
    parts = path.split("/")
    if len(parts) != len(fields):
        if len(fields) > 1:
            return False, None
        text = path.removeprefix(f"{fields[0]}=")
        return bool(text), text
    part = parts[index]
    _, equals, text = part.partition("=")
    if not equals:
        text = part
    elif part.startswith("=") or text == "":
        return False, None
    if text == HIVE_NULL:
        return True, None
    if any(int(code, 16) >= 0x80 for code in _ESCAPE.findall(text)):
        return False, None
    text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    return bool(text), text


def value_of_text(text: str, column_type: Type) -> tuple[bool, Any]:
    """(known, value) of a text in a path, in the form that arrays hold; not known when it has another form."""
    try:
        match column_type.kind:
            case Kind.STRING | Kind.VARCHAR:
                return True, text
            case Kind.BOOLEAN:
                return text.lower() in ("true", "false"), int(text.lower() == "true")
            case Kind.DATE:
                return (True, date.fromisoformat(text).toordinal() - _EPOCH) if _DAY.fullmatch(text) else (False, None)
            case Kind.DECIMAL:
                if not _DECIMAL.fullmatch(text) or len(text.partition(".")[2]) != column_type.scale:
                    return False, None
                return True, to_ordinal(Decimal(text), column_type)
            case Kind.DOUBLE:
                return (True, float(text)) if _FLOAT.fullmatch(text) and isfinite(float(text)) else (False, None)
            case kind if kind.is_integer:
                if not _INTEGER.fullmatch(text):
                    return False, None
                low, high = column_type.integer_range()
                return low <= int(text) <= high, int(text)
            case _:
                return False, None  # timestamps, FLOAT and CHAR have no one form in a path
    except ValueError:
        return False, None
