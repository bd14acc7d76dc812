"""A Spark Connect server with the extension: Columns and joins of a client skip files, which has nothing of Sargo."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from handler.shipped.artefacts import MissingError, spark_jar
from handler.spark.extension.in_process import sidecar_of_process
from handler.spark.extension.installing import CLASS
from tests.conformance.stored_truth import unpack
from tests.hive.server import free_port
from tests.tables.releases import PYTHON, RELEASES, ROOT

SPARK = os.environ.get("RELEASE35", "3.5.5")
CONNECT = Path.home() / f".m2/repository/org/apache/spark/spark-connect_2.12/{SPARK}/spark-connect_2.12-{SPARK}.jar"
HUDI = RELEASES["1.2.0"]
_START_SECONDS = 120


def missing() -> str:
    """Why the server cannot run here, or ""."""
    try:
        spark_jar(SPARK)
    except MissingError as error:
        return str(error)
    for path in (PYTHON, HUDI.jar, CONNECT):
        if not path.exists():
            return f"{path.name} is missing (make test-spark35)"
    has_grpc = subprocess.run([str(PYTHON), "-c", "import grpc, grpc_status"], capture_output=True).returncode == 0
    return "" if has_grpc else "the client's libraries are missing: pip install 'pyspark[connect]'"


@contextmanager
def server(folder: Path) -> Iterator[tuple[int, int]]:
    """A server of Spark Connect whose extension asks the sidecar of this process; gives its port, and its UI's."""
    sidecar = sidecar_of_process()
    port, page = free_port(), free_port()
    asked = [str(PYTHON), "-c", "import pyspark; print(pyspark.__path__[0])"]
    home = Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())
    jars = (str(HUDI.jar), str(spark_jar(SPARK)), str(CONNECT))
    settings = {
        "spark.connect.grpc.binding.port": port,
        "spark.sql.extensions": f"org.apache.spark.sql.hudi.HoodieSparkSessionExtension,{CLASS}",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.sargo.sidecar.address": sidecar.address,
        "spark.sargo.secret": sidecar.secret,
        "spark.sargo.sidecar.timeout.ms": 6000,
        "spark.driver.host": "127.0.0.1",
        "spark.ui.port": page,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": folder / "warehouse",
    }
    command = [str(home / "bin/spark-submit"), "--master", "local[2]", "--driver-class-path", ":".join(jars)]
    command += ["--jars", ",".join(jars)]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    with (folder / "server.log").open("w") as log:
        running = subprocess.Popen(command, env={**os.environ, "SPARK_HOME": str(home)}, stdout=log, stderr=log)
        try:
            ends = time.monotonic() + _START_SECONDS
            while "Spark Connect server started" not in (folder / "server.log").read_text("utf-8"):
                assert running.poll() is None, (folder / "server.log").read_text("utf-8")[-3000:]
                assert time.monotonic() < ends, "the server does not start"
                time.sleep(0.5)
            yield port, page
        finally:
            running.terminate()
            running.wait(30)


def files_of_joins(page: int) -> list[int]:
    """How many files each join of the server read, in their order, as its UI has it. Hudi has executions of its own."""

    def asked(path: str) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"http://127.0.0.1:{page}/api/v1/applications{path}", timeout=30) as answer:
            found: list[dict[str, Any]] = json.load(answer)
            return found

    application = asked("")[0]["id"]
    executions = sorted(asked(f"/{application}/sql?details=true&length=1000"), key=lambda one: int(one["id"]))
    return [
        sum(
            int(metric["value"].replace(",", ""))
            for node in execution["nodes"]
            for metric in node["metrics"]
            if metric["name"] == "number of files read"
        )
        for execution in executions
        if any("Join" in node["nodeName"] for node in execution["nodes"])
    ]


@pytest.mark.spark
@pytest.mark.spark_full
@pytest.mark.timeout(600)
def test_columns_and_joins_of_a_client_skip_files(tmp_path):
    if why := missing():
        pytest.skip(why)
    for name in ("cow", "mor"):
        unpack(f"{HUDI.hudi}_wide_{name}", tmp_path / "from").rename(tmp_path / name)
    with server(tmp_path) as (port, page):
        subprocess.run(
            [
                str(PYTHON),
                "-m",
                "tests.handler.spark.extension.connect_client",
                str(port),
                str(tmp_path),
                str(tmp_path / "out.json"),
            ],
            cwd=ROOT,
            check=True,
            timeout=300,
        )
        read = files_of_joins(page)[-4:]
    found = json.loads((tmp_path / "out.json").read_text("utf-8"))
    by_keys = {what: found.pop(what) for what in ("cow: keys of a join", "mor: keys of a join")}
    for (what, one), narrowed, whole in zip(by_keys.items(), read[::2], read[1::2], strict=True):
        assert one["rows"] == one["without"], what
        assert one["rows"], what
        assert 0 < narrowed < whole, what
    assert len(found) == 6
    for what, one in found.items():
        [(kept, of)] = re.findall(r"Sargo: (\d+) of (\d+) file slices", one["plan"])
        assert int(kept) < int(of), what
        assert one["rows"] == one["without"], what
        assert one["rows"], what
