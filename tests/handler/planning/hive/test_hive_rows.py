"""Real Hive's answer on every row, against the outcome of a slice that holds just that row.

From the bytes that Hive 3.1.3 and 4.0.1 serialize to the outcome; Hive's own evaluator said what is right
(``data/hive_answers.json``), for 320 random conditions and 175 rows.
"""

import json
from pathlib import Path

import pytest

import sarg
from evaluator.language.semantics import Semantics
from handler import open_table
from tests.handler.one_row_slices import contradictions, one_row_slices

ANSWERS = json.loads((Path(__file__).parents[2] / "data" / "hive_answers.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def faults(main_cow):
    table = open_table(main_cow)
    source = one_row_slices(main_cow, table, ANSWERS["ids"])

    def faults_of(entries, names):
        found = {
            (one["hive"], one["sql"]): contradictions(
                sarg.decode(one["filter"]),
                one["rows"],
                table.table.schema,
                source,
                Semantics.named(names[one["hive"]], "UTC"),
            )
            for one in entries
        }
        return {key: rows[:2] for key, rows in found.items() if rows}

    return faults_of


@pytest.mark.parametrize(
    "names",
    [{"3.1.3": "hive", "4.0.1": "hive"}, {"3.1.3": "hive3", "4.0.1": "hive4"}],
    ids=["version not known", "version known"],
)
@pytest.mark.parametrize("group", ["answers", "disputed"])
def test_every_outcome_holds_what_hive_says(faults, group, names):
    assert faults(ANSWERS[group], names) == {}
