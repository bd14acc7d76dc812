"""The first record of an Avro file, real and hostile."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from index_store.formats.bounded.avro_container import LARGEST, first_record
from index_store.formats.bounded.json_text import MAX_COMMIT
from index_store.storage.errors import FormatError, TableError
from index_store.storage.storage import Storage
from index_store.table.timeline import read_timeline
from tests.index_store.memory import MIB, refused, varint

SCHEMA = {"type": "record", "name": "r", "fields": [{"name": "a", "type": {"type": "array", "items": "string"}}]}


def avro_file(block: bytes, schema: Any = SCHEMA, codec: str | None = None, count: int = 1) -> bytes:
    header = {"avro.schema": json.dumps(schema).encode(), **({"avro.codec": codec.encode()} if codec else {})}
    parts = [b"Obj\x01", varint(len(header))]
    for name, value in header.items():
        parts += [varint(len(name)), name.encode(), varint(len(value)), value]
    return b"".join([*parts, b"\0", b"m" * 16, varint(count), varint(len(block)), block, b"m" * 16])


def deflated(data: bytes) -> bytes:
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    return stream.compress(data) + stream.flush()


def test_every_real_instant_is_read_as_fastavro_reads_it(hudi_table: Callable[[str], Path]) -> None:
    seen = 0
    for name in ("1.1.1_main_cow", "1.1.1_main_mor", "1.1.1_evol_cow", "1.0.2_main_cow"):
        for directory in (".hoodie/timeline", ".hoodie/metadata/.hoodie/timeline"):
            storage = Storage.at(hudi_table(name)).below(directory)
            for instant in read_timeline(storage).instants:
                data = storage.read(instant.file)
                if data:
                    assert first_record(data) == next(iter(fastavro.reader(io.BytesIO(data))), None)
                    seen += 1
    assert seen > 20


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_codecs(codec: str) -> None:
    out = io.BytesIO()
    fastavro.writer(out, SCHEMA, [{"a": ["x" * 1000, "y"]}, {"a": []}], codec=codec)
    assert first_record(out.getvalue()) == {"a": ["x" * 1000, "y"]}
    empty = io.BytesIO()
    fastavro.writer(empty, SCHEMA, [], codec=codec)
    assert first_record(empty.getvalue()) is None


@pytest.mark.parametrize("codec", ["bzip2", "xz", "snappy", "zstandard", "lz4", "", "nul"])
def test_other_codecs_are_refused(codec: str) -> None:
    if codec:
        assert "not supported" in refused(lambda: first_record(avro_file(b"\0", codec=codec)), FormatError)


def test_a_block_that_inflates_to_gigabytes_takes_what_its_size_allows() -> None:
    bomb = avro_file(deflated(bytes(200 << 20)), codec="deflate")
    assert len(bomb) < 250_000
    assert "inflates to more than" in refused(lambda: first_record(bomb), FormatError, 64)
    assert LARGEST < 1 << 30


@pytest.mark.parametrize("count", [1 << 24, 1 << 31, -(1 << 62), 1 << 62])
def test_an_array_of_nulls_is_refused(count: int) -> None:
    schema = {"type": "record", "name": "r", "fields": [{"name": "a", "type": {"type": "array", "items": "null"}}]}
    data = avro_file(varint(count) + (varint(0) if count < 0 else b"") + b"\0", schema)
    assert len(data) < 250
    assert "null outside of a union" in refused(lambda: first_record(data), FormatError)


@pytest.mark.parametrize(
    "data",
    [
        b"Obj\x01" + varint(1 << 62),
        b"Obj\x01" + varint(-(1 << 62)) + varint(1),
        b"Obj\x01" + varint(1) + varint(1 << 40),
        b"Obj\x01" + varint(1) + varint(-5),
        b"Obj\x01" + b"\xff" * 20,
        b"Obj\x01",
        avro_file(b"\0", count=1 << 40)[:-17],
        avro_file(b"\0", count=-1),
        avro_file(b"\0")[:-1] + b"x",
        avro_file(b"\xff" * 20),
        avro_file(b"", schema="x" * 100),
        avro_file(b"", schema=[]),
        avro_file(b"\0", schema="int"),
        b"Obj\x01" + b"\0" + b"m" * 16 + varint(1) + varint(1) + b"\0" + b"m" * 16,
    ],
    ids=range(14),
)
def test_damage_is_an_error_that_takes_no_memory(data: bytes) -> None:
    refused(lambda: first_record(data), FormatError, 8)


def test_a_file_of_empty_blocks_is_not_walked_over() -> None:
    data = b"Obj\x01" + bytes(64 << 20)
    assert "blocks without records" in refused(lambda: first_record(data), FormatError, 1)


def test_a_cut_anywhere_is_an_error_or_no_record() -> None:
    whole = avro_file(varint(2) + b"\2x\2y\0")
    assert first_record(whole) == {"a": ["x", "y"]}
    for length in range(4, len(whole)):
        with suppress(FormatError):
            assert first_record(whole[:length]) is None  # the header is whole, and no block follows


def test_an_instant_of_a_hostile_table_is_an_error(tmp_path: Path) -> None:
    nulls = {"type": "record", "name": "r", "fields": [{"name": "a", "type": {"type": "array", "items": "null"}}]}
    (tmp_path / "20260101000000000_20260101000000001.commit").write_bytes(avro_file(varint(1 << 31) + b"\0", nulls))
    (tmp_path / "20260102000000000_20260102000000001.commit").write_bytes(b"[" * 100_000)
    (tmp_path / "20260103000000000_20260103000000001.commit").write_bytes(b"[" + b"[]," * 3_000_000 + b"0]")
    (tmp_path / "20260104000000000_20260104000000001.commit").write_bytes(b'{"partitionToWriteStats": [1]}')
    timeline = read_timeline(Storage.at(tmp_path))
    assert len(timeline.instants) == 4
    for instant in timeline.instants:
        refused(lambda instant=instant: timeline.details(instant), TableError, 32)


def test_a_file_with_holes_is_not_read_beyond_the_size_of_a_commit(tmp_path: Path) -> None:
    """It takes no disk, and took its length of memory."""
    path = tmp_path / "20260101000000000_20260101000000001.commit"
    with path.open("wb") as file:
        file.truncate(MAX_COMMIT + 1)
    timeline = read_timeline(Storage.at(tmp_path))
    before = pa.total_allocated_bytes()
    assert "at most" in refused(lambda: timeline.details(timeline.instants[0]), TableError, 1)
    assert pa.total_allocated_bytes() == before
    assert MAX_COMMIT <= 256 * MIB


@pytest.mark.parametrize(
    "record",
    [
        [],
        "text",
        {"extraMetadata": {"schema": 1}},
        {"extraMetadata": "text"},
        {"partitionToWriteStats": {"p": {"path": "x"}}},
        {"partitionToWriteStats": {"p": [{"path": 5}]}},
        {"partitionToWriteStats": {"p": ["x"]}},
        {"partitionToReplaceFileIds": {"p": [["x"]]}},
        {"partitionToReplaceFileIds": {"p": "x"}},
        {"partitionMetadata": {"p": {"successDeleteFiles": [1]}}},
        {"operationType": ["INSERT"]},
        {"earliestCommitToRetain": 5},
    ],
)
def test_fields_of_another_form_are_an_error(record: Any, tmp_path: Path) -> None:
    (tmp_path / "20260101000000000.commit").write_text(json.dumps(record), "utf-8")
    timeline = read_timeline(Storage.at(tmp_path))
    with pytest.raises(TableError):
        timeline.details(timeline.instants[0])
