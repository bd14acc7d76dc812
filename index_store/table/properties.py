"""``hoodie.properties``: a table's configuration, in Java's properties format (contract: read, never guess).

A file is read in one pass. It has at most MAX_BYTES, MAX_LINES and MAX_KEYS, and keys of at most MAX_KEY characters.
Source: ``HoodieTableConfig`` of Hudi; the escapes are those of ``java.util.Properties.load``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from io import StringIO
from types import MappingProxyType

from index_store.storage.errors import FormatError, TableError
from index_store.storage.storage import Storage
from index_store.table.property_checks import find_damage

__all__ = ["HOODIE", "names", "parse_properties", "read_properties"]

HOODIE = ".hoodie"
#: Bytes of a file of properties; the largest real ones hold a schema of a megabyte.
MAX_BYTES = 4 << 20
#: Lines, also empty ones. Hudi writes about forty.
MAX_LINES = 100_000
MAX_KEYS, MAX_KEY = 10_000, 1024
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_KEY = re.compile(rf"(?:\\.|[^\\=:\s]){{0,{MAX_KEY}}}", re.DOTALL)
_SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    out, at = StringIO(), 0
    for match in _ESCAPE.finditer(text):
        code = match[1]
        out.write(text[at : match.start()])
        out.write(chr(int(code[1:], 16)) if len(code) == 5 else _CONTROL.get(code, code))
        at = match.end()
    out.write(text[at:])
    return out.getvalue()


def parse_properties(text: str) -> dict[str, str]:
    """Keys and values of a properties file: comments, continued lines and escapes as Java reads them.

    Raises FormatError for more than the bounds allow.
    """
    if sum(map(text.count, _BREAKS)) > MAX_LINES:
        raise FormatError(f"more than {MAX_LINES} lines")
    pairs: dict[str, str] = {}
    for line in _logical_lines(text):
        key = _KEY.match(line)
        rest = key.end() if key else 0
        if rest < len(line) and line[rest] not in "=:" and not line[rest].isspace():
            raise FormatError(f"a key of more than {MAX_KEY} characters")
        separator = _SEPARATOR.match(line, rest)
        pairs[_unescape(line[:rest])] = _unescape(line[separator.end() if separator else rest :])
        if len(pairs) > MAX_KEYS:
            raise FormatError(f"more than {MAX_KEYS} keys")
    return pairs


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without comments, continued ones as one."""
    parts: list[str] = []
    begun = False
    for line in text.splitlines():
        stripped = line.lstrip(" \t\f")
        if not begun and (not stripped or stripped[0] in "#!"):
            continue
        backslashes = len(stripped) - len(stripped.rstrip("\\"))
        if backslashes % 2:
            parts.append(stripped[:-1])
            begun = begun or len(stripped) > 1
            continue
        yield "".join([*parts, stripped])
        parts, begun = [], False


def read_properties(storage: Storage) -> Mapping[str, str]:
    """A table's properties; Hudi's backup copy serves when an update of the file was interrupted.

    Raises TableError when neither copy is there, whole, and names a table version.
    """
    why = "not a Hudi table: it has no .hoodie/hoodie.properties"
    for name in ("hoodie.properties", "hoodie.properties.backup"):
        path = f"{HOODIE}/{name}"
        data = storage.read_if_there(path, MAX_BYTES)
        if data is None:
            continue
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            why = f"{path} is not text"
            continue
        try:
            found = parse_properties(text)
        except FormatError as error:
            why = f"{path} has {error}"
            continue
        damage = find_damage(text, found)
        if damage:
            why = f"{path} is damaged: {damage}"
            continue
        if "hoodie.table.name" in found or "hoodie.table.version" in found:
            return MappingProxyType(found)
        why = f"{path} is incomplete: it has no hoodie.table.name"
    raise TableError(storage.root, why)


def names(text: str | None) -> tuple[str, ...]:
    """The names of a comma separated list; none for an absent or empty one."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())
