"""``examples/analyst.ipynb``: every cell runs, and prints what is checked in.

``python -m tests.examples.test_notebook`` writes the outputs anew.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from handler.demo.run import unpack_table

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytestmark = pytest.mark.pages

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples/analyst.ipynb"
#: What differs from run to run.
VARYING = re.compile(r"\d+(\.\d+)?(e-\d+)? (ms|s)\b")


def executed(folder: Path) -> Any:
    """The notebook with the outputs of a run in a folder with the demo's table."""
    unpack_table(folder / "playground")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SARGO_CACHE": "off", "PYTHONHASHSEED": "0"}
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}})
    client.create_kernel_manager()
    with client.setup_kernel(env=environment):
        for index, cell in enumerate(notebook.cells):
            client.execute_cell(cell, index)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    return nbformat.reads(nbformat.writes(notebook).replace(f"{folder}/", ""), as_version=4)


def outputs(notebook: Any) -> list[Any]:
    found = [[json.loads(json.dumps(output)) for output in cell.get("outputs", [])] for cell in notebook.cells]
    return json.loads(VARYING.sub("0", json.dumps(found)))


def test_the_outputs_are_those_that_are_checked_in(tmp_path):
    found = outputs(executed(tmp_path))
    assert sum(map(bool, found)) >= 8
    assert not any(output["output_type"] == "error" for cell in found for output in cell)
    assert found == outputs(nbformat.read(NOTEBOOK, as_version=4))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        nbformat.write(executed(Path(scratch)), NOTEBOOK)
    sys.exit(0)
