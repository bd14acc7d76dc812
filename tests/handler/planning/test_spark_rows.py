"""Real Spark's answer on every row, against the outcome of a slice that holds just that row.

The outcome must hold what Spark 3.5.5 says (``data/spark_answers.json``), for 750 random conditions and 175 rows.
"""

import json
from pathlib import Path

import pytest

from evaluator.language.semantics import Semantics
from handler import open_table
from handler.sql.parsing import parse
from tests.handler.one_row_slices import contradictions, one_row_slices

ANSWERS = json.loads((Path(__file__).parents[1] / "data" / "spark_answers.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def faults(main_cow):
    table = open_table(main_cow)
    source = one_row_slices(main_cow, table, ANSWERS["ids"])

    def faults_of(conditions):
        found = {
            sql: contradictions(
                parse(sql, "spark"),
                ANSWERS["answers"][sql],
                table.table.schema,
                source,
                Semantics.named("spark", "UTC"),
            )
            for sql in conditions
        }
        return {sql: rows[:2] for sql, rows in found.items() if rows}

    return faults_of


def test_every_outcome_holds_what_spark_says(faults):
    assert faults(ANSWERS["answers"]) == {}
