"""Write MERGE_ON_READ tables with secondary indexes and log files, and the rows that Hudi's reader returns of them.

    python -m tests.tables.secondary_indexes [TABLE ...]                 packed into tests/data/hudi/secondary
    python -m tests.tables.secondary_indexes --write RELEASE FOLDER [TABLE ...]      with the Python that has Spark 3.5

Six file groups of eight rows, then indexes, which ``index.json`` need not list in their order. Then, by file group:

    0   a later and an older update, then a compaction: the base file has what the merge chose
    1   the same, left in log files; a row whose text becomes NULL
    2   deletions: one now, one with an older ordering value
    3 to 5   nothing
    6   an insert after all of them

``partial_mor``: partial updates (``MERGE INTO``) of ``i`` in the groups 0 and 1, then the indexes, which Hudi cannot
update by such a statement, then a whole update in group 0.

``<release>_<table>.json`` is what Spark read of the table, whole, without data skipping and the metadata table.
"""

from __future__ import annotations

import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.tables.generate import pack
from tests.tables.releases import PYTHON, RELEASES, ROOT, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DATA = ROOT / "tests" / "data" / "hudi" / "secondary"
SCHEMA = "id string, ts bigint, s string, i int, dt date"
ROWS_A_FILE = 8
WORDS = ("apple", "banana", "Cherry", "da$te", "el\\der", "Fig", "grape", "äpfel")
_WRITE = "hoodie.datasource.write"
ALL = ("s", "i", "dt")
#: By table: its releases, the indexed columns in the order of their indexes, and the options that make it special.
TABLES: dict[str, tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]] = {
    "event_mor": (("1.0.2", "1.2.0"), ALL, {}),
    "commit_mor": (("1.2.0",), ALL, {f"{_WRITE}.precombine.field": ""}),
    "parquet_mor": (("1.2.0",), ALL, {"hoodie.logfile.data.block.format": "parquet"}),
    "single_mor": (("1.0.2", "1.2.0"), ("i",), {}),
    "partial_mor": (("1.2.0",), ALL, {}),
}


def row(n: int, **given: Any) -> tuple[Any, ...]:
    """Row n as it was inserted, with some columns replaced."""
    file, place = divmod(n, ROWS_A_FILE)
    regular = {
        "id": f"k{n:03d}",
        "ts": 10,
        "s": None if n % 13 == 5 else f"{WORDS[place]}-{n}",
        "i": None if n % 11 == 4 else 100 * place + file,
        "dt": None if n % 17 == 3 else datetime.date(2020, 1, 1) + datetime.timedelta(days=37 * (n % 8) + file),
    }
    return tuple((regular | given).values())


class Table:
    """One table while it is written."""

    def __init__(self, spark: SparkSession, path: Path, columns: Sequence[str], special: Mapping[str, str]) -> None:
        self.spark = spark
        self.path = path
        self.columns = columns
        self.options = {
            "hoodie.table.name": path.name,
            f"{_WRITE}.recordkey.field": "id",
            f"{_WRITE}.precombine.field": "ts",
            f"{_WRITE}.partitionpath.field": "",
            f"{_WRITE}.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
            f"{_WRITE}.table.type": "MERGE_ON_READ",
            "hoodie.parquet.small.file.limit": "0",
            "hoodie.merge.small.file.group.candidates.limit": "0",
            "hoodie.index.type": "RECORD_INDEX",
            "hoodie.index.bloom.num_entries": "50",
            "hoodie.bloom.index.filter.dynamic.max.entries": "100",
            "hoodie.insert.shuffle.parallelism": "2",
            "hoodie.upsert.shuffle.parallelism": "2",
            "hoodie.delete.shuffle.parallelism": "2",
            "hoodie.embed.timeline.server": "false",
            "hoodie.clean.automatic": "false",
            "hoodie.compact.inline": "false",
            "hoodie.metadata.enable": "true",
            "hoodie.metadata.index.column.stats.enable": "true",
            "hoodie.metadata.index.column.stats.file.group.count": "1",
            "hoodie.metadata.index.partition.stats.enable": "false",
            "hoodie.metadata.record.index.enable": "true",
            "hoodie.metadata.global.record.level.index.enable": "true",
            "hoodie.metadata.record.index.min.filegroup.count": "2",
            "hoodie.metadata.record.index.max.filegroup.count": "2",
            "hoodie.metadata.global.record.level.index.min.filegroup.count": "2",
            "hoodie.metadata.global.record.level.index.max.filegroup.count": "2",
            "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
            **special,
        }
        if not self.options[f"{_WRITE}.precombine.field"]:  # then the latest commit counts
            del self.options[f"{_WRITE}.precombine.field"]

    def write(self, operation: str, *rows: tuple[Any, ...], **more: str) -> None:
        options = self.options | {f"{_WRITE}.operation": operation} | more
        frame = self.spark.createDataFrame(rows, SCHEMA).coalesce(1)
        frame.write.format("hudi").options(**options).mode("append").save(str(self.path))

    def sql(self, statement: str) -> None:
        for name, value in self.options.items():
            if name.startswith(("hoodie.metadata.", "hoodie.logfile", "hoodie.parquet.small")):
                self.spark.sql(f"set {name}={value}")
        self.spark.sql(statement.format(path=self.path, table=f"{self.path.name}_sql")).collect()

    def insert(self, files: int) -> None:
        for file in range(files):
            self.write("insert", *(row(file * ROWS_A_FILE + place) for place in range(ROWS_A_FILE)))
        self.sql("create table if not exists {table} using hudi location '{path}'")

    def index(self) -> None:
        for column in self.columns:
            self.sql(f"create index si_{column} on {{table}} ({column})")

    def rows(self) -> list[dict[str, Any]]:
        frame = (
            self.spark.read.format("hudi")
            .option("hoodie.metadata.enable", "false")
            .option("hoodie.enable.data.skipping", "false")
            .load(str(self.path))
        )
        names = ("_hoodie_record_key", "_hoodie_file_name", *SCHEMA.split()[::2])
        found = [one.asDict() for one in frame.select(*names).collect()]
        return sorted(found, key=lambda one: str(one["_hoodie_record_key"]))


