"""The call layout(): the buckets of real tables, and why there are none."""

import shutil

import pytest

from handler.sidecar.idl import PROTOCOL_VERSION, LayoutRequest, Refused
from handler.sidecar.layouts import read_layout_request
from handler.sidecar.roots.allowed_roots import AllowedRoots
from handler.sidecar.sargo_thrift.ttypes import Refused as RefusedMessage
from handler.sidecar.settings import Settings
from index_store.kinds.bucket_index.table_buckets import TableBuckets
from tests.handler.sidecar.conftest import SECRET, Running
from tests.index_store.bucketed_tables import BUCKETED, RING_TABLES, SIMPLE_TABLES, options


def layout_request(table, told, **given):
    lines = "".join(f"{name}={value}\n" for name, value in told.items()).encode()
    fields = {"protocol_version": PROTOCOL_VERSION, "table": str(table), "options": lines} | given
    return LayoutRequest(**fields)


@pytest.fixture(scope="module")
def ask(module_sidecar, unpack):
    """``ask(name, options)``: the reply about a table of tests/data/hudi."""

    def asked(name, told):
        with module_sidecar.client() as client:
            return client.layout(layout_request(unpack(name), told))

    return asked


@pytest.fixture(scope="module")
def module_sidecar(tmp_path_factory):
    root = tmp_path_factory.getbasetemp()
    with Running(Settings(port=0, metrics_port=0, request_seconds=30, roots=[str(root)])) as running:
        yield running


ONE_NUMBER = [name for name, told in SIMPLE_TABLES.items() if "hoodie.bucket.index.partition.expressions" not in told]


@pytest.mark.parametrize("name", ONE_NUMBER)
def test_a_table_of_one_number_of_buckets_has_a_layout(ask, name):
    told = SIMPLE_TABLES[name]
    reply = ask(name, told)
    assert (reply.buckets, reply.why) == (int(told["hoodie.bucket.index.num.buckets"]), None)
    hashed = told.get("hoodie.bucket.index.hash.field", "id,n").split(",")
    assert sorted(reply.columns) == sorted(hashed)
    assert reply.instant


def test_columns_are_in_the_order_of_the_record_key(ask):
    assert ask("keys/1.1.1_bucket_swapped7_cow", options(7, "n,id")).columns == ["id", "n"]


@pytest.mark.parametrize(
    ("name", "told", "why"),
    [
        *((name, told, "consistent hashing") for name, told in RING_TABLES.items()),
        *((name, BUCKETED[name], "differs by partition") for name in SIMPLE_TABLES if name not in ONE_NUMBER),
        ("1.1.1_bucket_cow", {}, "do not tell of buckets"),
        ("1.1.1_bucket_cow", {"hoodie.index.type": "SIMPLE"}, "do not tell of buckets"),
        ("1.1.1_bucket_cow", options(None), "does not give a number of buckets"),
        ("1.1.1_bucket_cow", options(2), "is not of one of its buckets"),
        ("1.1.1_bucket_cow", options(8), "belongs to another bucket"),
        ("1.1.1_bucket_cow", options(4, "i"), "do not tell of buckets"),
        ("1.1.1_main_cow", options(4), "is not of one of its buckets"),
    ],
)
def test_a_table_without_a_certain_layout_has_a_reason(ask, name, told, why):
    reply = ask(name, told)
    assert (reply.buckets, reply.columns) == (None, None)
    assert why in reply.why


def test_the_options_of_the_sidecar_serve_where_the_engine_knows_none(sidecar, unpack):
    table = unpack("1.1.1_bucket_cow")
    running = sidecar(roots=[str(table)], table_options={str(table): options(8)})
    with running.client() as client:
        assert "another bucket" in client.layout(layout_request(table, {})).why
        assert client.layout(layout_request(table, options(4))).buckets == 4


def test_a_layout_is_computed_once_for_a_state_of_the_table(sidecar, unpack, monkeypatch):
    checks = []
    check = TableBuckets.check
    monkeypatch.setattr(TableBuckets, "check", lambda self: (checks.append(self), check(self))[1])
    table = unpack("1.1.1_bucket_cow")
    with sidecar(roots=[str(table)]).client() as client:
        for _ in range(3):
            assert client.layout(layout_request(table, options(4))).buckets == 4
    assert len(checks) == 1


def test_a_table_that_cannot_be_read_has_a_reason(sidecar, unpack_copy):
    table = unpack_copy("1.1.1_bucket_cow")
    shutil.rmtree(table / ".hoodie")
    with sidecar(roots=[str(table)]).client() as client:
        assert client.layout(layout_request(table, options(4))).why


def test_the_secret_is_asked_for(sidecar, unpack, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    table = unpack("1.1.1_bucket_cow")
    with sidecar(roots=[str(table)], secret_file=str(secret)).client() as client:
        assert client.layout(layout_request(table, options(4), secret=SECRET)).buckets == 4
        with pytest.raises(RefusedMessage, match="secret"):
            client.layout(layout_request(table, options(4), secret="wrong"))


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"protocol_version": 2}, "version"),
        ({"options": None}, "request"),
        ({"options": b"hoodie.index.type=BUCKET"}, "request"),
        ({"options": b"hoodie.index.type\n"}, "request"),
        ({"options": b"hoodie.index.type=A\nhoodie.index.type=B\n"}, "request"),
        ({"options": b"fs.s3a.secret.key=x\n"}, "request"),
        ({"options": b"hoodie.index.\xff=x\n"}, "request"),
        ({"options": b"hoodie.index.x=" + bytes(1 << 17) + b"\n"}, "limit"),
        ({"table": "/etc"}, "table"),
    ],
)
def test_a_malformed_request_is_refused(given, code, tmp_path):
    given = dict(given)
    request = layout_request(given.pop("table", tmp_path / "t"), {}, **given)
    with pytest.raises(Refused) as refused:
        read_layout_request(request, AllowedRoots([str(tmp_path)]))
    assert refused.value.code == code
