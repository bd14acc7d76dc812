"""The columns that are a table's record key, and the text of a value as a record key.

    _hoodie_record_key                      always, as it is
    the only field of the record key        when the key generator copies its value: text as it is, integers in decimal
    all fields of the record key            together, when there are several: ``id:a,n:5`` (``CompositeKey``)

A complex key generator writes ``id:a`` for one column too since Hudi 1.1, and just ``a`` before; dates, decimals and
timestamps have more than one text. None of these is looked up.
Source: ``KeyGenUtils``, ``SimpleAvroKeyGenerator``; seen in tables of Hudi 0.15.0, 1.0.2, 1.1.1 and 1.2.0.

Facts: docs/facts/hudi-record-and-secondary-index.md#the-text-of-a-record-key.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING

from evaluator.binding.statistics_provider import Declined
from evaluator.language.records import record
from evaluator.language.schema import Field
from evaluator.language.types import Kind
from evaluator.statistics.distrust import Trust
from index_store.formats.record_key import EMPTY
from index_store.kinds.base import ColumnCoverage, Coverage
from index_store.kinds.record_keys.key_witness import check_record_key
from index_store.storage.errors import TableError
from index_store.table.schema_history import read_name_history
from index_store.table.table_schema import RECORD_KEY

if TYPE_CHECKING:
    from index_store.table.file_slices import FileSlices
    from index_store.table.table import Table

__all__ = [
    "CompositeKey",
    "composite_key",
    "is_record_key",
    "key_coverage",
    "key_text",
    "record_keys",
    "too_many_probes",
]

#: More keys than KEYS_PROBED are looked for so many times in Bloom filters. Each takes up to 240 bytes, so that none is
#: looked for beyond KEYS.
KEYS_PROBED, PROBES, KEYS = 1_000, 4_000_000, 200_000

_PLAIN_GENERATORS = frozenset(
    {"SIMPLE", "SIMPLE_AVRO", "NON_PARTITION", "NON_PARTITION_AVRO", "TIMESTAMP", "TIMESTAMP_AVRO"}
)
_PLAIN_CLASSES = frozenset(
    {
        "SimpleKeyGenerator",
        "SimpleAvroKeyGenerator",
        "NonpartitionedKeyGenerator",
        "NonpartitionedAvroKeyGenerator",
        "TimestampBasedKeyGenerator",
        "TimestampBasedAvroKeyGenerator",
    }
)


_JOINING_GENERATORS = frozenset({"COMPLEX", "COMPLEX_AVRO", "NON_PARTITION", "NON_PARTITION_AVRO"})
_JOINING_CLASSES = frozenset(
    {"ComplexKeyGenerator", "ComplexAvroKeyGenerator", "NonpartitionedKeyGenerator", "NonpartitionedAvroKeyGenerator"}
)


@record
class CompositeKey:
    """A record key of several columns: ``f1:v1,f2:v2`` in the order of the table's key fields."""

    fields: tuple[str, ...]

    def texts(self, columns: Sequence[Field], values: Sequence[Sequence[object]]) -> list[str] | None:
        """The keys of all combinations of non-null values, a list for each field; None when a text is not certain."""
        parts = []
        for column, some in zip(columns, values, strict=True):
            spelled = [key_text(column, value) for value in some]
            if any(text is None for text in spelled):
                return None
            parts.append([f"{column.name}:{text or EMPTY}" for text in spelled])
        return [",".join(part) for part in product(*parts)]


def composite_key(table: Table) -> CompositeKey | None:
    """The table's key, if its generator is known to write several columns as one text, and none was renamed."""
    if len(table.record_key_fields) < 2 or table.properties.get("hoodie.populate.meta.fields", "true") != "true":
        return None
    if not _made_by(table, _JOINING_GENERATORS, _JOINING_CLASSES):
        return None
    try:
        names = read_name_history(table.storage)
    except TableError:
        return None
    return (
        None if (names.reused | names.renamed) & set(table.record_key_fields) else CompositeKey(table.record_key_fields)
    )


def is_record_key(table: Table, column: Field) -> bool:
    """Whether the column's value, as text, is the record key."""
    if column.name == RECORD_KEY:
        return True
    if table.record_key_fields != (column.name,):
        return False
    return _made_by(table, _PLAIN_GENERATORS, _PLAIN_CLASSES)


def _made_by(table: Table, kinds: Container[str], classes: Container[str]) -> bool:
    kind = table.properties.get("hoodie.table.keygenerator.type", "").upper()
    made_by = table.properties.get("hoodie.table.keygenerator.class", "").rpartition(".")[2]
    return kind in kinds or (not kind and made_by in classes)


def too_many_probes(keys: int, filters: int) -> Declined | None:
    """Why so many keys are not looked for in so many Bloom filters; None for what takes a second at most."""
    if keys <= KEYS_PROBED or (keys <= KEYS and keys * filters <= PROBES):
        return None
    if keys > KEYS:
        return Declined(f"{keys:,} keys are not looked for in Bloom filters, at most {KEYS:,}")
    return Declined(f"{keys:,} keys are not looked for in {filters:,} Bloom filters, at most {PROBES:,} times in all")


def record_keys(table: Table, slices: FileSlices, column: Field, values: Sequence[object]) -> list[str] | None:
    """The record keys that non-null values stand for, or None when one of them has no certain text.

    Raises StatsError when the files show that the column is not the record key (``key_witness``).
    """
    if not is_record_key(table, column):
        return None
    keys = []
    for value in values:
        text = key_text(column, value)
        if not text:
            return None
        keys.append(text)
    if column.name != RECORD_KEY:
        check_record_key(table, slices)
    return keys


def key_text(column: Field, value: object) -> str | None:
    """A value as key generators write it, "" too; None for what has more than one text."""
    if column.type.kind in (Kind.STRING, Kind.VARCHAR) and isinstance(value, str):
        return value
    if column.type.kind.is_integer and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None


def key_coverage(kind: str, slices: FileSlices, usable: int, columns: Iterable[Field]) -> Coverage:
    """The coverage of a kind that looks up keys in ``usable`` of the slices, for columns that are such keys."""
    counts = {Trust.OK: usable, Trust.NO_RECORD: len(slices) - usable}
    known = ColumnCoverage(usable, {trust: count for trust, count in counts.items() if count})
    return Coverage(kind, slices.instant, len(slices), {column.name: known for column in columns})
