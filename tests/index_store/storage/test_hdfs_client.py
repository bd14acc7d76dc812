"""HDFS without Java: the faults of the package hdfs-native, and which NameNodes a URI means. No cluster is needed."""

from __future__ import annotations

import io
import sys
import threading
from types import SimpleNamespace

import pytest

from index_store import TableError
from index_store.storage import hdfs_client
from index_store.storage import stores as systems
from index_store.storage.client import ChangedError, LargeFileError, ShortReplyError
from index_store.storage.errors import TransientError
from index_store.storage.file_systems import locate
from index_store.storage.hdfs_client import HdfsClient
from index_store.storage.hdfs_errors import cause_of
from index_store.storage.retries import is_transient
from index_store.storage.storage import Storage


class PanicException(BaseException):
    """What Rust's panics are in Python: no Exception."""


class Reader:
    def __init__(self, data, short=0):
        self.data, self.size, self.short = data, len(data), short

    def read_range(self, offset, length):
        if offset + length > self.size:
            raise PanicException("Cannot read past end of the file")
        return self.data[offset : offset + length - self.short]


class FakeNative:
    """A cluster in memory. ``faults``: errors that the next calls raise."""

    def __init__(self, files=(), faults=()):
        self.files, self.faults, self.calls, self.short = dict(files), list(faults), [], 0

    def _call(self, *call):
        self.calls.append(call)
        if self.faults:
            fault = self.faults.pop(0)
            if fault is not None:
                raise fault

    def read(self, path):
        self._call("read", path)
        if path not in self.files:
            raise FileNotFoundError(f"File does not exist: {path}\n\tat org.apache.hadoop.X(Y.java:86)")
        return Reader(self.files[path], self.short)

    def get_file_info(self, path):
        self._call("info", path)
        if not any(name == path or name.startswith(f"{path}/") for name in self.files):
            raise FileNotFoundError(path)

    def list_status(self, path, recursive):  # noqa: ARG002
        self._call("list", path)
        self.get_file_info(path)
        for name, data in self.files.items():
            if name.startswith(f"{path}/"):
                yield SimpleNamespace(path=name, length=len(data), isdir=False, modification_time=1500)
        yield SimpleNamespace(path=f"{path}/folder", length=0, isdir=True, modification_time=0)

    def create(self, path, options):
        self._call("create", path, options.overwrite)
        native = self

        class Writer(io.BytesIO):
            def close(self):
                native.files[path] = self.getvalue()
                super().close()

        return Writer()

    def rename(self, path, to, overwrite):
        self._call("rename", path, to, overwrite)
        if path not in self.files:
            raise FileNotFoundError(f"rename source {path} is not found.")
        self.files[to] = self.files.pop(path)

    def delete(self, path, recursive):
        self._call("delete", path, recursive)
        gone = [name for name in self.files if name == path or (recursive and name.startswith(f"{path}/"))]
        for name in gone:
            del self.files[name]
        return bool(gone)


def rpc(name, message):
    return RuntimeError(f'RPCError("{name}", "{message}\\n\\tat org.apache.hadoop.A(A.java:1)\\n\\tat b.C(C.java:2)")')


DENIED = rpc("org.apache.hadoop.security.AccessControlException", "Permission denied: user=ann, access=READ")


@pytest.mark.parametrize(
    ("error", "kind", "words", "may_pass"),
    [
        (OSError("Connection refused (os error 111)"), ConnectionError, "Connection refused", True),
        (rpc("org.apache.hadoop.ipc.StandbyException", "READ is not"), ConnectionError, "name the nameservice", True),
        (
            rpc("org.apache.hadoop.hdfs.server.namenode.SafeModeException", "in safe mode"),
            ConnectionError,
            "safe",
            True,
        ),
        (DENIED, PermissionError, "access is denied: Permission denied: user=ann, access=READ", False),
        (PanicException("Cannot read past end"), OSError, "hdfs-native gave up: Cannot read past end", False),
        (
            rpc(
                "org.apache.hadoop.security.AccessControlException",
                "SIMPLE authentication is not enabled.  Available:[TOKEN, KERBEROS]",
            ),
            PermissionError,
            "hadoop.security.authentication=kerberos",
            False,
        ),
        (
            RuntimeError('GSSAPIError(GssMajorCodes(1), 2, "No Kerberos credentials available (default cache: FILE)")'),
            PermissionError,
            "there is no Kerberos ticket: give the options kerberos_principal and kerberos_keytab",
            False,
        ),
        (
            RuntimeError('GSSAPIError(GssMajorCodes(1), "No credentials were supplied: Cannot contact any KDC for R")'),
            PermissionError,
            "no Kerberos server answers",
            False,
        ),
        (OSError("RPC listener disconnected"), ConnectionError, "the cluster wants Kerberos", True),
        (RuntimeError('GSSAPIError(x, "Ticket expired")'), PermissionError, "the Kerberos ticket has expired", False),
        (RuntimeError('GSSAPIError(x, "Clock skew too great")'), PermissionError, "the clock of this machine", False),
        (
            RuntimeError('GSSAPIError(x, "Server not found in Kerberos database")'),
            PermissionError,
            "no service of this host name",
            False,
        ),
        (RuntimeError('GSSAPIError(x, "Cannot contact any KDC for realm")'), PermissionError, "KRB5_CONFIG", False),
        (RuntimeError("NoSASLMechanism"), PermissionError, "hadoop.security.authentication=kerberos", False),
        (RuntimeError('OperationFailed("DataNode read failed")'), ConnectionError, "DataNode read failed", True),
        (rpc("org.apache.hadoop.Odd", 'a "b"'.replace('"', '\\"')), OSError, 'Odd: a "b"', False),
    ],
)
def test_an_error_of_the_package_says_the_cause_and_what_to_do(error, kind, words, may_pass):
    cause = cause_of(error)
    assert isinstance(cause, kind)
    assert words in str(cause)
    assert "java:" not in str(cause)
    assert is_transient(cause) == may_pass


