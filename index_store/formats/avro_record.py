"""Whole metadata records through fastavro: the reference decoder, for every record that no fast path handles.

Slow (about 40,000 records a second from GZ blocks) and complete. A union of records gives ``(record name, value)``.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import fastavro

from index_store.storage.errors import FormatError

__all__ = ["RecordReader", "unwrap"]


class RecordReader:
    """Decodes values of one Avro writer schema."""

    __slots__ = ("_schema",)

    def __init__(self, schema: Any) -> None:
        try:
            self._schema = fastavro.parse_schema(schema)
        except Exception as error:  # fastavro has no common error type
            raise FormatError(f"the Avro schema of an HFile cannot be understood: {error}") from error

    def read(self, value: bytes) -> Mapping[str, Any]:
        """The record that ``value`` encodes. Raises FormatError."""
        try:
            record: Any = fastavro.schemaless_reader(io.BytesIO(value), self._schema, None, return_record_name=True)
        except Exception as error:  # damaged bytes make fastavro fail in many ways
            raise FormatError(f"an Avro record cannot be decoded: {error}") from error
        if not isinstance(record, Mapping):
            raise FormatError("an Avro value is not a record")
        return record


def unwrap(value: Any) -> Any:
    """The payload of a union branch that fastavro gives as ``(record name, value)``."""
    return value[1] if isinstance(value, tuple) else value
