"""A key set as the members of a list: the outcomes of every range are those of the same list of literals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from evaluator.language import expression as ex
from evaluator.language import key_set
from evaluator.language.key_set import KeySet
from evaluator.language.types import BIGINT, DATE, STRING, TIMESTAMP, Type, decimal_type
from tests.evaluator.short_forms import NULL, col, lit, outcome_of, stats

#: The values of a type in ascending order, of which every third one is a key.
VALUES: dict[Type, Sequence[Any]] = {
    BIGINT: range(-4, 5),
    DATE: range(18_260, 18_269),
    TIMESTAMP: range(0, 9_000_000, 1_000_000),
    STRING: ("", "a", "aä", "b", "ba", "c", "z", "ä", "😀"),
    decimal_type(10, 2): [Decimal(n).scaleb(-2) for n in range(-4, 5)],
}


@pytest.mark.parametrize("of", VALUES, ids=str)
def test_every_range_has_the_outcomes_of_its_values(of: Type) -> None:
    values = VALUES[of]
    stored = [int(value.scaleb(of.scale)) if isinstance(value, Decimal) else value for value in values]
    keys = ex.InKeys(col("x"), KeySet.of(of, stored[1::3]))
    literals = ex.In(col("x"), tuple(lit(value, of) for value in values[1::3]))
    seen = set()
    for lo, hi in itertools.combinations_with_replacement(values, 2):
        for nulls in (0, 1, None):
            known = {"x": stats(of, lo, hi, nulls)}
            found = outcome_of(keys, known)
            assert found == outcome_of(literals, known), (lo, hi, nulls)
            assert outcome_of(ex.Not(keys), known) == outcome_of(ex.Not(literals), known), (lo, hi, nulls)
            seen.add(found)
    assert seen == {"T", "F", "TF", "TN", "FN", "TFN"}


def test_keys_of_another_type_than_the_column_are_not_decided() -> None:
    keys = ex.InKeys(col("x"), KeySet.of(DATE, [18_260, 18_262]))
    assert outcome_of(keys, {"x": stats(STRING, "2020-01-01", "2020-01-02")}) == "TFN"


@pytest.mark.parametrize(
    ("of", "values"), [(BIGINT, range(-4, 9)), (STRING, ["", "a", "é"]), (decimal_type(9, 2), [-1, 0, 250])]
)
def test_all_keys_in_turn_are_those_by_number(monkeypatch: pytest.MonkeyPatch, of: Type, values: Sequence[Any]) -> None:
    monkeypatch.setattr(key_set, "_AT_ONCE", 2)
    keys = KeySet.of(of, values)
    assert list(keys) == [keys[number] for number in range(len(values))]
    assert set(map(type, keys)) == {type(keys[0])}


def test_a_list_with_null_is_no_key_set() -> None:
    assert outcome_of(ex.In(col("x"), (lit(1, BIGINT), NULL)), {"x": stats(BIGINT, 3, 4)}) == "N"
    assert outcome_of(ex.InKeys(col("x"), KeySet.of(BIGINT, [1, None])), {"x": stats(BIGINT, 3, 4)}) == "F"
