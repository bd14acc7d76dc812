"""Column names that meant another column before (P19, hudi#5275).

With schema evolution on, Hudi keeps every schema of the table under ``.hoodie/.schema``, where a column has an id for
life. A name that stood for two ids (dropped and added again, or renamed onto) has statistics of both columns under one
name; nothing in a record tells them apart. Source: ``SerDeHelper``, ``FileBasedInternalSchemaStorageManager``.

Pitfall P19 is described in docs/facts/pitfalls.md#p19.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evaluator.language.records import record
from index_store.formats.bounded.json_text import MAX_DOCUMENT, check_depth, parse_json
from index_store.storage.errors import FormatError, TableError
from index_store.storage.storage import Storage
from index_store.table.properties import HOODIE

__all__ = ["NameHistory", "has_schema_history", "read_name_history"]

DIRECTORY = f"{HOODIE}/.schema"
#: Characters of all dotted names of a file of schemas.
MAX_NAMES = 256 << 20


@record
class NameHistory:
    """Dotted names that stood for several columns (``reused``), and names of columns that had others (``renamed``)."""

    reused: frozenset[str]
    renamed: frozenset[str]


def has_schema_history(storage: Storage) -> bool:
    """Whether the table keeps its schemas, or may: schema evolution is or was on."""
    try:
        return any(entry.path.endswith(".schemacommit") for entry in storage.files(DIRECTORY))
    except TableError:
        return True


def read_name_history(storage: Storage) -> NameHistory:
    """The reused and renamed columns of the table's schemas. Raises TableError when the history cannot be read."""
    ids: dict[str, set[int]] = {}
    names: dict[int, set[str]] = {}
    for entry in storage.files(DIRECTORY):
        if not entry.path.endswith(".schemacommit") or not entry.size:
            continue
        try:
            room = [MAX_NAMES]
            for schema in _schemas(storage.read(entry.path, MAX_DOCUMENT)):
                for name, column_id in _columns(schema, "", room):
                    ids.setdefault(name, set()).add(column_id)
                    names.setdefault(column_id, set()).add(name)
        except (FormatError, ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            why = f"the schema history cannot be understood: {error}"
            raise TableError(storage.absolute(entry.path), why) from error
    return NameHistory(
        frozenset(name for name, found in ids.items() if len(found) > 1),
        frozenset(name for found in names.values() if len(found) > 1 for name in found),
    )


def _schemas(data: bytes) -> Iterable[Any]:
    what = "the history"
    plain = parse_json(data, what)
    check_depth(plain, what)
    found: Iterable[Any] = plain.get("schemas", ())
    return found


def _columns(struct: Mapping[str, Any], prefix: str, room: list[int]) -> Iterator[tuple[str, int]]:
    for field in struct.get("fields", ()):
        name = f"{prefix}{field['name']}"
        room[0] -= len(name)
        if room[0] < 0:
            raise FormatError(f"names of more than {MAX_NAMES} characters")
        yield name, int(field["id"])
        if isinstance(field.get("type"), Mapping):
            yield from _columns(field["type"], f"{name}.", room)
