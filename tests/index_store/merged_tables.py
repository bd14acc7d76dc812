"""Small MERGE_ON_READ tables, made by hand: base files and log files with the rows that a test wants.

    write_merged(folder, [Group(base, [Written(instant(1), rows), Written(instant(2), deleted=["k1"])])])

From table version 8 on each write is a deltacommit with a log file of its own; in version 6 its blocks are appended.
A row is a dict of the columns ``k`` (the record key), ``ts`` (the ordering field), ``i`` and ``s``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from tests.index_store.synthetic import avro_block, delete_content, log_block

META = ("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key")
FIELDS: list[dict[str, Any]] = [
    *({"name": name, "type": ["null", "string"]} for name in META),
    {"name": "k", "type": "string"},
    {"name": "ts", "type": ["null", "long"]},
    {"name": "i", "type": ["null", "int"]},
    {"name": "s", "type": ["null", "string"]},
]
SCHEMA: dict[str, Any] = {"type": "record", "name": "rows", "fields": FIELDS}
ARROW = pa.schema(
    [
        *((name, pa.string()) for name in META),
        ("k", pa.string()),
        ("ts", pa.int64()),
        ("i", pa.int32()),
        ("s", pa.string()),
    ]
)
Row = Mapping[str, Any]


def instant(number: int) -> str:
    """The instant of a write; 0 is that of the base files."""
    return f"202601010000{number:02d}000"


@dataclass(frozen=True)
class Written:
    """A write into a file group: rows, and keys that are deleted.

    ``late``: the ordering values of the deletions; None for one that has none, as by default.
    """

    instant: str
    rows: Sequence[Row] = ()
    deleted: Sequence[str] = ()
    late: Sequence[int | None] = ()

    @property
    def blocks(self) -> bytes:
        stored = [_stored(row, self.instant) for row in self.rows]
        return (avro_block(stored, SCHEMA, self.instant) if stored else b"") + (
            log_block(1, delete_content(self.deleted, self.late), self.instant) if self.deleted else b""
        )


@dataclass(frozen=True)
class Group:
    """A file group: the rows of its base file (None: it has none), and the writes on top."""

    base: Sequence[Row] | None
    writes: Sequence[Written] = field(default_factory=tuple)


def write_merged(
    folder: Path, groups: Sequence[Group], *, version: int = 9, properties: Mapping[str, str] | None = None
) -> Path:
    """Write the table, and give its folder."""
    timeline = folder / ".hoodie" / ("timeline" if version >= 8 else "")
    timeline.mkdir(parents=True)
    settings = {
        "hoodie.table.name": "rows",
        "hoodie.table.version": str(version),
        "hoodie.table.type": "MERGE_ON_READ",
        "hoodie.table.recordkey.fields": "k",
        "hoodie.table.precombine.field": "ts",
        **({"hoodie.record.merge.mode": "EVENT_TIME_ORDERING"} if version >= 8 else {}),
        **(properties or {}),
    }
    (folder / ".hoodie/hoodie.properties").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    commit(folder, instant(0), version)
    for number, group in enumerate(groups):
        if group.base is not None:
            rows = [_stored(row, instant(0)) for row in group.base]
            parquet.write_table(pa.Table.from_pylist(rows, ARROW), folder / base_name(number))
        for write in group.writes:
            log(folder, number, write, version)
    return folder


def base_name(group: int) -> str:
    """The base file of a group."""
    return f"g{group}-0_0-1-0_{instant(0)}.parquet"


def log_name(group: int, of: str) -> str:
    """The log file of a group with this instant in its name."""
    return f".g{group}-0_{of}.log.1_0-1-0"


def log(folder: Path, group: int, write: Written, version: int = 9) -> Path:
    """Write into a file group, and complete the instant."""
    path = folder / log_name(group, write.instant if version >= 8 else instant(0))
    with path.open("ab") as file:
        file.write(write.blocks)
    commit(folder, write.instant, version)
    return path


def commit(folder: Path, of: str, version: int = 9) -> None:
    """Complete a deltacommit."""
    text = json.dumps({"partitionToWriteStats": {}, "extraMetadata": {"schema": json.dumps(SCHEMA)}})
    done = f"{int(of) + 500}"
    name = f"timeline/{of}_{done}.deltacommit" if version >= 8 else f"{of}.deltacommit"
    (folder / ".hoodie" / name).write_text(text)


def _stored(row: Row, of: str) -> dict[str, Any]:
    return {
        META[0]: of,
        META[1]: f"{of}_{row['k']}",
        META[2]: row["k"],
        **{name: row.get(name) for name in ("k", "ts", "i", "s")},
    }
