"""JSON of a table, within bounds of bytes, containers and depth."""

from __future__ import annotations

import json

import pytest

from index_store.formats.bounded.json_text import MAX_CONTAINERS, MAX_DEPTH, MAX_NODES, parse_json, parse_schema
from index_store.storage.errors import FormatError
from tests.index_store.memory import refused


@pytest.mark.parametrize("item", ["[],", "{},", '{"":0},', "[[[]]],"])
def test_many_containers_in_few_bytes_are_refused(item: str) -> None:
    text = "[" + item * (2 * MAX_CONTAINERS) + "0]"
    for data in (text, text.encode()):
        assert "lists and objects" in refused(lambda data=data: parse_json(data, "it"), FormatError)


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
