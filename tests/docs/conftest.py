"""The demo's table and filters, as ``sargo demo --keep playground`` leaves them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.handler.spark.conftest import spark as spark


@pytest.fixture(scope="session")
def kept_playground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the demo writes, once for all pages."""
    folder = tmp_path_factory.mktemp("docs")
    sargo = Path(sys.executable).parent / "sargo"
    subprocess.run([sargo, "demo", "--keep", "playground"], cwd=folder, check=True, capture_output=True)
    return folder / "playground"
