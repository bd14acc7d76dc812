"""``--what-if``: what filters keep after arranging rows is what they keep when the rows really are arranged."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from click.testing import CliRunner

from handler import open_table, prune
from handler.cli.main import main
from index_store.own.advice.layout_simulation import SortOrder, parse_sort_order
from index_store.own.builders.local import build_locally
from index_store.own.definition import Definition, Entry
from index_store.own.maintenance.operations import create
from index_store.own.store.locations import folder_of
from tests.handler.plain_table import cut, plain_table
from tests.sampling import share

FILTERS = [
    "city = 'c03'",
    "city = 'c03' AND ts < 500",
    "ts BETWEEN 100 AND 140",
    "amount > 99.5",
    "city IS NULL",
    "city IN ('c01', 'c07') OR ts = 3",
    "amount = 12.25",
    "NOT (city >= 'c01')",
    "dec BETWEEN 100 AND 200",
]
COLUMNS = ("city", "ts", "amount", "dec")


def rows(n=3000, seed=5):
    rng = np.random.default_rng(seed)
    cities = [None if one == 10 else f"c{one:02d}" for one in rng.integers(0, 11, n)]
    return pa.table(
        {
            "id": np.arange(n),
            "city": cities,
            "ts": rng.integers(0, 1000, n),
            "amount": pa.array(np.round(rng.random(n) * 100, 2)),
            "dec": pa.array(rng.integers(0, 5000, n)).cast(pa.decimal128(30, 2)),
            "p": [f"p{one}" for one in rng.integers(0, 2, n)],
        }
    )


def what_if(folder, text, *more):
    result = CliRunner().invoke(
        main, ["advise", str(folder), "--workload", "-", "--what-if", text, "--json", *more], input="\n".join(FILTERS)
    )
    assert result.exit_code == 0, result.output + result.stderr
    return json.loads(result.stdout)["what_if"]


def kept_of_bounds(folder):
    """How many slices the filters keep when bounds of all columns are indexed."""
    table = open_table(folder).table
    create(
        folder_of(table, "bounds"),
        table,
        Definition("bounds", tuple(Entry(one, "min_max") for one in COLUMNS)),
        build_locally,
    )
    return [len(prune(open_table(folder), one).kept) for one in FILTERS]


def really_sorted(table, columns, count):
    """Rows in the order of pyarrow's own sort, in files of as many rows."""
    keyed = table.select(columns)
    for one in columns:  # NULL first
        keyed = keyed.append_column(f"has {one}", pc.is_valid(table[one]).cast(pa.int8()))
    order = pc.sort_indices(keyed, [(key, "ascending") for one in columns for key in (f"has {one}", one)])
    ends = np.cumsum([0] + [len(part) for part in np.array_split(np.arange(len(table)), count)])
    return [table.take(order).slice(a, b - a) for a, b in itertools.pairwise(ends)]


@pytest.mark.parametrize("columns", share([("city", "ts"), ("amount",), ("dec", "city")], 3))
def test_sorting_is_predicted_exactly_when_all_rows_are_read(tmp_path, columns):
    table = rows()
    folder = plain_table(tmp_path / "now", [("", one) for one in cut(table, 25)])
    found = what_if(folder, f"sort by ({', '.join(columns)})")
    assert (found["exact"], found["rows"], found["pieces"]) == (True, 3000, 25)
    assert not found["within_partitions"]
    assert [one["kept_before"] for one in found["filters"]] == kept_of_bounds(folder)
    arranged = plain_table(tmp_path / "then", [("", one) for one in really_sorted(table, columns, 25)])
    assert [one["kept_after"] for one in found["filters"]] == kept_of_bounds(arranged)
    assert found["kept_after"] < found["kept_before"]


def test_rows_stay_in_their_partitions(tmp_path):
    table = rows()
    parts = [(f"p={name}", table.filter(pc.equal(table["p"], name)), count) for name, count in (("p0", 9), ("p1", 4))]
    folder = plain_table(
        tmp_path / "now", [(name, one) for name, part, count in parts for one in cut(part, count)], "p"
    )
    found = what_if(folder, "sort by (ts)")
    assert found["within_partitions"]
    arranged = plain_table(
        tmp_path / "then",
        [(name, one) for name, part, count in parts for one in really_sorted(part, ("ts",), count)],
        "p",
    )
    assert [one["kept_after"] for one in found["filters"]] == kept_of_bounds(arranged)


@pytest.mark.nightly
def test_a_curve_serves_both_of_its_columns(tmp_path):
    folder = plain_table(tmp_path / "now", [("", one) for one in cut(rows(), 64)])
    one_by_one, curve = what_if(folder, "sort by (ts, amount)"), what_if(folder, "ZORDER BY ts, amount")

    def after(found, text):
        return next(one["kept_after"] for one in found["filters"] if one["filter"].startswith(text))

    assert curve["arrangement"] == "zorder by (ts, amount)"
    assert after(one_by_one, "(ts >= 100") < 8 < 60 < after(one_by_one, "amount = ")
    assert after(curve, "(ts >= 100") < 20
    assert after(curve, "amount = ") < 20


