"""A sidecar whose roots are in a bucket (S3 through moto), asked as Hadoop spells tables and files there."""

import json
import os

import pytest

from handler import open_table, prune
from handler.sidecar.idl import Refused, RefusedMessage
from handler.sidecar.roots.allowed_roots import AllowedRoots
from handler.sidecar.settings import SettingsError
from tests.handler.conftest import hive_filters
from tests.handler.sidecar.conftest import request, skipped_names
from tests.handler.sidecar.recording.test_audit import wait_for
from tests.handler.sidecar.test_service import I_IS_100
from tests.index_store.object_store import SECRET_KEY, running
from tests.sampling import share

FILTERS = [one for one in hive_filters() if one["hive"] == "4.0.1"]


@pytest.fixture(scope="module")
def store():
    with running() as server:
        yield server


@pytest.fixture(scope="module")
def bucket(store, main_cow, unpack):
    """A bucket with two tables below the root."""
    store.put(main_cow, "warehouse/db/trips")
    store.put(unpack("1.1.1_main_mor"), "warehouse/db/merged")
    return store


@pytest.fixture
def served(sidecar, bucket):
    return sidecar(roots=["s3a://lake/warehouse"], storage_options=bucket.options, refresh_seconds=1000)


def files(table):
    return [name for item in open_table(table).at().slices for name in item.files]


@pytest.mark.parametrize(
    "uri", ["s3a://lake/warehouse/db/trips", "s3://lake/warehouse/db/trips/", "s3n://lake/warehouse//db/trips"]
)
def test_every_spelling_of_a_table_is_answered_as_the_local_table_is(served, main_cow, uri):
    names = files(main_cow)
    with served.client() as client:
        for one in share(FILTERS, 60):
            reply = client.prune(request(uri, one["filter"], names))
            plan = prune(main_cow, one["filter"], "hive4", time_zone="UTC")
            assert skipped_names(names, reply) == {item.base_file for item in plan.skipped}, one["sql"]
            assert (reply.instant, reply.covered) == (plan.instant, len(names))
    assert len(served.sidecar.service.tables) == 1


@pytest.mark.nightly
def test_a_table_at_an_awkward_key_is_answered_by_its_encoded_uri(served, store, main_cow):
    store.put(main_cow, "warehouse/db/a b%20c#d?e+f")
    names = files(main_cow)
    want = {item.base_file for item in prune(main_cow, I_IS_100, "hive4", time_zone="UTC").skipped}
    with served.client() as client:
        reply = client.prune(request("s3a://lake/warehouse/db/a%20b%2520c%23d%3Fe+f", I_IS_100, names))
        assert (reply.covered, skipped_names(names, reply)) == (len(names), want)
        absent = client.prune(request("s3a://lake/warehouse/db/a%20b%20c%23d%3Fe+f", I_IS_100, names))
        assert (absent.skipped, absent.covered) == (0, 0)
        assert "cannot be opened" in absent.reasons[0]


def test_a_merge_on_read_table_in_a_bucket_gets_bits_for_whole_slices(served, unpack):
    local = unpack("1.1.1_main_mor")
    names = files(local)
    with served.client() as client:
        for one in FILTERS[:8]:
            reply = client.prune(request("s3a://lake/warehouse/db/merged", one["filter"], names))
            plan = prune(local, one["filter"], "hive4", time_zone="UTC")
            assert skipped_names(names, reply) == {name for item in plan.skipped for name in item.files}, one["sql"]


@pytest.mark.parametrize(
    "uri",
    [
        "s3a://lake/warehouse2/trips",
        "s3a://lake/secret/trips",
        "s3a://lake/warehouse/../secret/trips",
        "s3a://lake/warehouse/db/../../secret/trips",
        "s3a://lake/warehouse/%2e%2e/secret/trips",
        "s3a://lake/warehouse/..%2Fsecret/trips",
        "s3a://lake/./secret/trips",
        "s3a://lake",
        "s3a://lake/",
        "s3a://other/warehouse/db/trips",
        "s3a://lake.warehouse/db/trips",
        "s3a://key:secret@lake/warehouse/db/trips",
        "s3a://lake/warehouse/db/trips?endpoint_override=127.0.0.1:1",
        "s3a://lake/warehouse/db/trips#x",
        "s3a:/lake/warehouse/db/trips",
        "s3a:lake/warehouse/db/trips",
        "/lake/warehouse/db/trips",
        "file:///lake/warehouse/db/trips",
        "gs://lake/warehouse/db/trips",
        "s3a://lake\\warehouse/db/trips",
        "s3a://lake/warehouse/db/trips\n",
    ],
)
def test_what_is_not_below_the_root_is_refused_and_nothing_of_it_is_requested(served, bucket, main_cow, uri):
    bucket.take_requests()
    with served.client() as client, pytest.raises(RefusedMessage) as refused:
        client.prune(request(uri, I_IS_100, files(main_cow)))
    assert refused.value.code == "table"
    assert bucket.take_requests() == []


