"""The tables of the Hive tests: unpacked, registered as Hudi's Hive sync does it, pruned natively and STORED BY.

name        Hive reads it with
plain_<t>   Hudi's own input format: the reference
native_<t>  the same, then hive_conf/native_table.sql
stored_<t>  hive_conf/stored_by.sql
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.hive.server import ROOT

DATA = Path(__file__).parent / "data"
HUDI_COLUMNS = ", ".join(
    f"`_hoodie_{name}` string" for name in ("commit_time", "commit_seqno", "record_key", "partition_path", "file_name")
)
COLUMNS = (
    "id bigint, k int, name string, amount double, price decimal(10,2), d date, ts bigint, maybe bigint, version int"
)
PARTITIONS = [f"2024-01-0{day}" for day in range(1, 5)]
COPY_ON_WRITE = "org.apache.hudi.hadoop.HoodieParquetInputFormat"
MERGED = "org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat"
SERDE = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
OUTPUT = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat"


@dataclass(frozen=True)
class Table:
    name: str
    partitioned: bool
    merge_on_read: bool


TABLES = TRIPS, TRIPS2, FLAT, RIDES, FLAT_MOR = (
    Table("trips", True, False),
    Table("trips2", True, False),
    Table("flat", False, False),
    Table("rides", True, True),
    Table("flat_mor", False, True),
)


def unpack(directory: Path) -> Path:
    """Every table below this directory."""
    for archive in DATA.glob("*.zip"):
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(directory / archive.stem)
    return directory


def statements(script: str, **names: str) -> Iterator[str]:
    """The statements of a file in hive_conf/ with ${hivevar:name} filled in; without those that want another name."""
    lines = (ROOT / "hive_conf" / script).read_text().splitlines()
    text = "\n".join(line for line in lines if not line.startswith("--"))
    for statement in filter(None, map(str.strip, text.split(";"))):
        wanted = set(re.findall(r"\$\{hivevar:(\w+)\}", statement))
        if wanted <= set(names):
            yield re.sub(r"\$\{hivevar:(\w+)\}", lambda match: names[match[1]], statement)


def as_synced(name: str, table: Table, location: str, partition_values: Callable[[str], str] = str) -> Iterator[str]:
    """What Hudi's Hive sync runs for a table (timestamps are bigint: hive_sync.support_timestamp is off by default)."""
    columns = f"{HUDI_COLUMNS}, {COLUMNS}" + ("" if table.partitioned else ", dt string")
    yield f"DROP TABLE IF EXISTS {name}"
    yield (
        f"CREATE EXTERNAL TABLE {name} ({columns}) {'PARTITIONED BY (dt string)' if table.partitioned else ''} "
        f"ROW FORMAT SERDE '{SERDE}' WITH SERDEPROPERTIES ('hoodie.query.as.ro.table'='false', 'path'='{location}') "
        f"STORED AS INPUTFORMAT '{MERGED if table.merge_on_read else COPY_ON_WRITE}' OUTPUTFORMAT '{OUTPUT}' "
        f"LOCATION '{location}'"
    )
    if table.partitioned:
        added = " ".join(
            f"PARTITION (dt='{partition_values(day)}') LOCATION '{location}/dt={day}'" for day in PARTITIONS
        )
        yield f"ALTER TABLE {name} ADD {added}"


def pruned_natively(name: str, table: Table) -> Iterator[str]:
    given = {"table": name, "partitions": "dt"} if table.partitioned else {"table": name}
    merged = "PruningRealtimeInputFormat" if table.merge_on_read else "PruningInputFormat"
    for statement in statements("native_table.sql", **given):
        yield statement.replace("PruningInputFormat", merged)


def register(cursor: Any, directory: Path | str) -> None:
    """``directory``: a local one, or the URI of another."""
    for table in TABLES:
        location = f"{directory if isinstance(directory, str) else f'file://{directory}'}/{table.name}"
        for kind in ("plain", "native"):
            for statement in as_synced(f"{kind}_{table.name}", table, location):
                cursor.execute(statement)
        for statement in pruned_natively(f"native_{table.name}", table):
            cursor.execute(statement)
        cursor.execute(f"DROP TABLE IF EXISTS stored_{table.name}")
        for statement in statements("stored_by.sql", table=f"stored_{table.name}", location=location):
            cursor.execute(statement)
    for kind in ("plain", "native", "stored"):
        cursor.execute(f"DROP VIEW IF EXISTS {kind}_view")
        cursor.execute(f"CREATE VIEW {kind}_view AS SELECT * FROM {kind}_trips WHERE id < 500")
