"""Real tables, unpacked once, and the filters that real Hive wrote for their columns."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from handler.demo.run import unpack_table

DATA = Path(__file__).parent.parent / "data" / "hudi"
HIVE_FILTERS = Path(__file__).parent / "data" / "hive_filters.json"


def hive_filters():
    return json.loads(HIVE_FILTERS.read_text(encoding="utf-8"))["filters"]


@pytest.fixture(scope="session")
def unpack(tmp_path_factory):
    """``unpack("1.1.1_main_cow")``: the folder of that table of tests/data/hudi."""
    folders = {}

    def unpacked(name):
        if name not in folders:
            folder = tmp_path_factory.mktemp("table") / name
            with zipfile.ZipFile(DATA / f"{name}.zip") as archive:
                archive.extractall(folder)
            folders[name] = folder
        return folders[name]

    return unpacked


@pytest.fixture(scope="session")
def main_cow(tmp_path_factory):
    """The demo's table: 14 slices, Hudi 1.1.1, COPY_ON_WRITE. Read only."""
    return unpack_table(tmp_path_factory.mktemp("demo"))


@pytest.fixture
def main_cow_copy(tmp_path):
    """The demo's table for a test that damages it."""
    return unpack_table(tmp_path)


@pytest.fixture
def unpack_copy(unpack, tmp_path):
    """``unpack_copy("1.1.1_main_cow")``: a copy of that table for a test that changes it."""

    def copied(name):
        return shutil.copytree(unpack(name), tmp_path / name)

    return copied