def test_a_panic_is_an_error_and_no_end_of_the_process():
    client = HdfsClient(FakeNative({"/t/a": b"1"}, [PanicException("called unwrap on an Err")]))
    with pytest.raises(OSError, match="hdfs-native gave up: called unwrap"):
        client.open("/t/a")


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_the_process_goes_on(stop):
    with pytest.raises(stop):
        HdfsClient(FakeNative({"/t/a": b"1"}, [stop()])).open("/t/a")


def test_ranges_are_cut_to_the_file_before_the_package_sees_them():
    file = HdfsClient(FakeNative({"/t/a": b"0123456789"})).open("/t/a")
    assert [file.read_at(4, 8), file.read_at(4, 10), file.read_at(4, 99), file.read_at(0, 3)] == [b"89", b"", b"", b""]
    assert (file.read_at(3, -1), file.read_at(-1, 3), file.seek(-2, 2), file.read(9)) == (b"", b"", 8, b"89")


def test_a_reply_that_is_short_is_an_error_and_not_the_file():
    native = FakeNative({"/t/a": b"0123456789"})
    native.short = 1
    with pytest.raises(ShortReplyError):
        HdfsClient(native).whole("/t/a", 100)


def test_a_large_file_is_opened_and_not_read():
    with pytest.raises(LargeFileError) as error:
        HdfsClient(FakeNative({"/t/a": b"0123456789"})).whole("/t/a", 9)
    assert (error.value.size, error.value.file.read_at(2, 3)) == (10, b"34")


def test_a_file_that_is_shorter_than_listed_is_another_file():
    native = FakeNative({"/t/a": b"0123456789"})
    client = HdfsClient(native)
    (listed,) = client.listed("/t")
    native.files["/t/a"] = b"0"
    with pytest.raises(ChangedError):
        client.open("/t/a", listed)
    assert (listed.path, listed.size, listed.written) == ("/t/a", 10, 1.5)


def test_a_folder_that_vanishes_inside_of_a_listing_hides_no_file():
    native = FakeNative({"/t/p=1/a": b"1"}, [FileNotFoundError("/t/p=2")])
    assert [one.path for one in HdfsClient(native).listed("/t", recursive=True)] == ["/t/p=1/a"]
    always = FakeNative({"/t/p=1/a": b"1"})

    def vanishing(path, recursive):
        raise FileNotFoundError("/t/p=2")

    always.list_status = vanishing
    with pytest.raises(ChangedError):
        HdfsClient(always).listed("/t", recursive=True)


def test_an_absent_folder_has_no_files():
    assert HdfsClient(FakeNative()).listed("/t", recursive=True) == HdfsClient(FakeNative()).listed("/t") == []


def test_a_move_whose_answer_was_lost_has_been_made():
    native = FakeNative({"/t/.a.part": b"1"})
    client = HdfsClient(native)
    client.move("/t/.a.part", "/t/a")
    client.move("/t/.a.part", "/t/a")
    assert native.files == {"/t/a": b"1"}
    with pytest.raises(FileNotFoundError):
        client.move("/t/.a.part", "/t/b")


def test_what_is_not_there_cannot_be_removed():
    with pytest.raises(FileNotFoundError):
        HdfsClient(FakeNative()).remove("/t/a")


# -- NameNodes


