"""Parquet of others, within bounds: footers, pages and texts are measured before pyarrow takes memory for them.

    footer     at most MAX_FOOTER bytes. A chunk of three bytes takes 700 of memory, so structs are counted: STRUCTS,
               and one for each STRUCT_BYTES. Real ones have one for 50 bytes
    pages      what the page headers say that they inflate to: RATIO times what they are, plus SPARE; MAX_CHUNK at most
    rows       what the caller allows
    texts      columns are read as dictionaries, and their length is added up before they are written out

A page of 2 KB can hold a text of 50 MB, and name it in every row.
"""

from __future__ import annotations

import hashlib
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from evaluator.language import arrow_functions as pc
from index_store.formats.bounded.thrift_compact import count_structs, numbers_of
from index_store.storage.errors import FormatError

__all__ = ["MAX_FOOTER", "check_chunk", "check_pages", "read_footer", "read_texts"]

MAX_FOOTER = 32 << 20
STRUCTS, STRUCT_BYTES = 2_000, 24
#: Footers up to this size are counted after they are read: that is faster, and they cannot take much.
_SMALL = 32 << 10
RATIO, SPARE, MAX_CHUNK = 256, 1 << 20, 1 << 30
#: A page of fewer bytes than this, on average, is not what writers make.
_PAGES, _PAGE_BYTES = 64, 64
_UNCOMPRESSED, _COMPRESSED = 2, 3
_MAGIC = b"PAR1"
#: Digests of footers that were counted: that of a file is read for each of its columns.
_counted: set[bytes] = set()
_MOST_COUNTED = 4096


def read_footer(stream: Any) -> Any:
    """The footer (``pyarrow.parquet.FileMetaData``) of an open file (pyarrow's). Raises FormatError."""
    size = stream.size()
    if size < 12:
        raise FormatError("a Parquet file is too short")
    end = stream.read_at(8, size - 8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != _MAGIC or length > min(size - 12, MAX_FOOTER):
        raise FormatError(f"a Parquet file of {size} bytes with a footer of {length}")
    most = STRUCTS + length // STRUCT_BYTES
    if length > _SMALL:
        _count_once(stream.read_at(length, size - 8 - length), most)
    metadata = parquet.read_metadata(stream)
    if length <= _SMALL:
        groups = metadata.num_row_groups
        if groups > most or metadata.num_columns + sum(metadata.row_group(i).num_columns for i in range(groups)) > most:
            raise FormatError(f"a Parquet footer of {length} bytes has too many columns or row groups")
    return metadata


def _count_once(footer: bytes, most: int) -> None:
    """Raises FormatError for a footer of too many structs. One that was counted before is known by its digest."""
    digest = hashlib.sha256(footer).digest()
    if digest in _counted:
        return
    count_structs(footer, most)
    if len(_counted) >= _MOST_COUNTED:
        _counted.clear()
    _counted.add(digest)


def check_pages(stream: Any, metadata: Any, leaves: list[int]) -> None:
    """Raise FormatError when the pages of these leaf columns inflate to more than their size allows."""
    size = stream.size()
    for group in range(metadata.num_row_groups):
        for leaf in leaves:
            chunk = metadata.row_group(group).column(leaf)
            starts = [chunk.data_page_offset, *([chunk.dictionary_page_offset] if chunk.has_dictionary_page else [])]
            #: Without rows there may be a dictionary and no data page, which is at 0 then.
            start = min((one for one in starts if one), default=0)
            length = chunk.total_compressed_size
            if not length and not metadata.row_group(group).num_rows:
                continue
            if start < 4 or length < 0 or start + length > size:
                raise FormatError("a Parquet column lies outside of the file", max(start, 0))
            data = stream.read_at(length, start)
            check_chunk(data, min(RATIO * len(data) + SPARE, MAX_CHUNK))


def check_chunk(data: bytes, most: int) -> None:
    """Raise FormatError when the pages of a column in a row group inflate to more than ``most`` bytes."""
    at = plain = pages = 0
    while at < len(data):
        try:
            numbers, at = numbers_of(data, at)
        except IndexError as error:
            raise FormatError("a Parquet page is cut off", at) from error
        packed, size = numbers.get(_COMPRESSED, -1), numbers.get(_UNCOMPRESSED, -1)
        pages, plain = pages + 1, plain + size
        if packed < 0 or size < 0 or at + packed > len(data):
            raise FormatError("a Parquet page is longer than its column", at)
        if plain > most or pages > _PAGES + len(data) // _PAGE_BYTES:
            raise FormatError(
                f"a Parquet column of {len(data)} bytes inflates to more than {most}, or is in crumbs", at
            )
        at += packed


def read_texts(stream: Any, names: list[str], max_rows: int, max_bytes: int) -> list[pa.ChunkedArray]:
    """Columns of text, which the file has right below its root. Raises FormatError."""
    metadata = read_footer(stream)
    if metadata.num_rows > max_rows:
        raise FormatError(f"a Parquet file of {metadata.num_rows} rows, at most {max_rows} are read")
    paths = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
    missing = [name for name in names if name not in paths]
    if missing:
        raise FormatError(f"a Parquet file without the column {missing[0]}")
    leaves = [paths.index(name) for name in names]
    check_pages(stream, metadata, leaves)
    with parquet.ParquetFile(stream, metadata=metadata, read_dictionary=names) as file:
        table = file.reader.read_all(column_indices=leaves, use_threads=False)
    return [_written_out(table.column(name), name, max_bytes) for name in names]


def _written_out(column: pa.ChunkedArray, name: str, most: int) -> pa.ChunkedArray:
    total = 0
    for chunk in column.chunks:
        if not pa.types.is_dictionary(chunk.type):
            raise FormatError(f"the column {name} is not text")
        lengths = pc.binary_length(chunk.dictionary).cast(pa.int64())
        total += pc.sum(lengths.take(chunk.indices)).as_py() or 0
        if total > most:
            raise FormatError(f"the texts of the column {name} have more than {most} bytes")
    return column.cast(pa.string())
