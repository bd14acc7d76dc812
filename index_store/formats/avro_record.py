"""Whole metadata records through fastavro: the reference decoder, for every record that no fast path handles.

Slow (about 40,000 records a second from GZ blocks) and complete. Values are those that are stored: logical types are
not applied. A union of records gives ``(record name, value)``. Bounds: ``bounded``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from index_store.formats.bounded.avro_schema import check_schema
from index_store.formats.bounded.avro_values import decode_value
from index_store.storage.errors import FormatError

__all__ = ["RecordReader", "unwrap"]


class RecordReader:
    """Decodes values of one Avro writer schema (JSON data). Raises FormatError for a schema that is none."""

    __slots__ = ("_schema",)

    def __init__(self, schema: Any) -> None:
        self._schema = check_schema(schema)

    def read(self, value: bytes) -> Mapping[str, Any]:
        """The record that ``value`` encodes. Raises FormatError."""
        record: Any = decode_value(value, self._schema, record_names=True)
        if not isinstance(record, Mapping):
            raise FormatError("an Avro value is not a record")
        return record


def unwrap(value: Any) -> Any:
    """The payload of a union branch that fastavro gives as ``(record name, value)``."""
    return value[1] if isinstance(value, tuple) else value
