"""Writers of a secondary index that meet at any step: nothing that one of them reported as done is lost."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from index_store import open_table
from index_store.own.secondary.operations import create, refresh
from index_store.own.store.folder import Folder
from index_store.own.store.versions import NoIndexError
from tests.index_store.format_tables import unpack_format_table
from tests.index_store.own.races import Race, every_race
from tests.index_store.own.secondary.answers import local, said_by
from tests.index_store.own.secondary.test_operations import BY, OPERATIONS
from tests.index_store.snapshots.rewinding import bring_back, instants, take_away
from tests.sampling import examples, share


@pytest.fixture(autouse=True)
def _nobody_waits(monkeypatch):
    monkeypatch.setattr("index_store.own.store.folder._force", lambda _: None)
    monkeypatch.setattr("index_store.own.store.optimistic_commit._back_off", lambda *_: None)
    monkeypatch.setattr("index_store.own.secondary.shards.ENTRIES_PER_SHARD", 25)


def said(path: Path) -> dict[tuple[str, str], Any] | None:
    """What an index says of each slice, by its file group and its files."""
    try:
        groups, entries = said_by(Folder.at(path))
    except NoIndexError:
        return None
    by_name = defaultdict(set)
    for name, record, key in entries:
        by_name[name].add((record, key))
    return {(name, about["files"]): (about, by_name[name]) for name, about in groups.items()}


@pytest.fixture(scope="module")
def race(tmp_path_factory) -> Race:
    """An index of two generations, and commits that it does not know yet."""
    root = tmp_path_factory.mktemp("races")
    table = unpack_format_table("1.2.0_replaced_mor", root / "table")
    names = instants(table)
    take_away(table, root / "aside")
    bring_back(table, root / "aside", names[2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("index_store.own.secondary.shards.ENTRIES_PER_SHARD", 25)
        create(Folder.at(root / "index"), open_table(table), BY, local)
        bring_back(table, root / "aside", names[-4])
        refresh(Folder.at(root / "index"), open_table(table), local)
        bring_back(table, root / "aside", names[-1])
        create(Folder.at(root / "whole"), open_table(table), BY, local)
    whole = said(root / "whole")
    assert whole is not None
    return Race(OPERATIONS, said, table, root / "index", whole)


@pytest.mark.parametrize(("names", "atomic"), share(every_race(2), 172), ids=str)
def test_two_writers_that_meet_at_any_step(names, atomic, race: Race, tmp_path) -> None:
    for step in range(200):
        if not race.meet(names, [step], tmp_path / "index", atomic=atomic):
            break
    assert step


@pytest.mark.parametrize("seed", range(examples(1, at_night=60)))
def test_three_writers_that_meet_anywhere(seed: int, race: Race, tmp_path) -> None:
    draw = random.Random(seed)
    for names, atomic in draw.sample(every_race(3), 10):
        race.meet(names, [draw.randrange(12), draw.randrange(12)], tmp_path / "index", atomic=atomic)
