"""A change is rebased onto the version of whoever commits first, and given up after a bounded number of attempts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from index_store.own.builder import FILES
from index_store.own.definition import Definition, Entry
from index_store.own.store import optimistic_commit
from index_store.own.store.folder import Folder
from index_store.own.store.manifest import write_master
from index_store.own.store.optimistic_commit import Change, RetriesExhaustedError, commit_first, commit_on_latest
from index_store.own.store.versions import Latest, NoIndexError, Version, latest_versions, version_files, write_version
from index_store.storage.errors import TableError
from tests.index_store.own.folders import OwnNames


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """An index of one version."""
    folder = Folder.at(tmp_path / "index")
    version = Version(
        number=1,
        operation="create",
        table="/t",
        definition=Definition("x", (Entry("a"),)),
        instant="1",
        master=write_master(folder, FILES.empty_table(), "1"),
        master_end=0,
        master_instant="1",
        delta=None,
        builds=(),
        next_id=0,
        files=0,
        tombstones=0,
    )
    commit_first(folder, Change(version, (version.master,)))
    return folder


def next_version(folder: Folder, latest: Latest, instant: str) -> Version:
    """The version after the latest one, with a list of files of its own."""
    master = write_master(folder, FILES.empty_table(), instant)
    return replace(latest.current, number=latest.number + 1, instant=instant, master=master)


def write_next(folder: Folder, instant: str) -> None:
    """What another writer does meanwhile."""
    assert write_version(folder, next_version(folder, latest_versions(folder), instant))


def lists_of(folder: Folder) -> set[str]:
    return {f"manifests/{name}" for name in folder.names("manifests")}


def test_a_change_is_committed_on_top_of_the_current_version(folder: Folder) -> None:
    commit = commit_on_latest(folder, lambda latest: Change(next_version(folder, latest, "2"), ()))
    assert (commit.committed, commit.attempts, commit.base.number, commit.version.number) == (True, 1, 1, 2)
    assert latest_versions(folder).current == commit.version


def test_nothing_is_written_when_there_is_nothing_to_change(folder: Folder) -> None:
    files = version_files(folder)
    commit = commit_on_latest(folder, lambda _: None)
    assert (commit.committed, commit.attempts, commit.version) == (False, 1, latest_versions(folder).current)
    assert version_files(folder) == files


def test_a_conflict_rebases_onto_the_newer_version_and_deletes_orphaned_files(folder: Folder) -> None:
    bases = []

    def change(latest: Latest) -> Change:
        bases.append(latest.number)
        if len(bases) < 3:
            write_next(folder, f"other {len(bases)}")
        version = next_version(folder, latest, f"mine {len(bases)}")
        return Change(version, (version.master,))

    commit = commit_on_latest(folder, change)
    assert bases == [1, 2, 3]
    assert (commit.attempts, commit.base.instant, commit.version.number) == (3, "other 2", 4)
    assert not any("mine 1" in name or "mine 2" in name for name in lists_of(folder))
    assert commit.version.master.file in lists_of(folder)


def test_where_numbers_can_be_taken_twice_the_files_of_both_versions_stay(folder: Folder) -> None:
    bases: list[int] = []

    class Late(OwnNames):
        def write_version(self, number, data):
            if len(bases) == 1:
                write_next(OwnNames(folder.storage), "other")
            return super().write_version(number, data)

    at = Late(folder.storage)

    def change(latest: Latest) -> Change:
        bases.append(len(latest.versions))
        version = next_version(at, latest, f"mine {len(bases)}")
        return Change(version, (version.master,))

    assert commit_on_latest(at, change).attempts == 2
    assert bases == [1, 2], "the second attempt sees both versions of number 2"
    assert any("mine 1" in name for name in lists_of(at))


def test_an_error_while_another_writer_commits_is_a_conflict(folder: Folder) -> None:
    """The other writer's optimize and vacuum may remove what the change was reading."""
    attempts = []

    def change(latest: Latest) -> Change:
        attempts.append(latest.number)
        if len(attempts) == 1:
            write_next(folder, "other")
            raise TableError("statistics/x.parquet", "no such file")
        return Change(next_version(folder, latest, "mine"), ())

    assert commit_on_latest(folder, change).version.number == 3
    assert attempts == [1, 2]


def test_an_error_of_its_own_is_raised_at_once(folder: Folder) -> None:
    attempts = []

    def change(latest: Latest) -> Change:
        attempts.append(latest.number)
        raise TableError("x.parquet", "the network is gone")

    with pytest.raises(TableError, match="the network is gone"):
        commit_on_latest(folder, change)
    assert attempts == [1]


def test_retries_are_exhausted_when_others_are_always_first(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimistic_commit, "MAX_ATTEMPTS", 4)
    attempts = []

    def change(latest: Latest) -> Change:
        attempts.append(latest.number)
        write_next(folder, "other")
        return Change(next_version(folder, latest, "mine"), ())

    with pytest.raises(RetriesExhaustedError, match="others changed the index 4 times while this was at it"):
        commit_on_latest(folder, change)
    assert attempts == [1, 2, 3, 4]
    assert latest_versions(folder).current.instant == "other"


def test_an_index_that_was_dropped_meanwhile_is_not_brought_back(folder: Folder) -> None:
    def change(latest: Latest) -> Change:
        version = next_version(folder, latest, "mine")
        for file in version_files(folder):
            folder.remove(file)
        return Change(version, ())

    with pytest.raises(NoIndexError, match="the index was dropped meanwhile"):
        commit_on_latest(folder, change)
    assert not version_files(folder)
