"""Folders in which writers die or names are nobody's own, and what an index has to be like in them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from index_store.own.maintenance.operations import vacuum
from index_store.own.store.folder import Folder
from index_store.own.store.versions import latest_versions, version_files

Run = Callable[[Folder, Path], object]
Said = Callable[[Path], object]


class Killed(BaseException):
    """The process is no more."""


class DyingFolder(Folder):
    """Dies before or after its n-th step; from then on nothing it is asked for happens."""

    def __init__(self, path: Path, dies_at: int, *, after: bool, atomic: bool) -> None:
        super().__init__(Folder.at(path).storage)
        self.left, self.after, self.dead, self.atomic = dies_at, after, False, atomic

    @property
    def creates_atomically(self):
        return self.atomic

    def _step(self, step, *given):
        if self.dead:
            raise Killed
        self.left -= 1
        if self.left < 0:
            self.dead = True
            if self.after:
                step(*given)
            raise Killed
        return step(*given)

    def create_parent(self, file):
        return self._step(super().create_parent, file)

    def publish(self, temporary, file):
        return self._step(super().publish, temporary, file)

    def link(self, temporary, file):
        return self._step(super().link, temporary, file)

    def remove(self, file):
        return self._step(super().remove, file)

    def remove_directories(self):
        return self._step(super().remove_directories)

    @contextmanager
    def _temporary(self, directory):
        with super()._temporary(directory) as temporary:
            yield temporary
            if self.dead:
                shutil.copy(temporary, temporary.with_suffix(".stays.tmp"))


class OwnNames(Folder):
    """A local folder that takes itself for one where files are overwritten."""

    creates_atomically = False


def outlives_its_writers(
    run: Run, said: Said, operation: str, table: Path, prepared: Path, home: Path, *, after: bool, atomic: bool
) -> int:
    """Let the operation die at each of its steps, and hold what is left to what was there before or is there after it.

    ``said`` tells what the index in a folder says, None where there is none. Gives how many steps there are.
    """
    before = None if operation == "create" else said(prepared)
    done = home / "done"
    if before is not None:
        shutil.copytree(prepared, done)
    run(Folder.at(done), table)
    then = said(done)
    survived = []
    for step in range(100):
        place = home / f"step {step}"
        if before is not None:
            shutil.copytree(prepared, place)
        try:
            run(DyingFolder(place, step, after=after, atomic=atomic), table)
        except Killed:
            found = said(place)
            assert found in (before, then), f"step {step}"
            survived.append(found == then)
        else:
            break
        if not (operation in ("create", "drop") and said(place) == then):
            run(Folder.at(place), table)  # it can be done again, on whatever is left
        assert said(place) == then
        if then is not None:
            vacuum(Folder.at(place), timedelta(0))
            assert said(place) == then
            version = latest_versions(Folder.at(place)).current
            files = {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}
            assert files == {*(one.file for one in version.stored), *version_files(Folder.at(place))}
        shutil.rmtree(place, ignore_errors=True)
    assert len(survived) == step
    if before != then:
        assert survived == sorted(survived), "once it is done, it stays done"
        assert not survived[0]
    return step
