"""What a table in an object store costs in requests and rounds, each case from nothing: no more than stands here."""

from __future__ import annotations

import pytest

from tests.s3.cases import CASES, prepared
from tests.s3.store import running

#: Requests and rounds. A number may fall; one that grows is a regression.
MOST = {
    "sidecar look": (2, 1),
    "sidecar look, version 6": (2, 1),
    "prune, range": (30, 3),
    "prune, range, version 6": (40, 6),
    "files": (17, 2),
    "files of one partition": (17, 2),
    "prune, snapshot of this state": (7, 2),
    "prune, snapshot of one commit before": (12, 4),
    "prune, snapshot in the store": (10, 2),
    "prune by key, record index": (60, 5),
    "prune by key, secondary index": (80, 6),  # the last one reads log files of slices that the index leaves open
    "prune, Bloom filters of keys": (40, 3),
    "index create, two sketches": (25, 8),
    "index create, secondary": (40, 8),
    "index refresh of two": (75, 20),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with running(tmp_path_factory.mktemp("s3")) as found:
        yield found


def test_every_case_is_counted():
    assert {case.name for case in CASES} == MOST.keys()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_requests_and_rounds(store, case, unpack, tmp_path):
    requests, rounds = MOST[case.name]
    with prepared(case, store, unpack(case.table), tmp_path) as run:
        found = [run()]
        while found[-1].rounds > rounds and len(found) < 4:  # a loaded machine may start the requests of a round late
            found.append(run())
    print(case.name, found)
    assert found[-1].requests <= requests
    assert found[-1].rounds <= rounds
    assert found[-1].heads == 0
