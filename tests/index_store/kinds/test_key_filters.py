"""Filters of record keys in the footers, and when the record index may be believed."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.binding.statistics_provider import Declined
from evaluator.language.schema import Field
from evaluator.language.types import STRING
from index_store import open_table
from index_store.kinds.record_keys import record_keys, stored_values
from index_store.kinds.record_keys.key_filters import KeyFilters
from index_store.kinds.record_keys.record_index import RecordIndex
from tests.index_store.conftest import TABLES
from tests.index_store.rows import rows_of
from tests.index_store.synthetic import log_block
from tests.sampling import share

KEY = Field("_hoodie_record_key", STRING)


def kinds_of(path):
    table = open_table(path)
    slices = table.slices()
    return slices, {kind.name: kind for kind in table.kinds(slices)}


@pytest.mark.parametrize("name", share(TABLES, 3, seed=11))
def test_no_slice_with_a_row_of_the_key_is_ruled_out(hudi_table, name):
    path = hudi_table(name)
    slices, kinds = kinds_of(path)
    stored = [{row["_hoodie_record_key"] for file in one.files for row in rows_of(path / file)} for one in slices]
    ruled_out = 0
    for key in sorted(set().union(*stored))[::5]:
        for kind in ("key_filters", "record_index"):
            mask = kinds[kind].might_contain(KEY, [key]) if kind in kinds else None
            if mask is not None:
                assert all(mask[i] for i, keys in enumerate(stored) if key in keys)
                ruled_out += int((~mask).sum())
    if name == "1.1.1_main_cow":
        assert ruled_out > 100


@pytest.mark.parametrize("name", ["1.1.1_main_cow", "1.1.1_main_mor", "1.1.1_bucket_ch_resized_mor"])
def test_many_keys_at_once_keep_the_slices_that_one_by_one_keep(hudi_table, name):
    path = hudi_table(name)
    slices, kinds = kinds_of(path)
    held = sorted({row["_hoodie_record_key"] for file in slices[0].files for row in rows_of(path / file)})
    absent = [f"k{number}none" for number in range(40)]
    for keys in (absent, [*absent, held[0]], [held[-1], *absent, "k"]):
        kept = np.zeros(len(slices), np.bool_)
        for key in keys:
            mask = kinds["key_filters"].might_contain(KEY, [key])
            kept |= np.ones(len(slices), np.bool_) if mask is None else mask
        together = kinds["key_filters"].might_contain(KEY, keys)
        assert (together is None and kept.all()) or together.tolist() == kept.tolist()


def test_only_candidates_are_asked(hudi_table):
    slices, kinds = kinds_of(hudi_table("1.1.1_main_cow"))
    candidates = np.zeros(len(slices), np.bool_)
    candidates[3] = True
    mask = kinds["key_filters"].might_contain(KEY, ["no such key"], candidates)
    assert np.flatnonzero(~mask).tolist() == [3]


def test_too_many_keys_are_not_looked_for_in_filters(hudi_table, monkeypatch):
    slices, kinds = kinds_of(hudi_table("1.1.1_main_cow"))
    monkeypatch.setattr(record_keys, "KEYS_PROBED", 1)
    monkeypatch.setattr(record_keys, "PROBES", 2)
    keys, few = ["no such key", "another"], np.zeros(len(slices), np.bool_)
    few[0] = True
    for name in ("key_filters", "bloom_filters"):
        if name in kinds:
            assert np.flatnonzero(~kinds[name].might_contain(KEY, keys, few)).tolist() == [0]
            declined = kinds[name].might_contain(KEY, keys)
            assert isinstance(declined, Declined)
            assert declined.why.startswith(f"2 keys are not looked for in {len(slices)} Bloom filters")
            with monkeypatch.context() as fewer:
                fewer.setattr(record_keys, "KEYS", 1)
                assert kinds[name].might_contain(KEY, keys, few).why.endswith("in Bloom filters, at most 1")
    assert "key_filters" in kinds


def test_a_key_in_two_rows_is_found_in_both_files(hudi_table, monkeypatch):
    """hudi's ``insert`` may write a key twice; the record index knows the last place only."""
    table = open_table(hudi_table("1.1.1_main_cow"))
    slices = table.slices()
    kinds = {kind.name: kind for kind in table.kinds(slices)}
    assert kinds["record_index"].might_contain(KEY, ["k0031"]) is not None
    monkeypatch.setattr(RecordIndex, "count", 174)  # 175 rows
    assert {kind.name: kind for kind in table.kinds(slices)}["record_index"].might_contain(KEY, ["k0031"]) is None


