"""Whether columns are the record key, by footers of base files: a witness beside ``hoodie.properties`` (C10).

``hoodie.properties`` has no checksum of its content. A changed byte can make the name of the record key column that of
another column, whose values would then be looked up as keys. A base file holds both ``_hoodie_record_key`` and the
column, and its footer the least and the greatest value of each:

    a column of text       the same bounds as the keys
    a column of integers   the text of both bounds is within those of the keys, and the keys within those of the column
    several columns        the least and the greatest key are ``f1:..,f2:..`` of these columns and within their bounds

One footer that contradicts is enough: the columns are not the key. Where no footer can be read, or the files have no
such bounds, the properties are believed. At most ``WITNESSES`` footers of a table are read for this, once.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pyarrow as pa

from evaluator.language.records import record
from index_store.formats.record_key import EMPTY, NULL
from index_store.storage.errors import StatsError
from index_store.table.table_schema import RECORD_KEY

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = ["WITNESSES", "begin_witnesses", "check_record_key", "contradicted"]

#: So many base files are asked: the first and the last of the slices.
WITNESSES = 2
#: What the files of each open table say of its record key.
_VERDICTS: WeakKeyDictionary[Table, str] = WeakKeyDictionary()


@record
class _Bounds:
    """The least and the greatest value of a column in a file; text or whole numbers."""

    lo: Any
    hi: Any

    @property
    def is_text(self) -> bool:
        return isinstance(self.lo, str) and isinstance(self.hi, str)

    @property
    def is_integer(self) -> bool:
        return all(isinstance(one, int) and not isinstance(one, bool) for one in (self.lo, self.hi))


def contradicted(table: Table, slices: FileSlices) -> str:
    """Why the columns that ``hoodie.properties`` names are not the record key; "" when nothing speaks against them."""
    verdict = _VERDICTS.get(table)
    if verdict is None:
        verdict = _VERDICTS[table] = _ask(table, slices)
    return verdict


def check_record_key(table: Table, slices: FileSlices) -> None:
    """Raises StatsError when the files show that the columns are not the record key."""
    why = contradicted(table, slices)
    if why:
        raise StatsError(table.path, ", ".join(table.record_key_fields), why)


def _ask(table: Table, slices: FileSlices) -> str:
    columns = table.record_key_fields
    paths = _witnesses(slices)
    table.footers.expect(paths)
    for path in paths:
        footer = table.footers.read(path)
        found = {} if footer is None else _bounds_of(footer, (RECORD_KEY, *columns))
        keys = found.get(RECORD_KEY)
        if keys is not None and keys.is_text and not _agree(keys, columns, found):
            return f"hoodie.properties names {', '.join(columns)} as the record key, but the keys in {path} are others"
    return ""


def begin_witnesses(table: Table, slices: FileSlices, *, but: Container[str] = ()) -> None:
    """Start to read what ``contradicted`` asks, ``but`` for files of which more is read."""
    if table not in _VERDICTS:
        table.footers.begin([path for path in _witnesses(slices) if path not in but])


def _witnesses(slices: FileSlices) -> list[str]:
    """The base files of the first and the last slices, as far as they have some."""
    n = len(slices)
    found: dict[str, None] = {}
    for order in (range(min(n, WITNESSES)), range(n - 1, max(n - 1 - WITNESSES, -1), -1)):
        path = next((path for number in order if (path := slices[number].base_file) and path.endswith(".parquet")), "")
        if path:
            found[path] = None
    return list(found)


def _bounds_of(footer: Any, names: Sequence[str]) -> dict[str, _Bounds]:
    """The bounds over all row groups, of the columns that have them in each."""
    found: dict[str, _Bounds] = {}
    try:
        places = {footer.schema.column(place).path: place for place in range(footer.num_columns)}
        for name in names:
            groups = [footer.row_group(number) for number in range(footer.num_row_groups)] if name in places else []
            stored = [group.column(places[name]).statistics for group in groups]
            if stored and all(one is not None and one.has_min_max for one in stored):
                found[name] = _Bounds(min(one.min for one in stored), max(one.max for one in stored))
    except (OSError, pa.ArrowException, IndexError, TypeError, ValueError):
        return {}
    return found


def _agree(keys: _Bounds, columns: Sequence[str], found: dict[str, _Bounds]) -> bool:
    """Whether the least and the greatest key can be made of the columns."""
    made = all(_is_made_of(key, columns, found) for key in (keys.lo, keys.hi))
    if len(columns) == 1 and not made:
        bounds = found.get(columns[0])
        if bounds is None or not (bounds.is_text or bounds.is_integer):
            return True
        if bounds.is_text:
            return (bounds.lo, bounds.hi) == (keys.lo, keys.hi)
        texts_within = all(keys.lo <= str(one) <= keys.hi for one in (bounds.lo, bounds.hi))
        return texts_within and all(_is_within(key, bounds) for key in (keys.lo, keys.hi))
    return made


def _is_made_of(key: str, columns: Sequence[str], found: dict[str, _Bounds]) -> bool:
    """Whether a key is ``f1:..,f2:..`` of these columns, with values within their bounds."""
    position = 0
    for number, name in enumerate(columns):
        head = f"{name}:" if number == 0 else f",{name}:"
        at = key.find(head, position)
        if at < 0 or (number == 0 and at > 0):
            return False
        position = at + len(head)
    parts = key.split(",")
    if len(parts) != len(columns) or key.count(":") != len(columns):
        return True  # a value has a colon or a comma
    values = [part.partition(":")[2] for part in parts]
    return all(
        value in (NULL, EMPTY) or name not in found or _is_within(value, found[name])
        for name, value in zip(columns, values, strict=True)
    )


def _is_within(value: str, bounds: _Bounds) -> bool:
    """Whether the text of a value is within the bounds; of other types than text and whole numbers it always is."""
    if bounds.is_text:
        return bool(bounds.lo <= value <= bounds.hi)
    if not bounds.is_integer:
        return True
    digits = value.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and len(digits) < 20 and bounds.lo <= int(value) <= bounds.hi
