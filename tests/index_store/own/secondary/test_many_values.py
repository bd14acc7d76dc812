"""Long lists and key sets: the same slices as look-ups of each value, and a reason when it would cost too much."""

from __future__ import annotations

import shutil
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.binding.leaves import Lookup
from evaluator.binding.statistics_provider import Declined
from evaluator.language import expression as ex
from evaluator.language.errors import UnsupportedError
from evaluator.language.key_set import KeySet, has_key_sets
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.types import DATE, INT, STRING, Kind
from evaluator.reference.row_oracle import value_of
from evaluator.statistics.columns import to_ordinal
from index_store.own.provider.own_indexes import OwnIndexes
from index_store.own.secondary.constraints import pieces_of_many, pieces_of_values
from index_store.own.secondary.kind import OwnSecondaryIndex
from index_store.own.secondary.operations import create
from index_store.own.store.locations import folder_of
from tests.evaluator.strategies import SCHEMA, TYPES, Slice, values_of
from tests.index_store.own.parquet_rows import awkward_files
from tests.index_store.own.secondary.answers import by, local
from tests.index_store.own.secondary.small_table import small_table
from tests.index_store.own.secondary.test_kind import answered, check
from tests.sampling import examples

COLUMNS = [name for name, of in TYPES.items() if of.kind not in (Kind.CHAR, Kind.VARCHAR)]
WITH_SETS = [name for name in COLUMNS if has_key_sets(TYPES[name])]
SPARK = Semantics.named("spark", "UTC")


@pytest.fixture(autouse=True)
def _a_disk_that_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("index_store.own.store.folder._force", lambda _: None)


def column_named(name: str) -> ex.Column:
    return ex.Column(tuple(name.split(".")))


def key_set(name: str, values) -> KeySet:
    return KeySet.of(TYPES[name], [to_ordinal(value, TYPES[name]) for value in values])


def literals(name: str, values) -> tuple[ex.Literal, ...]:
    return tuple(ex.Literal(value, TYPES[name]) for value in values)


@settings(max_examples=examples(6, at_night=150))
@given(data=st.data())
def test_a_long_list_keeps_the_slices_of_its_values(data: st.DataObject) -> None:
    """By one pass and by a look-up of each value, as a list of literals and as a key set; and no row is lost."""
    name, other = data.draw(st.sampled_from(COLUMNS)), data.draw(st.sampled_from(["i2", "s"]))
    columns = sorted({name, other, "i2"})
    slices = data.draw(st.lists(awkward_files(columns), min_size=1, max_size=4))
    folder = Path(tempfile.mkdtemp())
    try:
        table = small_table(folder / "t", slices, columns)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("index_store.own.secondary.shards.ENTRIES_PER_SHARD", 2)
            create(folder_of(table, "it"), table, by(*dict.fromkeys([name, other])), local)
        [index] = OwnSecondaryIndex(OwnIndexes(table, table.slices())).indexes
        column = table.schema.resolve(name, case_sensitive=True)
        present = [row[name] for one in slices for row in one.rows if row[name] is not None]
        pool = values_of(TYPES[name]) | (st.sampled_from(present) if present else st.nothing())
        values = data.draw(st.lists(pool, min_size=1, max_size=6))
        candidates = np.array(data.draw(st.lists(st.booleans(), min_size=len(slices), max_size=len(slices))), np.bool_)
        expression = ex.In(column_named(name), literals(name, values))
        engine = data.draw(st.sampled_from(ENGINES))
        for leaf in bind(expression, table.schema, Semantics.named(engine, "UTC")).leaves:
            if leaf.lookup is None:
                continue
            masks = []
            for few in (100, -1):
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr("index_store.own.secondary.secondary_index.FEW_VALUES", few)
                    masks.append(index.might_contain(leaf.lookup, candidates))
                    check(table, slices, expression, Semantics.named(engine, "UTC"))
            assert (masks[0] is None) == (masks[1] is None)
            assert masks[0] is None or (masks[0] | ~candidates).tolist() == (masks[1] | ~candidates).tolist()
        if name in WITH_SETS:
            keys = ex.InKeys(column_named(name), key_set(name, values))
            check(table, slices, keys, Semantics.named(engine, "UTC"))
            bound = bind(keys, table.schema, SPARK).leaves[0]
            if bound.lookup is not None:
                by_set, by_list = (
                    index.might_contain(Lookup(column, some), candidates)
                    for some in (bound.lookup.values, tuple(bound.lookup.values))
                )
                assert (by_set is None) == (by_list is None)
                assert by_set is None or (by_set | ~candidates).tolist() == (by_list | ~candidates).tolist()
                assert answered(table, keys, SPARK).kept_rows.tolist() == (
                    answered(table, expression, SPARK).kept_rows.tolist()
                )
    finally:
        shutil.rmtree(folder)


