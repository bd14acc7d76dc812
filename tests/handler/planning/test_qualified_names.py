"""Columns named as in the query: by the table's name or alias. A filter with a qualifier skips what it does without."""

from __future__ import annotations

import pytest

from evaluator.language.errors import UnknownColumnError
from evaluator.language.semantics import ENGINES
from handler import open_table, prune
from handler.advise.workload import read_workload
from handler.cli.exit_codes import BAD_INPUT
from handler.planning.qualified_names import TwoTablesError
from tests.handler.commands import document, run

PLAIN = "i BETWEEN 400 AND 700 AND p = 'p1'"


@pytest.fixture(scope="module")
def table(main_cow):
    return open_table(main_cow)


def kept(plan):
    return [one.file_id for one in plan.kept]


@pytest.mark.parametrize(
    ("alias", "text"),
    [
        (None, "o.i BETWEEN 400 AND 700 AND o.p = 'p1'"),
        (None, "o.i BETWEEN 400 AND 700 AND p = 'p1'"),
        (None, "`o`.`i` BETWEEN 400 AND 700 AND O.`P` = 'p1'"),
        (None, "t.i BETWEEN 400 AND 700 AND `t`.`p` = 'p1'"),  # t is also a column, and no struct
        (None, "db.orders.i BETWEEN 400 AND 700 AND orders.p = 'p1'"),
        (None, "catalog.db.orders.i BETWEEN 400 AND 700 AND ORDERS.p = 'p1'"),
        ("o", "o.i BETWEEN 400 AND 700 AND O.p = 'p1'"),
        ("`O`", "o.i BETWEEN 400 AND 700 AND p = 'p1'"),
        ("orders", "catalog.db.orders.i BETWEEN 400 AND 700 AND db.orders.p = 'p1'"),
        ("db.orders", "orders.i BETWEEN 400 AND 700 AND catalog.db.orders.p = 'p1'"),
        (None, "NOT (o.i < 400 OR o.i > 700) AND coalesce(o.p, '') = 'p1'"),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_qualified_name_is_the_column(table, alias, text, engine):
    plan = prune(table, text, engine, alias=alias, strict=True)
    assert 0 < len(plan.kept) < len(plan.slices)
    assert kept(plan) == kept(prune(table, PLAIN, engine))
    assert not any("o." in str(leaf.text) for leaf in plan.explanation.bound.leaves)


@pytest.mark.parametrize(
    "text", ["o.st.x > 2000", "db.o.st.x > 2000", "catalog.db.o.st.x > 2000", "st.x > 2000", "`st`.`X` > 2000"]
)
def test_a_field_of_a_struct_keeps_its_place(table, text):
    plan = prune(table, text, strict=True)
    assert str(plan.expression).lower() == "st.x > 2000"


def test_a_struct_goes_first_unless_the_alias_is_given(table):
    """``st.i``: the struct st has no field i, and the column i is meant. ``st.x``: the field, whatever is named st."""
    assert kept(prune(table, "st.i > 1000", strict=True)) == kept(prune(table, "i > 1000"))
    assert kept(prune(table, "st.x > 2000", alias="st", strict=True)) == kept(prune(table, "st.x > 2000"))
    assert kept(prune(table, "st.i > 1000", alias="st", strict=True)) == kept(prune(table, "i > 1000"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("o.i = 5 AND l.p = 'p1'", ("l", "o")),
        ("o.i = 5 AND l.shipped > 3", ("l", "o")),
        ("o.i = 5 AND db.l.shipped > 3", (r"db\.l", "o")),
        ("db.o.i = 5 OR other.o.p = 'p1'", (r"db\.o", r"other\.o")),
        ("a.i = b.i", ("a", "b")),
        ("o.i = 5 AND size(l.list) = 3", ("l", "o")),
    ],
)
def test_two_qualifiers_are_an_error_that_names_both(table, text, names):
    with pytest.raises(TwoTablesError, match=f"two tables, {names[0]} and {names[1]}: say which"):
        prune(table, text)


def test_with_an_alias_the_columns_of_the_other_table_skip_nothing(table):
    plan = prune(table, "o.i BETWEEN 400 AND 700 AND l.i = -1 AND o.p = 'p1'", alias="o")
    assert kept(plan) == kept(prune(table, PLAIN))
    assert any("l.i is not in the table" in reason.text for reason in plan.reasons)
    with pytest.raises(UnknownColumnError, match=r"l\.i"):
        prune(table, "o.i = 5 AND l.i = 5", alias="o", strict=True)


@pytest.mark.parametrize("text", ["o.nope = 5", "a.b.c.d.i = 5", "nope.i.x = 5", "`o.i` = 5"])
def test_what_names_no_column_stays_unknown(table, text):
    plan = prune(table, text)
    assert len(plan.kept) == 14
    with pytest.raises(UnknownColumnError):
        prune(table, text, strict=True)


@pytest.mark.parametrize(
    ("alias", "error"), [(5, TypeError), ("", ValueError), ("a..b", ValueError), ("``", ValueError)]
)
def test_an_alias_that_is_none(table, alias, error):
    with pytest.raises(error, match="alias is the table's name"):
        prune(table, "i = 5", alias=alias)


def test_the_command_line_takes_an_alias(main_cow):
    named = document("prune", main_cow, "--where", "o.i BETWEEN 400 AND 700 AND o.p = 'p1'")
    assert named["kept"] == document("prune", main_cow, "--where", PLAIN)["kept"]
    joined = "o.i BETWEEN 400 AND 700 AND l.i = 3 AND o.p = 'p1'"
    assert document("prune", main_cow, "--where", joined, "--alias", "o")["kept"] == named["kept"]
    for command in ("prune", "explain"):
        error = run(command, main_cow, "--where", joined, code=BAD_INPUT)
        assert "two tables, l and o: say which one this table is (alias=..., --alias)" in error


def test_a_workload_names_columns_by_the_table(table):
    lines = ["o.i > 1000", "i > 1000", "x.i = 5 AND y.i = 5"]
    workload = read_workload(lines, table.path, table.table.schema)
    assert [str(one.expression) for one in workload.filters] == ["i > 1000", "i > 1000"]
    assert "two tables, x and y" in workload.unread_lines[0].why
    assert len(read_workload(lines, table.path, table.table.schema, alias="x").filters) == 3
