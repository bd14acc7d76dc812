"""A listing that is empty once, or for good, loses no row: the answer is that of the whole listing, or an error."""

from __future__ import annotations

import shutil

import pytest

import handler
from index_store import TableError
from tests.s3.store import running

TABLES = {"1.1.1_main_cow": ".hoodie/timeline/", "0.15.0_main_cow": ".hoodie/"}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with running(tmp_path_factory.mktemp("s3")) as found:
        yield found


def placed(store, unpack, name, *, metadata):
    """The key of a copy of the table; without its metadata table its files are listed."""
    key = f"{name}-{'with' if metadata else 'without'}"
    place = store.bucket / key
    if not place.exists():
        shutil.copytree(unpack(name), place)
        if not metadata:
            shutil.rmtree(place / ".hoodie/metadata")
            properties = place / ".hoodie/hoodie.properties"
            lines = properties.read_text().splitlines()
            properties.write_text("\n".join(one for one in lines if "metadata.partitions" not in one) + "\n")
    return key


def kept(store, key):
    table = handler.open_table(store.uri(key), storage_options={**store.options, "tries": "2"}, cache=None)
    plan = handler.prune(table, "i BETWEEN 1 AND 50", time_zone="UTC")
    return len(plan.kept), len(plan.slices)


def empty(prefix, times=0):
    """``times`` is 0 for every answer."""
    return {"kind": "empty", "method": "LIST", "path": f"{prefix}$", "count": times}


@pytest.mark.parametrize("name", TABLES)
def test_a_timeline_that_is_empty_once_is_listed_again(store, unpack, name):
    key = placed(store, unpack, name, metadata=True)
    expected = kept(store, key)
    assert expected[1] == 14
    with store.answering(empty(f"{key}/{TABLES[name]}", 1)):
        assert kept(store, key) == expected
    with store.answering(empty(f"{key}/{TABLES[name]}", 1000)), pytest.raises(TableError, match="timeline is missing"):
        kept(store, key)


@pytest.mark.parametrize("name", TABLES)
def test_a_listing_without_what_the_latest_commit_wrote_is_an_error(store, unpack, name):
    key = placed(store, unpack, name, metadata=False)
    assert kept(store, key)[1] == 14
    with store.answering(empty(f"{key}/", 1)), pytest.raises(TableError, match=r"the store does not list .*parquet"):
        kept(store, key)
