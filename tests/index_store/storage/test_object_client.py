"""An object store through obstore: few requests, each of one version; and the faults that a store has."""

from __future__ import annotations

import shutil
import time

import pytest
from pyarrow import fs

from index_store import TableError, open_table
from index_store.formats.bounded.parquet_bounds import read_footer
from index_store.own.store.folder import Folder
from index_store.storage.storage import READ_WHOLE, Storage
from tests.s3.store import BUCKET, kinds, running


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with running(tmp_path_factory.mktemp("s3")) as found:
        yield found


@pytest.fixture
def storage(store, request):
    """A folder of the bucket with a small and a large file."""
    folder = store.bucket / request.node.name
    folder.mkdir()
    (folder / "small").write_bytes(bytes(range(200)))
    (folder / "large").write_bytes(bytes(range(256)) * (READ_WHOLE // 256 + 1))
    yield Storage.at(store.uri(request.node.name), None, {**store.options, "tries": "2"})
    shutil.rmtree(folder)


def arrow(store):
    return fs.S3FileSystem(
        access_key=store.options["access_key"],
        secret_key=store.options["secret_key"],
        region="us-east-1",
        scheme="http",
        endpoint_override=f"127.0.0.1:{store.port}",
    )


def test_a_whole_file_is_one_request(store, storage):
    with store.answering():
        assert storage.read("small") == bytes(range(200))
        assert kinds(store.take()) == {"GET": 1}


def test_ranges_of_a_listed_file_are_of_the_listed_version_and_take_a_request_each(store, storage):
    assert [entry.path for entry in storage.files()] == ["large", "small"]
    with store.answering(), storage.open("large") as source:
        assert source.read_at(1_000, 3) == bytes([232, 233, 234])
        assert source.read_at(1_001, 2) == bytes([233, 234])
        asked = store.take()
        assert kinds(asked) == {"GET": 1}, "the last range is kept"
        assert asked[0]["range"] == "bytes=1000-1002"
        assert asked[0]["if"]
        place = store.bucket / storage.root.rpartition("/")[2] / "large"
        place.write_bytes(b"x" * source.size)  # of the same size
        with pytest.raises(TableError, match=r"large: cannot be read: it changed while it was read"):
            source.read_at(2_000, 3)


def test_a_file_of_no_listing_is_read_whole_or_by_ranges_of_one_version(store, storage):
    with store.answering(), storage.open("small") as source:
        assert source.read_at(100, 2) == bytes([100, 101])
        assert kinds(store.take()) == {"GET": 1}
    with store.answering(), storage.open("large") as source:
        assert source.read_at(100, 2) == bytes([100, 101])
        first, second = store.take()
        assert (first["range"], second["range"]) == (f"bytes=0-{READ_WHOLE}", "bytes=100-101")
        assert second["if"]


def test_an_empty_file(store, storage):
    (store.bucket / storage.root.rpartition("/")[2] / "empty").write_bytes(b"")
    assert storage.read("empty") == b""
    assert next(entry.size for entry in storage.files()) == 0
    assert storage.read("empty") == b""


def test_a_footer_is_one_request(store, hudi_copy):
    table = hudi_copy("1.1.1_main_mor")
    base = next(table.glob("*/*.parquet"))
    shutil.copy(base, store.bucket / "base.parquet")
    lake = Storage.at(f"s3://{BUCKET}", None, store.options)
    with store.answering():
        assert lake.apply("base.parquet", read_footer).num_rows == read_footer_of(base).num_rows
        assert kinds(store.take()) == {"GET": 1}


def read_footer_of(path):
    return Storage.at(path.parent).apply(path.name, read_footer)


@pytest.mark.parametrize("kind", ["short", "cut", "reset", "503", "500", "429"])
def test_what_goes_wrong_once_is_asked_again(store, storage, kind):
    with store.answering({"kind": kind, "method": "^GET", "count": 1}):
        assert storage.read("small") == bytes(range(200))
        assert len(store.take()) == 2
    storage.files()
    with store.answering({"kind": kind, "method": "^GET", "count": 1}), storage.open("large") as source:
        assert source.read_at(256, 200) == bytes(range(200))


@pytest.mark.parametrize("kind", ["short", "cut", "reset", "503", "404", "403"])
def test_what_stays_wrong_is_an_error_that_names_the_object(store, storage, kind):
    storage.files()
    for name in ("small", "large"):
        with (
            store.answering({"kind": kind, "method": "^GET"}),
            pytest.raises(TableError, match=name) as caught,
            storage.open(name) as source,
        ):
            source.read_at(0, 100)
        assert "<?xml" not in str(caught.value)
        assert "127.0.0.1" not in str(caught.value)


@pytest.mark.nightly
def test_properties_that_are_replaced_by_longer_ones_while_they_are_read(store, hudi_copy, tmp_path):
    """A HEAD that shows the old length must not cut the new content: ``id`` became ``i``."""
    shutil.copytree(hudi_copy("1.1.1_main_mor"), store.bucket / "race")
    key = open_table(store.uri("race"), storage_options=store.options).record_key_fields
    for cut in range(-400, 0, 7):
        older = {"kind": "etag", "method": "HEAD", "path": "hoodie.properties$", "size": cut}
        with store.answering(older):
            assert open_table(store.uri("race"), storage_options=store.options).record_key_fields == key
        with store.answering({**older, "count": 1}):
            found = open_table(f"{BUCKET}/race", filesystem=arrow(store))
            assert found.record_key_fields == key
    with store.answering(older), pytest.raises(TableError, match="its last line has no end"):  # -1 byte
        open_table(f"{BUCKET}/race", filesystem=arrow(store))


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ({"kind": "400"}, "the session's token has expired: renew the credentials"),
        ({"kind": "301"}, "the bucket is in another region: give the option region"),
        ({"kind": "403"}, "access is denied, check the credentials and what they allow"),
        ({"kind": "403", "code": "InvalidAccessKeyId"}, "invalid access key"),
        ({"kind": "403", "code": "SignatureDoesNotMatch"}, "signature does not match"),
        ({"kind": "404", "code": "NoSuchBucket"}, "there is no bucket lake"),
    ],
    ids=str,
)
def test_messages_name_the_cause_and_the_object(store, fault, cause):
    with store.answering(fault), pytest.raises(TableError, match=cause) as caught:
        open_table(store.uri("t"), storage_options=store.options)
    assert str(caught.value).startswith("s3://lake/t/.hoodie/hoodie.properties: ")