@pytest.fixture
def package(monkeypatch, tmp_path):
    """hdfs-native as it is called; libhdfs is not there. The folder is for Hadoop's configuration."""
    made = []

    def make(url, configuration, folder, **kerberos):
        made.append(SimpleNamespace(url=url, configuration=configuration, folder=folder, kerberos=kerberos))
        return FakeNative({"/t/a": b"0123456789"})

    def missing(*given, **more):
        raise OSError("Unable to load libhdfs")

    monkeypatch.setitem(
        sys.modules,
        "hdfs_native",
        SimpleNamespace(Client=make, WriteOptions=lambda overwrite: SimpleNamespace(overwrite=overwrite)),
    )
    monkeypatch.setattr(systems.fs, "HadoopFileSystem", missing)
    monkeypatch.delenv("HADOOP_HOME", raising=False)
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    return made


def configure(tmp_path, **properties):
    lines = "".join(f"<property><name>{k}</name><value>{v}</value></property>" for k, v in properties.items())
    (tmp_path / "hdfs-site.xml").write_text(f"<configuration>{lines}</configuration>")


LAKE = {
    "dfs.nameservices": "lake",
    "dfs.ha.namenodes.lake": "nn1, nn2 ",
    "dfs.namenode.rpc-address.lake.nn1": "a:8020",
    "dfs.namenode.rpc-address.lake.nn2": "${second}:9000",
    "second": "b",
}


@pytest.mark.parametrize(
    ("uri", "properties", "url", "namenodes"),
    [
        ("hdfs://nn/t", {}, "hdfs://nn:8020", ("nn:8020",)),
        ("hdfs://nn:9000/t", {}, "hdfs://nn:9000", ("nn:9000",)),
        ("hdfs:///t", {"fs.defaultFS": "hdfs://nn:1/"}, "hdfs://nn:1", ("nn:1",)),
        ("hdfs:/t", {"fs.default.name": "hdfs://nn"}, "hdfs://nn:8020", ("nn:8020",)),
        ("hdfs://lake/t", LAKE, "hdfs://lake", ("a:8020", "b:9000")),
        ("hdfs:///t", LAKE | {"fs.defaultFS": "hdfs://lake"}, "hdfs://lake", ("a:8020", "b:9000")),
        ("hdfs://other/t", LAKE, "hdfs://other:8020", ("other:8020",)),
        ("viewfs://v/t", {"fs.viewfs.mounttable.v.link./t": "hdfs://nn/a"}, "viewfs://v", ()),
    ],
)
def test_a_uri_means_the_namenodes_that_hadoop_says(package, tmp_path, uri, properties, url, namenodes):
    configure(tmp_path, **properties)
    location = locate(uri)
    assert (package[0].url, location.client._namenodes, location.root) == (url, namenodes, "/t")
    configuration = package[0].configuration
    if "lake" in url:
        assert configuration["dfs.ha.namenodes.lake"] == "nn1,nn2"
        assert configuration["dfs.namenode.rpc-address.lake.nn2"] == "b:9000"
    assert int(configuration["dfs.client.failover.max.attempts"]) <= 4


@pytest.mark.parametrize(
    ("mounts", "fallback"),
    [
        ({"link./b": "hdfs://nn2/b", "link./a": "hdfs://nn1:9000/a"}, "hdfs://nn1:9000/.no-mount-of-viewfs"),
        ({"link./a": "hdfs://nn1/a", "linkFallback": "hdfs://nn2/rest"}, "hdfs://nn2/rest"),
        ({"linkMergeSlash": " hdfs://nn1/ "}, "hdfs://nn1/"),
    ],
)
def test_a_path_without_a_mount_is_where_hadoop_says_or_nowhere(package, tmp_path, mounts, fallback):
    configure(tmp_path, **{f"fs.viewfs.mounttable.v.{name}": value for name, value in mounts.items()})
    locate("viewfs://v/t")
    assert package[0].configuration["fs.viewfs.mounttable.v.linkFallback"] == fallback


@pytest.mark.parametrize(
    ("uri", "options", "properties", "words"),
    [
        ("viewfs://v/t", {}, {"fs.viewfs.mounttable.w.link./t": "hdfs://nn/t"}, "no mounts of viewfs://v: fs.viewfs"),
        ("hdfs:///t", {}, {}, "fs.defaultFS does not either: write hdfs://namenode:8020"),
        ("hdfs:///t", {}, {"fs.defaultFS": "s3a://b"}, "fs.defaultFS does not either"),
        ("hdfs://lake/t", {}, {"dfs.ha.namenodes.lake": "nn1"}, "no dfs.namenode.rpc-address.lake"),
        ("hdfs://ann@nn/t", {}, {}, "HADOOP_USER_NAME names the user"),
        ("hdfs://nn/t", {"client": "rust"}, {}, "neither java nor native"),
        ("hdfs://nn/t", {"client": "java"}, {}, "Unable to load libhdfs.*HADOOP_HOME"),
        ("hdfs://nn/t", {"keytab": "/etc/x"}, {}, "need kerberos_principal"),
        ("hdfs://nn/t", {"kerberos_principal": "a@R", "keytab": "/nonexistent"}, {}, "the keytab /nonexistent cannot"),
    ],
)
def test_what_hdfs_native_cannot_open_is_said(package, tmp_path, uri, options, properties, words):
    configure(tmp_path, **properties)
    with pytest.raises(TableError, match=words):
        locate(uri, options=options)


