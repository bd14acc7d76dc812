"""Questions of plan() that are malformed, too large or not for those who ask."""

import zlib

import pytest

from handler.sidecar.idl import RefusedMessage
from tests.handler.sidecar.conftest import SECRET
from tests.handler.sidecar.plans.questions import plan_request, read_files


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"protocol_version": 2}, "version"),
        ({"engine": "presto"}, "request"),
        ({"engine": None}, "request"),
        ({"table": None}, "request"),
        ({"instant": None}, "request"),
        ({"instant": ""}, "request"),
        ({"instant": "2026-01-01"}, "request"),
        ({"instant": "1" * 65}, "request"),
        ({"instant_count": None}, "request"),
        ({"query_type": "incremental"}, "listing"),
        ({"query_type": "as_of"}, "listing"),
        ({"query_type": "streaming"}, "request"),
        ({"partitions": b"p=p0"}, "request"),
        ({"partitions": b"p=p0", "partition_count": 0}, "request"),
        ({"partitions": b"p=p0", "partition_count": -1}, "request"),
        ({"partitions": b"p=p0", "partition_count": 2}, "request"),
        ({"partitions": b"p=p0\np=p1", "partition_count": 1}, "request"),
        ({"partitions": b"", "partition_count": 2}, "request"),
        ({"partitions": b"\xff", "partition_count": 1}, "request"),
        ({"partitions": b"p" * 5000, "partition_count": 1}, "limit"),
        ({"partitions": b"p=p0", "partition_count": 1 << 30}, "limit"),
        ({"partitions": b"no stream", "partitions_compressed": True, "partition_count": 1}, "request"),
        ({"partitions": zlib.compress(b"p=p0")[:-1], "partitions_compressed": True, "partition_count": 1}, "request"),
        ({"partitions": zlib.compress(bytes(96 << 20)), "partitions_compressed": True, "partition_count": 1}, "limit"),
        ({"filter": b"x" * (20 << 20)}, "limit"),
    ],
)
def test_it_is_refused_by_name(sidecar, main_cow, given, code):
    request = plan_request(main_cow)
    for name, value in given.items():
        setattr(request, name, value)
    with sidecar(roots=[str(main_cow)]).client() as client:
        with pytest.raises(RefusedMessage) as refused:
            client.plan(request)
        assert refused.value.code == code
        assert read_files(client.plan(plan_request(main_cow)))


def test_a_table_outside_of_the_roots_is_refused(sidecar, main_cow, tmp_path):
    with sidecar(roots=[str(tmp_path)]).client() as client, pytest.raises(RefusedMessage) as refused:
        client.plan(plan_request(main_cow))
    assert refused.value.code == "table"


@pytest.mark.parametrize("secret", [None, "", "sesame", SECRET + " "])
def test_it_wants_the_secret(guarded, main_cow, secret):
    with guarded().client() as client:
        with pytest.raises(RefusedMessage) as refused:
            client.plan(plan_request(main_cow, secret=secret))
        assert refused.value.code == "secret"
        assert read_files(client.plan(plan_request(main_cow, secret=SECRET)))


def test_an_answer_with_more_files_than_allowed_is_refused(sidecar, main_cow):
    with sidecar(roots=[str(main_cow)], max_names=13).client() as client, pytest.raises(RefusedMessage) as refused:
        client.plan(plan_request(main_cow))
    assert (refused.value.code, refused.value.why) == ("limit", "14 files do not fit into a reply")