@pytest.mark.parametrize(
    ("uri", "is_allowed"),
    [
        ("s3a://lake/warehouse/db/trips", True),
        ("s3n://lake//warehouse/db/trips/", True),
        ("s3a://lake/warehouse/db/a%20b%2520c%23d", True),
        ("s3a://lake", True),
        ("s3a://lake2/warehouse/db/trips", False),
        ("s3a://lake.x/warehouse", False),
        ("s3a://x@lake/warehouse/db/trips", False),
        ("s3a:///lake/warehouse/db/trips", False),
        ("s3a://lak/e/warehouse/db/trips", False),
        ("s3a://lake%2Fwarehouse/db/trips", False),
        ("s3a://lake/../lake2/trips", False),
        ("s3a://lake/%2e%2e/lake2/trips", False),
        ("s3a://lake/a%2", False),
        ("s3a://lake/a%FF", False),
        ("/lake/warehouse/db/trips", False),
        ("gs://lake/warehouse/db/trips", False),
    ],
)
@pytest.mark.parametrize("root", ["s3://lake", "s3a://lake/"])
def test_a_whole_bucket_may_be_a_root(root, uri, is_allowed):
    roots = AllowedRoots([root])
    if is_allowed:
        assert roots.locate(uri).path.startswith("s3://lake/")
    else:
        with pytest.raises(Refused):
            roots.locate(uri)


@pytest.mark.parametrize("root", ["s3://", "s3:lake", "s3:/lake", "file://localhost", "lake", "s3://k:s@lake"])
def test_a_root_without_a_bucket_or_with_a_password_is_refused(root):
    with pytest.raises(SettingsError):
        AllowedRoots([root])


@pytest.mark.parametrize(
    "name",
    [
        "../../../secret/trips/{0}",
        "/lake/warehouse/db/trips/{0}",
        "./{0}",
        "p=p0/../{0}",
        "s3a://lake/warehouse/db/trips/{0}",
    ],
)
def test_names_that_lead_elsewhere_are_no_files_of_the_table(served, bucket, main_cow, name):
    uri, names = "s3a://lake/warehouse/db/trips", files(main_cow)
    with served.client() as client:
        skipped = sorted(skipped_names(names, client.prune(request(uri, I_IS_100, names))))
        bucket.take_requests()
        strange = [name.format(one) for one in skipped]
        reply = client.prune(request(uri, I_IS_100, [*strange, skipped[0]]))
        assert skipped_names([*strange, skipped[0]], reply) == {skipped[0]}
    assert not any("secret" in path for _, path, _ in bucket.take_requests())


def test_a_table_that_is_not_in_the_bucket_skips_nothing_and_says_why_without_keys(served):
    with served.client() as client:
        reply = client.prune(request("s3a://lake/warehouse/db/none", I_IS_100, ["a"]))
        health = json.loads(client.health())
    assert (reply.skip, reply.skipped) == (b"", 0)
    assert "not a Hudi table" in reply.reasons[1]
    assert health["tables"] == 0
    assert SECRET_KEY not in served.log.getvalue() + str(reply)


def test_a_store_that_is_down_skips_nothing_in_time_and_is_asked_again_later(sidecar, bucket, main_cow):
    names = files(main_cow)
    serving = sidecar(
        roots=["s3a://lake/warehouse"], storage_options={**bucket.options, "tries": "1"}, retry_seconds=0.1
    )
    uri = "s3a://lake/warehouse/db/trips"
    bucket.refuse.extend([503] * 500)
    try:
        with serving.client() as client:
            assert client.prune(request(uri, I_IS_100, names)).skip == b""
            bucket.refuse.clear()
            wait_for(lambda: client.prune(request(uri, I_IS_100, names)).skipped > 0)
    finally:
        bucket.refuse.clear()
    assert serving.metric("sargo_skipped_nothing_total", because="table") >= 1


def test_audits_read_base_files_in_the_bucket_and_say_what_they_do_not_read(sidecar, bucket, main_cow, unpack):
    serving = sidecar(roots=["s3a://lake/warehouse"], storage_options=bucket.options, audit_rate=1, audit_files=100)
    with serving.client() as client:
        skipped = client.prune(request("s3a://lake/warehouse/db/trips", I_IS_100, files(main_cow))).skipped
        wait_for(lambda: serving.metric("sargo_audits_total", verdict="passed") == skipped)
        local = unpack("1.1.1_main_mor")
        client.prune(request("s3a://lake/warehouse/db/merged", I_IS_100, files(local)))
        plan = prune(local, I_IS_100, "hive4", time_zone="UTC")
        unread = sum(1 for item in plan.skipped if item.log_files)
        assert unread > 0
        wait_for(lambda: serving.metric("sargo_audits_total", verdict="unread") == unread)
    assert serving.metric("sargo_audit_alarm_tables") == 0


def test_keys_of_the_store_may_stand_in_the_environment(sidecar, bucket, main_cow, monkeypatch):
    options = dict(bucket.options)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", options.pop("access_key"))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", options.pop("secret_key"))
    assert "AWS_SECRET_ACCESS_KEY" in os.environ
    serving = sidecar(roots=["s3a://lake/warehouse"], storage_options=options)
    with serving.client() as client:
        reply = client.prune(request("s3a://lake/warehouse/db/trips", I_IS_100, files(main_cow)))
    assert reply.skipped > 0
