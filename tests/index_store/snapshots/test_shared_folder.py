"""Snapshots in a store: many processes share one, and whoever lacks the key can neither plant, change nor move one."""

from __future__ import annotations

import atexit
import shutil
import time
import warnings
from pathlib import Path

import pytest

from handler import open_table, prune
from index_store.snapshots import SharedFolder, SnapshotCache, default_cache
from index_store.snapshots.shared_folder import superseded
from index_store.storage.client import Listed
from index_store.storage.storage import Storage
from tests.index_store.snapshots.rewinding import commit_by_commit
from tests.s3.store import kinds, running
from tests.sampling import share

KEY = b"k" * 32
FILTER = "i < 40 AND s >= 'b'"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with running(tmp_path_factory.mktemp("s3")) as found:
        yield found


@pytest.fixture
def table(store, hudi_table):
    """A table in the bucket."""
    return in_bucket(store, hudi_table("1.1.1_main_cow"), "one")


def in_bucket(store, path, name):
    place = store.bucket / name
    if not place.exists():
        shutil.copytree(path, place)
    return store.uri(name)


class Process:
    """What a short-lived process is: an empty local folder, and the shared one."""

    def __init__(self, store, folder, name, key=KEY, **more):
        self.store = store
        self.shared = SharedFolder(store.uri(name), key, storage_options=store.options, **more)
        self.cache = SnapshotCache(folder, min_slices=0, shared=self.shared)

    def kept(self, uri, text=FILTER):
        plan = prune(open_table(uri, cache=self.cache, storage_options=self.store.options), text)
        assert self.shared.finish(20)
        return groups(plan)

    def reads_table(self, uri, text=FILTER):
        """The same, and whether the metadata table's files were read."""
        self.store.take()
        kept = self.kept(uri, text)
        return kept, any("/.hoodie/metadata/" in one["path"] for one in self.store.take() if one["kind"] == "GET")


def groups(plan):
    return sorted((one.partition, one.file_id, one.files) for one in plan.kept)


@pytest.fixture
def process(store, tmp_path, request):
    """A function that starts a process; those of one test share a folder."""
    started = []

    def start(**more):
        started.append(Process(store, tmp_path / f"local{len(started)}", f"cache-{request.node.name[:60]}", **more))
        return started[-1]

    return start


@pytest.fixture
def expected(store, table):
    return groups(prune(open_table(table, cache=None, storage_options=store.options), FILTER))


def asked_of(process):
    """The requests for the folder that this test's processes share; threads of other tests may still ask for theirs."""
    return [one for one in process.store.take() if process.shared.name.rpartition("/")[2] in one["path"]]


def objects(process):
    place = process.store.bucket / process.shared.name.rpartition("/")[2]
    return sorted(file for file in place.rglob("*") if file.is_file())


def test_a_second_process_reads_no_metadata_table(process, table, expected):
    assert process().reads_table(table) == (expected, True)
    assert len(objects(process())) == 3  # the slices, and two columns
    assert process().reads_table(table) == (expected, False)


def test_a_column_that_nobody_asked_for_before_is_added(process, table, expected, store):
    process().kept(table, "i < 40")
    assert process().reads_table(table) == (expected, True)
    assert process().reads_table(table) == (expected, False)


def test_objects_are_written_once(process, table, store):
    first, second = process(), process()
    store.take()
    with store.answering(latency=0.02):
        first.kept(table)
        puts = [one for one in asked_of(first) if one["kind"] == "PUT"]
    assert len(puts) == 3
    assert all(one["if"] == "*" for one in puts)
    before = [file.stat().st_mtime_ns for file in objects(second)]
    second.kept(table)
    assert kinds(asked_of(second))["PUT"] == 0
    assert [file.stat().st_mtime_ns for file in objects(second)] == before


