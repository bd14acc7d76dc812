"""One writer of an index does all its work at one step of another: every order in which they can meet.

    Stepping      a folder that counts its steps, and lets something happen before one of them
    Race.meet     runs an operation, at a step of it the next one, at a step of that one a third
    afterwards    what was reported as done is there, nothing that is said is false, and all operations work

A step is one request to a store, so trying all of them tries a race at every request.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from index_store.own.store.folder import Folder
from index_store.own.store.versions import version_files
from index_store.storage.errors import TableError
from tests.index_store.own.folders import OwnNames

Run = Callable[[Folder, Path], object]
CHANGES = ("refresh", "full refresh", "optimize", "vacuum", "drop")


class Steps:
    """Counts steps. Before the one with the number ``at`` something happens."""

    def __init__(self, at: int, happens: Callable[[], object]) -> None:
        self.at, self.happens, self.count, self.busy = at, happens, 0, False

    def step(self) -> None:
        if not self.busy:
            self.count += 1
            if self.count - 1 == self.at:
                self.busy = True
                self.happens()
                self.busy = False


class Stepping(Folder):
    """A local folder. ``atomic``: only one of several writers can create a file of one name."""

    def __init__(self, path: Path, steps: Steps, *, atomic: bool) -> None:
        super().__init__(Folder.at(path).storage)
        self.steps, self.atomic = steps, atomic

    @property
    def creates_atomically(self):
        return self.atomic

    def read(self, *given, **named):
        self.steps.step()
        return super().read(*given, **named)

    def names(self, below):
        self.steps.step()
        return super().names(below)

    def stats(self):
        self.steps.step()
        return super().stats()

    def publish(self, temporary, file):
        self.steps.step()
        return super().publish(temporary, file)

    def link(self, temporary, file):
        self.steps.step()
        return super().link(temporary, file)

    def remove(self, file):
        self.steps.step()
        return super().remove(file)


@dataclass(frozen=True)
class Race:
    """An index of a table, in races.

    operations   by name: create and CHANGES
    said         what the index in a folder says, by what it knows; None where there is none
    prepared     an index that does not know the latest state of the table
    whole        what an index says that knows it
    """

    operations: Mapping[str, Run]
    said: Callable[[Path], Mapping[Any, Any] | None]
    table: Path
    prepared: Path
    whole: Mapping[Any, Any]

    def meet(self, names: Sequence[str], at: Sequence[int], place: Path, *, atomic: bool) -> bool:
        """Run the operations, each at a step of the one before. False: there is no such step."""
        if names[0] != "create":
            shutil.copytree(self.prepared, place)
        before = self.said(place)
        done: list[str] = []
        if self._run(names, at, place, done, atomic=atomic):
            self._check(names, f"{names} at {at}, done: {done}", done, before, place, atomic=atomic)
        else:
            names = ()
        shutil.rmtree(place, ignore_errors=True)
        return bool(names)

    def _run(self, names: Sequence[str], at: Sequence[int], place: Path, done: list[str], *, atomic: bool) -> bool:
        """Appends to ``done`` what is reported as done, in the order in which it was."""
        reached = [len(names) == 1]

        def next_one() -> None:
            reached[0] = self._run(names[1:], at[1:], place, done, atomic=atomic)

        steps = Steps(at[0] if len(names) > 1 else -1, next_one)
        try:
            self.operations[names[0]](Stepping(place, steps, atomic=atomic), self.table)
        except TableError as error:
            named = place.name in str(error)
        else:
            named = True
            done.append(names[0])
        assert named, "an error does not name the index"
        return reached[0]

    def _check(
        self, names: Sequence[str], story: str, done: Sequence[str], before: Any, place: Path, *, atomic: bool
    ) -> None:
        said = self.said(place)
        if said is not None:
            false = {name for name in said.keys() & self.whole.keys() if said[name] != self.whole[name]}
            assert not false, f"{story}: says something false of {false}"
        if "drop" not in done:
            if before is not None:
                assert said is not None, f"{story}: the index is gone"
                assert before.keys() & self.whole.keys() <= said.keys(), f"{story}: forgot what it knew"
            if {"refresh", "full refresh", "create"} & set(done):
                assert said is not None, f"{story}: the index is gone"
                assert self.whole.keys() <= said.keys(), f"{story}: lost what was done"
            assert done.count("create") < 2, f"{story}: two created one index"
        elif "create" in done and done.count("drop") > 1:
            pass  # one of the two drops may have come after it
        elif "create" in done and names.index("create") > names.index("drop"):
            assert said is not None, f"{story}: what was created is gone"
        elif done[-1] == "drop":
            assert said is None, f"{story}: it was not dropped"
        self._check_usable(story, place, atomic=atomic)

    def _check_usable(self, story: str, place: Path, *, atomic: bool) -> None:
        """Every operation works on what is left."""
        folder = Folder.at(place) if atomic else OwnNames(Folder.at(place).storage)
        self.operations["refresh" if version_files(folder) else "create"](folder, self.table)
        for operation in ("optimize", "vacuum"):
            assert self.said(place) == self.whole, f"{story}: before {operation}"
            self.operations[operation](folder, self.table)
        assert self.said(place) == self.whole, f"{story}: after vacuum"
        self.operations["drop"](folder, self.table)
        assert self.said(place) is None, story


def every_race(count: int) -> list[tuple[tuple[str, ...], bool]]:
    """All operations that can meet, so many at once, and whether names are taken atomically."""
    firsts: list[tuple[str, ...]] = [(one,) for one in ("create", *CHANGES)]
    for _ in range(count - 1):
        firsts = [(*names, one) for names in firsts for one in ("create", *CHANGES)]
    return [(names, atomic) for names in firsts for atomic in (True, False)]
