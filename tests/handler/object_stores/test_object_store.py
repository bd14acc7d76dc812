"""A table in a bucket: the answers are those of the local table, and what they cost in requests (S3 through moto)."""

from __future__ import annotations

import json
import traceback
from urllib.parse import quote

import pytest

import index_store
from handler import open_table, prune
from handler.indexes.operations import IndexWork
from index_store import TableError
from index_store.formats.hfile import HFile
from index_store.formats.parquet_footers import Footers
from index_store.kinds.column_stats import absent_columns
from index_store.own.store.locations import OTHERS
from index_store.storage.ranged_file import TAIL
from index_store.storage.storage import Storage
from tests.handler.conftest import DATA
from tests.index_store.object_store import ACCESS_KEY, SECRET_KEY, running
from tests.index_store.synthetic import NONE, hfile
from tests.sampling import share

ORACLES = sorted(DATA.glob("oracle_*.json"))


@pytest.fixture(scope="module")
def store():
    with running() as server:
        yield server


@pytest.fixture(scope="module")
def in_bucket(store, unpack):
    """``in_bucket("1.1.1_main_mor")``: the URI of that table in the bucket."""
    known = {}

    def put(name):
        if name not in known:
            known[name] = store.put(unpack(name), name)
        return known[name]

    return put


@pytest.mark.parametrize("path", share(ORACLES, 9), ids=lambda path: path.stem[7:])
def test_every_filter_keeps_the_slices_that_it_keeps_locally(store, in_bucket, unpack, path, monkeypatch):
    monkeypatch.setattr(absent_columns, "COMMIT_SECONDS", 600.0)  # a busy machine must not read less than a quiet one
    oracle = json.loads(path.read_text(encoding="utf-8"))
    name = f"{oracle['hudi']}_{oracle['table']}"
    local, remote = open_table(unpack(name)), open_table(in_bucket(name), storage_options=store.options)
    assert remote.path == f"s3a://lake/{name}"
    for opened in (local, remote):
        opened.table.footers = Footers(opened.table.storage, seconds=600.0)
    store.take_requests()
    filters = share((one["filter"] for one in oracle["filters"]), 4)
    for text in filters:
        here, there = prune(local, text, time_zone="UTC"), prune(remote, text, time_zone="UTC")
        assert there.kept == here.kept, text
        assert there.fully_matched == here.fully_matched, text
        assert there.table == f"s3a://lake/{name}"
    requests = store.take_requests()
    files = {place for method, place, _ in requests if method == "GET"}
    print(f"{name}: {len(filters)} filters, {len(requests)} requests, {len(files)} files")
    read = [place for method, place, _ in requests if method == "HEAD" and not place.endswith(".parquet")]
    assert len(read) - len(set(read)) <= 3, "a file of the metadata table is opened once, however many the filters are"
    assert len(requests) <= 250


@pytest.mark.nightly
def test_requests_of_one_filter(store, in_bucket, unpack):
    uri = in_bucket("1.1.1_main_mor")
    store.take_requests()
    plan = prune(open_table(uri, storage_options=store.options), "i BETWEEN 1 AND 5", time_zone="UTC")
    requests = store.take_requests()
    assert plan.kept == prune(open_table(unpack("1.1.1_main_mor")), "i BETWEEN 1 AND 5", time_zone="UTC").kept
    read = [place for method, place, _ in requests if method == "GET" and place != "/lake"]
    assert len(read) == len(set(read)), "no file is read twice"
    assert not any(place.endswith(".parquet") for place in read)
    assert len(requests) <= 70
    print(f"one filter from nothing: {len(requests)} requests, {len(read)} files")


def test_small_files_are_fetched_side_by_side(store, in_bucket):
    uri = in_bucket("1.1.1_main_mor")
    store.latency = 0.05
    try:
        store.take_requests()
        plan = prune(open_table(uri, storage_options=store.options), "i BETWEEN 1 AND 5", time_zone="UTC")
        requests = store.take_requests()
    finally:
        store.latency = 0.0
    one_by_one = 0.05 * len(requests)
    print(f"{len(requests)} requests of 50 ms: {sum(plan.seconds.values()):.2f} s, one by one {one_by_one:.2f} s")
    assert store.most_at_once >= 4


def test_of_a_large_file_only_ranges_are_requested(store, in_bucket, tmp_path):
    """The tail with the index, and the one run of blocks that holds the key: two ranges of some 6 MB."""
    in_bucket("1.1.1_nan_cow")  # makes the bucket
    records = [(b"%06d" % i, bytes([i % 251]) * 1000) for i in range(6_000)]
    (tmp_path / "large.hfile").write_bytes(hfile(records, codec=NONE))
    uri = store.put(tmp_path, "large")
    store.take_requests()
    storage = Storage.at(uri, options=store.options)
    assert [entry.path for entry in storage.files()] == ["large.hfile"]
    with storage.open("large.hfile") as source:
        found = b"".join(HFile.open(source).blocks([b"004321"]))
    assert records[4321][1] in found
    requests = store.take_requests()
    sizes = [
        int(end) - int(start) + 1
        for method, _, range_ in requests
        if range_
        for start, end in [range_.removeprefix("bytes=").split("-")]
    ]
    print(f"{len(requests)} requests, {sum(sizes):,} of {source.size:,} bytes")
    assert [method for method, *_ in requests] == ["GET", "GET", "GET"]  # the listing, two ranges
    assert sum(sizes) < TAIL + 3 * 70_000


