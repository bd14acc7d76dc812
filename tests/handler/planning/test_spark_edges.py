"""C7, C8: Spark 4.1's answers beside the limits of doubles and the changes of a clock. See ``spark_edges``."""

import itertools

import pytest

from evaluator.language.semantics import Semantics
from tests.handler import spark_edges as edges
from tests.sampling import share

ZONES = ("Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe")


@pytest.mark.parametrize(("engine", "mode"), share(itertools.product(("spark", "own"), edges.MODES), 2))
def test_every_outcome_on_mixed_numbers_holds_what_spark_says(engine, mode):
    schema, rows = edges.number_table()
    semantics = Semantics.named(f"spark-{mode}" if engine == "own" else engine, "UTC")

    assert edges.contradictions(edges.answers()["numbers"][mode], schema, rows, semantics)[:10] == []


@pytest.mark.parametrize(("engine", "mode"), share(itertools.product(("spark", "own"), edges.MODES), 2))
def test_every_outcome_on_mixed_numbers_holds_what_spark_3_5_says(engine, mode):
    schema, rows = edges.number_table()
    semantics = Semantics.named(f"spark-{mode}" if engine == "own" else engine, "UTC")

    assert edges.contradictions(edges.older_numbers()[mode], schema, rows, semantics)[:10] == []


@pytest.mark.parametrize(("zone", "answers"), share(itertools.product(ZONES, (*edges.MODES, "selected")), 2))
def test_every_outcome_near_a_change_of_the_clock_holds_what_spark_says(zone, answers):
    schema, rows = edges.moment_table(zone)
    semantics = Semantics.named("spark", zone)

    assert edges.contradictions(edges.answers()["moments"][zone][answers], schema, rows, semantics)[:10] == []


def test_every_outcome_near_a_change_of_the_clock_holds_what_spark_3_5_says():
    """``spark_edges_3.5.json`` holds where it says otherwise than Spark 4.1."""
    differing = edges.older_moments()
    assert set(differing) == set(ZONES)
    for zone, parts in differing.items():
        schema, rows = edges.moment_table(zone)
        for answers in parts.values():
            assert edges.contradictions(answers, schema, rows, Semantics.named("spark", zone)) == []