@pytest.mark.nightly
def test_a_sample_of_rows_says_about_the_same(tmp_path):
    folder = plain_table(tmp_path / "now", [("", one) for one in cut(rows(12_000), 40)])
    whole, part = what_if(folder, "sort by (city, ts)"), what_if(folder, "sort by (city, ts)", "--sample", "20")
    assert (whole["exact"], part["exact"], part["rows"]) == (True, False, 6000)
    assert part["pieces"] == 30
    for true, estimate in zip(whole["filters"], part["filters"], strict=True):
        assert estimate["kept_after"] == pytest.approx(true["kept_after"], abs=5), true["filter"]
    before, after = (part["columns"][0][when]["left"] for when in ("before", "after"))
    assert before == 40 > 8 > after


@pytest.mark.nightly
def test_a_second_column_is_not_thought_sorted_where_the_first_has_many_values(tmp_path):
    folder = plain_table(tmp_path / "now", [("", one) for one in cut(rows(12_000), 40)])
    whole, part = what_if(folder, "sort by (id, amount)"), what_if(folder, "sort by (id, amount)", "--sample", "20")
    for true, estimate in zip(whole["filters"], part["filters"], strict=True):
        assert estimate["kept_after"] == pytest.approx(true["kept_after"], abs=5), true["filter"]


def test_nulls_of_a_sample_of_rows_are_neither_lost_nor_made(tmp_path):
    table = rows(6000).append_column("none", pa.nulls(6000, pa.int32()))
    folder = plain_table(tmp_path / "now", [("", one) for one in cut(table, 30)])
    found = what_if_on(
        folder, "sort by (ts)", "city IS NULL\ncity IS NOT NULL\nnone IS NULL\nnone > 3\nts IS NULL", "--sample", "15"
    )
    assert [(one["filter"], one["kept_after"]) for one in found["filters"]] == [
        ("city IS NULL", 30),
        ("NOT city IS NULL", 30),
        ("none IS NULL", 30),
        ("none > 3", 0),
        ("ts IS NULL", 0),
    ]


def test_without_filters_the_scores_of_bounds_say_it(tmp_path):
    folder = plain_table(tmp_path / "now", [("", one) for one in cut(rows(), 25)])
    result = CliRunner().invoke(main, ["advise", str(folder), "--what-if", "sort by (ts, city)", "--json"])
    scores = {
        one["column"]: (one["before"]["score"], one["after"]["score"])
        for one in json.loads(result.stdout)["what_if"]["columns"]
    }
    assert scores["ts"][0] < 1 < 90 < scores["ts"][1]
    assert max(scores["city"]) < 20
    shown = CliRunner().invoke(main, ["advise", str(folder), "--what-if", "sort by (ts, city)"]).stdout
    assert "bounds of ts: score at least 0 before, at least 9" in shown


def test_it_says_when_arranging_gains_nothing(tmp_path):
    table = rows().sort_by("ts")
    folder = plain_table(tmp_path / "now", [("", one) for one in cut(table, 25)])
    result = CliRunner().invoke(
        main, ["advise", str(folder), "--workload", "-", "--what-if", "sort by (id)"], input="ts < 30\n"
    )
    assert "nothing gained" in result.stdout


def test_slices_with_log_files_take_part_with_all_their_rows(unpack):
    found = what_if_on(unpack("1.1.1_main_mor"), "sort by (i)", "i BETWEEN 100 AND 150\ns = 'c1'")
    assert found["rows"] > 0
    assert all(0 <= one["kept_after"] <= 20 for one in found["filters"])
    assert found["left_out"] == {}


def what_if_on(folder, text, lines, *more):
    result = CliRunner().invoke(
        main, ["advise", str(folder), "--workload", "-", "--what-if", text, "--json", *more], input=lines
    )
    assert result.exit_code == 0, result.output + result.stderr
    return json.loads(result.stdout)["what_if"]


def test_files_from_before_a_column_was_widened_take_part(unpack):
    found = what_if_on(unpack("1.1.1_evol_cow"), "sort by (i)", "i > 100")
    assert (found["left_out"], found["exact"]) == ({}, True)


def test_files_whose_values_are_of_another_type_are_left_out_and_named(tmp_path):
    table = rows(400)
    files = [("", one) for one in cut(table, 4)]
    files[2] = ("", files[2][1].set_column(2, "ts", files[2][1]["ts"].cast(pa.string())))
    folder = plain_table(tmp_path / "t", files)
    found = what_if_on(folder, "sort by (ts)", "ts > 100")
    assert list(found["left_out"].values()) == ["ts: string"]
    assert (found["exact"], found["rows"]) == (False, 300)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("sort by (a, b)", SortOrder(("a", "b"))),
        ("Sort By a,b", SortOrder(("a", "b"))),
        ("order by (`a b`)", SortOrder(("a b",))),
        ("z-order by (st.x, c)", SortOrder(("st.x", "c"), True)),
    ],
)
def test_arrangements_as_people_write_them(text, found):
    assert parse_sort_order(text) == found


@pytest.mark.parametrize("text", ["", "sort", "sort by ()", "sort by (a,)", "sort by (a, a)", "by (a)", "cluster by a"])
def test_what_is_no_arrangement(text):
    with pytest.raises(ValueError, match="write"):
        parse_sort_order(text)
