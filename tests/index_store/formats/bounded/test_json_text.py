"""JSON of a table, within bounds of bytes, containers and depth."""

from __future__ import annotations

import json

import pytest

from index_store.formats.bounded.json_text import (
    ITEM_BYTES,
    MAX_COMMIT,
    MAX_CONTAINERS,
    MAX_DEPTH,
    MAX_ITEMS,
    MAX_NODES,
    MOST_ITEMS,
    parse_json,
    parse_schema,
)
from index_store.storage.errors import FormatError
from tests.index_store.memory import refused


@pytest.mark.parametrize("item", ["[],", "{},", '{"":0},', "[[[]]],"])
def test_many_containers_in_few_bytes_are_refused(item: str) -> None:
    text = "[" + item * (2 * MAX_CONTAINERS) + "0]"
    for data in (text, text.encode()):
        assert "lists and objects" in refused(lambda data=data: parse_json(data, "it"), FormatError)


@pytest.mark.parametrize(("item", "times"), [("0,", 2), ("1.1,", 3), ('"\xe91",', 5), ('"k":0,', 3)])
def test_many_values_in_few_bytes_are_refused(item: str, times: int) -> None:
    items = item * (times * MAX_ITEMS)
    text = "{" + items + '"":0}' if ":" in item else "[" + items + "0]"
    for data in (text, text.encode()):
        assert "commas and colons" in refused(lambda data=data: parse_json(data, "it"), FormatError)


def test_a_document_never_has_more_values_than_the_largest_commit() -> None:
    data = b"[" + b"0, " * MOST_ITEMS + b" " * (ITEM_BYTES - 3) * MOST_ITEMS + b"0,0]"
    assert "commas and colons" in refused(lambda: parse_json(data, "it", MAX_COMMIT), FormatError)
    assert len(data) < MAX_COMMIT


def test_a_document_beyond_its_limit_is_refused() -> None:
    assert "at most 10" in refused(lambda: parse_json(b" " * 11, "it", 10), FormatError)


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"nul", b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe", b"1" * 5000, b'"\\ud800', b"\0", b"[1,]"],
)
def test_what_is_no_json_is_an_error(text: bytes) -> None:
    refused(lambda: parse_json(text, "it"), FormatError)


def test_a_commit_of_many_files_is_read() -> None:
    stat = {"fileId": "f" * 36, "path": "p" * 100, "numWrites": 10, "runtimeStats": None, "prevCommit": "1" * 17}
    plain = {"partitionToWriteStats": {"p": [stat] * 50_000}}
    assert parse_json(json.dumps(plain).encode(), "it") == plain


def test_the_depth_and_the_parts_of_a_schema_are_bounded() -> None:
    def deep(levels: int) -> str:
        return "[" * levels + "1" + "]" * levels

    assert parse_schema(deep(MAX_DEPTH - 1))
    assert "levels" in refused(lambda: parse_schema(deep(MAX_DEPTH)), FormatError)
    assert "parts" in refused(lambda: parse_schema("[" + "1," * MAX_NODES + "1]"), FormatError, 128)
