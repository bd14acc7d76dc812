"""Tables of version 9, which Hudi's reader for Hive 1.0.2 refuses, with the classes of a newer release.

Maven Central has no newer ``hudi-hadoop-mr``. The bundles for Spark hold its classes: one of them stands in the place
of the thin jars here, on Hive 4.0.1.
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
from tests.hive.server import HIVE_4, Server, build, build_jar
from tests.hive.sidecars import Sidecar
from tests.hive.tables import COPY_ON_WRITE, HUDI_COLUMNS, OUTPUT, SERDE

pytestmark = [pytest.mark.hive, pytest.mark.hive_full]

TABLES = ("1.1.1_main_cow", "1.2.0_bloom_cow")
COLUMNS = (
    "id string, ts bigint, i int, l bigint, f float, d double, `dec` decimal(10,2), s string, dt date, b boolean, u int"
)
WHERE = ("i = 100", "l < 500", "s is null", "p = 'p1' and i > 5", "1 = 1")


class NewerHudi(Server):
    """Hive 4.0.1 with a bundle in the place of Hudi's thin jars."""

    bundle: Path

    def class_path(self) -> list[Path]:
        parts = [part for part in build(self.stack) if not part.name.startswith("hudi-")]
        first = max(at for at, part in enumerate(parts) if part.parent.name in ("classes", "first")) + 1
        return [self.home / "conf", build_jar(), *parts[:first], self.bundle, *parts[first:]]


@pytest.fixture(scope="module", params=["1.1.1", "1.2.0"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewerHudi]:
    home = tmp_path_factory.mktemp(f"hudi{request.param}")
    artifact = f"org.apache.hudi:hudi-spark3.5-bundle_2.12:{request.param}"
    copy = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={home / 'bundle'}"]
    subprocess.run(copy, check=True, capture_output=True)
    for name in TABLES:
        with zipfile.ZipFile(DATA / f"{name}.zip") as archive:
            archive.extractall(home / "tables" / name)
    sidecar = Sidecar(home / "tables", home / "sidecar.log").start()
    newer = NewerHudi(HIVE_4, home, {"sargo.sidecar.address": sidecar.address, **PATIENT})
    [newer.bundle] = (home / "bundle").iterdir()
    try:
        newer.start()
        with newer.connect() as connection:
            for name in TABLES:
                register(connection.cursor(), name, home / "tables" / name)
        yield newer
    finally:
        newer.stop()
        sidecar.stop()


def register(cursor: Any, name: str, folder: Path) -> None:
    """The table as ``plain_`` by Hudi's own format, and as ``native_`` by Sargo's."""
    partitions = open_table(folder, cache=None).table.partitions()
    added = " ".join(f"PARTITION (p='{one.partition('=')[2]}') LOCATION 'file://{folder}/{one}'" for one in partitions)
    for kind, format_ in (("plain", COPY_ON_WRITE), ("native", "io.sargo.hive.PruningInputFormat")):
        table = f"{kind}_{name.replace('.', '_')}"
        cursor.execute(
            f"CREATE EXTERNAL TABLE {table} ({HUDI_COLUMNS}, {COLUMNS}) PARTITIONED BY (p string) ROW FORMAT SERDE "
            f"'{SERDE}' STORED AS INPUTFORMAT '{format_}' OUTPUTFORMAT '{OUTPUT}' LOCATION 'file://{folder}'"
        )
        cursor.execute(f"ALTER TABLE {table} ADD {added}")


@pytest.mark.parametrize("listing", ["hudi", "sidecar"])
@pytest.mark.parametrize("engine", ["tez", "mr"])
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.timeout(900)
def test_rows_are_those_of_hudi_s_format_and_files_are_skipped(
    server: NewerHudi, name: str, engine: str, listing: str
) -> None:
    settings = {"hive.execution.engine": engine, "sargo.listing": listing}
    before = len(server.log())
    with server.connect(settings) as connection:
        cursor = connection.cursor()
        for where in WHERE:
            found = []
            for kind in ("plain", "native"):
                table = f"{kind}_{name.replace('.', '_')}"
                cursor.execute(f"SELECT count(*), sum(hash(id, ts, i, l, s, p)) FROM {table} WHERE {where}")
                found.append(cursor.fetchall())
            assert found[0] == found[1], where
    log = server.log()[before:]
    assert ("listing=sidecar" in log) == (listing == "sidecar")
    assert "listed by Hudi" not in log
    assert any(one.kept < one.listed for one in listings(log))
