"""One Spark session for all tests of a run: starting it takes seconds."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from handler.spark.catalyst.sessions import line_of
from handler.spark.source.registration import MIN_VERSION
from tests.jvm_flags import SHORT_LIVED

#: Before Spark 4.1 no filters are pushed to data sources in Python: what is about ours is left out there.
collect_ignore_glob = [] if line_of(pyspark.__version__) >= MIN_VERSION else ["source/test_*.py"]

#: A module of this name hides those of Sargo from a Python that finds it first.
HIDING = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("handler", "evaluator", "index_store", "sarg", "sargo"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
"""


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not on the path")
    folder = tmp_path_factory.mktemp("spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable  # the workers' Python; a setting has no effect on it here
    session = (
        SparkSession.builder.master("local[2]")
        .appName("sargo-tests")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraJavaOptions", " ".join(SHORT_LIVED))
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.parquet.datetimeRebaseModeInRead", "CORRECTED")  # as it is from Spark 4.0 on
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture
def repository() -> Path:
    return Path(__file__).parents[3]


@pytest.fixture
def workers_without_sargo(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The Python of the session's workers, which has no Sargo, as long as the test lasts."""
    (tmp_path / "sitecustomize.py").write_text(HIDING)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(python))
    return python