def test_listing_of_a_bucket(store, in_bucket, unpack):
    uri = in_bucket("1.1.1_main_mor")
    local = index_store.open_table(unpack("1.1.1_main_mor"))
    remote = index_store.open_table(uri, storage_options=store.options)
    assert remote.partitions() == local.partitions()
    for partition in local.partitions():
        assert list(remote.files(partition)) == list(local.files(partition))
    assert remote.listing.source == "metadata table"


@pytest.mark.parametrize("status", [503, 500, 429])
def test_a_server_that_is_busy_is_asked_again(store, in_bucket, status):
    uri = in_bucket("1.1.1_nan_cow")
    expected = index_store.open_table(uri, storage_options=store.options).slices()
    store.refuse.extend([status] * 4)
    assert index_store.open_table(uri, storage_options=store.options).slices() == expected
    assert not store.refuse


def test_a_server_that_stays_busy_is_an_error_in_the_end(store, in_bucket):
    uri = in_bucket("1.1.1_nan_cow")
    store.refuse.extend([503] * 50)
    try:
        with pytest.raises(TableError, match=r"s3a://lake/1\.1\.1_nan_cow/\.hoodie/hoodie\.properties: cannot be read"):
            index_store.open_table(uri, storage_options={**store.options, "tries": "2"})
        assert len(store.refuse) >= 38  # two tries for each of what is asked together
    finally:
        store.refuse.clear()


@pytest.mark.parametrize("wrong", [{"access_key": "AKIANOBODYKNOWSTHIS0"}, {"secret_key": "not/the/right/secret+"}])
def test_wrong_credentials_are_a_clear_error_without_secrets(store, in_bucket, wrong):
    uri = in_bucket("1.1.1_nan_cow")
    options = {**store.options, **wrong}
    store.check_credentials(strictly=True)
    try:
        with pytest.raises(TableError, match="access is denied, check the credentials") as caught:
            index_store.open_table(uri, storage_options=options)
    finally:
        store.check_credentials(strictly=False)
    shown = "".join(traceback.format_exception(caught.value))
    for secret in (ACCESS_KEY, SECRET_KEY, *wrong.values()):
        assert secret not in shown


def test_a_bucket_or_table_that_is_not_there_is_said(store):
    for uri, why in (("s3://nosuchbucket/t", "there is no bucket nosuchbucket"), ("s3://lake/t", "not a Hudi table")):
        with pytest.raises(TableError, match=why):
            index_store.open_table(uri, storage_options=store.options)


def test_keys_in_the_uri_work_and_are_not_shown(store, in_bucket):
    path = in_bucket("1.1.1_nan_cow").partition("://")[2]
    uri = (
        f"s3://{ACCESS_KEY}:{quote(SECRET_KEY, safe='')}@{path}?region=us-east-1&scheme=http"
        f"&endpoint_override=127.0.0.1:{store.port}"
    )
    plan = prune(uri, "f > 5")
    assert plan.table == f"s3://{path}"
    assert SECRET_KEY not in str(plan.to_dict())


def test_keys_come_from_the_environment(store, in_bucket, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    uri = in_bucket("1.1.1_nan_cow")
    options = {"endpoint": store.options["endpoint"], "region": "us-east-1"}
    assert len(index_store.open_table(uri, storage_options=options).slices())


def test_indexes_elsewhere_in_the_store_are_read_with_the_options_of_the_table(store, in_bucket, tmp_path):
    name = "1.1.1_main_cow"
    url = in_bucket(name)
    filters = ["s = 'banana-031' AND i BETWEEN 30 AND 32", "s LIKE '%-031'", "i = 391"]
    bare = open_table(url, storage_options=store.options)
    before = [len(prune(bare, text, "spark").kept) for text in filters]
    folders = []
    for sketches in share((["secondary_index"], ["value_list(limit=1000)"]), 2):
        folders.append(f"{store.put(tmp_path, 'indexes')}/{len(folders)}")
        work = IndexWork(url, folders[-1], storage_options=store.options)
        work.create(["s", "i"], sketches)
    opened = open_table(url, storage_options=store.options, options={OTHERS: ",".join(folders)})
    after = [len(prune(opened, text, "spark", strict=True).kept) for text in filters]
    assert all(few <= many for few, many in zip(after, before, strict=True))
    assert sum(after) < sum(before)
