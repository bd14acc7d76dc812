"""Real tables (tests/data/hudi), unpacked once per run; a test that changes one takes a copy."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

DATA = Path(__file__).parent.parent / "data" / "hudi"
TABLES = tuple(sorted(path.stem for path in DATA.glob("*.zip")))


@pytest.fixture(scope="session")
def hudi_table(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The directory of a real table, to be read only."""
    root = tmp_path_factory.mktemp("hudi")

    def unpack(name: str) -> Path:
        target = root / name
        if not target.exists():
            with zipfile.ZipFile(DATA / f"{name}.zip") as archive:
                archive.extractall(target)
        return target

    return unpack


@pytest.fixture
def hudi_copy(hudi_table: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """A copy of a real table that the test may damage."""

    def copy(name: str) -> Path:
        return Path(shutil.copytree(hudi_table(name), tmp_path / name))

    return copy
