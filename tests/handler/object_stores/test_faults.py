"""A store with faults loses no row: the same answer, more files kept with a reason, or an error that names a file."""

from __future__ import annotations

import itertools
import shutil

import pytest

import handler
from index_store import TableError
from tests.s3.store import running
from tests.sampling import share

TABLES = ("1.1.1_main_mor", "1.0.2_sec_cow", "0.15.0_main_cow", "1.1.1_expr_cow", "1.2.0_bloom_cow")
FILTERS = ("i BETWEEN 1 AND 50", "id = 'k0061'", "s = 'banana-020'", "lower(s) = 'x'", "u > 100")
KINDS = ("503", "500", "404", "403", "reset", "cut", "short", "etag", "flip", "empty", "lag")
PLACES = (
    "hoodie.properties",
    r"\.hoodie/timeline/",
    r"metadata/\.hoodie",
    "metadata/files",
    "metadata/column_stats",
    "metadata/(record|secondary|expr|bloom)",
    "index.json",
    r"\.schema",
    r"\.parquet$",
    r"/p=[^/]*/\.",
    "",
)
CASES = [
    (table, {"kind": kind, "path": place, **often}, seed)
    for seed, (table, kind, place, often) in enumerate(
        itertools.product(TABLES, KINDS, PLACES, ({"count": 1}, {"p": 0.1}, {"p": 1.0}))
    )
]
OPTIONS = {"tries": "2", "deadline": "5"}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with running(tmp_path_factory.mktemp("s3")) as found:
        yield found


@pytest.fixture(scope="module")
def expected(store, unpack):
    """What every filter keeps when nothing goes wrong, by table; the tables are put into the bucket."""
    kept = {}
    for name in TABLES:
        shutil.copytree(unpack(name), store.bucket / name)
        kept[name] = plans(store, name)
    return kept


def plans(store, name):
    table = handler.open_table(store.uri(name), storage_options={**store.options, **OPTIONS}, cache=None)
    return [handler.prune(table, where, time_zone="UTC") for where in FILTERS]


def plans_or_error(store, name):
    try:
        return plans(store, name), None
    except TableError as error:
        return [], error


@pytest.mark.parametrize(("name", "fault", "seed"), share(CASES, 288, seed=19), ids=str)
def test_no_fault_loses_a_row_or_a_reason(store, expected, name, fault, seed):
    with store.answering(fault, seed=seed):
        found, error = plans_or_error(store, name)
    assert error is None or name in error.path
    for plan, usual in zip(found, expected[name], strict=error is None):
        lost = {one.base_file for one in usual.kept} - {one.base_file for one in plan.kept}
        assert not lost, plan.reasons
        if len(plan.kept) > len(usual.kept):
            assert set(plan.reasons) - set(usual.reasons), "no reason says why more is kept"


def test_a_reason_says_that_footers_cannot_be_read_or_were_too_many(store, unpack):
    shutil.copytree(unpack("1.1.1_nan_cow"), store.bucket / "footers")
    properties = store.bucket / "footers/.hoodie/hoodie.properties"
    lines = [line for line in properties.read_text().splitlines(keepends=True) if "metadata.partitions" not in line]
    properties.write_text("".join(lines))  # no column_stats, no list of files
    table = handler.open_table(store.uri("footers"), storage_options={**store.options, **OPTIONS}, cache=None)
    with store.answering({"kind": "403", "path": r"\.parquet$"}):
        plan = handler.prune(table, "id = 'k1'", time_zone="UTC")
    assert len(plan.kept) == len(plan.slices)
    assert any("footers of base files cannot be read, such as s3://lake/footers/" in one.text for one in plan.reasons)
    assert any("footers of base files cannot be read" in one["text"] for one in plan.to_dict()["reasons"])


def test_a_reason_says_that_the_definitions_of_indexes_cannot_be_read(store, expected):
    with store.answering({"kind": "403", "path": r"index\.json$"}):
        found = plans(store, "1.0.2_sec_cow")
    for plan in found:
        assert any("the indexes that it defines are not used: s3://lake/1.0.2_sec_cow" in r.text for r in plan.reasons)
