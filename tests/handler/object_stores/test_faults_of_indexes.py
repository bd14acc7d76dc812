"""Own indexes in a store with faults: nothing that was reported as done is lost, nothing that is said is false."""

from __future__ import annotations

import itertools
import random
import shutil
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from index_store.storage.errors import TableError
from tests.handler.object_stores.index_cases import KEYS, OPERATIONS, SKETCHES, Prepared, run, said
from tests.s3.store import running
from tests.sampling import examples, share

KINDS: dict[str, dict[str, Any]] = {
    **{kind: {"kind": kind} for kind in ("503", "500", "429", "404", "reset", "cut", "short", "etag", "flip", "lost")},
    "grown": {"kind": "etag", "size": 7},
    "shrunk": {"kind": "etag", "size": -7},
    "hang": {"kind": "hang", "seconds": 20},
    "stall": {"kind": "stall", "seconds": 20},
    "412": {"kind": "412"},
    "empty": {"kind": "empty"},
    "lag": {"kind": "lag"},
}
LISTS, WRITES = ("empty", "lag"), ("lost", "412")
#: Classes of requests: the method and kind, and the object.
REQUESTS = {
    "list of versions": ("LIST", r"\.sargo/[^/]*/versions"),
    "list of an index": ("LIST", r"\.sargo/[^/]*/$"),
    "list of the table": ("LIST", r"^(?!.*\.sargo)"),
    "read of versions": ("GET GET|HEAD", r"\.sargo/.*/versions/"),
    "read of an index": ("GET GET|HEAD", r"\.sargo/[^/]*/(?!versions)"),
    "read of the table's metadata": ("GET GET|HEAD", r"\.hoodie/"),
    "read of data": ("GET GET|HEAD", r"/p=.*(parquet|log)"),
    "write of versions": ("PUT", r"/versions/"),
    "write of an index": ("PUT|POST", r"\.sargo/[^/]*/(?!versions)"),
    "removal": ("DELETE|POST-delete", ""),
}
OFTEN = ({"count": 1}, {"skip": 1, "count": 2}, {"p": 0.1}, {"p": 1.0})
CASES = [
    (operation, index, {**KINDS[kind], **often, "method": REQUESTS[asked][0], "path": REQUESTS[asked][1]})
    for operation, index, kind, asked, often in itertools.product(OPERATIONS, (SKETCHES, KEYS), KINDS, REQUESTS, OFTEN)
    if (kind in LISTS) <= asked.startswith("list")
    and (kind in WRITES) <= asked.startswith(("write", "removal"))
    and asked.startswith("removal") <= (operation == "vacuum")
    and asked.startswith("write") <= (operation != "vacuum")
]
OPTIONS = {"tries": "3", "deadline": "4", "request_timeout": "1", "connect_timeout": "1"}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with running(tmp_path_factory.mktemp("s3")) as found:
        yield found


@pytest.fixture(scope="module")
def states(tmp_path_factory, unpack) -> list[Prepared]:
    """Indexes that know half of the table's commits, and indexes that know all of them."""
    found = []
    for knows_all in (False, True):
        root = tmp_path_factory.mktemp("indexes")
        table = Path(shutil.copytree(unpack("1.1.1_main_cow"), root / "table"))
        found.append(Prepared.of(table, root / "aside", knows_all=knows_all))
    return found


def reported(operation: str, index: str, store, place: Path) -> Any:
    try:
        return run(operation, index, store.uri(place.name), {**store.options, **OPTIONS})
    except TableError as error:
        return error


@pytest.mark.parametrize(("operation", "index", "fault"), share(CASES, 1440, seed=19), ids=str)
def test_no_fault_loses_what_was_done_or_makes_an_index_say_something_false(operation, index, fault, store, states):
    number = zlib.crc32(str((operation, index, fault)).encode())
    name, prepared = f"t{number}", states[number % 2]
    place = prepared.put(store, name, without=index if operation == "create" else "")
    with store.answering(fault, seed=number):
        result = {operation: reported(operation, index, store, place)}
    prepared.check(index, place, result, seen_late=fault["kind"] in (*LISTS, "404"))
    prepared.check_clean_runs(index, store, place)
    shutil.rmtree(place)


@pytest.mark.parametrize("seed", range(examples(1, at_night=150)))
def test_two_and_three_writers_with_faults_lose_nothing(seed, store, states):
    draw, prepared = random.Random(seed), states[seed % 2]
    index, often = draw.choice((SKETCHES, KEYS)), draw.choice((0.01, 0.1))
    operations = draw.sample(OPERATIONS[1:], draw.choice((2, 3)))
    kinds = draw.sample(sorted(KINDS.keys() - {"hang", "stall", "empty", "lag", "404", "412"}), 3)
    place = prepared.put(store, f"w{seed}")
    faults = [{**KINDS[kind], "p": often, "path": r"\.sargo/"} for kind in kinds]
    with store.answering(*faults, seed=seed), ThreadPoolExecutor(3) as pool:
        asked = {one: pool.submit(reported, one, index, store, place) for one in operations}
        results = {one: future.result() for one, future in asked.items()}
    prepared.check(index, place, results)
    prepared.check_clean_runs(index, store, place)
    shutil.rmtree(place)


