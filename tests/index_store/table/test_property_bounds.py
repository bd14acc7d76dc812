"""``hoodie.properties`` of other sizes than Hudi writes: read in one pass, or an error, in little memory."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import pytest

from index_store.storage.errors import FormatError, TableError
from index_store.storage.storage import Storage
from index_store.table.properties import MAX_BYTES, MAX_KEY, MAX_KEYS, MAX_LINES, parse_properties, read_properties
from index_store.table.property_checks import find_damage
from tests.index_store.memory import MIB, at_most, refused


@pytest.mark.parametrize(
    "text",
    [
        "\\\\" * MIB,
        "\\u0041" * (MIB // 2) + "=1",
        "a" * (MAX_KEY + 1) + "=1",
        "".join(f"{number:x}=\n" for number in range(MAX_KEYS + 1)),
        "\n" * (MAX_LINES + 1),
        "a=\u2028" * (MAX_LINES + 1),
        "a=\n" * (MAX_LINES + 1),
        "a=" + "\\\n" * (MAX_LINES + 1),
    ],
    ids=[
        "backslashes",
        "escapes",
        "a long key",
        "keys",
        "empty lines",
        "other line breaks",
        "lines",
        "continued lines",
    ],
)
def test_more_than_the_bounds_allow_is_refused(text: str) -> None:
    assert "more than" in refused(lambda: parse_properties(text), FormatError, 4)


def test_the_largest_that_is_allowed_is_read() -> None:
    keys = {f"{number:x}".zfill(MAX_KEY if number < 9 else 9): str(number) for number in range(MAX_KEYS)}
    assert parse_properties("".join(f"{key} = {value}\n" for key, value in keys.items())) == keys
    with at_most(8):
        assert parse_properties("a=" + "\\\\" * (MIB // 4)) == {"a": "\\" * (MIB // 4)}


@pytest.mark.parametrize("text", ["hoodie.", "oodie.", "=", "a=", "hoodie.=", "hoodie.1=", ":", " ", ",", "x"])
@pytest.mark.parametrize("start", ["x=", "#", "hoodie.table.name=", "", "x\\\n"])
def test_damage_is_looked_for_in_one_pass(start: str, text: str) -> None:
    """A value of ``hoodie.hoodie.`` was searched once from each of its words: minutes for a megabyte."""
    whole = start + text * (MAX_BYTES // 4 // len(text))
    before = time.process_time()
    with suppress(FormatError):
        find_damage(whole, parse_properties(whole))
    assert time.process_time() - before < 20


def test_the_error_for_a_long_value_is_short() -> None:
    for key in ("hoodie.table.cdc.enabled", "hoodie.record.merge.mode", "hoodie.table.initial.version"):
        text = f"hoodie.table.name=t\nhoodie.table.version=9\n{key}={'9' * 10_000}\n"
        assert 0 < len(find_damage(text, parse_properties(text))) < 200


def test_a_table_whose_properties_are_beyond_the_bounds_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / ".hoodie"
    folder.mkdir()
    (folder / "hoodie.properties").write_text("hoodie.table.name=t\n" + "\n" * MAX_LINES)
    assert "100000 lines" in refused(lambda: read_properties(Storage.at(tmp_path)), TableError, 4)
    with (folder / "hoodie.properties").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert "at most" in refused(lambda: read_properties(Storage.at(tmp_path)), TableError, 2)