def test_both_kinds_know_the_keys_of_a_table_with_log_files(hudi_table):
    path = hudi_table("1.1.1_main_mor")
    slices, kinds = kinds_of(path)
    for key in ("k0031", "k0002", "k0115"):
        held = [
            any(row["_hoodie_record_key"] == key for file in one.files for row in rows_of(path / file))
            for one in slices
        ]
        mask = kinds["record_index"].might_contain(KEY, [key])
        assert mask.any()
        assert all(held[place] for place in np.flatnonzero(mask))
        filtered = kinds["key_filters"].might_contain(KEY, [key])
        assert filtered is None or (filtered | ~mask).all()


@pytest.mark.parametrize("name", ["1.1.1_bucket_ch_mor", "1.1.1_bucket_ch_resized_mor", "1.1.1_nonpart_mor"])
def test_keys_within_the_bounds_of_log_files_are_looked_up_among_their_keys(hudi_table, name):
    """Of slices that are log files only, too. A deletion is no row."""
    path = hudi_table(name)
    slices, kinds = kinds_of(path)
    stored = [{row["_hoodie_record_key"] for file in one.files for row in rows_of(path / file)} for one in slices]
    every = sorted(set().union(*stored))
    for key in [*every[::3], "k0000", "k0001x", "zzz"]:
        mask = kinds["key_filters"].might_contain(KEY, [key])
        assert (mask if mask is not None else np.ones(len(slices), np.bool_)).tolist() == [
            key in keys for keys in stored
        ]
    assert any(one.log_files and not one.base_file for one in slices) == (name == "1.1.1_bucket_ch_mor")


@pytest.mark.parametrize(("fault", "why"), [("cut", "log block"), ("type", "block of type 4"), ("size", "beyond")])
def test_a_slice_whose_log_files_cannot_be_searched_is_kept(hudi_copy, monkeypatch, fault, why):
    path = hudi_copy("1.1.1_bucket_ch_mor")
    slices, kinds = kinds_of(path)
    number = next(number for number, one in enumerate(slices) if one.log_files)
    log = path / slices[number].log_files[0]
    if fault == "size":
        monkeypatch.setattr(stored_values, "MAX_BYTES", log.stat().st_size - 1)
    else:
        log.write_bytes(log.read_bytes()[:-1] if fault == "cut" else log.read_bytes() + log_block(4, b"x", "1"))
    key = next(iter(rows_of(path / slices[number + 1].log_files[0])))["_hoodie_record_key"]
    monkeypatch.setattr(KeyFilters, "_logs_reach", lambda *_: True)
    answer = kinds["key_filters"].might_contain(KEY, [key])
    assert why in answer.why
    assert answer.might_contain[[number, number + 1]].all()
    assert fault == "size" or answer.might_contain.sum() == 2


def test_footers_that_may_not_be_read_rule_nothing_out(hudi_table):
    table = open_table(hudi_table("1.1.1_main_cow"))
    table.footers._limit = 0
    assert KeyFilters(table, table.slices()).might_contain(KEY, ["no such key"]) is None


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {b"org.apache.hudi.bloomfilter": b"!!"},
        {b"org.apache.hudi.bloomfilter": b"AAAA", b"hoodie_bloom_filter_type_code": b"?"},
    ],
)
def test_a_filter_that_is_missing_or_damaged_rules_nothing_out(stored):
    from index_store.kinds.record_keys.key_filters import _parse

    assert _parse(stored) is None
