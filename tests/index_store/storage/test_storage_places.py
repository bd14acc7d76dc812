"""From what people write to a file system: schemes, names of options, the environment, fsspec."""

from __future__ import annotations

import sys

import pytest
from pyarrow import fs

from index_store import TableError, open_table
from index_store.storage import file_systems as systems
from index_store.storage.file_systems import locate
from index_store.storage.storage_options import AzureOptions, GcsOptions, HdfsOptions, S3Options, read_options


@pytest.fixture
def made(monkeypatch):
    """What would be opened, with which arguments; nothing is contacted."""
    calls = []

    def record(name):
        def make(*args, **more):
            calls.append((name, args, {key: value for key, value in more.items() if value not in (None, "", False)}))
            return fs.LocalFileSystem()

        return make

    for name in ("S3FileSystem", "GcsFileSystem", "AzureFileSystem", "HadoopFileSystem"):
        monkeypatch.setattr(systems.fs, name, record(name))
    monkeypatch.setattr(systems.fs, "resolve_s3_region", lambda bucket: f"region-of-{bucket}")
    for name in (
        "AWS_ENDPOINT_URL",
        "AWS_ENDPOINT_URL_S3",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "STORAGE_EMULATOR_HOST",
    ):
        monkeypatch.delenv(name, raising=False)
    return calls


PLACES = [
    ("s3://b/t/", {}, "S3FileSystem", (), {"region": "region-of-b", "scheme": "https"}, "b/t"),
    ("s3a://b/a%20b", {"region": "x"}, "S3FileSystem", (), {"region": "x"}, "b/a%20b"),
    ("s3a://b/a b#c?d&e=f+{g}", {"region": "x"}, "S3FileSystem", (), {"region": "x"}, "b/a b#c?d&e=f+{g}"),
    ("s3a://b/a?b?region=y", {}, "S3FileSystem", (), {"region": "y"}, "b/a?b"),
    (
        "S3N://b/t",
        {"fs.s3a.endpoint": "http://localhost:9000", "fs.s3a.access.key": "K", "fs.s3a.secret.key": "S"},
        "S3FileSystem",
        (),
        {
            "region": "us-east-1",
            "endpoint_override": "localhost:9000",
            "scheme": "http",
            "access_key": "K",
            "secret_key": "S",
        },
        "b/t",
    ),
    (
        "s3://K:S%2FS@b/t?region=y",
        {},
        "S3FileSystem",
        (),
        {"region": "y", "access_key": "K", "secret_key": "S/S"},
        "b/t",
    ),
    (
        "s3://b/t",
        {"endpoint": "minio:9000", "ssl": "false", "anonymous": "true"},
        "S3FileSystem",
        (),
        {"scheme": "http", "endpoint_override": "minio:9000", "anonymous": True},
        "b/t",
    ),
    (
        "s3://b/t",
        {"role_arn": "arn:1", "external_id": "e", "region": "z"},
        "S3FileSystem",
        (),
        {"role_arn": "arn:1", "session_name": "sargo", "external_id": "e"},
        "b/t",
    ),
    (
        "s3://b/t",
        {"path_style": "false", "region": "z", "request_timeout": "3"},
        "S3FileSystem",
        (),
        {"force_virtual_addressing": True, "request_timeout": 3.0},
        "b/t",
    ),
    ("gs://b/t", {"anonymous": "yes"}, "GcsFileSystem", (), {"anonymous": True, "scheme": "https"}, "b/t"),
    (
        "gcs://b/t",
        {"endpoint": "http://localhost:4443"},
        "GcsFileSystem",
        (),
        {"anonymous": True, "scheme": "http", "endpoint_override": "localhost:4443"},
        "b/t",
    ),
    ("gs://b", {"token": "T", "project": "p"}, "GcsFileSystem", (), {"access_token": "T", "project_id": "p"}, "b"),
    (
        "abfss://c@a.dfs.core.windows.net/t",
        {"account_key": "S0tL"},
        "AzureFileSystem",
        ("a",),
        {"account_key": "S0tL"},
        "c/t",
    ),
    (
        "abfs://c@a.dfs.core.windows.net/t",
        {"fs.azure.account.key.a.dfs.core.windows.net": "S0tL"},
        "AzureFileSystem",
        ("a",),
        {"account_key": "S0tL"},
        "c/t",
    ),
    ("wasbs://c@a.blob.core.windows.net/t/u", {"sas": "S"}, "AzureFileSystem", ("a",), {"sas_token": "S"}, "c/t/u"),
    (
        "az://c/t",
        {"account_name": "a", "endpoint": "http://127.0.0.1:10000"},
        "AzureFileSystem",
        ("a",),
        {"blob_storage_authority": "127.0.0.1:10000", "dfs_storage_scheme": "http"},
        "c/t",
    ),
    (
        "abfss://c@a.dfs.core.chinacloudapi.cn/t",
        {},
        "AzureFileSystem",
        ("a",),
        {
            "dfs_storage_authority": ".dfs.core.chinacloudapi.cn",
            "blob_storage_authority": ".blob.core.chinacloudapi.cn",
        },
        "c/t",
    ),
    (
        "abfss://c@a.dfs.core.windows.net/t",
        {"client_id": "i", "client_secret": "s", "tenant_id": "t"},
        "AzureFileSystem",
        ("a",),
        {"client_id": "i", "client_secret": "s", "tenant_id": "t"},
        "c/t",
    ),
    ("hdfs://nn:8020/t", {}, "HadoopFileSystem", ("nn", 8020), {}, "/t"),
    ("hdfs://ann@ns/t/", {}, "HadoopFileSystem", ("ns", 0), {"user": "ann"}, "/t"),
    ("hdfs:///t", {"user": "bob"}, "HadoopFileSystem", ("default", 0), {"user": "bob"}, "/t"),
    ("hdfs:/t", {"kerb_ticket": "/etc/krb"}, "HadoopFileSystem", ("default", 0), {"kerb_ticket": "/etc/krb"}, "/t"),
    ("viewfs://cluster/t", {}, "HadoopFileSystem", ("viewfs://cluster", 0), {}, "/t"),
]


