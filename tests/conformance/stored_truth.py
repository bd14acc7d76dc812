"""The stored row truth of each table (written by ``row_truth``), and the tables themselves, unpacked."""

from __future__ import annotations

import json
import lzma
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.conformance.spans import from_text

DATA = Path(__file__).parent.parent / "data" / "conformance"
TABLES = sorted(path.name.removesuffix(".tar.xz") for path in DATA.glob("*.tar.xz"))
MODES = ("legacy", "ansi")


@dataclass(frozen=True)
class Truth:
    """`groups`: file ids; `rows`: (record key, place of its group); `predicates`: see ``row_truth``."""

    name: str
    table_version: int
    groups: tuple[str, ...]
    rows: tuple[tuple[str, int], ...]
    predicates: dict[str, dict[str, Any]]

    def numbers(self, sql: str, mode: str) -> frozenset[int] | None:
        """The rows where the predicate is TRUE; None when Spark fails on it."""
        answers = self.predicates[sql]
        answer = answers.get("rows", answers.get(mode))
        return None if isinstance(answer, dict) else from_text(answer)

    def keys(self, sql: str, mode: str) -> set[str]:
        return {self.rows[n][0] for n in self.numbers(sql, mode) or ()}

    def groups_of(self, numbers: Iterable[int]) -> set[str]:
        return {self.groups[self.rows[n][1]] for n in numbers}

    def group_of_key(self, key: str) -> str:
        return self.groups[dict(self.rows)[key]]

    def kept_by_hudi(self, sql: str) -> set[str] | None:
        """The groups with rows that Hudi's own data skipping keeps; None when that is not known or failed."""
        places = self.predicates[sql].get("hudi")
        return {self.groups[place] for place in places if place >= 0} if isinstance(places, list) else None

    def hudi_fails(self, sql: str) -> bool:
        """Whether Hudi's data skipping ends the query with an error."""
        return isinstance(self.predicates[sql].get("hudi"), dict)


@cache
def truth_of(name: str) -> Truth:
    with lzma.open(DATA / f"{name}.json.xz", "rt", encoding="utf-8") as file:
        document = json.load(file)
    rows = tuple((key, place) for key, place in document["rows"])
    return Truth(name, document["table_version"], tuple(document["groups"]), rows, document["predicates"])


def unpack(name: str, folder: Path) -> Path:
    """The table's own directory, below this folder."""
    with tarfile.open(DATA / f"{name}.tar.xz") as archive:
        archive.extractall(folder / name, filter="data")
    return folder / name
