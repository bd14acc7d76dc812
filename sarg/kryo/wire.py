"""Kryo's primitives: numbers, strings and fixed-width values of Kryo 3, 4 and 5.

    =================  ==========================================================================================
    int, long          7 bits a byte, low first; at most 5 / 9 bytes (the ninth byte of a long holds 8 bits)
    "optimised"        the number itself (lengths, references); otherwise zig-zag (values)
    short float double fixed width: big-endian in Kryo 3 and 4, little-endian in Kryo 5
    string             ASCII of 2 characters or more: bytes, bit 7 set on the last;
                       otherwise 0x80 | 6 bits of length + 1, bit 0x40 = more groups of 7; then each UTF-16 unit in
                       1 to 3 bytes (a surrogate pair takes two units); 0x80 is null, 0x81 is empty
    =================  ==========================================================================================

A read past the end raises DecodeError or IndexError, which ``sarg.kryo.reader.Reader`` turns into DecodeError.

Facts: docs/facts/hive-kryo.md#kryos-rules.
"""

from __future__ import annotations

import re
import struct

from sarg.kryo.errors import DecodeError
from sarg.kryo.limits import MAX_SLOW_CHARACTERS, MAX_STRING

_LAST_ASCII = re.compile(rb"[\x80-\xff]")
_FIXED_BIG = {width: struct.Struct(">" + width) for width in "hHifdq"}
_FIXED_LITTLE = {width: struct.Struct("<" + width) for width in "hHifdq"}


class Wire:
    """A cursor over the input."""

    __slots__ = ("_fixed", "_slow", "data", "position")

    def __init__(self, data: bytes, little_endian: bool) -> None:
        self.data = data
        self.position = 0
        self._slow = 0
        self._fixed = _FIXED_LITTLE if little_endian else _FIXED_BIG

    def byte(self) -> int:
        value = self.data[self.position]
        self.position += 1
        return value

    def signed_byte(self) -> int:
        value = self.byte()
        return value - 256 if value > 127 else value

    def flag(self) -> bool:
        """A boolean. Kryo writes 0 or 1. Any other byte means that the input is not what the profile expects."""
        value = self.byte()
        if value > 1:
            raise DecodeError(self.position - 1, f"{value} is not a boolean")
        return value == 1

    def raw(self, length: int) -> bytes:
        start = self.position
        if not 0 <= length <= len(self.data) - start:
            raise DecodeError(start, f"{length} bytes are announced, {len(self.data) - start} are left")
        self.position = start + length
        return self.data[start : start + length]

    def count(self) -> int:
        """An optimised int: a length, a reference, an id. Never negative."""
        data, position = self.data, self.position
        value = data[position]
        position += 1
        if value < 0x80:
            self.position = position
            return value
        value &= 0x7F
        shift = 7
        while True:
            byte = data[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80 or shift == 28:
                break
            shift += 7
        if value >> 31:
            raise DecodeError(self.position, "a length or reference is negative")
        self.position = position
        return value

    def flagged_count(self) -> tuple[bool, int]:
        """Kryo 5's flag and length together: bit 7 is the flag, bit 6 means "more", then 6 bits and groups of 7."""
        first = self.byte()
        value = first & 0x3F
        if first & 0x40:
            value |= self._groups(6, 27)
        if value >> 31:
            raise DecodeError(self.position, "a length is negative")
        return first >= 0x80, value

    def _groups(self, shift: int, last: int) -> int:
        value = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80 or shift >= last:
                return value
            shift += 7

    def zigzag_int(self) -> int:
        """A zig-zag int."""
        value = self._unsigned(28, 0xFFFFFFFF)
        return (value >> 1) ^ -(value & 1)

    def zigzag_long(self) -> int:
        """A zig-zag long."""
        value = self.unsigned_long()
        return (value >> 1) ^ -(value & 1)

    def positive_int(self) -> int:
        """An optimised int that may be negative, such as a year; a negative one takes 5 bytes."""
        value = self._unsigned(28, 0xFFFFFFFF)
        return value - (1 << 32) if value >> 31 else value

    def positive_long(self) -> int:
        """An optimised long that may be negative, such as milliseconds."""
        value = self.unsigned_long()
        return value - (1 << 64) if value >> 63 else value

    def _unsigned(self, last: int, mask: int) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80 or shift == last:
                return value & mask
            shift += 7

    def unsigned_long(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            if shift == 56:
                return value | byte << 56
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def fixed_int(self) -> int:
        return int(self._unpack("i", 4))

    def fixed_long(self) -> int:
        return int(self._unpack("q", 8))

    def short(self) -> int:
        return int(self._unpack("h", 2))

    def char(self) -> int:
        return int(self._unpack("H", 2))

    def float32(self) -> float:
        return self._unpack("f", 4)

    def float64(self) -> float:
        return self._unpack("d", 8)

    def _unpack(self, form: str, width: int) -> float:
        value: float = self._fixed[form].unpack(self.raw(width))[0]
        return value

    def string(self) -> str | None:
        data, start = self.data, self.position
        first = data[start]
        if first < 0x80:
            end = _LAST_ASCII.search(data, start)
            if end is None:
                raise DecodeError(start, "a string has no end")
            last = end.start()
            self._check_length(last + 1 - start)
            self.position = last + 1
            return data[start:last].decode("ascii") + chr(data[last] & 0x7F)
        self.position = start + 1
        length = first & 0x3F
        if first & 0x40:
            length |= self._groups(6, 27)
        if length == 0:
            return None
        length -= 1
        self._check_length(length)
        text = data[self.position : self.position + length]
        if len(text) == length and text.isascii():
            self.position += length
            return text.decode("ascii")
        return self._units(length)

    def _units(self, length: int) -> str:
        self._slow += length
        if self._slow > MAX_SLOW_CHARACTERS:
            raise DecodeError(self.position, f"more than {MAX_SLOW_CHARACTERS} characters that are not ASCII")
        units = []
        data, position = self.data, self.position
        for _ in range(length):
            first = data[position]
            if first < 0x80:
                units.append(first)
                position += 1
            elif first >> 5 == 6:
                units.append((first & 0x1F) << 6 | data[position + 1] & 0x3F)
                position += 2
            elif first >> 4 == 14:
                units.append((first & 0x0F) << 12 | (data[position + 1] & 0x3F) << 6 | data[position + 2] & 0x3F)
                position += 3
            else:
                raise DecodeError(position, "a string holds a byte that begins no character")
        self.position = position
        return struct.pack(f"<{length}H", *units).decode("utf-16-le", "surrogatepass")

    def _check_length(self, length: int) -> None:
        if length > min(MAX_STRING, len(self.data)):
            raise DecodeError(self.position, f"a string of {length} characters is too long")