def test_tls_to_a_port_that_speaks_none_is_said_soon(store):
    options = {**store.options, "endpoint": f"https://127.0.0.1:{store.port}", "deadline": "20"}
    began = time.monotonic()
    with pytest.raises(TableError, match="does not speak TLS: give it with http://"):
        open_table(store.uri("t"), storage_options=options)
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("name", ["a b", "a%20b", "a#b", "a?b", "a+b&c=d", "ü'\"{}[]~^|"])
def test_awkward_names(store, storage, name):
    folder = store.bucket / storage.root.rpartition("/")[2] / f"p={name}"
    folder.mkdir()
    (folder / f"{name}.parquet").write_bytes(b"content")
    assert [entry.path for entry in storage.files(f"p={name}")] == [f"p={name}/{name}.parquet"]
    assert storage.read(f"p={name}/{name}.parquet") == b"content"


def test_a_small_file_is_written_by_one_request_that_replaces_nothing(store, storage):
    folder = Folder(storage.below("index"))
    with store.answering(), folder.writing("manifests/a.json") as path:
        path.write_bytes(b"{}")
    folder.settle()
    [asked] = store.take()
    assert (asked["kind"], asked["if"]) == ("PUT", "*")
    assert folder.read("manifests/a.json", 10) == b"{}"
    with store.answering({"kind": "500", "method": "PUT", "count": 1}):
        assert folder.write_version(1, b"one")
        assert kinds(store.take()) == {"PUT": 2}
    folder.remove("manifests/a.json")
    folder.remove("manifests/a.json")
    assert [stat.path.partition("/")[0] for stat in folder.stats()] == ["versions"]
    for stat in folder.stats():
        folder.remove(stat.path)
    assert folder.stats() == []


def test_one_request_that_hangs_holds_up_a_small_read_for_a_second_and_not_for_the_whole_deadline(store, hudi_copy):
    shutil.copytree(hudi_copy("1.1.1_nested_cow"), store.bucket / "hangs")
    expected = open_table(store.uri("hangs"), storage_options=store.options).slices()
    for place in ("hoodie.properties$", "timeline/", "metadata/files/", r"metadata/files/.*log", r"timeline/.*commit$"):
        began = time.monotonic()
        with store.answering({"kind": "hang", "path": place, "count": 1, "seconds": 40}):
            assert open_table(store.uri("hangs"), storage_options=store.options).slices() == expected
        assert time.monotonic() - began < 20


def test_files_are_written_side_by_side_and_none_is_left_when_one_cannot_be(store, storage):
    folder = Folder(storage.below("several"))
    with store.answering({"kind": "403", "method": "PUT", "path": "/b$"}, latency=0.2):
        for name in "abc":
            with folder.writing(name) as path:
                path.write_bytes(name.encode())
        with pytest.raises(TableError, match="several/b"):
            folder.stats()
        asked = [one for one in store.take() if one["kind"] == "PUT"]
    assert len({one["path"] for one in asked}) == 3
    assert max(one["t"] for one in asked) < min(one["end"] for one in asked)
    assert folder.stats() == []
