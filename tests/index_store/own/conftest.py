"""A copy of the index that a file's ``table_and_index`` prepares."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def index(table_and_index: tuple[Path, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(table_and_index[1], tmp_path / "index"))
