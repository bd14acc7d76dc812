"""Entries of secondary indexes as text: how a value and a key stand in one, and which texts a value may have."""

from __future__ import annotations

import pytest

from evaluator.language.schema import Field
from evaluator.language.types import BIGINT, DATE, DOUBLE, INT, STRING, TIMESTAMP_LTZ, Kind, Type
from evaluator.statistics.distrust import ANCIENT_DAY, ANCIENT_MICROS
from index_store.kinds.record_keys.secondary_entries import escape, split_entry, texts_of
from index_store.storage.errors import FormatError


@pytest.mark.parametrize("value", ["", "a", "$", "\\", "\0", "a$b", "\\$", "$$\\\\", "\0\0", "x\\", "日\U00010348$"])
@pytest.mark.parametrize("key", ["k1", "id:1$,ts:2", "\\", "$\0"])
def test_values_and_keys_come_back_out_of_an_entry(value, key):
    entry = f"{escape(value)}${escape(key)}"
    assert split_entry(entry.encode()) == (f"{escape(value)}$", key)


@pytest.mark.parametrize(
    ("value", "column_type", "version", "unit", "texts"),
    [
        ("a$b", STRING, 2, "", ("a$b",)),
        ("a", Type(Kind.VARCHAR, 9), 1, "", ("a",)),
        ("a", INT, 2, "", ()),
        (-5, INT, 1, "", ("-5",)),
        (2**40, BIGINT, 2, "", (str(2**40),)),
        (18062, DATE, 2, "", ("18062",)),
        (18062, DATE, 1, "", ("2019-06-15", "18062")),
        (10**8, DATE, 1, "", ()),
        (-200_000, DATE, 1, "", ()),
        (ANCIENT_DAY, DATE, 2, "", (str(ANCIENT_DAY),)),
        (ANCIENT_DAY - 1, DATE, 2, "", ()),
        (0, DATE, 1, "", ("1970-01-01", "0")),
        (-200_000, DATE, 2, "", ()),
        (-3 * 10**15, TIMESTAMP_LTZ, 2, "micros", ()),
        (7, TIMESTAMP_LTZ, 2, "micros", ("7",)),
        (ANCIENT_MICROS, TIMESTAMP_LTZ, 2, "micros", (str(ANCIENT_MICROS),)),
        (ANCIENT_MICROS - 1, TIMESTAMP_LTZ, 2, "micros", ()),
        (7, TIMESTAMP_LTZ, 3, "micros", ()),
        (7, TIMESTAMP_LTZ, 2, "millis", ()),
        (7, TIMESTAMP_LTZ, 1, "micros", ()),
        (1.5, DOUBLE, 2, "", ()),
        ("x", Type(Kind.CHAR, 4), 2, "", ()),
        (True, INT, 2, "", ()),
        (1, Type(Kind.DECIMAL, precision=9, scale=0), 2, "", ()),
    ],
)
def test_only_certain_texts_are_looked_up(value, column_type, version, unit, texts):
    assert texts_of(value, Field("c", column_type), version, unit) == texts


@pytest.mark.parametrize(
    ("value", "escaped"), [("a", "a"), ("$", "\\$"), ("\\", "\\\\"), ("\0", "\\\0"), ("a$\\", "a\\$\\\\")]
)
def test_a_backslash_stands_before_special_characters(value, escaped):
    assert escape(value) == escaped


@pytest.mark.parametrize("entry", [b"", b"value", b"a\\", b"a\\$", b"a\\$key", b"\\\\", b"\xff$key"])
def test_an_entry_without_a_dollar_is_damage(entry):
    with pytest.raises(FormatError, match="an entry of a secondary index"):
        split_entry(entry)


@pytest.mark.parametrize(
    ("entry", "value", "key"),
    [(b"v$k$1", "v$", "k$1"), (b"$k", "$", "k"), (b"v$", "v$", ""), (b"v$k\\", "v$", "k"), (b"\\a$\\b", "\\a$", "b")],
)
def test_entries_that_hudi_would_write_otherwise_are_read(entry, value, key):
    assert split_entry(entry) == (value, key)
