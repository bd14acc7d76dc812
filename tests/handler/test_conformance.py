"""Against Spark and Hudi: what real Hudi tables and real Spark say of 165 filters (contract C9).

An oracle file says for each filter which file groups hold a matching row (``files_true_ids``, found by reading all rows
without data skipping) and which Hudi's own data skipping keeps (``files_hudi_ids``).

    soundness    no file group that holds a match is skipped, for any filter
    efficiency   not more is kept than Hudi keeps, where Hudi is right; the exceptions are listed with their reasons in
                 data/kept_more_than_hudi.json, and an exception that no longer holds fails the test: the list shrinks
"""

import json
from pathlib import Path

import pytest

from handler import open_table, prune
from tests.handler.conftest import DATA

EXCEPTIONS = Path(__file__).parent / "data" / "kept_more_than_hudi.json"


def cases():
    for path in sorted(DATA.glob("oracle_*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        table = f"{document['hudi']}_{document['table']}"
        for one in document["filters"]:
            if one.get("files_true") is not None:
                yield pytest.param(table, one, id=f"{document['table']}: {one['filter'][:60]}")


@pytest.fixture(scope="module")
def opened(unpack):
    tables = {}

    def opened_table(name):
        if name not in tables:
            tables[name] = open_table(unpack(name))
        return tables[name]
    return opened_table


def kept_ids(table, text):
    return {item.file_id for item in prune(table, text, engine="spark", time_zone="UTC", strict=True).kept}


@pytest.mark.parametrize(("name", "one"), list(cases()))
def test_no_file_with_a_match_is_skipped(opened, name, one):
    kept = kept_ids(opened(name), one["filter"])
    assert set(one["files_true_ids"]) <= kept


def test_not_more_is_kept_than_hudi_keeps(opened, capsys):
    more = {}
    filters = kept_total = hudi_total = exact = 0
    for case in cases():
        name, one = case.values
        if one.get("wrong") or one.get("files_hudi_ids") is None:
            continue
        kept = kept_ids(opened(name), one["filter"])
        filters += 1
        kept_total += len(kept)
        hudi_total += len(one["files_hudi_ids"])
        exact += kept == set(one["files_true_ids"])
        if len(kept) > len(one["files_hudi_ids"]):
            more[f"{name}: {one['filter']}"] = [len(kept), len(one["files_hudi_ids"])]
    with capsys.disabled():
        print(f"\nconformance: {filters} filters that Hudi answers rightly: {kept_total} file groups kept, Hudi keeps "
              f"{hudi_total}; exactly the matching ones for {exact}; more than Hudi for {len(more)}")
    allowed = json.loads(EXCEPTIONS.read_text(encoding="utf-8"))["filters"]
    unexcused, outdated = sorted(more.keys() - allowed.keys()), sorted(allowed.keys() - more.keys())
    assert unexcused == [], "these keep more than Hudi does"
    assert outdated == [], f"less is kept now: remove these from {EXCEPTIONS.name}"