@pytest.mark.parametrize(("uri", "options", "kind", "args", "more", "root"), PLACES, ids=lambda value: str(value)[:40])
def test_places(made, uri, options, kind, args, more, root):
    location = locate(uri, options=options)
    assert location.filesystem is location.filesystem
    [(found, found_args, found_more)] = made
    assert (found, found_args, location.root) == (kind, args, root)
    assert more.items() <= found_more.items()
    assert not location.is_local
    assert location.patience.abandon


def test_clients_do_not_retry_by_themselves(made):
    for uri in ("s3://b/t?region=x", "gs://b/t"):
        assert locate(uri).filesystem is not None
    assert made[0][2]["retry_strategy"].max_attempts == 1
    assert made[1][2]["retry_time_limit"].total_seconds() <= 1


@pytest.mark.parametrize("text", ["{0}", "file:{0}", "file://{0}", "file://localhost{0}", "{0}/"])
def test_local_paths(tmp_path, text):
    location = locate(text.format(tmp_path))
    assert (location.root, location.name, location.is_local) == (str(tmp_path), str(tmp_path), True)


def test_a_local_uri_may_be_escaped_or_not(tmp_path):
    (tmp_path / "a b").mkdir()
    (tmp_path / "c%20d").mkdir()
    assert locate((tmp_path / "a b").as_uri()).root == str(tmp_path / "a b")
    assert locate(f"file:{tmp_path}/a b").root == str(tmp_path / "a b")
    assert locate(f"file://{tmp_path}/c%20d").root == str(tmp_path / "c%20d")


WRONG = [
    ("s3://b/t", {"regoin": "x"}, r"option regoin is not known \(known: region, endpoint"),
    ("s3://b/t?regoin=x&region=y", {}, r"option regoin is not known"),
    ("s3://b/t?secretkey=x", {}, r"option secretkey is not known"),
    ("s3://b/t", {"anonymous": "perhaps"}, "option anonymous is neither true nor false"),
    ("s3://b/t", {"access_key": "K", "region": "x"}, "access_key and secret_key go together"),
    ("s3:///t", {"region": "x"}, "names no bucket"),
    ("abfss:///t", {}, "name container and account"),
    ("hdfs://nn:x/t", {}, "x is not a port"),
    ("/data/t", {"region": "x"}, "option region is not known for local paths"),
    ("gopher://host/t", {}, "no such file system"),
    ("sftp://host/t", {}, "paramiko"),
]


