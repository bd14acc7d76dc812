"""Own indexes of a table in a store with faults: what is done to them, and the law that holds whatever goes wrong.

prepared    a table with two indexes, of sketches and of a key, that know half of its commits, or all of them
run         one operation on one of them
Law         an error names an object; nothing that was reported as done is lost; nothing that is said is false;
            afterwards every operation works, and the index says what one says that is made now
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from handler.indexes.entries import definition_of
from index_store import open_table
from index_store.own.builders.local import build_locally
from index_store.own.maintenance import operations as of_sketches
from index_store.own.secondary import operations as of_keys
from index_store.own.store.folder import Folder
from index_store.own.store.locations import DIRECTORY
from index_store.own.store.own_index import OwnIndex
from index_store.own.store.versions import NoIndexError
from index_store.storage.errors import TableError
from tests.index_store.own.secondary.answers import local, said_by
from tests.index_store.own.toy import answers
from tests.index_store.snapshots.rewinding import bring_back, instants, take_away, timelines
from tests.s3.store import Store

SKETCHES, KEYS = "sketches", "keys"
USES = {SKETCHES: [("i", "min_max"), ("s", "bloom_filter")], KEYS: [("s", "secondary_index")]}
OPERATIONS = ("create", "refresh", "full refresh", "optimize", "vacuum")


def run(operation: str, index: str, uri: str | Path, options: Mapping[str, str] | None = None) -> Any:
    """The operation on the index of the table at a path or URI. Raises TableError."""
    table = open_table(uri, storage_options=options)
    folder = Folder(table.storage.below(f"{DIRECTORY}/{index}"))
    builds = build_locally if index == SKETCHES else local
    module: Any = of_sketches if index == SKETCHES else of_keys
    match operation:
        case "create":
            return module.create(folder, table, definition_of(table, USES[index], index), builds)
        case "refresh" | "full refresh":
            return module.refresh(folder, table, builds, full=operation != "refresh")
        case "optimize":
            return module.optimize(folder)
        case "vacuum":
            return of_sketches.vacuum(folder, timedelta(0))
    raise ValueError(operation)


def said(index: str, table: Path) -> Mapping[Any, Any] | None:
    """What the index says, by file or by slice; None where there is none. Raises TableError for a broken one."""
    folder = Folder.at(table / DIRECTORY / index)
    try:
        if index == SKETCHES:
            return answers(OwnIndex.open(folder))
        groups, entries = said_by(folder)
    except NoIndexError:
        return None
    by_name = defaultdict(set)
    for name, record, key in entries:
        by_name[name].add((record, key))
    return {(name, about["files"]): (about, by_name[name]) for name, about in groups.items()}


@dataclass(frozen=True)
class Prepared:
    """The folder of a table, and what each of its indexes says at first and in the end."""

    table: Path
    before: Mapping[str, Any]
    whole: Mapping[str, Any]

    @classmethod
    def of(cls, table: Path, aside: Path, *, knows_all: bool) -> Prepared:
        """Takes the table back to its first commit, and creates the indexes there."""
        names = instants(table)
        take_away(table, aside)
        bring_back(table, aside, names[0])
        for index in USES:
            run("create", index, table)
        bring_back(table, aside, names[len(names) // 2])
        for index in USES:
            run("refresh", index, table)
        bring_back(table, aside, names[-1])
        if knows_all:
            for index in USES:
                run("refresh", index, table)
        made_now = Path(shutil.copytree(table, aside / "table", ignore=shutil.ignore_patterns(DIRECTORY)))
        for index in USES:
            run("create", index, made_now)
        return cls(table, {one: said(one, table) for one in USES}, {one: said(one, made_now) for one in USES})

    def put(self, store: Store, name: str, without: str = "") -> Path:
        """A copy of the table in the store, without one of the indexes."""
        place = Path(shutil.copytree(self.table, store.bucket / name))
        for directory in timelines(place):
            max(directory.glob("[0-9]*commit")).touch()  # what a late listing lacks is what was written last
        if without:
            shutil.rmtree(place / DIRECTORY / without)
        return place

    def check(self, index: str, place: Path, reported: Mapping[str, Any], *, seen_late: bool = False) -> None:
        """``reported``: by operation, what it returned or raised. ``seen_late``: an older state was shown."""
        for operation, result in reported.items():
            assert not isinstance(result, TableError) or place.name in str(result), (operation, result)
        found, whole = said(index, place), self.whole[index]
        done = [one for one, result in reported.items() if not isinstance(result, TableError)]
        started_with = None if "create" in reported else self.before[index]
        if found is not None:
            false = {name for name in found.keys() & whole.keys() if found[name] != whole[name]}
            assert not false, f"says something false of {false}"
        if started_with is not None:
            assert found is not None, "the index is gone"
            forgotten = (started_with.keys() & whole.keys()) - found.keys()
            unread = "full refresh" in done and reported["full refresh"].unread  # what it says that it cannot read
            assert not forgotten or unread, f"forgot {len(forgotten)} of {len(started_with)} that it knew, after {done}"
        for one in {"create", "refresh", "full refresh"}.intersection(done):
            if not (seen_late or reported[one].unread):
                assert found is not None, f"lost what {one} did"
                assert whole.keys() <= found.keys(), f"lost what {one} did"

    def check_clean_runs(self, index: str, store: Store, place: Path) -> None:
        """The next operations, without a fault."""
        uri = store.uri(place.name)
        run("create" if said(index, place) is None else "refresh", index, uri, store.options)
        for operation in ("optimize", "vacuum"):
            assert said(index, place) == self.whole[index], f"before {operation}"
            run(operation, index, uri, store.options)
        assert said(index, place) == self.whole[index]
