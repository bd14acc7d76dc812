"""Unwraps the value of a job configuration, Base64 text or bytes, to the bytes of Kryo.

    =============================  ===================================================
    input                          read as
    =============================  ===================================================
    bytes that begin with 0x01     Kryo: its top object begins with NOT_NULL
    other bytes, or text           Base64, standard or URL-safe, white space allowed
    =============================  ===================================================

Hive writes one line of standard Base64. Hive reads Base64 with commons-codec, which also accepts the URL-safe alphabet
and white space. No Base64 text begins with byte 0x01.

Facts: docs/facts/hive-kryo.md#envelope.
"""

from __future__ import annotations

import base64
import binascii
import re

from sarg.kryo.errors import DecodeError
from sarg.kryo.limits import MAX_BASE64, MAX_INPUT

__all__ = ["to_bytes"]

_WHITE_SPACE = b" \t\r\n\v\f"
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/_\-= \t\r\n\v\f]")


def to_bytes(data: str | bytes) -> bytes:
    """The bytes of Kryo. Raises DecodeError for input that is neither Kryo nor Base64, or too long; else TypeError."""
    if not isinstance(data, str | bytes | bytearray | memoryview):
        raise TypeError(f"a Hive filter is its bytes, or their Base64 as text, not {type(data).__name__}")
    if isinstance(data, str):
        if len(data) > MAX_BASE64:
            raise DecodeError(0, f"{len(data)} characters; at most {MAX_BASE64} are read")
        return _from_base64(data.encode("utf-8", "replace"))
    if data[:1] == b"\x01":
        if len(data) > MAX_INPUT:
            raise DecodeError(0, f"{len(data)} bytes; at most {MAX_INPUT} are read")
        return bytes(data)
    if len(data) > MAX_BASE64:
        raise DecodeError(0, f"{len(data)} bytes; at most {MAX_BASE64} are read")
    return _from_base64(bytes(data))


def _from_base64(text: bytes) -> bytes:
    invalid = _NOT_BASE64.search(text)
    if invalid is not None:
        raise DecodeError(invalid.start(), f"byte {invalid[0][0]:#04x} is not Base64, and Kryo begins with 0x01")
    digits = text.translate(_URL_SAFE, _WHITE_SPACE).rstrip(b"=")
    try:
        data = base64.b64decode(digits + b"=" * (-len(digits) % 4), validate=True)
    except binascii.Error as error:
        raise DecodeError(len(text), f"not Base64: {error}") from None
    if len(data) > MAX_INPUT:
        raise DecodeError(0, f"{len(data)} bytes; at most {MAX_INPUT} are read")
    if not data:
        raise DecodeError(0, "the input is empty")
    return data
