"""The schema in a commit's file, found without decoding the statistics of each written file.

A commit of a thousand files takes 20 ms to decode, and one text of it is wanted at every opening of a table. In an
uncompressed Avro file the text stands behind the key ``schema`` of ``extraMetadata``. When the key does not occur
exactly once, or no schema follows it, the result is None and the caller decodes the commit.
"""

from __future__ import annotations

from index_store.formats.bounded.json_text import parse_schema
from index_store.storage.errors import FormatError

__all__ = ["find_schema"]

_AVRO, _KEY = b"Obj\x01", b"\x0cschema"
_CODECS = (b"\x14avro.codec\x08null", b"\x14avro.codec\x00")


def find_schema(data: bytes) -> str | None:
    """The Avro schema's text in the bytes of a completed instant, or None when it is not certain."""
    if not data.startswith(_AVRO) or not (b"\x14avro.codec" not in data or any(codec in data for codec in _CODECS)):
        return None
    place = data.find(_KEY)
    if place < 0 or data.find(_KEY, place + 1) >= 0:
        return None
    size, start = _length(data, place + len(_KEY))
    try:
        text = data[start : start + size].decode("utf-8")
        schema = parse_schema(text)
    except (UnicodeDecodeError, FormatError):
        return None
    return text if len(text.encode()) == size and isinstance(schema, dict) and "fields" in schema else None


def _length(data: bytes, place: int) -> tuple[int, int]:
    """A length as Avro writes it (zig-zag, seven bits a byte), and where it ends."""
    value = 0
    for shift in range(0, 35, 7):
        byte = data[place] if place < len(data) else 0
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    return value >> 1, place