def test_two_writers_at_once_agree(process, table, expected, store):
    """The second one read the table before the first one's objects were there."""
    first, second = process(), process()
    opened = open_table(table, cache=second.cache, storage_options=store.options)
    first.kept(table)
    before = [file.stat().st_ino for file in objects(first)]
    second.cache.sharing._tables.clear()
    with store.answering({"kind": "empty", "method": "LIST", "path": "cache-"}):
        plan = prune(opened, FILTER)
        second.shared.finish(20)
        puts = [one["status"] for one in asked_of(second) if one["kind"] == "PUT"]
    assert puts == [412] * 3
    assert groups(plan) == expected
    assert [file.stat().st_ino for file in objects(first)] == before
    assert process().reads_table(table) == (expected, False)


def test_a_planted_object_is_not_read_and_replaced(process, table, expected, store):
    process().kept(table)
    other = Process(store, process().cache.folder.parent / "planter", "planted", key=b"x" * 32)
    other.kept(table, "i > 1000000 AND s >= 'b'")
    mine, theirs = objects(process()), objects(other)
    for file, planted in zip(mine, theirs, strict=True):
        file.write_bytes(planted.read_bytes())
    assert process().reads_table(table) == (expected, True)
    assert process().reads_table(table) == (expected, False)


def test_damage_is_found(process, table, expected, store):
    process().kept(table)
    for file in objects(process()):
        data = file.read_bytes()
        for place in share(range(0, len(data), max(1, len(data) // 24)), 24):
            file.write_bytes(data[:place] + bytes([data[place] ^ 0x40]) + data[place + 1 :])
            assert process().kept(table) == expected
        for end in share((0, 1, 43, len(data) // 2, len(data) - 1), 2):
            file.write_bytes(data[:end])
            assert process().kept(table) == expected
        file.write_bytes(data + b"\0")
        assert process().kept(table) == expected


def test_objects_of_one_table_are_not_used_for_another(process, table, hudi_table, store):
    other = in_bucket(store, hudi_table("1.1.1_nan_cow"), "other")
    text = "f < 1"
    expected = groups(prune(open_table(other, cache=None, storage_options=store.options), text))
    process().kept(table, "i < 40")
    mine = objects(process())
    process().kept(other, text)
    theirs = [file for file in objects(process()) if file not in mine]
    for file in theirs:  # under the other table's names
        for planted in mine:
            if planted.suffix == file.suffix:
                file.write_bytes(planted.read_bytes())
    for planted in mine:  # under their own names in the other table's folder
        (theirs[0].parent / planted.name).write_bytes(planted.read_bytes())
    assert process().reads_table(other, text) == (expected, True)


@pytest.mark.nightly
def test_older_snapshots_put_back_are_harmless(process, store, hudi_copy, tmp_path):
    """Every state is followed from each earlier snapshot: what it lacks is read from the table."""
    path, backup = hudi_copy("1.1.1_nan_cow"), tmp_path / "backup"
    place = store.bucket / "rewound"
    in_layers = 0
    for _ in commit_by_commit(path, tmp_path / "aside"):
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(path, place)
        uri = store.uri("rewound")
        expected = groups(prune(open_table(uri, cache=None, storage_options=store.options), "f < 1"))
        assert process().kept(uri, "f < 1") == expected
        cached = objects(process())
        if not backup.exists():
            shutil.copytree(cached[0].parent, backup)
        newest = {file: file.read_bytes() for file in cached}
        for file in cached:
            file.unlink()
        for file in backup.iterdir():
            shutil.copy(file, cached[0].parent)
        reader = process()
        assert reader.kept(uri, "f < 1") == expected
        in_layers += open_table(uri, cache=reader.cache, storage_options=store.options).at().layers is not None
        for file, data in newest.items():
            file.write_bytes(data)
        assert process().kept(uri, "f < 1") == expected
    assert in_layers


FAULTS = (
    {"kind": "503"},
    {"kind": "403"},
    {"kind": "404"},
    {"kind": "reset"},
    {"kind": "short"},
    {"kind": "cut"},
    {"kind": "flip"},
    {"kind": "empty"},
    {"kind": "hang"},
    {"kind": "stall"},
)


@pytest.mark.parametrize(
    ("method", "fault"),
    share([(method, fault) for method in ("LIST", "GET", "PUT") for fault in FAULTS], 6),
    ids=lambda one: one if isinstance(one, str) else one["kind"],
)
def test_a_folder_that_fails_costs_nothing_but_time(process, table, expected, store, fault, method, monkeypatch):
    process().kept(table)
    if method == "PUT":
        for file in objects(process()):
            file.unlink()
    monkeypatch.setattr(atexit, "register", lambda _: None)
    reader = process(wait=0.3)
    with store.answering({**fault, "method": method + "$", "path": "cache-"}), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        began = time.monotonic()
        plan = prune(open_table(table, cache=reader.cache, storage_options=store.options), FILTER)
        assert groups(plan) == expected
        assert time.monotonic() - began < 20
        assert not plan.to_dict().get("errors")
    assert process().kept(table) == expected


def test_a_folder_that_fails_is_left_alone_and_said_once(process, table, expected, store):
    process().kept(table)
    reader = process()
    with store.answering({"kind": "403", "path": "cache-"}):
        with pytest.warns(RuntimeWarning, match="shared snapshots are not used: s3://lake/cache-.*access is denied"):
            open_table(table, cache=reader.cache, storage_options=store.options).at()
        store.take()
        for file in reader.cache.folder.rglob("*"):
            file.unlink() if file.is_file() else None
        assert groups(prune(open_table(table, cache=reader.cache, storage_options=store.options), FILTER)) == expected
        assert not asked_of(reader)


def test_a_folder_without_a_key_is_refused(process, table, expected, store):
    process().kept(table)
    keyless = process(key=None)
    store.take()
    with pytest.warns(RuntimeWarning, match="decides which files are skipped, and it has no key"):
        assert keyless.kept(table) == expected
    assert not asked_of(keyless)
    trusting = process(key=None, trusts_writers=True)
    assert trusting.reads_table(table) == (expected, True)  # what a key has sealed lies elsewhere
    assert process(key=None, trusts_writers=True).reads_table(table) == (expected, False)


def test_a_short_key_is_a_mistake():
    with pytest.raises(ValueError, match="has 5 bytes, 32 are the least"):
        SharedFolder("s3://lake/cache", b"short")


def test_tables_on_a_local_disk_are_not_shared(process, hudi_table):
    reader = process()
    prune(open_table(hudi_table("1.1.1_main_cow"), cache=reader.cache), FILTER)
    assert not asked_of(reader)


def test_the_environment_names_the_folder(monkeypatch, tmp_path, store):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SARGO_CACHE", "s3://lake/named?region=eu-west-1")
    found = default_cache()
    assert "no key" in found.why_refused()
    monkeypatch.setenv("SARGO_CACHE_KEY_FILE", str(tmp_path / "key"))
    assert "No such file" in default_cache().why_refused()
    monkeypatch.setenv("SARGO_CACHE_TRUST", "writers")
    assert "No such file" in default_cache().why_refused()  # a key that is named counts
    Path(tmp_path / "key2").write_bytes(KEY + b"\n")
    monkeypatch.setenv("SARGO_CACHE_KEY_FILE", str(tmp_path / "key2"))
    named = default_cache()
    assert (named.why_refused(), named.folder) == ("", tmp_path / "cache/sargo/snapshots")
    assert default_cache().shared is named.shared
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    assert default_cache().folder != named.folder


def test_what_no_state_needs_is_removed():
    a, b, c, d = ("a" * 32, "b" * 32, "c" * 32, "d" * 32)
    column = "-" + "0" * 16 + ".column_stats-" + "1" * 16
    listed = {
        f"{a}-{a}.slices": 1000.0,
        f"{a}{column}": 1001.0,
        f"{b}-{b}.slices": 2000.0,
        f"{b}{column}": 2001.0,
        f"{c}-{b}.slices": 3000.0,
        f"{d}-{b}.slices": 4000.0,
        f"{d}{column}": 4001.0,
        "somebody's file": 5.0,
    }
    found = {name: Listed(name, 1, "", written) for name, written in listed.items()}
    assert superseded(found) == [f"{a}{column}", f"{a}-{a}.slices"]
    found = {name: Listed(name, 1, "", 1.0) for name in listed}
    assert superseded(found) == []  # all are young


def test_a_secret_of_the_uri_is_not_shown(store):
    shared = SharedFolder("s3://AKIAIOSFODNN7SARGO00:wJalrXUtnFEMI@lake/cache", KEY)
    assert "wJalr" not in f"{shared} {shared.name} {SharedFolder('s3://a:wJalrXUtnFEMI@lake/cache').why_refused()}"


def test_a_table_of_this_name_at_another_endpoint_is_another_table(process, table, expected, store, tmp_path):
    """Whoever makes somebody open a copy with other statistics would else have a snapshot of the true table made."""
    process().kept(table)
    with running(tmp_path / "s3") as other:
        shutil.copytree(store.bucket / "one", other.bucket / "one")
        reader = process()
        kept = groups(prune(open_table(table, cache=reader.cache, storage_options=other.options), FILTER))
        assert reader.shared.finish(20)
        asked = other.take()
    assert kept == expected
    assert any("/.hoodie/metadata/" in one["path"] for one in asked if one["kind"] == "GET")
    assert process().reads_table(table) == (expected, False)


def test_a_table_whose_place_is_not_known_is_not_shared(process, table, expected, store):
    """A file system that is given does not tell which endpoint or account it reads."""
    reader = process()
    given = Storage.at(table, None, store.options).filesystem
    found = groups(prune(open_table("lake/one", cache=reader.cache, filesystem=given), FILTER))
    assert found == expected
    assert reader.shared.finish(20)
    assert not asked_of(reader)


def test_objects_that_are_too_large_are_not_read_and_replaced(process, table, expected):
    process().kept(table)
    slices = next(file for file in objects(process()) if file.suffix == ".slices")
    true = slices.read_bytes()
    with slices.open("r+b") as file:
        file.truncate(5 << 30)  # a hole, which needs no disk
    reader = process()
    kept, _ = reader.reads_table(table)
    assert kept == expected
    assert slices.read_bytes()[:8] == true[:8]
    assert process().reads_table(table) == (expected, False)


def test_what_is_fetched_stays_on_disk_and_not_in_memory(process, table, expected):
    process().kept(table)
    reader = process()
    assert reader.kept(table) == expected
    [one] = reader.cache.sharing._tables.values()
    assert not one.objects


def test_a_snapshot_beyond_the_limit_is_not_fetched(process, table, expected, tmp_path):
    process().kept(table)
    reader = process()
    reader.cache = SnapshotCache(tmp_path / "small", limit=1000, min_slices=0, shared=reader.shared)
    assert reader.reads_table(table) == (expected, True)


def test_a_folder_of_a_shared_disk_serves_as_well(store, table, expected, tmp_path):
    kept = []
    for number in range(2):
        shared = SharedFolder((tmp_path / "disk").as_uri(), KEY)
        cache = SnapshotCache(tmp_path / f"local{number}", min_slices=0, shared=shared)
        store.take()
        plan = prune(open_table(table, cache=cache, storage_options=store.options), FILTER)
        assert shared.finish(20)
        kept.append((groups(plan), any("/.hoodie/metadata/" in one["path"] and one["range"] for one in store.take())))
    assert kept == [(expected, True), (expected, False)]
    assert len([file for file in (tmp_path / "disk").rglob("*") if file.is_file()]) == 3
