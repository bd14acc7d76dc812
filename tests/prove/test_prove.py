"""A short run of the long proof, and proof that it would find a fault."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluator.binding import rules
from evaluator.evaluation.flat_scan import scan
from evaluator.evaluation.formula_search import search
from evaluator.functions import FUNCTIONS
from evaluator.statistics.ranges import Range
from tests.prove.mutants import mutants_of
from tests.prove.mutate import EQUIVALENT, ROOT, TESTS, path_of
from tests.prove.report import Total, text
from tests.prove.rounds import run
from tests.prove.signatures import SIGNATURES
from tests.prove.table import SLICES
from tests.sampling import examples, share

FILTERS = examples(10, at_night=80)


def test_a_few_rounds_find_nothing_and_say_what_they_covered() -> None:
    total = Total()
    for seed in (1, 2):
        total.add(run(seed, FILTERS))
    assert total.failures == []
    assert total.cases == 2 * FILTERS * SLICES
    assert 0.2 < total.skipped / total.skippable <= 1
    assert "failures: 0" in text(total, 1, 1.0)


@pytest.mark.nightly
def test_a_seed_gives_the_same_round_again() -> None:
    first, again = run(3, FILTERS), run(3, FILTERS)
    assert (first.skipped, first.skippable, first.coverage.cases) == (
        again.skipped,
        again.skippable,
        again.coverage.cases,
    )


def test_a_rule_that_loses_a_row_is_found_and_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_narrow(a: Range, b: Range) -> object:
        return a.lo < b.hi

    monkeypatch.setitem(rules._CAN_BE_TRUE, "<=", too_narrow)
    failures = [failure for seed in (3, 4) for failure in run(seed, FILTERS).failures]
    assert any("sound: " in failure and "row " in failure for failure in failures)


@pytest.mark.nightly
def test_a_search_that_misses_a_slice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.evaluation.formula_search.search", lambda *of: search(*of)[1:])
    assert any("search: " in failure for seed in range(1, 6) for failure in run(seed, FILTERS).failures)


def test_a_scan_that_misses_a_slice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing_the_first(*of: Any) -> Any:
        rows = scan(*of)
        return None if rows is None else rows[1:]

    monkeypatch.setattr("evaluator.evaluation.flat_scan.scan", missing_the_first)
    assert any("search: " in failure for seed in range(1, 6) for failure in run(seed, FILTERS).failures)


def test_every_function_has_arguments_to_draw() -> None:
    assert set(FUNCTIONS) <= set(SIGNATURES)


def test_each_mutant_changes_one_thing() -> None:
    source = "def f(a, b):\n    '''Doc.'''\n    return a.lo < b.hi and not a\n"
    assert [mutant.now for mutant in mutants_of(source)] == [
        "return a.lo < b.hi or not a",
        "return a.lo <= b.hi and (not a)",
        "return a.lo > b.hi and (not a)",
        "return a.lo < b.hi and (not not a)",
        "return a.hi < b.hi and (not a)",
        "return a.lo < b.lo and (not a)",
    ]


@pytest.mark.nightly
def test_every_equivalent_mutant_is_a_mutant() -> None:
    """Of a share of the modules; the mutation check holds all to it."""
    names = share(TESTS, 20)
    mutants = {
        (name, mutant.inside, mutant.was, mutant.now)
        for name in names
        for mutant in mutants_of(path_of(name).read_text(encoding="utf-8"))
    }
    equivalent = [e for e in json.loads(EQUIVALENT.read_text(encoding="utf-8")) if e["module"] in names]
    assert equivalent
    assert [e for e in equivalent if (e["module"], e["inside"], e["was"], e["now"]) not in mutants] == []


@pytest.mark.parametrize("name", TESTS)
def test_the_tests_of_a_mutated_module_exist(name: str) -> None:
    paths = [argument for turn in TESTS[name] for argument in turn if argument.endswith(".py")]
    assert paths
    assert all((ROOT / path).is_file() for path in paths)