@pytest.mark.parametrize(("uri", "options", "why"), WRONG)
def test_what_cannot_be_opened_is_said(made, uri, options, why):
    with pytest.raises(TableError, match=why):
        locate(uri, options=options)


def test_without_hadoop_the_error_says_what_it_takes(monkeypatch):
    monkeypatch.setenv("HADOOP_HOME", "/nonexistent")
    monkeypatch.setenv("ARROW_LIBHDFS_DIR", "/nonexistent")
    monkeypatch.setitem(sys.modules, "hdfs_native", None)
    with pytest.raises(TableError, match=r"Hadoop's client cannot be used .*HADOOP_HOME.*webhdfs://"):
        locate("hdfs://nn/t")


@pytest.mark.parametrize(
    ("store", "environment", "options", "expected"),
    [
        ("s3", {"AWS_ENDPOINT_URL": "http://a", "AWS_REGION": "r"}, {}, S3Options(endpoint="http://a", region="r")),
        ("s3", {"AWS_ENDPOINT_URL": "http://a", "AWS_ENDPOINT_URL_S3": "http://b"}, {}, S3Options(endpoint="http://b")),
        ("s3", {"AWS_ENDPOINT_URL": "http://a"}, {"Endpoint-URL": "http://c"}, S3Options(endpoint="http://c")),
        ("gs", {"STORAGE_EMULATOR_HOST": "http://g"}, {}, GcsOptions(endpoint="http://g")),
        (
            "abfs",
            {"AZURE_STORAGE_ACCOUNT": "a", "AZURE_STORAGE_KEY": "k"},
            {},
            AzureOptions(account_name="a", account_key="k"),
        ),
        ("hdfs", {}, {"user": "u"}, HdfsOptions("u")),
    ],
)
def test_options_come_from_the_environment_unless_given(store, environment, options, expected):
    assert read_options(store, options, environment) == expected


# -- through fsspec

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def in_memory(hudi_table):
    """Copies a table into fsspec's memory and gives its URI."""
    memory = fsspec.filesystem("memory")

    def put(name):
        memory.put(str(hudi_table(name)), f"/lake/{name}", recursive=True)
        return f"memory://lake/{name}"

    yield put
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]


@pytest.mark.parametrize("name", ["1.1.1_main_mor", "0.15.0_main_cow"])
def test_a_table_is_read_through_fsspec(in_memory, hudi_table, name):
    expected, table = open_table(hudi_table(name)), open_table(in_memory(name))
    assert table.slices() == expected.slices()
    assert [list(table.files(one)) for one in table.partitions()] == [
        list(expected.files(one)) for one in expected.partitions()
    ]
    assert table.path == f"memory://lake/{name}"
    given = open_table(f"/lake/{name}", filesystem=fsspec.filesystem("memory"))
    assert given.slices() == expected.slices()


def test_a_listing_that_fsspec_keeps_is_dropped_when_a_table_is_opened(hudi_copy):
    path = hudi_copy("1.1.1_nan_cow")

    class Forgetful(fsspec.implementations.local.LocalFileSystem):
        """Keeps listings, as clients of object stores do."""

        def ls(self, path, detail=False, **kwargs):
            if path not in self.dircache:
                self.dircache[path] = super().ls(path, detail=True, **kwargs)
            return self.dircache[path] if detail else [one["name"] for one in self.dircache[path]]

        def invalidate_cache(self, path=None):
            del path
            self.dircache.clear()

    filesystem = Forgetful(use_listings_cache=True, skip_instance_cache=True)
    last = open_table(str(path), filesystem=filesystem).timeline.last
    (path / ".hoodie/timeline" / last.file).unlink()
    assert open_table(str(path), filesystem=filesystem).timeline.last.requested < last.requested


def test_without_fsspec_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(TableError, match=r"webhdfs:// is read through fsspec: pip install fsspec"):
        locate("webhdfs://nn/t")


def test_what_is_no_file_system_is_refused(tmp_path):
    with pytest.raises(TableError, match="str is no file system of pyarrow or fsspec"):
        locate(tmp_path, "s3")
    with pytest.raises(TableError, match="option region is for a file system that is opened here"):
        locate(tmp_path, fs.LocalFileSystem(), {"region": "x"})
