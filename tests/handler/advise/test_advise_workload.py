"""A workload is what the sidecar logged, or SQL, one filter a line; what cannot be read is counted and named."""

from __future__ import annotations

import io
import json

import pytest

from evaluator.language.expression import to_text
from handler import open_table, prune
from handler.advise.advisor import Advisor
from handler.advise.workload import read_workload
from handler.sidecar.recording.filter_log import FilterLog
from handler.sidecar.recording.journal import Journal
from handler.sidecar.view import FilterQuery
from tests.handler.conftest import hive_filters

FILTERS = [one for one in hive_filters() if one["hive"] == "4.0.1"]


@pytest.fixture(scope="module")
def table(main_cow):
    return open_table(main_cow)


def read(table, lines, **given):
    return read_workload(lines, table.path, table.table.schema, **given)


def test_filters_that_the_sidecar_logged_keep_what_it_kept(table, tmp_path):
    log = FilterLog(tmp_path / "filters.jsonl", 1 << 20, 1, Journal(io.StringIO()))
    for number, one in enumerate(FILTERS):
        for _ in range(2 if number == 3 else 1):
            log.write(table.path, FilterQuery(one["filter"].encode(), "hive4", "Europe/Berlin"), 14, 0)
    log.write(table.path, FilterQuery(FILTERS[0]["filter"].encode(), "hive4", None), 14, 0)
    log.close()
    with (tmp_path / "filters.jsonl").open() as lines:
        found = read(table, lines)
    assert (found.lines, found.unread, found.others) == (len(FILTERS) + 2, 0, 0)
    assert len(found.filters) == len(FILTERS) + 1
    assert [one.count for one in found.filters] == [2] + [1] * len(FILTERS)
    assert {one.engine for one in found.filters} == {"hive4"}
    assert {one.time_zone for one in found.filters} == {"Europe/Berlin", None}
    by_line = {one.line: one for one in found.filters}
    asked = {one.filter.line: one for one in Advisor(table, found, 4).filters}
    for number, one in enumerate(FILTERS[:4]):
        plan = prune(table, one["filter"], "hive4", time_zone="Europe/Berlin")
        assert to_text(plan.expression) == by_line[number + 1].text
        assert asked[number + 1].kept.tolist() == plan.kept_rows.tolist()


def test_lines_of_all_forms(table):
    found = read(
        table,
        [
            "i = 5\n",
            "  i = 5  \n",
            "\n",
            "-- i = 6\n",
            json.dumps({"filter": "i = 5"}),
            json.dumps({"filter": "i = 5", "engine": "hive3", "time_zone": "UTC", "table": f"file:{table.path}/"}),
            FILTERS[0]["filter"],
        ],
        time_zone="Asia/Tokyo",
    )
    assert found.lines == 5
    assert [(one.text, one.engine, one.time_zone, one.count, one.line) for one in found.filters] == [
        ("i = 5", "spark", "Asia/Tokyo", 3, 1),
        ("i = 5", "hive3", "UTC", 1, 6),
        (found.filters[2].text, "hive", "Asia/Tokyo", 1, 7),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("i =", "an operand is missing"),
        ("SELECT * FROM t", "only the condition that stands after WHERE"),
        ('{"filter": ', "no JSON"),
        ('{"table": "/t"}', 'without "filter"'),
        ('{"filter": 3}', 'without "filter"'),
        (json.dumps({"filter": "i = 1", "engine": "impala"}), "engine 'impala' is not known"),
        (json.dumps({"filter": "i = 1", "time_zone": "Nowhere"}), "'Nowhere' is not known"),
        ("AQEA" + "A" * 60, "at byte 3: a string has no end"),
        ("AQ" + "9" * 60, "at byte 3: reference to object 123"),
    ],
    ids=["half", "query", "cut off", "no filter", "number", "engine", "zone", "cut Hive filter", "damaged"],
)
def test_a_line_that_is_no_filter_is_named_and_stops_no_other(table, line, said):
    found = read(table, ["i = 1", line, "i = 2", line])
    assert [one.text for one in found.filters] == ["i = 1", "i = 2"]
    assert (found.lines, found.unread) == (4, 2)
    assert found.unread_lines[0].line == 2
    assert said in found.unread_lines[0].why


def test_lines_of_other_tables_are_counted(table):
    lines = [json.dumps({"filter": "i = 1", "table": one}) for one in (table.path, "/a", "/b", "/a", "s3://x/t")]
    found = read(table, lines)
    assert (len(found.filters), found.others, found.other_tables[0]) == (1, 4, "/a")


def test_the_filters_that_were_asked_most_are_looked_at(table):
    lines = [f"i = {number}" for number in range(9) for _ in range(number + 1)]
    found = read_workload(lines, table.path, table.table.schema, max_filters=4)
    assert [one.text for one in found.filters] == ["i = 8", "i = 7", "i = 6", "i = 5"]
    assert found.left_out == 1 + 2 + 3 + 4 + 5


def test_of_many_unread_lines_the_first_are_named(table):
    found = read(table, [f"i = {number} =" for number in range(50)])
    assert found.unread == 50
    assert [one.line for one in found.unread_lines] == list(range(1, 21))
