"""Writers of an index of sketches that meet at any step: nothing that one of them reported as done is lost."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from index_store import open_table
from index_store.own.maintenance.operations import create, drop, optimize, refresh, vacuum
from index_store.own.store.folder import Folder
from index_store.own.store.own_index import OwnIndex
from index_store.own.store.versions import NoIndexError
from tests.index_store.own.races import Race, every_race
from tests.index_store.own.toy import DEFINITION, Toy, answers
from tests.index_store.snapshots.rewinding import bring_back, instants, take_away
from tests.sampling import examples, share

OPERATIONS: dict[str, Callable[[Folder, Path], object]] = {
    "create": lambda folder, table: create(folder, open_table(table), DEFINITION, Toy()),
    "refresh": lambda folder, table: refresh(folder, open_table(table), Toy()),
    "full refresh": lambda folder, table: refresh(folder, open_table(table), Toy(), full=True),
    "optimize": lambda folder, _: optimize(folder),
    "vacuum": lambda folder, _: vacuum(folder, timedelta(0)),
    "drop": lambda folder, _: drop(folder),
}


@pytest.fixture(autouse=True)
def _nobody_waits(monkeypatch):
    monkeypatch.setattr("index_store.own.store.folder._force", lambda _: None)
    monkeypatch.setattr("index_store.own.store.optimistic_commit._back_off", lambda *_: None)


def said_by(path: Path) -> dict | None:
    try:
        return answers(OwnIndex.open(Folder.at(path)))
    except NoIndexError:
        return None


@pytest.fixture(scope="module")
def race(hudi_table, tmp_path_factory) -> Race:
    """An index of three versions, and two commits that it does not know yet."""
    root = tmp_path_factory.mktemp("races")
    table = Path(shutil.copytree(hudi_table("1.1.1_main_cow"), root / "table"))
    names = instants(table)
    take_away(table, root / "aside")
    bring_back(table, root / "aside", names[0])
    folder = Folder.at(root / "index")
    create(folder, open_table(table), DEFINITION, Toy())
    refresh(folder, open_table(table), Toy(), full=True)
    bring_back(table, root / "aside", names[-3])
    refresh(folder, open_table(table), Toy())
    bring_back(table, root / "aside", names[-1])
    create(Folder.at(root / "whole"), open_table(table), DEFINITION, Toy())
    whole = said_by(root / "whole")
    assert whole is not None
    return Race(OPERATIONS, said_by, table, root / "index", whole)


@pytest.mark.parametrize(("names", "atomic"), share(every_race(2), 87), ids=str)
def test_two_writers_that_meet_at_any_step(names, atomic, race: Race, tmp_path) -> None:
    for step in range(200):
        if not race.meet(names, [step], tmp_path / "index", atomic=atomic):
            break
    assert step


@pytest.mark.parametrize("seed", range(examples(1, at_night=60)))
def test_three_writers_that_meet_anywhere(seed: int, race: Race, tmp_path) -> None:
    draw = random.Random(seed)
    for names, atomic in draw.sample(every_race(3), 20):
        race.meet(names, [draw.randrange(12), draw.randrange(12)], tmp_path / "index", atomic=atomic)
