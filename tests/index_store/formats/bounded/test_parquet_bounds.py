"""Parquet files whose footers, pages and texts claim more than their bytes allow."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from index_store.formats.bounded import parquet_bounds
from index_store.formats.bounded.parquet_bounds import MAX_FOOTER, STRUCTS, check_pages, read_footer, read_texts
from index_store.formats.bounded.thrift_compact import count_structs, numbers_of
from index_store.formats.parquet_footers import Footers
from index_store.storage.errors import FormatError
from index_store.storage.storage import Storage
from index_store.table.history import History
from tests.index_store.memory import MIB, refused


def unsigned(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes((*out, number))


def signed(number: int) -> bytes:
    return unsigned(number << 1 ^ number >> 63)


def structs(count: int) -> bytes:
    return b"\xfc" + unsigned(count)


def file_of(footer: bytes) -> bytes:
    return b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1"


def footer(groups: int, chunks: int, columns: int = 1) -> bytes:
    """A footer of the least bytes: so many row groups, each of so many column chunks."""
    root = b"\x48\x01r\x15" + signed(columns) + b"\0"
    schema = b"\x19" + structs(columns + 1) + root + b"\x15\x02\x25\x00\x18\x01a\0" * columns
    group = b"\x19" + structs(chunks) + (b"\x26\x08\0") * chunks + b"\x16\x02\x16\x02\0"
    return b"\x15\x02" + schema + b"\x16\x02\x19" + structs(groups) + group * groups + b"\0"


def opened(data: bytes) -> Any:
    return pa.BufferReader(data)


def test_a_footer_of_few_parts_is_read() -> None:
    assert read_footer(opened(file_of(footer(3, 1)))).num_row_groups == 3


@pytest.mark.parametrize(
    ("groups", "chunks", "columns"),
    [
        (1, STRUCTS * 2, 1),
        (STRUCTS * 2, 1, 1),
        (100, 100, 1),
        (1, 1, STRUCTS * 2),
        (1, 300_000, 1),
        (300_000, 1, 1),
        (300, 1000, 1),
        (1, 1, 300_000),
    ],
)
def test_a_footer_of_many_tiny_parts_is_refused(groups: int, chunks: int, columns: int) -> None:
    data = file_of(footer(groups, chunks, columns))
    before = pa.total_allocated_bytes()
    assert "too many" in refused(lambda: read_footer(opened(data)), FormatError)
    assert pa.total_allocated_bytes() - before < 64 * MIB


def test_a_large_footer_is_counted_once_and_a_refused_one_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []

    def counting(data: bytes, most: int) -> int:
        counted.append(len(data))
        return count_structs(data, most)

    monkeypatch.setattr(parquet_bounds, "count_structs", counting)
    monkeypatch.setattr(parquet_bounds, "_counted", set())
    monkeypatch.setattr(parquet_bounds, "_MOST_COUNTED", 2)
    schema = pa.schema([(f"a_column_with_a_long_name_{number}", pa.int64()) for number in range(600)])
    files = []
    for number in range(4):
        sink = pa.BufferOutputStream()
        parquet.write_table(schema.with_metadata({"number": str(number)}).empty_table(), sink)
        files.append(sink.getvalue().to_pybytes())
    for _ in range(3):
        assert read_footer(opened(files[0])).num_columns == 600
    assert len(counted) == 1
    for file in files:
        read_footer(opened(file))
    assert len(counted) == 4
    assert len(parquet_bounds._counted) <= 2
    for _ in range(2):
        assert "too many" in refused(lambda: read_footer(opened(file_of(footer(1, 300_000)))), FormatError)
    assert len(counted) == 6


@pytest.mark.parametrize("length", [0, 1, 100, 1 << 30, (1 << 32) - 1])
def test_a_footer_whose_length_lies(length: int) -> None:
    data = b"PAR1" + bytes(50) + struct.pack("<I", length) + b"PAR1"
    with pytest.raises((FormatError, OSError, pa.ArrowException)):
        read_footer(opened(data))
    assert length <= MAX_FOOTER or "footer of" in refused(lambda: read_footer(opened(data)), FormatError)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1PAR1", b"x" * 100])
def test_what_is_no_parquet_is_an_error(data: bytes) -> None:
    refused(lambda: read_footer(opened(data)), FormatError)


@pytest.mark.parametrize(
    "data",
    [
        b"\x19\xfc" + b"\xff" * 9 + b"\x01",
        b"\x18" + b"\xff" * 12,
        b"\x18\xff\xff\xff\xff\x0f",
        b"\x1c" * 100,
        b"\x19\x19" * 100,
        b"\x1b\x02\x55",
        b"\x1d",
        b"\x17",
        b"",
    ],
)
def test_damaged_thrift_is_an_error(data: bytes) -> None:
    refused(lambda: count_structs(data, 1000), FormatError, 1)
    with pytest.raises((FormatError, IndexError)):
        numbers_of(data, 0)


def test_every_real_footer_is_within_the_bounds(hudi_table: Callable[[str], Path]) -> None:
    seen = 0
    for name in ("1.1.1_main_cow", "1.1.1_main_mor", "0.15.0_nan_cow", "1.1.1_evol_cow"):
        for path in hudi_table(name).rglob("*.parquet"):
            data = path.read_bytes()
            metadata = read_footer(opened(data))
            length = int.from_bytes(data[-8:-4], "little")
            count = count_structs(data[-8 - length : -8], 1 << 30)
            assert count <= (STRUCTS + length // 24) / 10
            check_pages(opened(data), metadata, list(range(metadata.num_columns)))
            seen += 1
    assert seen > 10


def written(table: pa.Table, **options: Any) -> bytes:
    out = io.BytesIO()
    parquet.write_table(table, out, compression="zstd", **options)
    return out.getvalue()


def repeated(text: str, rows: int) -> pa.Table:
    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), [text])
    return pa.table({"instantTime": column, "completionTime": column})


@pytest.mark.parametrize("dictionary", [True, False])
def test_more_rows_than_allowed_are_not_read(dictionary: bool) -> None:
    data = written(repeated("2" * 17, 2_000_000), use_dictionary=dictionary)
    assert len(data) < 100_000
    assert "rows" in refused(lambda: read_texts(opened(data), ["instantTime"], len(data), 1 << 30), FormatError)


def test_a_page_that_inflates_without_measure_is_not_read() -> None:
    data = written(repeated("x" * (20 << 20), 1))
    assert len(data) < 10_000
    before = pa.total_allocated_bytes()
    assert "inflates" in refused(lambda: read_texts(opened(data), ["instantTime"], 100, 1 << 30), FormatError)
    assert pa.total_allocated_bytes() - before < MIB


def test_a_text_in_every_row_is_not_written_out() -> None:
    data = written(repeated("x" * 500_000, 2000))
    assert "more than" in refused(lambda: read_texts(opened(data), ["instantTime"], 10_000, 16 * MIB), FormatError)
    assert pa.total_allocated_bytes() < 512 * MIB


@pytest.mark.parametrize("column", [pa.array([1, 2]), pa.array([["a"], ["b"]]), pa.array([1.5, 2.5])])
def test_a_column_of_another_type_is_an_error(column: pa.Array) -> None:
    data = written(pa.table({"instantTime": column}))
    with pytest.raises((FormatError, pa.ArrowException, OSError)):
        read_texts(opened(data), ["instantTime"], 10, 100)


@pytest.mark.parametrize(
    "options", [{}, {"use_dictionary": False}, {"data_page_version": "2.0"}, {"row_group_size": 7}]
)
def test_texts_are_read_as_written(options: Any) -> None:
    texts = [None if i % 11 == 0 else f"key-{i % 300:05}" for i in range(1000)]
    data = written(pa.table({"a": pa.array(range(1000)), "k": pa.array(texts)}), **options)
    [column] = read_texts(opened(data), ["k"], 1000, MIB)
    assert column.to_pylist() == texts
    assert column.type == pa.string()


def test_a_file_without_rows_is_read() -> None:
    empty = pa.table({"k": pa.array([], pa.string())})
    out = io.BytesIO()
    with parquet.ParquetWriter(out, empty.schema) as writer:
        writer.write_table(empty)
        writer.write_batch(pa.record_batch([pa.array([], pa.string())], ["k"]))
    for data in (out.getvalue(), written(empty)):
        [column] = read_texts(opened(data), ["k"], 0, 0)
        assert column.to_pylist() == []


def test_a_history_that_claims_millions_of_instants_is_a_fault(tmp_path: Path) -> None:
    name = "20260101000000000_20260201000000000_0.parquet"
    (tmp_path / name).write_bytes(written(repeated("20260115000000000", 3_000_000)))
    (tmp_path / "manifest_1").write_text(f'{{"files": [{{"fileName": "{name}"}}]}}')
    history = History(Storage.at(tmp_path))
    assert history.completion("20260116000000000") is None
    assert "rows" in history.fault


def test_footers_are_kept_within_a_sum_of_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"a": [1]}).replace_schema_metadata({"much": "x" * 100_000})
    for i in range(30):
        parquet.write_table(table, tmp_path / f"{i}.parquet")
    monkeypatch.setattr("index_store.formats.parquet_footers.FOOTER_BYTES", 1 << 20)
    footers = Footers(Storage.at(tmp_path), seconds=60)
    assert 3 <= sum(footers.read(f"{i}.parquet") is not None for i in range(30)) <= 11
    assert footers.exhausted
