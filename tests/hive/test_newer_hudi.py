"""Tables of version 9, which Hudi's reader for Hive 1.0.2 refuses, with the classes of a newer release.

Maven Central has no newer ``hudi-hadoop-mr``. The bundles for Spark hold its classes: one of them stands in the place
of the thin jars here, on Hive 4.0.1 and 3.1.3.

Merged views       Hudi's own format, fetch task   Hudi's own format, task    Sargo's native format   STORED BY
Hive 4.0.1         read                            fails when vectorized      fails in Hudi's reader  read
Hive 3.1.3         read                            fails when vectorized      read                    refused
"""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from handler import open_table
from tests.handler.conftest import DATA
from tests.hive.listings import listings
from tests.hive.playground import PATIENT
from tests.hive.server import HIVE_3, HIVE_4, Server, build, build_jar
from tests.hive.sidecars import Sidecar
from tests.hive.tables import COPY_ON_WRITE, HUDI_COLUMNS, MERGED, OUTPUT, SERDE

pytestmark = [pytest.mark.hive, pytest.mark.hive_full]

COPIED = ("1.1.1_main_cow", "1.2.0_bloom_cow")
MERGED_TABLE = "1.1.1_main_mor"
COLUMNS = (
    "id string, ts bigint, i int, l bigint, f float, d double, `dec` decimal(10,2), s string, dt date, b boolean, u int"
)
WHERE = ("i = 100", "l < 500", "s is null", "p = 'p1' and i > 5", "1 = 1")


class NewerHudi(Server):
    """Hive with a bundle in the place of Hudi's thin jars."""

    bundle: Path

    def class_path(self) -> list[Path]:
        parts = [part for part in build(self.stack) if not part.name.startswith("hudi-")]
        first = max(at for at, part in enumerate(parts) if part.parent.name in ("classes", "first")) + 1
        return [self.home / "conf", build_jar(), *parts[:first], self.bundle, *parts[first:]]


SERVERS = {f"{stack.name}-{hudi}": (stack, hudi) for stack in (HIVE_4, HIVE_3) for hudi in ("1.1.1", "1.2.0")}


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewerHudi]:
    """One of SERVERS."""
    stack, hudi = SERVERS[request.param]
    home = tmp_path_factory.mktemp(request.param)
    artifact = f"org.apache.hudi:hudi-spark3.5-bundle_2.12:{hudi}"
    copy = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={home / 'bundle'}"]
    subprocess.run(copy, check=True, capture_output=True)
    for name in (*COPIED, MERGED_TABLE):
        with zipfile.ZipFile(DATA / f"{name}.zip") as archive:
            archive.extractall(home / "tables" / name)
    sidecar = Sidecar(home / "tables", home / "sidecar.log").start()
    newer = NewerHudi(stack, home, {"sargo.sidecar.address": sidecar.address, **PATIENT})
    [newer.bundle] = (home / "bundle").iterdir()
    try:
        newer.start()
        with newer.connect() as connection:
            for name in (*COPIED, MERGED_TABLE):
                register(connection.cursor(), name, home / "tables" / name)
        yield newer
    finally:
        newer.stop()
        sidecar.stop()


def register(cursor: Any, name: str, folder: Path) -> None:
    """The table as ``plain_`` by Hudi's own format, as ``native_`` by Sargo's, and as ``stored_`` by its handler."""
    partitions = open_table(folder, cache=None).table.partitions()
    added = " ".join(f"PARTITION (p='{one.partition('=')[2]}') LOCATION 'file://{folder}/{one}'" for one in partitions)
    is_merged = name == MERGED_TABLE
    formats = {
        "plain": MERGED if is_merged else COPY_ON_WRITE,
        "native": f"io.sargo.hive.Pruning{'Realtime' if is_merged else ''}InputFormat",
    }
    for kind, format_ in formats.items():
        table = table_of(kind, name)
        cursor.execute(
            f"CREATE EXTERNAL TABLE {table} ({HUDI_COLUMNS}, {COLUMNS}) PARTITIONED BY (p string) ROW FORMAT SERDE "
            f"'{SERDE}' STORED AS INPUTFORMAT '{format_}' OUTPUTFORMAT '{OUTPUT}' LOCATION 'file://{folder}'"
        )
        cursor.execute(f"ALTER TABLE {table} ADD {added}")
    without_dates = COLUMNS.replace(" dt date,", "")  # Hudi's reader of log files fails at them on Hive 4
    cursor.execute(
        f"CREATE EXTERNAL TABLE {table_of('stored', name)} ({HUDI_COLUMNS}, {without_dates}, p string) "
        f"STORED BY 'io.sargo.hive.HudiStorageHandler' LOCATION 'file://{folder}'"
    )


