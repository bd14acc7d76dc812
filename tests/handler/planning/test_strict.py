"""Each sentence of the documentation of ``strict``, and what unknown columns say with and without it."""

import pytest

from evaluator.language.errors import UnknownColumnError
from evaluator.language.expression import Column, Compare, Literal
from evaluator.language.types import INT
from handler import TableError, open_table, prune
from index_store import StatsError


@pytest.fixture(scope="module")
def table(main_cow):
    return open_table(main_cow)


#: Filters, the unknown column in each, and what is meant.
UNKNOWN = [
    ("idd = 'k1'", "idd", "id"),
    ("ID2 = 'k1'", "ID2", "id"),
    ("NOT (idd = 'k1')", "idd", "id"),
    ("i = 100 OR idd = 'k1'", "idd", "id"),
    ("i = 100 AND idd IS NULL", "idd", "id"),
    ("idd IN ('a', 'b')", "idd", "id"),
    ("idd LIKE 'a%'", "idd", "id"),
    ("idd RLIKE '^a'", "idd", "id"),
    ("idd ILIKE 'a%'", "idd", "id"),
    ("lower(idd) = 'a'", "idd", "id"),
    ("if(idd = 'a', 1, 2) = i", "idd", "id"),
    ("CASE WHEN idd = 'a' THEN 1 ELSE 2 END = i", "idd", "id"),
    ("idd[0] = 1", "idd", "id"),
    ("my_function(idd) = 1", "idd", "id"),
    ("(idd, i) IN ((1, 2))", "idd", "id"),
    ("idd = (SELECT max(b) FROM t)", "idd", "id"),
    ("i BETWEEN idd AND 5", "idd", "id"),
    ("`q.i` = 100", "q.i", "i"),
    ("a.b.c.d.i = 100", "a.b.c.d.i", "i"),
    ("_hoodie_recordkey = 'a'", "_hoodie_recordkey", "_hoodie_record_key"),
]


@pytest.mark.parametrize(("text", "name", "meant"), UNKNOWN)
def test_an_unknown_column_is_a_reason_that_names_a_similar_one(table, text, name, meant):
    plan = prune(table, text, time_zone="UTC")
    said = [reason.text for reason in plan.reasons if f"column {name} is not in the table; did you mean" in reason.text]
    assert said
    assert meant in said[0].partition("did you mean ")[2].rstrip("?").split(" or ")


@pytest.mark.parametrize(("text", "name", "meant"), UNKNOWN)
def test_an_unknown_column_is_an_error_in_strict(table, text, name, meant):
    with pytest.raises(UnknownColumnError) as raised:
        prune(table, text, strict=True)
    assert raised.value.name == name
    assert meant in raised.value.near
    assert f"column {name} is not in the table; did you mean {' or '.join(raised.value.near)}?" == str(raised.value)


def test_an_unknown_column_of_an_expression_is_an_error_in_strict(table):
    with pytest.raises(UnknownColumnError, match="did you mean"):
        prune(table, Compare("=", Column(("idd",)), Literal(5, INT)), strict=True)


@pytest.mark.parametrize(
    "text",
    [
        "my_function(i) = 1",
        "rand() > 0.5",
        "i = (SELECT max(nope) FROM t)",
        "exists(split(s, ','), nope -> nope = 'a')",
        "CURRENT_TIMESTAMP > TIMESTAMP '2020-01-01'",
        "dateadd(MONTH, 1, d) > DATE '2020-01-01'",
        "I = 100",
        "i = 100 AND s ILIKE 'a%'",
        "TRUE",
        "i = 'no number'",
    ],
)
def test_a_condition_that_cannot_be_decided_is_no_failure(table, text):
    assert len(prune(table, text, strict=True, time_zone="UTC").slices) == 14


def test_what_is_similar_to_nothing_names_no_column(table):
    with pytest.raises(UnknownColumnError) as raised:
        prune(table, "qqqqqqqqqqqqqqqqqqq = 1", strict=True)
    assert raised.value.near == ()
    assert str(raised.value) == "column qqqqqqqqqqqqqqqqqqq is not in the table"


def test_the_explanation_names_a_similar_column(table):
    plan = prune(table, "idd = 'a' AND i = 100", time_zone="UTC")
    shown = [shortfall.text for leaf in plan.leaves for shortfall in leaf.shortfalls]
    assert any("did you mean id" in text for text in shown)
    assert any("did you mean id" in str(blocker.to_dict()) for blocker in plan.why_not_more)
    assert "did you mean id" in str(plan.to_dict())


def test_hundreds_of_unknown_columns_name_similar_ones_for_some(table):
    plan = prune(table, " OR ".join(f"idd{n} = 'a'" for n in range(300)), time_zone="UTC")
    texts = [reason.text for reason in plan.reasons]
    assert len(texts) == 300
    assert 1 <= sum("did you mean" in text for text in texts) <= 10


@pytest.mark.parametrize("partition", ["files", "column_stats"])
def test_a_partition_of_the_metadata_table_that_cannot_be_read_is_an_error_in_strict(main_cow_copy, partition):
    folder = main_cow_copy / ".hoodie" / "metadata" / partition
    for file in folder.iterdir():
        if file.is_file() and not file.name.startswith(".hoodie"):
            file.write_bytes(b"\x00garbage" * 20)
    assert any(reason.scope == "store" for reason in prune(main_cow_copy, "i = 100").reasons)
    with pytest.raises((TableError, StatsError)):
        prune(main_cow_copy, "i = 100", strict=True)


def test_a_failure_of_the_evaluation_is_an_error_in_strict(table, monkeypatch):
    def fail(*_):
        raise MemoryError("no memory")

    monkeypatch.setattr("handler.planning.prune.evaluate_filter", fail)
    plan = prune(table, "i = 100")
    assert len(plan.kept) == 14
    assert "no memory" in plan.reasons[0].text
    with pytest.raises(MemoryError):
        prune(table, "i = 100", strict=True)
