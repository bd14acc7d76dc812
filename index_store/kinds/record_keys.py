"""Which column is a table's record key, and the text of a value as a record key.

    _hoodie_record_key                      always, as it is
    the only field of the record key        when the key generator copies its value: text as it is, integers in decimal

A complex key generator may write ``column:value`` for one column too, depending on the release; several key fields are
one text together; dates, decimals and timestamps have more than one text. None of these is looked up.
Source: ``KeyGenUtils``, ``SimpleAvroKeyGenerator``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evaluator.bounds import Trust
from evaluator.schema import Field
from evaluator.types import Kind
from index_store.kinds.base import ColumnCoverage, Coverage

if TYPE_CHECKING:
    from index_store.file_slices import FileSlices
    from index_store.table import Table

__all__ = ["KEY_COLUMN", "is_record_key", "key_coverage", "record_keys"]

KEY_COLUMN = "_hoodie_record_key"
_PLAIN_GENERATORS = frozenset({"SIMPLE", "SIMPLE_AVRO", "NON_PARTITION", "NON_PARTITION_AVRO", "TIMESTAMP",
                               "TIMESTAMP_AVRO"})
_PLAIN_CLASSES = frozenset({"SimpleKeyGenerator", "SimpleAvroKeyGenerator", "NonpartitionedKeyGenerator",
                            "NonpartitionedAvroKeyGenerator", "TimestampBasedKeyGenerator",
                            "TimestampBasedAvroKeyGenerator"})


def is_record_key(table: Table, column: Field) -> bool:
    """Whether the column's value, as text, is the record key."""
    if column.name == KEY_COLUMN:
        return True
    if table.record_key_fields != (column.name,):
        return False
    kind = table.properties.get("hoodie.table.keygenerator.type", "").upper()
    made_by = table.properties.get("hoodie.table.keygenerator.class", "").rpartition(".")[2]
    return kind in _PLAIN_GENERATORS or (not kind and made_by in _PLAIN_CLASSES)


def record_keys(table: Table, column: Field, values: Sequence[object]) -> list[str] | None:
    """The record keys that non-null values stand for, or None when one of them has no certain text."""
    if not is_record_key(table, column):
        return None
    keys = []
    for value in values:
        if column.type.kind in (Kind.STRING, Kind.VARCHAR) and isinstance(value, str) and value:
            keys.append(value)
        elif column.type.kind.is_integer and isinstance(value, int) and not isinstance(value, bool):
            keys.append(str(value))
        else:
            return None
    return keys


def key_coverage(kind: str, table: Table, slices: FileSlices, usable: int, columns: Sequence[Field]) -> Coverage:
    """What a kind that answers for record keys in ``usable`` of the slices knows of these columns."""
    counts = {Trust.OK: usable, Trust.NO_RECORD: len(slices) - usable}
    known = ColumnCoverage(usable, {trust: count for trust, count in counts.items() if count})
    return Coverage(kind, slices.instant, len(slices),
                    {column.name: known for column in columns if is_record_key(table, column)})
