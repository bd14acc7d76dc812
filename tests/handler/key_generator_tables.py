"""The recorded tables of every key generator, and the rows that Hudi's readers returned of them (tests/data/keygen)."""

from __future__ import annotations

import json
import lzma
import tarfile
import tempfile
from functools import cache
from pathlib import Path

from tests.tables.key_generators import STORIES

__all__ = ["READ", "answers", "folder_of_release", "rows_read"]

DATA = Path(__file__).parents[1] / "data" / "keygen"


@cache
def answers() -> dict[str, dict[str, dict[str, object]]]:
    with lzma.open(DATA / "answers.json.xz", "rt", encoding="utf-8") as file:
        return json.load(file)


#: The release that wrote, the one that read, and the table, of all that has partition columns and could be read.
READ = [
    (read.split(" ")[0], read.split(" ")[-1], name)
    for read, tables in answers().items()
    for name, answer in tables.items()
    if "rows" in answer and STORIES[name].names
]


@cache
def folder_of_release(release: str) -> Path:
    """The folder with the tables that a release wrote, unpacked once for a process."""
    home = tempfile.TemporaryDirectory(prefix="sargo-keygen-")
    _KEPT.append(home)
    with tarfile.open(DATA / f"{release}.tar.xz") as archive:
        archive.extractall(home.name, filter="data")
    return Path(home.name)


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


def rows_read(written: str, reader: str, name: str) -> tuple[dict[str, str], dict[str, dict[str, str | None]]]:
    """The types of the partition columns, and by record key their values as text, as the reader returned them."""
    answer = answers()[f"{written} read by {reader}"][name]
    rows = {key: dict(zip(STORIES[name].names, row, strict=True)) for key, row in answer["rows"].items()}
    return answer["types"], rows
