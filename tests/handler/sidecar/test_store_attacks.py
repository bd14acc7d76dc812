"""A fault at every request that the sidecar makes of a store: for a first question, and for those after a commit.

No answer skips a file with a row that matches, one that skips less gives a reason, and after the fault the sidecar
answers as if there had been none, without another commit.
"""

import itertools
import shutil

import pytest

from handler import open_table, prune
from handler.sidecar.reading import current_view
from handler.sidecar.settings import Settings
from tests.handler.conftest import hive_filters
from tests.handler.sidecar.conftest import Running, request, skipped_names
from tests.handler.sidecar.recording.test_audit import wait_for
from tests.handler.sidecar.test_tables import hide_last_commit
from tests.s3.store import running
from tests.sampling import share

FILTERS = {one["sql"]: one["filter"] for one in hive_filters() if one["hive"] == "4.0.1"}
ASKED = ("i = 100", "id = 'k0031' or id = 'k0184'", "upper(s) = 'CHERRY-061'")
TABLES = ("1.1.1_main_mor", "1.0.2_sec_cow", "1.1.1_expr_cow", "0.15.0_main_cow", "1.2.0_bloom_cow")
KINDS = ("503", "404", "403", "reset", "cut", "short", "hang", "empty", "lag", "flip", "etag")
#: At which request the fault begins, and how many it meets.
PLACES = tuple(itertools.product(range(0, 45, 3), (1, 1000)))
CASES = [
    (table, kind, skip, count, seed)
    for seed, (table, kind, (skip, count)) in enumerate(itertools.product(TABLES, KINDS, PLACES))
]
AFTER_A_COMMIT = [
    (kind, skip, count, seed) for seed, (kind, skip, count) in enumerate(itertools.product(KINDS, range(24), (1, 1000)))
]
_NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with running(tmp_path_factory.mktemp("s3")) as found:
        yield found


@pytest.fixture(scope="module")
def serving(store):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(current_view, "PAUSE_SECONDS", 0.05)
        given = {"refresh_seconds": 0, "refresh_wait_seconds": 0.2, "request_seconds": 3}
        waits = {"look_seconds": 0.3, "retry_seconds": 0.05}
        options = {**store.options, "tries": "2", "deadline": "2", "request_timeout": "2"}
        settings = Settings(port=0, metrics_port=-1, roots=["s3://lake"], storage_options=options, **given, **waits)
        with Running(settings) as one:
            yield one


@pytest.fixture(scope="module")
def expected(unpack):
    """By table: the files, and what each filter skips."""
    found = {}
    for name in (*TABLES, "1.1.1_main_cow"):
        local = unpack(name)
        files = [name for item in open_table(local).at().slices for name in item.files]
        plans = [prune(local, FILTERS[sql], "hive4", time_zone="UTC") for sql in ASKED]
        found[name] = files, [{name for item in plan.skipped for name in item.files} for plan in plans]
    return found


def check(client, uri, files, skipped):
    """Ask all filters; whether all is skipped that may be. Fails when a row is lost, or a reason is missing."""
    is_all = True
    for sql, may in zip(ASKED, skipped, strict=True):
        reply = client.prune(request(uri, FILTERS[sql], files))
        found = skipped_names(files, reply)
        assert found <= may, sql
        assert found == may or reply.reasons or reply.covered < len(files), sql  # an older state knows fewer files
        is_all = is_all and found == may
    return is_all


@pytest.mark.parametrize(("name", "kind", "skip", "count", "seed"), share(CASES, 960, seed=19), ids=str)
def test_a_fault_at_any_request_of_an_opening_loses_no_row_and_passes(
    store, serving, expected, unpack, name, kind, skip, count, seed
):
    files, skipped = expected[name]
    place = shutil.copytree(unpack(name), store.bucket / f"t{next(_NUMBERS)}")
    uri = store.uri(place.name)
    with serving.client(timeout=60_000) as client:
        with store.answering({"kind": kind, "skip": skip, "count": count}, seed=seed):
            check(client, uri, files, skipped)
        wait_for(lambda: check(client, uri, files, skipped))


@pytest.mark.parametrize(("kind", "skip", "count", "seed"), share(AFTER_A_COMMIT, 316, seed=19), ids=str)
def test_a_fault_at_any_request_after_a_commit_loses_no_row_and_passes(
    store, serving, expected, unpack, kind, skip, count, seed
):
    name = "1.1.1_main_cow"
    files, skipped = expected[name]
    place = shutil.copytree(unpack(name), store.bucket / f"t{next(_NUMBERS)}" / name)
    give_back = hide_last_commit(place)
    uri = store.uri(f"{place.parent.name}/{name}")
    with serving.client(timeout=60_000) as client:
        check(client, uri, files, skipped)
        with store.answering({"kind": kind, "skip": skip, "count": count}, seed=seed):
            check(client, uri, files, skipped)
            give_back()
            for _ in range(2):
                check(client, uri, files, skipped)
        wait_for(lambda: check(client, uri, files, skipped))
