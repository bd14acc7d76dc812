"""``hoodie.properties``: a table's configuration, in Java's properties format (contract: read, never guess).

Source: ``HoodieTableConfig`` of Hudi; the escapes are those of ``java.util.Properties.load``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from index_store.storage.errors import TableError
from index_store.storage.storage import Storage
from index_store.table.property_checks import find_damage

__all__ = ["HOODIE", "names", "parse_properties", "read_properties"]

HOODIE = ".hoodie"
#: Bytes of a file of properties; the largest real ones hold a schema of a megabyte.
MAX_BYTES = 4 << 20
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_PAIR = re.compile(r"((?:\\.|[^\\=:\s])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)


def _unescape(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) == 5 else _CONTROL.get(code, code)

    return _ESCAPE.sub(one, text)


def parse_properties(text: str) -> dict[str, str]:
    """Keys and values of a properties file: comments, continued lines and escapes as Java reads them."""
    pairs: dict[str, str] = {}
    logical = ""
    for line in text.splitlines():
        stripped = line.lstrip(" \t\f")
        if not logical and (not stripped or stripped[0] in "#!"):
            continue
        backslashes = len(stripped) - len(stripped.rstrip("\\"))
        if backslashes % 2:
            logical += stripped[:-1]
            continue
        match = _PAIR.fullmatch(logical + stripped)
        if match:
            pairs[_unescape(match[1])] = _unescape(match[2])
        logical = ""
    return pairs


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
        found = parse_properties(text)
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
