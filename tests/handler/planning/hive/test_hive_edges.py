"""C7, C8: numbers, wall clocks and constants beside their edges, held against the answers of Hive 3.1.3 and 4.0.1.

``tests.handler.hive_edges`` knows the answers and who asks for them anew.
"""

from __future__ import annotations

import pytest

import sarg
from evaluator.language.semantics import Semantics
from handler.sql.parsing import parse
from tests.evaluator.functions.test_constants import constant_in, is_same
from tests.handler import hive_edges as edges
from tests.hive.grids.edges import MOMENTS, NUMBERS, ZONES, moment_rows, number_rows
from tests.sampling import share

#: The engine that answers, and the name by which Sargo is told of it: "hive" may be any version.
NAMES = [("hive3", "hive3"), ("hive3", "hive"), ("hive4", "hive4"), ("hive4", "hive")]


@pytest.mark.parametrize(("engine", "name"), NAMES)
def test_conditions_on_mixed_numbers_hold_what_hive_says_of_each_row(engine: str, name: str) -> None:
    answers = edges.answers(engine)
    table = edges.table(NUMBERS, number_rows())
    semantics = Semantics.named(name, "UTC")
    for said_of in (answers["numbers"], answers["selected"]):
        asked = share(said_of, 4)
        wrong, decided = edges.contradictions({sql: parse(sql, "hive") for sql in asked}, said_of, table, semantics)
        assert wrong[:20] == []
        assert decided > len(asked)


@pytest.mark.parametrize(("engine", "name"), NAMES)
def test_filters_as_hive_hands_them_over_hold_what_its_queries_return(engine: str, name: str) -> None:
    """Hive folds a filter in its own way: ``l IN (x, CAST(5.0 AS float))`` is not what it is in a SELECT."""
    answers = edges.answers(engine)
    said_of = answers["selected"]
    filters = {sql: sarg.decode(text) for sql, text in answers["filters"].items() if sql in said_of}
    table = edges.table(NUMBERS, number_rows())
    assert len(filters) > 80
    assert edges.contradictions(filters, said_of, table, Semantics.named(name, "UTC"))[0][:20] == []


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(("engine", "name"), NAMES)
def test_wall_clocks_beside_the_changes_of_a_clock_hold_what_hive_says(engine: str, name: str, zone: str) -> None:
    said_of = edges.answers(engine)[zone]
    asked = share(said_of, 13)
    wrong, decided = edges.contradictions(
        {sql: parse(sql, "hive") for sql in asked},
        said_of,
        edges.table(MOMENTS, moment_rows(zone)),
        Semantics.named(name, zone),
    )
    assert wrong[:20] == []
    assert decided > len(asked)


@pytest.mark.parametrize(("engine", "name"), NAMES)
def test_every_computed_constant_is_what_hive_computes(engine: str, name: str) -> None:
    wrong, decided = [], 0
    for text, value in edges.answers(engine)["constants"].items():
        constant = constant_in(text, name)
        if constant is not None and value is not None:
            decided += 1
            if not is_same(constant, value, str(constant.type)):
                wrong.append((text, constant.interval.lo, str(constant.type), value))
    assert wrong[:20] == []
    assert decided > 1_000
