"""The rows that a table's files hold, without the code under test: Parquet by pyarrow, log blocks by fastavro."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterator
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
from pyarrow import parquet

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def plain(value: Any, scale: int) -> Any:
    """A Python value in the form that statistics have."""
    match value:
        case bool():
            return int(value)
        case datetime():
            moment = value if value.tzinfo else value.replace(tzinfo=timezone.utc)
            delta = moment - EPOCH
            return (delta.days * 86400 + delta.seconds) * 10**6 + delta.microseconds
        case date():
            return value.toordinal() - 719163
        case Decimal():
            return int(value.scaleb(scale))
        case _:
            return value


def column(row: dict[str, Any], name: str) -> Any:
    value: Any = row
    for part in name.split("."):
        value = None if value is None else value.get(part)
    return value


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a base file, or of the data blocks of a log file."""
    if path.suffix == ".parquet":
        yield from parquet.read_table(path, partitioning=None).to_pylist()
        return
    data = path.read_bytes()
    position = 0
    while position < len(data):
        length = struct.unpack_from(">q", data, position + 6)[0]
        kind = struct.unpack_from(">i", data, position + 18)[0]
        header, p = {}, position + 26
        for _ in range(struct.unpack_from(">i", data, position + 22)[0]):
            key, size = struct.unpack_from(">ii", data, p)
            header[key] = data[p + 8 : p + 8 + size]
            p += 8 + size
        content = data[p + 8 : p + 8 + struct.unpack_from(">q", data, p)[0]]
        if kind == 3:
            schema = fastavro.parse_schema(json.loads(header[2]))
            count, q = struct.unpack_from(">i", content, 4)[0], 8
            for _ in range(count):
                size = struct.unpack_from(">i", content, q)[0]
                record: Any = fastavro.schemaless_reader(io.BytesIO(content[q + 4 : q + 4 + size]), schema, None)
                yield record
                q += 4 + size
        elif kind == 5:
            yield from parquet.read_table(io.BytesIO(content)).to_pylist()
        else:
            assert kind in (0, 1), f"block of type {kind}"
        position += 14 + length
