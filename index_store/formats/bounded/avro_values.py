"""One Avro value through fastavro, after its values are counted: one million, and one more for each four bytes.

Few bytes cannot hold many values (``AvroSchema.density``), so only large records are walked over before they are
decoded. There are never more than MOST_VALUES. A value of real metadata takes nine bytes on average. Items are counted
where their number stands, before any of them is read.
"""

from __future__ import annotations

import io
from typing import Any

from index_store.formats.bounded.avro_schema import AvroSchema, Shape
from index_store.formats.varint import read_varint
from index_store.storage.errors import FormatError

__all__ = ["MAX_VALUES", "MOST_VALUES", "VALUE_BYTES", "decode_value"]

#: So many values, and one more for each VALUE_BYTES, but never more than MOST_VALUES: a commit of a million files.
MAX_VALUES, VALUE_BYTES, MOST_VALUES = 1_000_000, 4, 24_000_000


def decode_value(data: bytes, schema: AvroSchema, *, record_names: bool = False, whole: bool = True) -> Any:
    """The value in ``data``, or at its start unless it is the ``whole``. Raises FormatError.

    ``record_names``: records in unions with their names.
    """
    if schema.shape.density * len(data) > MAX_VALUES:
        _check_count(data, schema.shape)
    import fastavro

    try:
        stream = io.BytesIO(data)
        value = fastavro.schemaless_reader(stream, schema.parsed, None, return_record_name=record_names)
    except Exception as error:  # damaged bytes make fastavro fail in many ways
        raise FormatError(f"an Avro value cannot be decoded: {error or type(error).__name__}") from error
    if whole and stream.tell() != len(data):
        raise FormatError("an Avro value does not end where its bytes do", stream.tell())
    return value


def _check_count(data: bytes, shape: Shape) -> None:
    most = min(MAX_VALUES + len(data) // VALUE_BYTES, MOST_VALUES)
    try:
        _Counter(data, most - shape.weight).pass_over(shape, 0)
    except (IndexError, RecursionError) as error:
        raise FormatError("an Avro value is cut off") from error


class _Counter:
    """Passes over values and takes their number from ``left``."""

    def __init__(self, data: bytes, left: int) -> None:
        self._data = data
        self._left = left

    def pass_over(self, shape: Shape, at: int) -> int:
        """Where the value that starts at ``at`` ends. The depth is that of the schema, which is bounded."""
        data = self._data
        match shape.kind:
            case "record":
                for part in shape.parts:
                    at = self.pass_over(part, at)
            case "union":
                branch, at = read_varint(data, at)
                if not 0 <= branch < len(shape.parts):
                    raise FormatError("an Avro union has no such branch", at)
                at = self.pass_over(shape.parts[branch], at)
            case "bytes":
                at = self._after_bytes(at)
            case "int":
                while data[at] >= 128:
                    at += 1
                at += 1
            case "array" | "map":
                at = self._items(shape, at)
            case _:
                at += shape.least
        if at > len(data):
            raise IndexError
        return at

    def _items(self, shape: Shape, at: int) -> int:
        items, keyed = shape.parts[0], shape.kind == "map"
        while True:
            count, at = read_varint(self._data, at)
            if count == 0:
                return at
            if count < 0:
                count = -count
                _, at = read_varint(self._data, at)
            self._left -= count * (items.weight + keyed)
            if count > len(self._data) - at or self._left < 0:
                raise FormatError(f"an Avro value of {len(self._data)} bytes claims too many values", at)
            for _ in range(count):
                if keyed:
                    at = self._after_bytes(at)
                at = self.pass_over(items, at)

    def _after_bytes(self, at: int) -> int:
        length, at = read_varint(self._data, at)
        if length < 0 or at + length > len(self._data):
            raise FormatError("an Avro text is cut off", at)
        return at + length
