"""Where an index can be: local disks, object stores, other file systems; and processes that are killed for good."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import fsspec
import pytest
from pyarrow import fs

from index_store import open_table
from index_store.own.maintenance import operations
from index_store.own.maintenance.operations import create, drop, optimize, refresh
from index_store.own.store.folder import VERSIONS, Folder
from index_store.own.store.locations import OTHERS, folder_of, indexes_of
from index_store.own.store.own_index import OwnIndex
from index_store.own.store.versions import version_files
from index_store.storage.errors import TableError
from tests.index_store.object_store import ObjectStore, running
from tests.index_store.own.toy import DEFINITION, Toy, answers
from tests.index_store.snapshots.rewinding import bring_back, instants, take_away


@pytest.fixture(scope="module")
def store():
    with running() as found:
        yield found


def everything(table: Path, tmp_path: Path) -> dict:
    folder = Folder.at(tmp_path / "everything")
    create(folder, open_table(table), DEFINITION, Toy())
    return answers(OwnIndex.open(folder))


def test_a_name_is_taken_by_one_writer_only(tmp_path):
    folder = Folder.at(tmp_path)
    assert folder.write_version(7, b"mine") == f"{VERSIONS}/0000000007.json"
    assert folder.write_version(7, b"theirs") is None
    assert folder.read(f"{VERSIONS}/0000000007.json", 4) == b"mine"
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["0000000007.json"]


def test_where_a_name_cannot_be_taken_each_writer_has_its_own(store: ObjectStore, tmp_path):
    url = store.put(tmp_path, "names")
    folder = Folder.at(f"{url}/index", None, store.options)
    names = {folder.write_version(7, b"mine"), folder.write_version(7, b"theirs")}
    assert len(names) == 2
    assert set(version_files(folder)) == names


def test_a_disk_without_hard_links_is_refused_with_advice(hudi_table, tmp_path, monkeypatch):
    def link(source, target):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(TableError, match=r"0000000001\.json: cannot be written.*hard links, choose another folder"):
        create(Folder.at(tmp_path / "index"), open_table(hudi_table("1.1.1_main_cow")), DEFINITION, Toy())


def test_an_object_store_that_is_busy_is_asked_again(store: ObjectStore, hudi_table, tmp_path):
    table = hudi_table("1.1.1_main_cow")
    url = store.put(tmp_path, "busy")
    folder = Folder.at(f"{url}/index", None, store.options)
    store.refuse.extend([503, 503])
    create(folder, open_table(table), DEFINITION, Toy())
    assert not store.refuse
    assert answers(OwnIndex.open(Folder.at(f"{url}/index", None, store.options))) == everything(table, tmp_path)


def test_a_store_that_refuses_is_told_without_its_keys(store: ObjectStore, hudi_table, tmp_path):
    url = store.put(tmp_path, "refused")
    folder = Folder.at(f"{url}/index", None, {**store.options, "tries": "1"})
    store.refuse.extend([403] * 20)
    try:
        with pytest.raises(TableError, match="refused/index") as caught:
            create(folder, open_table(hudi_table("1.1.1_main_cow")), DEFINITION, Toy())
    finally:
        store.refuse.clear()
    assert store.options["secret_key"] not in str(caught.value)


def test_any_other_file_system_renames_what_is_complete(hudi_table, tmp_path):
    """Here one of fsspec in memory, through pyarrow."""
    table = hudi_table("1.1.1_main_mor")
    memory = fs.PyFileSystem(fs.FSSpecHandler(fsspec.filesystem("memory", skip_instance_cache=True)))
    memory.create_dir("/own", recursive=True)
    folder = Folder.at("/own/index", memory)
    assert not folder.creates_atomically
    create(folder, open_table(table), DEFINITION, Toy())
    optimize(folder)
    again = Folder.at("/own/index", memory)
    assert answers(OwnIndex.open(again)) == everything(table, tmp_path)
    assert not [stat.path for stat in again.stats() if stat.path.endswith(".part")]
    drop(again)
    assert not version_files(again)


def test_many_refreshes_are_put_together_by_themselves(hudi_copy, tmp_path, monkeypatch):
    monkeypatch.setattr(operations, "MAX_BUILDS", 2)
    table = hudi_copy("1.1.1_main_mor")
    folder, most = Folder.at(tmp_path / "index"), 0
    names = instants(table)
    take_away(table, tmp_path / "aside")
    for name in names:
        bring_back(table, tmp_path / "aside", name)
        if version_files(folder):
            refresh(folder, open_table(table), Toy())
        else:
            create(folder, open_table(table), DEFINITION, Toy())
        version = OwnIndex.open(folder).version
        most = max(most, len(version.builds))
        assert len(version.builds) <= 2
    assert most == 2
    assert answers(OwnIndex.open(folder)) == everything(table, tmp_path)


def test_indexes_are_found_beside_the_data_and_where_they_are_said_to_be(hudi_copy, tmp_path):
    path = hudi_copy("1.1.1_main_cow")
    create(folder_of(open_table(path), "toy"), open_table(path), DEFINITION, Toy())
    other, broken = tmp_path / "other", tmp_path / "broken"
    shutil.copytree(path / ".sargo" / "toy", other)
    (broken / VERSIONS).mkdir(parents=True)
    (broken / VERSIONS / "0000000001.json").write_text("{")
    table = open_table(path, options={OTHERS: f"{other}, {broken}, {tmp_path / 'none'}"})
    found = indexes_of(table)
    assert [(one.name, one.folder.path) for one in found] == [
        ("broken", str(broken)),
        ("toy", str(path / ".sargo" / "toy")),
        ("toy", str(other)),
    ]
    assert found[0].index is None
    assert found[0].fault.startswith("no version of this index is whole")
    assert [one.name for one in indexes_of(open_table(path), [str(other)])] == ["toy", "toy"]
    with pytest.raises(ValueError, match="no name of an index"):
        folder_of(table, "../toy")


WRITER = """
import sys
from index_store.own.store.folder import Folder
from index_store.own.maintenance.operations import optimize, refresh
from index_store import open_table
from tests.index_store.own.toy import Toy
folder, table = Folder.at(sys.argv[1]), open_table(sys.argv[2])
print("ready", flush=True)
while True:
    refresh(folder, table, Toy(), full=True)
    optimize(folder)
"""


def test_a_writer_that_is_killed_leaves_an_index_that_reads(hudi_table, tmp_path):
    table = hudi_table("1.1.1_main_mor")
    folder = Folder.at(tmp_path / "index")
    create(folder, open_table(table), DEFINITION, Toy())
    said = answers(OwnIndex.open(folder))
    for _ in range(2):
        command = [sys.executable, "-c", WRITER, folder.path, str(table)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
            before = OwnIndex.open(folder).version.number
            while OwnIndex.open(folder).version.number < before + 3:
                assert answers(OwnIndex.open(folder)) == said
                time.sleep(0.01)
            writer.kill()
        opened = OwnIndex.open(folder)
        assert (answers(opened), opened.faults) == (said, ())
    assert refresh(folder, open_table(table), Toy()).built == 0
