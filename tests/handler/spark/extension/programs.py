"""Runs a program of stories in a process of its own, on Spark 3.5 or on this one's Spark 4, and reads what it tells."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pyspark
import pytest

from handler.shipped.artefacts import MissingError, spark_jar
from tests.tables.releases import PYTHON, ROOT

__all__ = ["QUICK", "Outcomes", "told_by"]

#: Story -> what happened.
Outcomes = dict[str, dict[str, Any]]
#: What `make test-extension PART=quick` runs.
QUICK = os.environ.get("SARGO_EXTENSION") == "quick"


def told_by(program: str, spark: Literal["3.5", "4"], folder: Path, *arguments: str, seconds: int) -> Outcomes:
    """The outcomes that a program of this folder writes into ``folder``. Skips where its Spark or jar lacks."""
    if spark == "3.5" and not PYTHON.exists():
        pytest.skip("there is no Spark 3.5: make .venv/spark35/.installed")
    if spark == "4" and (not pyspark.__version__.startswith("4.") or shutil.which("javac") is None):
        pytest.skip("needs Spark 4 and a JDK")
    try:
        spark_jar("3.5" if spark == "3.5" else pyspark.__version__)
    except MissingError as error:
        pytest.skip(str(error))
    python = str(PYTHON) if spark == "3.5" else sys.executable
    done = subprocess.run(
        [python, "-m", f"tests.handler.spark.extension.{program}", str(folder), *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told: Outcomes = json.loads((folder / "outcomes.json").read_text("utf-8"))
    return told