def tell_partial(table: Table, release: str) -> None:
    """The story of ``partial_mor``."""
    del release
    table.insert(3)
    for n in (1, 9):
        table.sql(
            f"merge into {{table}} as t using (select 'k00{n}' as id, cast(40 as bigint) as ts, {7000 + n} as n) as u "
            "on t.id = u.id when matched then update set i = u.n, ts = u.ts"
        )
    table.index()
    table.write("upsert", row(1, ts=50, s="whole-1"), row(2, ts=50, s="whole-2"))


def tell(table: Table, release: str) -> None:
    """The story of every table. 1.0.2 cannot append NULL to a log file of an indexed table."""
    day = datetime.date(2030, 2, 3)
    gone = {"s": "later-12"} if release == "1.0.2" else {"s": None}
    table.insert(6)
    table.index()
    table.write("upsert", row(1, ts=20, s="later-1", i=351), row(2, ts=20, s="later-2"))
    table.write("upsert", row(3, ts=5, s="older-3", i=353, dt=day), row(4, ts=5, i=354))
    table.write("upsert", row(2, ts=15, s="between-2", dt=day))
    table.write(
        "upsert",
        row(5, ts=21, s="compacted-5"),
        **{"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"},
    )
    table.write("upsert", row(9, ts=20, s="later-9", i=359), row(10, ts=20, s="later-10"), row(12, ts=20, **gone))
    table.write("upsert", row(11, ts=5, s="older-11", i=361), row(10, ts=15, s="between-10"))
    table.write("delete", row(16, ts=30))
    table.write("delete", row(17, ts=5))
    table.write("insert", *(row(48 + place) for place in range(ROWS_A_FILE)))


def write(release: str, folder: Path, wanted: tuple[str, ...]) -> None:
    spark = session(RELEASES[release], folder)
    for name, (releases, columns, special) in TABLES.items():
        if release not in releases or (wanted and name not in wanted):
            continue
        begun = time.monotonic()
        path = folder / name
        shutil.rmtree(path, ignore_errors=True)
        table = Table(spark, path, columns, special)
        (tell_partial if name == "partial_mor" else tell)(table, release)
        text = json.dumps(table.rows(), indent=0, default=str, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(f"{release} {name}: {time.monotonic() - begun:.0f} s", flush=True)
    spark.stop()


def main(*arguments: str) -> None:
    if arguments[:1] == ("--write",):
        write(arguments[1], Path(arguments[2]).resolve(), arguments[3:])
        return
    DATA.mkdir(exist_ok=True)
    for release in RELEASES:
        names = [name for name, (releases, *_) in TABLES.items() if release in releases]
        names = [name for name in names if not arguments or name in arguments]
        if not names:
            continue
        RELEASES[release].fetch()
        with tempfile.TemporaryDirectory(prefix="sargo-tables-") as folder:
            command = [str(PYTHON), "-m", "tests.tables.secondary_indexes", "--write", release, folder, *names]
            subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "TZ": "UTC"})
            for name in names:
                size = pack(Path(folder) / name, DATA / f"{release}_{name}.tar.xz")
                shutil.copy(Path(folder) / f"{name}.json", DATA / f"{release}_{name}.json")
                print(f"{release} {name}: {size:,} bytes", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
