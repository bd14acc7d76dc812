"""Fuzzes own indexes: their writers are killed (SIGKILL) at random calls and moments, then the index is used.

Invariants: the index gives what it gave before, or what it gives after the operation; no filter skips a slice that
holds a matching row; the operation can be done again; and a vacuum leaves the files of the last version only.
"""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path

from handler import open_table, prune
from index_store.own.maintenance.operations import vacuum
from index_store.own.store.folder import Folder
from index_store.own.store.locations import OTHERS
from index_store.own.store.own_index import OwnIndex
from index_store.own.store.versions import NoIndexError, latest_versions, version_files
from tests.fuzz.fuzzer import Fault
from tests.fuzz.index_writer import OPERATIONS, calls_of, few_entries_per_shard, killed
from tests.index_store.format_tables import reads_of, unpack_format_table
from tests.index_store.own.secondary.answers import said_by
from tests.index_store.own.toy import answers
from tests.index_store.snapshots.rewinding import bring_back, instants, take_away

__all__ = ["IndexCase", "IndexFuzzer"]

_TABLE = "1.2.0_replaced_mor"
_FILTERS = 4


@dataclass(frozen=True)
class IndexCase:
    """An operation, and when it is killed: after so many calls, or after a share of the time that it takes.

    ``beside``: another process runs the same operation at the same time, to its end.
    """

    kind: str
    operation: str
    after_calls: int = 0
    after_share: float = 0.0
    beside: bool = False


class IndexFuzzer:
    """A case is one killed operation on an index of two versions, of which the table is ahead."""

    name = "index"
    cpu_seconds = 60.0
    memory = 512 << 20
    _folder: Path

    @contextlib.contextmanager
    def prepared(self, folder: Path) -> Iterator[None]:
        with few_entries_per_shard():
            self._folder = folder
            self._table = unpack_format_table(_TABLE, folder / "table")
            self._prepare_indexes()
            self._filters = self._filters_with_groups()
            self._states: dict[tuple[str, str], tuple[object, object, int, float]] = {}
            yield

    def _prepare_indexes(self) -> None:
        """For each kind an index that was created and refreshed before the last commits of the table."""
        names = instants(self._table)
        take_away(self._table, self._folder / "aside")
        bring_back(self._table, self._folder / "aside", names[2])
        for kind, operations in OPERATIONS.items():
            operations["create"](Folder.at(self._folder / kind), self._table)
        bring_back(self._table, self._folder / "aside", names[-4])
        for kind, operations in OPERATIONS.items():
            operations["refresh"](Folder.at(self._folder / kind), self._table)
        bring_back(self._table, self._folder / "aside", names[-1])

    def _filters_with_groups(self) -> list[tuple[str, set[str]]]:
        read = reads_of(self._table)[0]
        groups = [file_id for _, file_id, _ in read["groups"]]
        return [(text, {groups[int(place)] for place in places}) for text, places in read["filters"].items()]

    def draw(self, rng: random.Random) -> IndexCase:
        kind = rng.choice(sorted(OPERATIONS))
        operation = rng.choice(sorted(OPERATIONS[kind]))
        beside = operation not in ("create", "drop") and rng.random() < 0.25
        if rng.random() < 0.5:
            return IndexCase(kind, operation, after_share=round(rng.random() * 1.1, 4), beside=beside)
        return IndexCase(kind, operation, after_calls=int(10 ** rng.uniform(0, 4)), beside=beside)

    def check(self, case: IndexCase) -> str:
        before, done, calls, seconds = self._states_of(case)
        place = self._folder / "killed"
        shutil.rmtree(place, ignore_errors=True)
        if case.operation != "create":
            shutil.copytree(self._folder / case.kind, place)
        died = killed(
            case.kind,
            case.operation,
            place,
            self._table,
            after_calls=(case.after_calls - 1) % calls + 1 if case.after_calls else 0,
            after=case.after_share * seconds,
            beside=case.beside,
        )
        found = _says(case.kind, place)
        if found not in (before, done) or ((case.beside or not died) and found != done):
            raise Fault(f"after a killed {case.operation} the index gives neither the old answers nor the new ones")
        self._check_filters(case, place)
        if not (case.operation in ("create", "drop") and found == done):
            OPERATIONS[case.kind][case.operation](Folder.at(place), self._table)
        if _says(case.kind, place) != done:
            raise Fault(f"a {case.operation} after a killed one gives other answers")
        if done is not None:
            self._check_vacuum(case, place, done)
        return "ended" if not died else "new" if found == done != before else "old"

    def _states_of(self, case: IndexCase) -> tuple[object, object, int, float]:
        """What the index says before and after the operation, its calls, and the seconds that it takes."""
        key = case.kind, case.operation
        if key not in self._states:
            place = self._folder / "done"
            before = None if case.operation == "create" else _says(case.kind, self._folder / case.kind)
            for turn in range(2):  # with the calls counted, and without
                shutil.rmtree(place, ignore_errors=True)
                if case.operation != "create":
                    shutil.copytree(self._folder / case.kind, place)
                if turn == 0:
                    calls = calls_of(case.kind, case.operation, place, self._table)
                    continue
                began = time.monotonic()
                OPERATIONS[case.kind][case.operation](Folder.at(place), self._table)
            self._states[key] = before, _says(case.kind, place), calls, time.monotonic() - began
        return self._states[key]

    def _check_filters(self, case: IndexCase, place: Path) -> None:
        table = open_table(self._table, {OTHERS: str(place)}, None)
        chosen = random.Random(repr(case)).sample(self._filters, _FILTERS)
        for text, matching in chosen:
            plan = prune(table, text, "spark", time_zone="UTC")
            lost = matching - {one.file_id for one in plan.kept}
            if lost:
                raise Fault(f"{text} skips {sorted(lost)} after a killed {case.operation}")

    def _check_vacuum(self, case: IndexCase, place: Path, done: object) -> None:
        folder = Folder.at(place)
        vacuum(folder, timedelta(0))
        if _says(case.kind, place) != done:
            raise Fault(f"a vacuum after a killed {case.operation} changes the answers")
        files = {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}
        needed = {*(one.file for one in latest_versions(folder).current.stored), *version_files(folder)}
        if files != needed:
            raise Fault(f"a vacuum after a killed {case.operation} leaves {sorted(files ^ needed)}")

    def smaller(self, case: IndexCase) -> Iterator[IndexCase]:
        if case.beside:
            yield replace(case, beside=False)
        if case.after_calls > 1:
            yield replace(case, after_calls=case.after_calls // 2)
            yield replace(case, after_calls=case.after_calls - 1)

    def dump(self, case: IndexCase) -> bytes:
        return json.dumps(asdict(case)).encode()

    def load(self, data: bytes) -> IndexCase:
        return IndexCase(**json.loads(data))


def _says(kind: str, place: Path) -> object:
    """All that an index says; None where there is none."""
    try:
        return answers(OwnIndex.open(Folder.at(place))) if kind == "sketches" else said_by(Folder.at(place))
    except NoIndexError:
        return None
