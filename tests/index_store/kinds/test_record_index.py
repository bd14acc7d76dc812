"""The record index of real tables: every key is where its row is, absent keys are nowhere."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.language.schema import Field
from evaluator.language.types import BIGINT, DATE, STRING
from index_store import StatsError, TableError, open_table
from index_store.kinds.record_keys import record_index
from index_store.kinds.record_keys.record_keys import record_keys
from tests.index_store.conftest import DATA, TABLES
from tests.index_store.rows import rows_of
from tests.sampling import share

KEY = Field("id", STRING)


def kind_of(path):
    table = open_table(path)
    slices = table.slices()
    return table, slices, next((kind for kind in table.kinds(slices) if kind.name == "record_index"), None)


@pytest.mark.parametrize("name", share(TABLES, 3, seed=12))
def test_every_row_is_in_the_slice_that_its_key_names(hudi_table, name):
    path = hudi_table(name)
    table, slices, kind = kind_of(path)
    if "record_index" not in table.available_indexes:
        assert kind is None
        return
    stored = [{row["_hoodie_record_key"] for file in one.files for row in rows_of(path / file)} for one in slices]
    keys = sorted(set().union(*stored))
    hits = 0
    for key in keys:
        mask = kind.locate(KEY, [key])
        assert mask.sum() <= 1
        if mask.any():  # not so for rows that a log file deletes
            assert key in stored[int(np.flatnonzero(mask)[0])]
            hits += 1
    assert hits >= len(keys) - 10
    assert not kind.locate(KEY, ["no such key", "another"]).any()
    some = keys[::7]
    assert (kind.locate(KEY, some) == np.any([kind.locate(KEY, [key]) for key in some], axis=0)).all()
    assert (kind.locate(Field("_hoodie_record_key", STRING), some) == kind.locate(KEY, some)).all()


@pytest.mark.parametrize("name", ["1.1.1_main_cow", "1.1.1_main_mor"])
def test_filters_on_the_key_keep_every_file_group_with_a_match(hudi_table, name):
    oracle = json.loads(record_oracle(name).read_text())
    _, slices, kind = kind_of(hudi_table(name))
    checked = 0
    for entry in oracle["filters"]:
        text = entry["filter"]
        if not text.startswith("id = '") or " " in text[6:]:
            continue
        mask = kind.locate(KEY, [text[6:-1]])
        assert {slices[i].file_id for i in np.flatnonzero(mask)} == set(entry["files_true_ids"])
        checked += 1
    assert checked


def record_oracle(name):
    release, _, table = name.partition("_")
    return DATA / f"oracle_{table}_{release}.json"


def test_other_columns_and_forms_have_no_answer(hudi_table):
    _, _, kind = kind_of(hudi_table("1.1.1_main_cow"))
    assert kind.locate(Field("s", STRING), ["k0001"]) is None
    assert kind.locate(KEY, ["k0001", ""]) is None
    assert kind.locate(Field("id", DATE), [18000]) is None
    assert not kind.requires(RequiredStatistics(bounds=(KEY,), nulls=(KEY,)))
    assert kind.coverage([KEY, Field("s", STRING)]).columns.keys() == {"id"}


def test_integer_keys_are_looked_up_by_their_decimal_text(hudi_table):
    table = open_table(hudi_table("1.1.1_main_cow"))
    assert record_keys(table, table.slices(), Field("id", BIGINT), [5, -7]) == ["5", "-7"]
    assert record_keys(table, table.slices(), Field("id", BIGINT), [True]) is None


def test_only_the_latest_slices_have_a_record_index(hudi_table):
    table = open_table(hudi_table("1.1.1_main_mor"))
    older = table.slices(table.timeline.writes[0].requested)
    assert record_index.make(table, older) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("keygenerator.type=SIMPLE", "keygenerator.type=COMPLEX"),
        ("recordkey.fields=id", "recordkey.fields=id,ts"),
        ("keygenerator.type=SIMPLE", "keygenerator.type=CUSTOM"),
    ],
)
def test_keys_of_another_form_answer_only_for_the_key_itself(hudi_copy, old, new):
    path = hudi_copy("1.1.1_main_cow")
    properties = path / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text().replace(old, new))
    _, _, kind = kind_of(path)
    assert kind.locate(KEY, ["k0001"]) is None
    assert kind.locate(Field("_hoodie_record_key", STRING), ["k0001"]).any()


def test_an_index_of_another_form_than_defined_is_not_used(hudi_copy):
    path = hudi_copy("1.1.1_main_cow")
    definitions = path / ".hoodie" / ".index_defs" / "index.json"
    definitions.write_text(definitions.read_text().replace('"isPartitioned" : "false"', '"isPartitioned" : "true"'))
    with pytest.raises(StatsError, match="not the name of one of its file groups"):
        kind_of(path)[2].locate(KEY, ["k0001"])
    for text in (definitions.read_text().replace('"isPartitioned" : "true"', '"isPartitioned" : "2"'), "{"):
        definitions.write_text(text)
        assert kind_of(path)[2] is None


@pytest.mark.parametrize("pattern", [".record-index-*_2*", "record-index-*.hfile"])
def test_a_missing_file_raises_instead_of_missing_keys(hudi_copy, pattern):
    path = hudi_copy("1.1.1_main_mor")
    min((path / ".hoodie/metadata/record_index").glob(pattern)).unlink()
    _, _, kind = kind_of(path)
    with pytest.raises(StatsError, match="missing"):
        kind.locate(KEY, ["k0001"])


def test_a_missing_file_group_raises(hudi_copy):
    path = hudi_copy("1.1.1_main_mor")
    for file in (path / ".hoodie/metadata/record_index").glob("*record-index-0001-0*"):
        file.unlink()
    _, _, kind = kind_of(path)
    with pytest.raises((StatsError, TableError), match="missing"):
        kind.locate(KEY, ["k0001"])