def test_a_broken_configuration_is_said(package, tmp_path):
    (tmp_path / "core-site.xml").write_text("<configuration>")
    with pytest.raises(TableError, match=r"Hadoop's configuration: .*core-site.xml is no XML"):
        locate("hdfs://nn/t")


def test_without_the_package_the_error_names_the_extra_and_java(package, monkeypatch):
    monkeypatch.setitem(sys.modules, "hdfs_native", None)
    with pytest.raises(TableError, match=r"Unable to load libhdfs.*pip install 'sargo\[hdfs\]'.*HADOOP_HOME"):
        locate("hdfs://nn/t")
    with pytest.raises(TableError, match=r"system: pip install 'sargo\[hdfs\]', which needs no Java$"):
        locate("hdfs://nn/t", options={"client": "native"})


def test_a_keytab_goes_to_hdfs_native_also_where_java_is(package, monkeypatch, tmp_path):
    monkeypatch.setattr(systems.fs, "HadoopFileSystem", None)  # a call would be a TypeError
    keytab = tmp_path / "keytab"
    keytab.write_bytes(b"\x05\x02")
    locate("hdfs://nn/t", options={"kerberos_principal": "sargo@R", "kerberos_keytab": str(keytab)})
    assert package[0].kerberos == {"kerberos_principal": "sargo@R", "kerberos_keytab": str(keytab)}
    assert package[0].configuration["hadoop.security.authentication"] == "kerberos"


@pytest.fixture
def ports(monkeypatch):
    """Which ``host:port`` can be connected to."""
    opened, asked = set(), []

    def connect(address, seconds):
        asked.append(f"{address[0]}:{address[1]}")
        if asked[-1] not in opened:
            raise ConnectionRefusedError(111, "Connection refused")
        return SimpleNamespace(close=lambda: None)

    monkeypatch.setattr(hdfs_client.socket, "create_connection", connect)
    return opened, asked


def test_a_dead_namenode_is_an_error_that_says_what_to_do_and_the_package_is_not_asked(package, ports):
    storage = Storage.at("hdfs://nn/t", options={"tries": "1"})
    with pytest.raises(TransientError, match=r"no NameNode answers \(nn:8020: connection refused\): is it running"):
        storage.files()
    assert storage.client.native.calls == []


def test_one_of_two_namenodes_is_enough_and_is_asked_once(package, ports, tmp_path):
    configure(tmp_path, **LAKE)
    opened, asked = ports
    opened.add("b:9000")
    storage = Storage.at("hdfs://lake/t")
    assert ([one.path for one in storage.files()], storage.read("a")) == (["a"], b"0123456789")
    assert asked == ["a:8020", "b:9000"]


def test_a_connection_that_breaks_makes_the_ports_be_tried_again(package, ports):
    opened, asked = ports
    opened.add("nn:8020")
    storage = Storage.at("hdfs://nn/t", options={"tries": "1"})
    assert storage.exists("a")
    storage.client.native.faults.append(OSError("Connection reset by peer (os error 104)"))
    opened.clear()
    for words in ("Connection reset", "no NameNode answers"):
        with pytest.raises(TransientError, match=words):
            storage.exists("a")
    assert len(asked) == 2


def test_a_call_that_never_ends_is_left_behind_at_the_deadline(package, ports):
    ports[0].add("nn:8020")
    storage = Storage.at("hdfs://nn/t", options={"tries": "1", "deadline": "0.2"})
    release = threading.Event()
    storage.client.native.get_file_info = lambda _: release.wait(60)
    try:
        with pytest.raises(TransientError, match="no answer within"):
            storage.exists("a")
    finally:
        release.set()


def test_a_location_is_a_path_as_it_stands(package):
    location = locate("hdfs://localhost:1/w/a?b#c%20d/")
    assert location.root == "/w/a?b#c%20d"


def test_pyarrow_gets_paths_as_they_stand(monkeypatch):
    pytest.importorskip("hdfs_native")
    location = locate("hdfs://localhost:1/w/t", options={"client": "native"})
    inner = location.filesystem.handler.fs
    assert inner._strip_protocol("/w/t/a?b#c%20d/") == "/w/t/a?b#c%20d"  # the package would cut it at the ?
    assert inner.client is location.client.native
