"""A Spark Connect server with the extension: Columns and joins of a client skip files, which has nothing of Sargo."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from handler.shipped.artefacts import MissingError, spark_jar
from handler.spark.extension.in_process import sidecar_of_process
from handler.spark.extension.installing import CLASS
from tests.conformance.stored_truth import unpack
from tests.tables.releases import PYTHON, RELEASES, ROOT

SPARK = "3.5.5"
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
def server(folder: Path) -> Iterator[int]:
    """A server of Spark Connect whose extension asks the sidecar of this process; gives its port."""
    sidecar = sidecar_of_process()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
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
        "spark.ui.enabled": "false",
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
            yield port
        finally:
            running.terminate()
            running.wait(30)


@pytest.mark.spark
@pytest.mark.spark_full
@pytest.mark.timeout(600)
def test_columns_and_joins_of_a_client_skip_files(tmp_path):
    if why := missing():
        pytest.skip(why)
    for name in ("cow", "mor"):
        unpack(f"{HUDI.hudi}_wide_{name}", tmp_path / "from").rename(tmp_path / name)
    with server(tmp_path) as port:
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
    found = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert len(found) == 6
    for what, one in found.items():
        [(kept, of)] = re.findall(r"Sargo: (\d+) of (\d+) file slices", one["plan"])
        assert int(kept) < int(of), what
        assert one["rows"] == one["without"], what
        assert one["rows"], what