@given(data=st.data())
def test_a_key_set_is_bound_as_a_list_of_its_values(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(WITH_SETS))
    values = data.draw(st.lists(values_of(TYPES[name]), min_size=1, max_size=6))
    semantics = Semantics.named(data.draw(st.sampled_from(ENGINES)), data.draw(st.sampled_from(["UTC", "Asia/Tokyo"])))
    here, keys = column_named(name), key_set(name, values)
    leaves = bind(ex.In(here, literals(name, values)), SCHEMA, semantics).leaves
    found, *others = bind(ex.InKeys(here, keys), SCHEMA, semantics).leaves
    if found.reason is None:
        expected = leaves[0]
        assert len(leaves) == 1 + len(others)  # one more for a list that fills intervals
        assert sorted(set(expected.lookup.values)) == list(found.lookup.values)
        assert expected.test.members.values == found.test.members.values
        assert expected.test.members.array.tolist() == found.test.members.array.tolist()
        assert expected.test.members.array.dtype == found.test.members.array.dtype
    elif len(leaves) == 1 and leaves[0].lookup is not None:
        raise AssertionError(f"{keys} is not bound: {found.reason}")
    for value in [*values, data.draw(values_of(TYPES[name])), None]:
        row = {name: value}
        try:
            expected_value = value_of(ex.In(here, literals(name, values)), row, SCHEMA, semantics)
        except UnsupportedError:
            continue
        assert value_of(ex.InKeys(here, keys), row, SCHEMA, semantics) == expected_value


def test_a_key_set_names_its_ends():
    keys = ex.InKeys(ex.Column(("i",)), KeySet.of(INT, list(range(0, 3000, 3))))
    assert str(keys) == "i IN (1,000 keys from 0 to 2997)"
    assert ex.to_dict(keys) == {
        "node": "InKeys",
        "keys": 1000,
        "type": "int",
        "children": [{"node": "Column", "column": "i", "type": None}],
    }
    assert str(ex.InKeys(ex.Column(("s",)), KeySet.of(STRING, ["b", "a"]))) == "s IN (2 keys from 'a' to 'b')"
    assert (
        str(ex.InKeys(ex.Column(("d",)), KeySet.of(DATE, [0])))
        == "d IN (1 keys from DATE '1970-01-01' to DATE '1970-01-01')"
    )
    assert str(ex.InKeys(ex.Column(("i",)), KeySet.of(INT, []))) == "i IN (no key)"
    dec = KeySet.of(TYPES["dec"], [150, -50])
    assert list(dec) == [Fraction(-50, 10 ** TYPES["dec"].scale), Fraction(150, 10 ** TYPES["dec"].scale)]


def test_a_key_set_of_another_type_is_undecided():
    [leaf] = bind(ex.InKeys(ex.Column(("i",)), KeySet.of(STRING, ["1"])), SCHEMA, SPARK).leaves
    assert leaf.reason == "keys of type string are not looked up in this column"
    [leaf] = bind(ex.InKeys(ex.Column(("l",)), KeySet.of(INT, [1, 2])), SCHEMA, SPARK).leaves
    assert leaf.reason == "keys of type int are not looked up in this column"


def test_values_of_any_form_become_the_same_pieces():
    column = SCHEMA.resolve("i", case_sensitive=True)
    for values in ([3, 1, 2, 2], [3, True, 2], [Fraction(3), 1], [1, Fraction(1, 2)], [1 << 70, 5], [1.0, 2]):
        assert list(pieces_of_many(values, column)) == list(pieces_of_values(values, column))
    text = SCHEMA.resolve("s", case_sensitive=True)
    for values in (["b", "a", "a"], ["\ud800", "x"], ["", "a\0b"]):
        assert list(pieces_of_many(values, text)) == list(pieces_of_values(values, text))
    day = SCHEMA.resolve("dt", case_sensitive=True)
    for values in ([0, 1], [0, -1_000_000], KeySet.of(DATE, [0, -1_000_000])):
        assert (pieces_of_many(values, day) is None) == (pieces_of_values(values, day) is None)


def test_keys_in_too_many_blocks_are_declined(tmp_path, monkeypatch):
    table = small_table(tmp_path / "t", [Slice(({"i": 1},)), Slice(({"i": 5},)), Slice(({"i": 9},))], ["i"])
    create(folder_of(table, "it"), table, by("i"), local)
    kind = OwnSecondaryIndex(OwnIndexes(table, table.slices()))
    [index] = kind.indexes
    keys = KeySet.of(INT, list(range(2, 9)) * 20)
    monkeypatch.setattr("index_store.own.secondary.secondary_index.FEW_VALUES", 3)
    lookup, everywhere = Lookup(index.columns[0], keys), np.ones(3, np.bool_)
    assert index.might_contain(lookup, everywhere).tolist() == [False, True, False]
    monkeypatch.setattr("index_store.own.secondary.secondary_index.MAX_MERGED_BLOCKS", 0)
    declined = kind.might_contain(lookup, everywhere)
    assert isinstance(declined, Declined)
    assert declined.why.startswith("the entries of 7 keys are in 1 blocks of it, more than the 0")
    within = ex.And((ex.InKeys(ex.Column(("i",)), keys), ex.Compare(">", ex.Column(("i",)), ex.Literal(0, INT))))
    found = answered(table, within, SPARK)
    assert found.declined == {(0, "own_secondary_index"): declined.why}
    assert found.kept_rows.tolist() == [1]  # by bounds alone