def table_of(kind: str, name: str) -> str:
    return f"{kind}_{name.replace('.', '_')}"


def rows_of(server: Server, table: str, where: str, settings: dict[str, str]) -> list[Any]:
    with server.connect(settings) as connection:
        cursor = connection.cursor()
        cursor.execute(f"SELECT id, ts, i, l, s, p FROM {table} WHERE {where}")
        return sorted(cursor.fetchall(), key=str)


#: The client reads; a task reads batches, or rows.
FETCH, TASK = {"hive.fetch.task.conversion": "more"}, {"hive.fetch.task.conversion": "none"}
ROWS = {"hive.vectorized.execution.enabled": "false"}
#: (engine, kind, tables) of each Hive.
READ = {
    HIVE_4: [("tez", "native", COPIED), ("mr", "native", COPIED), ("mr", "stored", (MERGED_TABLE,))],
    HIVE_3: [("mr", "native", (*COPIED, MERGED_TABLE))],
}


def lanes() -> Iterator[Any]:
    for key, (stack, hudi) in SERVERS.items():
        for engine, kind, names in READ[stack]:
            if kind == "stored" and hudi != "1.1.1":
                continue  # not tried
            for name in names:
                yield pytest.param(key, engine, kind, name, id=f"{key}-{engine}-{kind}-{name}")


@pytest.mark.parametrize("listing", ["hudi", "sidecar"])
@pytest.mark.parametrize(("server", "engine", "kind", "name"), list(lanes()), indirect=["server"])
@pytest.mark.timeout(900)
def test_rows_are_those_of_hudi_s_format_and_files_are_skipped(
    server: NewerHudi, engine: str, kind: str, name: str, listing: str
) -> None:
    wanted = {where: rows_of(server, table_of("plain", name), where, FETCH) for where in WHERE}
    before = len(server.log())
    settings = {"hive.execution.engine": engine, "sargo.listing": listing}
    for where, rows in wanted.items():
        for how in (FETCH, TASK) if where in WHERE[:2] else (FETCH,):
            assert rows_of(server, table_of(kind, name), where, {**settings, **how}) == rows, (where, how)
    log = server.log()[before:]
    assert ("listing=sidecar" in log) == (listing == "sidecar")
    assert "listed by Hudi" not in log
    assert any(one.kept < one.listed for one in listings(log))


#: What Hudi's own reader fails at: by Hudi's format, and by Sargo's, which reads with Hudi's reader.
FAILURES = {
    "vectorized": ("plain", "VectorizedRowBatch cannot be cast to class org.apache.hadoop.io.ArrayWritable"),
    "partitioned": ("native", "HiveAvroSerializer.serialize"),
}


@pytest.mark.parametrize(
    ("server", "failure"),
    [("hive313-1.1.1", "vectorized"), ("hive401-1.1.1", "vectorized"), ("hive401-1.1.1", "partitioned")],
    indirect=["server"],
)
def test_a_merged_view_fails_in_hudi_s_reader(server: NewerHudi, failure: str) -> None:
    """With or without Sargo, and after Sargo has pruned the scan."""
    kind, said = FAILURES[failure]
    log = server.home / "hive.log"
    before, pruned_before = len(log.read_text()), len(server.log())
    with pytest.raises(Exception, match=r"Execution Error, return code 2|Server-side error"):
        rows_of(server, table_of(kind, MERGED_TABLE), "i = 100", {"hive.execution.engine": "mr", **TASK})
    assert said in log.read_text()[before:]
    seen = [one for one in listings(server.log()[pruned_before:]) if one.reason == ""]
    assert (seen == []) == (kind == "plain")


@pytest.mark.parametrize("server", ["hive313-1.1.1"], indirect=True)
def test_hudi_s_own_format_reads_a_merged_view_row_by_row_on_hive_3(server: NewerHudi) -> None:
    rows = rows_of(server, table_of("plain", MERGED_TABLE), "i >= 100", FETCH)
    assert rows == rows_of(server, table_of("plain", MERGED_TABLE), "i >= 100", {**TASK, **ROWS})
