"""Benchmarks of Spark's extension: their own process, which has Spark 3.5 and Hudi 1.2.0, and hands figures over."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from handler.shipped.artefacts import MissingError, spark_jar
from tests.tables.releases import PYTHON, RELEASES, ROOT

__all__ = ["figures_of", "hand_over", "why_not_run"]

_NAME = "figures.json"


def why_not_run() -> str:
    """What lacks here, with what to do; "" when nothing does."""
    try:
        spark_jar("3.5")
    except MissingError as error:
        return str(error)
    return "" if PYTHON.exists() else "there is no Spark 3.5: make .venv/spark35/.installed"


def figures_of(module: str, rows: int) -> dict[str, Any]:
    """What ``python -m MODULE FOLDER ROWS`` hands over. Raises CalledProcessError when it fails."""
    RELEASES["1.2.0"].fetch()
    with tempfile.TemporaryDirectory() as folder:
        program = [str(PYTHON), "-m", module, folder, str(rows)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run(program, cwd=ROOT, env=environment, check=True, stderr=subprocess.DEVNULL)
        figures: dict[str, Any] = json.loads((Path(folder) / _NAME).read_text("utf-8"))
    return figures


def hand_over(folder: Path, figures: dict[str, Any]) -> None:
    """Write the figures for the process that asked for them."""
    (folder / _NAME).write_text(json.dumps(figures), encoding="utf-8")
