"""S3, Google Cloud Storage and Azure keep the same laws: one version, true lengths, causes in words, new or nothing."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import Any

import pytest

from index_store import TableError, open_table
from index_store.own.store.folder import Folder
from index_store.storage.client import ChangedError, Listed
from index_store.storage.object_client import ObjectClient
from index_store.storage.storage import READ_WHOLE, Storage
from tests.s3.dialects import ACCOUNT, Azure, Google, Recording
from tests.s3.store import BUCKET, kinds, running


@dataclass
class Dialect:
    name: str
    store: Any
    uri: str
    options: dict[str, str]

    def at(self, path: str) -> Storage:
        return Storage.at(f"{self.uri}/{path}", None, {**self.options, "tries": "2"})


def options_of(name, port):
    endpoint = f"http://127.0.0.1:{port}"
    if name == "s3":
        keys = {"access_key": "AKIAIOSFODNN7SARGO00", "secret_key": "secretsecret", "region": "us-east-1"}
        return f"s3://{BUCKET}", {"endpoint": endpoint, **keys}
    if name == "gs":
        return f"gs://{BUCKET}", {"endpoint": endpoint, "access_token": "ya29.token"}
    return f"abfss://{BUCKET}@{ACCOUNT}.dfs.core.windows.net", {"endpoint": endpoint, "account_key": "a2V5a2V5a2V5"}


@pytest.fixture(scope="module", params=["s3", "gs", "abfss"])
def dialect(request, tmp_path_factory):
    server = {"s3": Recording, "gs": Google, "abfss": Azure}[request.param]
    with running(tmp_path_factory.mktemp(request.param), server) as store:
        yield Dialect(request.param, store, *options_of(request.param, store.port))


@pytest.fixture
def folder(dialect):
    """A folder of the bucket with a small and a large file."""
    place = dialect.store.bucket / "t"
    place.mkdir()
    (place / "small").write_bytes(bytes(range(200)))
    (place / "large").write_bytes(bytes(range(256)) * (READ_WHOLE // 256 + 1))
    yield place
    shutil.rmtree(place, ignore_errors=True)


def test_a_table_has_the_slices_that_it_has_locally(dialect, hudi_copy):
    local = hudi_copy("1.1.1_main_mor")
    shutil.copytree(local, dialect.store.bucket / "table")
    found = open_table(f"{dialect.uri}/table", storage_options=dialect.options)
    assert found.slices() == open_table(local).slices()
    assert found.listing.source == "metadata table"


def test_a_small_file_is_one_request_and_a_listed_range_another(dialect, folder):
    storage = dialect.at("t")
    with dialect.store.answering():
        assert storage.read("small") == bytes(range(200))
        assert [one["kind"] for one in dialect.store.take()] == ["GET"]
    assert {entry.path: entry.size for entry in storage.files()} == {"small": 200, "large": READ_WHOLE + 256}
    with dialect.store.answering(), storage.open("large") as source:
        assert source.read_at(1_000, 3) == bytes([232, 233, 234])
        [asked] = dialect.store.take()
        assert asked["range"] == "bytes=1000-1002"
        assert asked["if"].startswith('"')
        assert asked["if"].endswith('"')


@pytest.mark.parametrize("listed", [True, False])
def test_a_file_that_is_replaced_between_two_ranges_is_an_error(dialect, folder, listed):
    storage = dialect.at("t")
    if listed:
        storage.files()
    with storage.open("large") as source:
        assert source.read_at(0, 3) == bytes([0, 1, 2])
        (folder / "large").write_bytes(b"x" * source.size)
        with pytest.raises(TableError, match=r"/t/large: cannot be read: it changed while it was read"):
            source.read_at(1_000, 3)


def test_a_store_that_ignores_the_condition_is_noticed_by_the_version_that_it_answers(dialect, folder):
    client = dialect.at("t").client
    path = f"{BUCKET}/t/small"
    [listed] = [one for one in client.listed(f"{BUCKET}/t") if one.path == path]
    answer = dialect.store.server.answer

    def ignoring(method, kind, bucket, key, asked, headers, body, fault):
        headers.pop("if-match", None)
        return answer(method, kind, bucket, key, asked, headers, body, fault)

    dialect.store.server.answer = ignoring
    try:
        with client.open(path, listed) as file:
            assert file.read_at(2, 100) == bytes([100, 101])
        (folder / "small").write_bytes(b"y" * 200)
        with client.open(path, listed) as file, pytest.raises(ChangedError):
            file.read_at(2, 100)
        with client.open(path, Listed(path, 150)) as file, pytest.raises(ChangedError):
            file.read_at(2, 100)  # a size of another place, and no version
    finally:
        dialect.store.server.answer = answer


@pytest.mark.parametrize("how", ["short", "cut", "reset", "503", "500"])
@pytest.mark.parametrize(("name", "length"), [("small", 200), ("large", 100)])
def test_what_goes_wrong_once_is_asked_again_and_what_stays_wrong_names_the_object(dialect, folder, how, name, length):
    def read():
        with storage.open(name) as source:
            return source.read_at(0, length)

    storage = dialect.at("t")
    storage.files()
    fault = {"kind": how, "method": "^GET", "path": "/t/"}
    with dialect.store.answering(fault), pytest.raises(TableError) as caught:
        read()
    assert f"/t/{name}: cannot be read" in str(caught.value)
    assert "127.0.0.1" not in str(caught.value)
    assert "<" not in str(caught.value)
    with dialect.store.answering({**fault, "count": 1}):
        assert read() == bytes(range(length))
        assert len(dialect.store.take()) == 2


def test_the_end_of_a_file_that_no_listing_showed(dialect, folder):
    with dialect.at("t").client.open(f"{BUCKET}/t/large") as file, dialect.store.answering():
        assert file.size() == READ_WHOLE + 256
        assert file.read_at(4, READ_WHOLE + 252) == bytes([252, 253, 254, 255])
        asked = kinds(dialect.store.take())
    assert asked == ({"HEAD": 1, "GET": 1} if dialect.name == "abfss" else {"GET": 1})


def test_an_empty_file(dialect, folder):
    (folder / "empty").write_bytes(b"")
    assert dialect.at("t").read("empty") == b""


@pytest.mark.parametrize("size", [2, 6 << 20])
def test_a_new_file_replaces_nothing(dialect, folder, tmp_path, size):
    client = dialect.at("t").client
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"1" * size)
    other.write_bytes(b"2" * size)
    with dialect.store.answering():
        client.write(f"{BUCKET}/t/new", one, new=True)
        assert [asked["kind"] for asked in dialect.store.take()] == ["PUT"]
    client.write(f"{BUCKET}/t/new", other, new=True)
    assert (folder / "new").read_bytes() == b"1" * size
    client.write(f"{BUCKET}/t/new", other)
    assert (folder / "new").read_bytes() == b"2" * size
    sent = next(one for one in dialect.store.server.headers if one["method"] == "PUT")
    conditions = {name: sent[name] for name in ("if-none-match", "x-goog-if-generation-match") if name in sent}
    assert conditions == ({"x-goog-if-generation-match": "0"} if dialect.name == "gs" else {"if-none-match": "*"})


@pytest.mark.parametrize("code", ["ConditionalRequestConflict", "OperationAborted", "BucketNotEmpty", "LeaseLost"])
def test_a_conflict_is_no_file_that_is_there(dialect, folder, tmp_path, code):
    """A store answers 409 for other reasons as well: a write that fails so has written nothing."""
    (tmp_path / "one").write_bytes(b"1")
    storage, write = dialect.at("t"), lambda: storage.client.write(f"{BUCKET}/t/new", tmp_path / "one", new=True)
    fault = {"kind": "409", "method": "PUT", "code": code}
    with dialect.store.answering(fault), pytest.raises(TableError, match=f"t/new: cannot be written: .*409, {code}"):
        storage.change("new", write)
    assert not (folder / "new").exists()
    with dialect.store.answering({**fault, "count": 1}):
        if code in ("ConditionalRequestConflict", "OperationAborted"):
            storage.change("new", write)
            assert (folder / "new").read_bytes() == b"1"


def test_removing_what_somebody_else_removes_too(dialect, folder):
    index = Folder(dialect.at("t/index"))
    names = [f"versions/{i}" for i in range(4)]
    for name in names:
        with index.writing(name) as path:
            path.write_bytes(b"{}")
    index.settle()
    index.remove(names[0])
    index.remove(names[0])
    client, listed = index.storage.client, ObjectClient.listed

    def late(self, path, *, recursive=False):
        found = listed(self, path, recursive=recursive)
        (folder / "index" / names[1]).unlink(missing_ok=True)
        return found

    ObjectClient.listed = late
    try:
        client.remove_all(f"{BUCKET}/t/index")
    finally:
        ObjectClient.listed = listed
    assert client.listed(f"{BUCKET}/t/index", recursive=True) == []
    assert index.stats() == []


@pytest.mark.parametrize("name", ["a b", "a%20b", "a#b", "a?b", "a+b&c=d", "ü'\"{}[]~^|"])
def test_awkward_names(dialect, folder, name):
    (folder / f"p={name}").mkdir()
    (folder / f"p={name}" / f"{name}.parquet").write_bytes(b"content")
    storage = dialect.at("t")
    assert [entry.path for entry in storage.files(f"p={name}")] == [f"p={name}/{name}.parquet"]
    assert [entry.path for entry in storage.files(recursive=True) if "=" in entry.path] == [f"p={name}/{name}.parquet"]
    assert storage.read(f"p={name}/{name}.parquet") == b"content"
    storage.client.remove_all(f"{BUCKET}/t/p={name}")
    assert not os.listdir(folder / f"p={name}")


CAUSES = [
    ("s3", 400, "ExpiredToken", "the session's token has expired: renew the credentials"),
    ("s3", 301, "PermanentRedirect", "the bucket is in another region: give the option region"),
    ("s3", 403, "AccessDenied", "access is denied, check the credentials"),
    ("gs", 401, "AuthenticationRequired", "the token is not valid, or has expired: renew the credentials"),
    ("gs", 401, "InvalidSecurity", "the token is not valid, or has expired: renew the credentials"),
    ("gs", 403, "AccessDenied", "access is denied, check the credentials"),
    ("gs", 403, "SignatureDoesNotMatch", "signature does not match"),
    ("gs", 400, "UserProjectMissing", "the requester pays for this bucket: give the option user_project"),
    ("gs", 404, "NoSuchBucket", "there is no bucket lake"),
    ("abfss", 403, "AuthenticationFailed", "authentication failed: the key or token is wrong, or has expired"),
    ("abfss", 401, "InvalidAuthenticationInfo", "the token is not valid, or has expired: renew the credentials"),
    ("abfss", 401, "NoAuthenticationInformation", "the store takes no anonymous requests: give credentials"),
    ("abfss", 409, "PublicAccessNotPermitted", "the account takes no anonymous requests: give credentials"),
    ("abfss", 403, "AuthorizationFailure", "the key is wrong, or the account refuses this network"),
    ("abfss", 403, "AuthorizationPermissionMismatch", "the credentials do not allow this"),
    ("abfss", 404, "ContainerNotFound", "there is no container lake"),
    ("abfss", 400, "AccountRequiresHttps", "the account requires https"),
]


def test_messages_name_the_cause_and_the_object(dialect):
    for status, code, cause in (one[1:] for one in CAUSES if one[0] == dialect.name):
        fault = {"kind": str(status), "code": code}
        with dialect.store.answering(fault), pytest.raises(TableError, match=cause) as caught:
            open_table(f"{dialect.uri}/t", storage_options=dialect.options)
        assert str(caught.value).startswith(f"{dialect.uri}/t/.hoodie/hoodie.properties: cannot be read: ")


def test_a_bucket_that_is_not_there(dialect):
    uri = dialect.uri.replace(BUCKET, "nolake")
    kind = "container" if dialect.name == "abfss" else "bucket"
    with pytest.raises(TableError, match=f"there is no {kind} nolake"):
        open_table(f"{uri}/t", storage_options=dialect.options)


def test_tls_to_a_port_that_speaks_none_is_said_soon(dialect):
    options = {**dialect.options, "endpoint": f"https://127.0.0.1:{dialect.store.port}", "deadline": "20"}
    with pytest.raises(TableError, match=r"hoodie\.properties: .*does not speak TLS: give it with http://"):
        open_table(f"{dialect.uri}/t", storage_options=options)


def test_a_port_where_nobody_listens(dialect):
    options = {**dialect.options, "endpoint": "http://127.0.0.1:1", "tries": "2"}
    with pytest.raises(TableError, match=r"hoodie\.properties: .*no connection to the endpoint"):
        open_table(f"{dialect.uri}/t", storage_options=options)