# -- what each of these lost before it was mended


@pytest.fixture
def place(store, states):
    """A table whose indexes know all of it, in the store."""
    found = states[1].put(store, "named")
    yield found
    shutil.rmtree(found)


def test_a_listing_that_lacks_the_newest_version_makes_vacuum_remove_nothing_that_it_needs(store, states, place):
    run("optimize", SKETCHES, store.uri("named"), store.options)
    with store.answering({"kind": "lag", "path": r"\.sargo/"}):
        run("vacuum", SKETCHES, store.uri("named"), store.options)
    states[1].check(SKETCHES, place, {})
    assert said(SKETCHES, place) == states[1].whole[SKETCHES]


@pytest.mark.parametrize("operation", ["refresh", "full refresh"])
@pytest.mark.parametrize("index", [SKETCHES, KEYS])
def test_a_timeline_that_is_listed_late_takes_nothing_out_of_an_index(operation, index, store, states, place):
    with (
        store.answering({"kind": "lag", "method": "LIST", "path": "named/.hoodie/timeline"}),
        pytest.raises(TableError, match=r"but the index knows .*a listing may be incomplete"),
    ):
        run(operation, index, store.uri("named"), store.options)
    assert said(index, place) == states[1].whole[index]


@pytest.mark.parametrize("index", [SKETCHES, KEYS])
@pytest.mark.parametrize(
    ("kind", "why"), [("403", "cannot be read"), ("404", "no such file"), ("flip", "no version of an index")]
)
def test_an_optimize_undoes_no_version_that_it_cannot_read(index, kind, why, store, states):
    place = states[0].put(store, "unread")
    versions = set((place / ".sargo" / index / "versions").iterdir())
    run("refresh", index, store.uri("unread"), store.options)
    [newest] = set((place / ".sargo" / index / "versions").iterdir()) - versions
    with store.answering({"kind": kind, "path": newest.name}), pytest.raises(TableError, match=why):
        run("optimize", index, store.uri("unread"), store.options)
    assert said(index, place) == states[0].whole[index]
    shutil.rmtree(place)


def test_an_index_is_not_created_over_one_that_a_listing_does_not_show(store, states, place):
    with (
        store.answering({"kind": "empty", "path": r"\.sargo/"}),
        pytest.raises(TableError, match=r"the listing does not show it|removed before it was committed"),
    ):
        run("create", SKETCHES, store.uri("named"), store.options)
    assert said(SKETCHES, place) == states[1].whole[SKETCHES]


def test_a_version_whose_answers_are_all_lost_is_committed(store, states):
    place = states[0].put(store, "answers")
    with store.answering({"kind": "lost", "method": "PUT"}):
        assert reported("refresh", SKETCHES, store, place) is not None
    with store.answering({"kind": "lost", "method": "PUT", "path": "/versions/"}):
        assert run("refresh", SKETCHES, store.uri("answers"), {**store.options, **OPTIONS}).committed
    assert said(SKETCHES, place) == states[0].whole[SKETCHES]
    shutil.rmtree(place)


@pytest.mark.parametrize("conditions", ["kept", "ignored", "refused"])
def test_each_small_file_is_one_conditional_write_whatever_the_store_makes_of_the_condition(
    conditions, store, states, monkeypatch
):
    place = states[0].put(store, "writes")
    monkeypatch.setattr(store.server, "conditions", conditions)
    with store.answering(), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = run("refresh", KEYS, store.uri("writes"), store.options)
    asked = [one for one in store.take() if one["kind"].startswith(("PUT", "POST"))]
    assert {one["kind"] for one in asked} == {"PUT"}
    written = [one for one in asked if one["status"] == 200]
    assert len(written) == len({one["path"] for one in written})
    refused = [one["path"] for one in asked if one["status"] != 200]
    assert len(refused) == len(set(refused))  # files are written side by side, and each may meet the refusal once
    assert bool(refused) == (conditions == "refused")
    assert {one["if"] for one in written} == ({""} if conditions == "refused" else {"*"})
    assert sum("does not implement conditional writes" in str(one.message) for one in told) == (conditions == "refused")
    assert result.committed
    assert said(KEYS, place) == states[0].whole[KEYS]
    shutil.rmtree(place)
