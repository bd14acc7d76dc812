"""Filters that pin down every column of a record key are answered by the indexes of record keys, and lose no row."""

from __future__ import annotations

import json

import pytest

from evaluator.language.expression import And, Or, to_text
from evaluator.language.semantics import Semantics
from handler import open_table, prune
from handler.planning.implied_keys import with_record_keys
from handler.sql.parsing import parse
from index_store.kinds.record_keys.record_keys import CompositeKey, composite_key
from tests.index_store.conftest import DATA

TABLES = ["keys/1.0.2_rli_complex_cow", "keys/1.1.1_rli_complex_cow"]


def rows_of(name):
    return json.loads((DATA / f"{name}.json").read_text())


def sql(value):
    return str(value) if isinstance(value, int) else f"'{value}'"


@pytest.fixture(scope="module", params=TABLES)
def table(request, unpack):
    return request.param, open_table(unpack(request.param))


def true_groups(rows, holds):
    return {row["file"].partition("_")[0] for row in rows if holds(row)}


def kept(table, text, **more):
    return {one.file_id for one in prune(table, text, **more).kept}


def test_a_row_s_own_columns_lead_to_its_file_group(table):
    name, opened = table
    rows = rows_of(name)
    for row in rows:
        if row["id"] is None or row["n"] is None:
            continue
        text = f"n = {row['n']} AND id = {sql(row['id'])}"
        assert kept(opened, text) == true_groups(rows, lambda r, row=row: (r["id"], r["n"]) == (row["id"], row["n"]))
    assert kept(opened, "id = 'k001' AND n = 8") == set()


def test_lists_and_alternatives_keep_what_holds_a_match(table):
    name, opened = table
    rows = rows_of(name)
    cases = {
        "id IN ('k001', 'k030', '') AND n IN (-23, 180, 537)": lambda r: (
            r["id"] in ("k001", "k030", "") and r["n"] in (-23, 180, 537)
        ),
        "(id = 'k001' AND n = -23) OR (s LIKE 'v1%' AND id = 'k055' AND n = 355)": lambda r: (
            (r["id"], r["n"]) in (("k001", -23), ("k055", 355)) and (r["n"] == -23 or (r["s"] or "").startswith("v1"))
        ),
        "i < 100000 AND (n = 180 AND (id = 'k030' AND p IS NOT NULL))": lambda r: r["id"] == "k030",
        "NOT (id = 'k001' AND n = -23)": lambda r: not (r["id"] == "k001" and r["n"] == -23),
        "id = 'k001'": lambda r: r["id"] == "k001",
    }
    for text, holds in cases.items():
        assert kept(opened, text) >= true_groups(rows, holds)
    first, second, third = list(cases)[:3]
    assert kept(opened, first) == true_groups(rows, cases[first])
    assert len(kept(opened, second)) <= 2
    assert len(kept(opened, third)) == 1


def test_the_keys_stand_in_the_answer_and_not_in_the_filter(table):
    _, opened = table
    plan = prune(opened, "id = 'k001' AND n = -23")
    assert "_hoodie_record_key" not in to_text(plan.expression)
    assert any(
        leaf.text == "_hoodie_record_key = 'id:k001,n:-23'" and "record_index" in leaf.by_kind for leaf in plan.leaves
    )
    assert not plan.reasons


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id = 'a' AND n = 5", "id:a,n:5"),
        ("n = 5 AND id = ''", "id:__empty__,n:5"),
        ("n IN (5, 6) AND id = 'a' AND n = 5", "id:a,n:5"),
        ("id = 'a' AND n = 5.5", ""),
        ("id = 'a' AND n = 5.0", "id:a,n:5"),
        ("id = 'a' AND n > 5", ""),
        ("id = 'a' OR n = 5", ""),
        ("NOT (id = 'a' AND n = 5)", ""),
        ("id = 'a' AND lower(id) = 'a'", ""),
        ("id <=> 'a' AND n = 5", "id:a,n:5"),
        ("id = NULL AND n = 5", ""),
    ],
)
def test_only_what_is_certain_is_turned_into_keys(unpack, text, expected):
    opened, semantics = open_table(unpack(TABLES[1])).table, Semantics.named("spark", "UTC")
    found = with_record_keys(parse(text, "spark"), composite_key(opened), opened.schema, semantics)
    assert (f"_hoodie_record_key = '{expected}'" in to_text(found)) == bool(expected)
    assert expected or "_hoodie_record_key" not in to_text(found)


def test_there_is_a_limit_to_the_keys_and_none_to_the_depth(unpack):
    opened = open_table(unpack(TABLES[1])).table
    key, semantics = composite_key(opened), Semantics.named("spark", "UTC")
    some = ", ".join(map(str, range(40)))
    for names, limit in (("'a', 'b'", True), (", ".join(f"'{i}'" for i in range(26)), False)):
        found = with_record_keys(parse(f"id IN ({names}) AND n IN ({some})", "spark"), key, opened.schema, semantics)
        assert ("_hoodie_record_key" in to_text(found)) == limit
    deep = parse("id = 'a' AND n = 5", "spark")
    other = parse("i = 1", "spark")
    for depth in range(5000):
        deep = And((deep, other)) if depth % 2 else Or((deep, other))
    assert "_hoodie_record_key" in to_text(with_record_keys(deep, key, opened.schema, semantics))


@pytest.mark.parametrize(
    ("old", "new", "known"),
    [
        ("", "", True),
        ("keygenerator.type=COMPLEX", "keygenerator.type=CUSTOM", False),
        ("recordkey.fields=id,n", "recordkey.fields=id", False),
        ("hoodie.table.type", "hoodie.populate.meta.fields=false\nhoodie.table.type", False),
    ],
)
def test_keys_of_generators_that_are_not_known_are_not_made(unpack_copy, old, new, known):
    path = unpack_copy(TABLES[1])
    properties = path / ".hoodie" / "hoodie.properties"
    lines = [line for line in properties.read_text().splitlines(keepends=True) if "populate.meta" not in line or known]
    properties.write_text("".join(lines).replace(old, new))
    assert composite_key(open_table(path).table) == (CompositeKey(("id", "n")) if known else None)
