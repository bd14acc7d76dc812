"""A column that a table does not have, and the names that may be meant."""

import time

import pytest

from evaluator.binding.bind import bind
from evaluator.language.column_resolution import near_names, near_texts, resolve_column, with_near_names
from evaluator.language.errors import UnknownColumnError, UnsupportedError
from evaluator.language.expression import And, Column, Compare, If, Literal
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import DOUBLE, INT, STRING, Kind, Type

STRUCT, TAGS = Type(Kind.OTHER, name="struct"), Type(Kind.OTHER, name="array<string>")
TABLE = Schema(
    [
        Field("fare", DOUBLE),
        Field("city", STRING),
        Field("begin_ts", INT),
        Field("st", STRUCT),
        Field("st.latitude", DOUBLE),
        Field("st.inner", STRUCT),
        Field("st.inner.name", STRING),
        Field("tags", TAGS),
        Field("Same", INT),
        Field("same", INT),
    ]
)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fair", "column fair is not in the table; did you mean fare?"),
        ("FAIR", "column FAIR is not in the table; did you mean fare?"),
        ("ctiy", "column ctiy is not in the table; did you mean city?"),
        ("beginTs", "column beginTs is not in the table; did you mean begin_ts?"),
        ("latitude", "column latitude is not in the table; did you mean st.latitude?"),
        ("st.latitud", "column st.latitud is not in the table; did you mean st.latitude?"),
        ("st.lat.itude", "column st.lat.itude is not in the table; did you mean st.latitude?"),
        ("s.latitude", "column s.latitude is not in the table; did you mean st.latitude?"),
        ("st.inner.nam", "column st.inner.nam is not in the table; did you mean st.inner.name?"),
        ("trips.fare", "column trips.fare is not in the table; did you mean fare?"),
        ("db.trips.fare", "column db.trips.fare is not in the table; did you mean fare?"),
        ("fare.x", "column fare.x is not in the table; did you mean fare?"),
        ("zzzzzzzz", "column zzzzzzzz is not in the table"),
        ("", "column  is not in the table"),
        ("SAME", "the column name SAME is ambiguous: Same, same"),
    ],
)
def test_an_unknown_column(name, message):
    with pytest.raises(UnknownColumnError) as raised:
        resolve_column(name, TABLE, case_sensitive=False)
    error = with_near_names(raised.value, TABLE)
    assert str(error).startswith(message.rstrip("?"))
    assert error.name == name


def test_a_part_of_an_array_is_not_decided_and_not_unknown():
    with pytest.raises(UnsupportedError, match=r"x of column tags is not decided: its type is array<string>") as raised:
        resolve_column("tags.x", TABLE, case_sensitive=False)
    assert not isinstance(raised.value, UnknownColumnError)


def test_names_resolve_by_the_session_s_rule_for_letter_case():
    assert resolve_column("FARE", TABLE, case_sensitive=False).name == "fare"
    assert resolve_column("same", TABLE, case_sensitive=True).name == "same"
    with pytest.raises(UnknownColumnError):
        resolve_column("FARE", TABLE, case_sensitive=True)
    assert near_names("FARE", TABLE) == ("fare",)


def test_the_reason_of_a_leaf_names_a_similar_column():
    bound = bind(Compare("=", Column(("fair",)), Literal(5, INT)), TABLE, Semantics.named("spark", "UTC"))
    assert bound.leaves[0].reason == "column fair is not in the table; did you mean fare?"


def test_hostile_names_cost_little():
    wide = Schema([Field(f"column_{number}_{'x' * 50}", INT) for number in range(2_000)])
    spark = Semantics.named("spark", "UTC")
    names = [Column((f"column_{number}_{'y' * 50}",)) for number in range(3_000)]
    nested = [
        Compare("=", If(Compare("=", name, Literal(1, INT)), Literal(1, INT), Column(("column_1",))), Literal(1, INT))
        for name in names[:500]
    ]
    before = time.process_time()
    bound = bind(And((*(Compare("=", name, Literal(1, INT)) for name in names), *nested)), wide, spark)
    assert time.process_time() - before < 10
    assert sum("did you mean" in (leaf.reason or "") for leaf in bound.leaves) <= 5 + len(nested)
    assert near_names("x" * 101, wide) == ()
    assert near_texts("x" * 10_000, ["x" * 100]) in ((), ("x" * 100,))
