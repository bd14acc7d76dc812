"""One object of a shared folder: the bytes of a file of arrays behind a header, sealed with a key; and its name.

    SARGOSN1        8 bytes
    seal            32 bytes: HMAC-SHA256 with the key, over the object's name and all that follows
    header          4 bytes with its length (little endian), then JSON: the table, the state, the format
    body            the file of arrays, as it is on disk

    <state>-<base>.slices                       the slices of a state: a delta, or the base itself (of one name)
    <base or delta>-<slices>.<kind>-<column>    a column of slices with this digest

Whoever lacks the key cannot make an object, change one, or give it another name. An object that is put back later is
still of its own table and its own state. Without a key (``trusts_writers``) the seal is a digest, which finds damage.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from typing import Any

from evaluator.language.records import entity
from index_store.snapshots.arrays_file import UnusableError

__all__ = ["SharedObject", "column_name", "column_of", "seal", "seal_prefix", "slices_name", "states_of", "unseal"]

_MAGIC, _SEAL_BYTES, _LENGTH_BYTES = b"SARGOSN1", 32, 4
#: Bytes of a header: a timeline of a million instants has 50 MB.
_MAX_HEADER = 256 << 20
_SLICES = re.compile(r"([0-9a-f]{32})-([0-9a-f]{32})\.slices")
_COLUMN = re.compile(r"([0-9a-f]{32})-([0-9a-f]{16})\.([a-z_]{1,40}-[0-9a-f]{16})")


@entity
class SharedObject:
    """What an object holds; its seal was compared."""

    header: Mapping[str, Any]
    body: memoryview


def slices_name(state: str, base: str) -> str:
    """The name of the slices of a state."""
    return f"{state}-{base}.slices"


def states_of(name: str) -> tuple[str, str] | None:
    """State and base of slices of this name; None for another name."""
    found = _SLICES.fullmatch(name)
    return None if found is None else (found[1], found[2])


def column_name(folder: str, slices_digest: str, file: str) -> str:
    """The name of a column: ``file`` (``column_file_name``) of a base or delta with these slices."""
    return f"{folder}-{slices_digest[:16]}.{file.removesuffix('.arrays')}"


def column_of(name: str) -> tuple[str, str] | None:
    """Base or delta, and local file name of a column of this name; None for another name."""
    found = _COLUMN.fullmatch(name)
    return None if found is None else (found[1], f"{found[3]}.arrays")


def seal_prefix(key: bytes) -> str:
    """The name of what this key seals: it differs by key, and tells nothing of the key."""
    return hmac.new(key, b"sargo: name of a shared folder", hashlib.sha256).hexdigest()[:16]


def seal(key: bytes, name: str, header: Mapping[str, Any], body: bytes) -> bytes:
    """An object of this name."""
    about = json.dumps(header, sort_keys=True).encode()
    length = len(about).to_bytes(_LENGTH_BYTES, "little")
    return b"".join((_MAGIC, _sealed(key, name, length, about, body), length, about, body))


def unseal(key: bytes, name: str, data: bytes) -> SharedObject:
    """What an object of this name holds. Raises UnusableError unless it was sealed with the key, under this name."""
    begin = len(_MAGIC) + _SEAL_BYTES
    view = memoryview(data)
    if len(data) < begin + _LENGTH_BYTES or bytes(view[: len(_MAGIC)]) != _MAGIC:
        raise UnusableError(f"{name}: not an object of a shared folder")
    if not hmac.compare_digest(_sealed(key, name, view[begin:]), bytes(view[len(_MAGIC) : begin])):
        raise UnusableError(f"{name}: its seal is wrong")
    at = begin + _LENGTH_BYTES
    length = int.from_bytes(view[begin:at], "little")
    if length > min(_MAX_HEADER, len(data) - at):
        raise UnusableError(f"{name}: no header")
    try:
        header = json.loads(bytes(view[at : at + length]))
    except (ValueError, RecursionError) as error:
        raise UnusableError(f"{name}: {error}") from error
    if not isinstance(header, dict):
        raise UnusableError(f"{name}: no header")
    return SharedObject(header, view[at + length :])


def _sealed(key: bytes, name: str, *parts: bytes | memoryview) -> bytes:
    state = hmac.new(key, f"{len(name)}:{name}\n".encode(), hashlib.sha256)
    for part in parts:
        state.update(part)
    return state.digest()
