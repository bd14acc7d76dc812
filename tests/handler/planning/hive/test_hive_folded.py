"""C7, C8: filters with constants and moments, in the bytes that real Hive hands over and as text.

``data/hive_folded.json.xz`` is written by ``python -m tests.hive.grids folded``, which says what it asks: engine ->
"moment", "selected" -> condition -> T or "." for each row, "filters" and "without_cbo" -> condition -> the bytes, or
why there are none. Queries ran with the optimiser; Hive computes almost every constant before it hands a filter over.
"""

from __future__ import annotations

import datetime
import functools
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

import sarg
from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import evaluate
from evaluator.language.clock import Clock
from evaluator.language.epoch import EPOCH, MICROSECOND
from evaluator.language.expression import HudiExpression
from evaluator.language.outcome import FALSE, NULL, TRUE
from evaluator.language.semantics import Semantics
from handler.sql import parse
from tests.handler import hive_edges as edges
from tests.handler.spark_edges import slices, source
from tests.hive.grids.folded import COLUMNS, CONSTANT, MOMENT, rows_at

ENGINES = ("hive3", "hive4")
WAYS = ("filters", "without_cbo")
#: Hive 4.0.1 compiles no number as a timestamp.
REFUSED = {"hive4": {"ts >= cast(788918400 as timestamp)"}, "hive3": set()}
#: Without its optimiser Hive 3.1.3 has another meaning than the query that was asked with it.
OTHER = {("hive3", "without_cbo"): {"i >= cast(7.9 as int)"}}
#: A row may hold 5.25 itself, which is compared as a double. Hive 3.1.3 without its optimiser compares a list of a date
#: and a timestamp at run time.
OPEN = {"p > 21 / 4", "dt in (date '1994-01-01', date '1994-12-31' + interval '1' day)"}
#: Constants that stay open in SQL text: their reasons name them.
OPEN_IN_TEXT = {
    "dt >= to_date('1995-03-05 10:11:12')",
    "dt >= next_day('1995-03-05', 'MO')",
    "dt > cast(from_unixtime(788918400) as date)",
    "ts >= cast('1995-03-05' as timestamp)",
    "ts between cast('1994-01-01' as timestamp) and cast('1994-12-31' as timestamp)",
    "ts >= cast(788918400 as timestamp)",
    "s >= date_format('1995-03-05 10:11:12', 'yyyy-MM')",
    "s = regexp_replace('1994/01/01', '/', '-')",
    "s = replace('1994/01/01', '/', '-')",
    "l >= unix_timestamp('1995-03-05 00:00:00')",
    "l >= unix_timestamp('1995-03-05', 'yyyy-MM-dd')",
    "l >= to_unix_timestamp('1995-03-05 00:00:00')",
    "dt >= to_date(from_unixtime(unix_timestamp()))",
    "dt >= date_sub(to_date(from_unixtime(unix_timestamp())), 7)",
    "s >= concat(year(current_date), '-01-01')",
    "i >= cast(7.9 as int)",
}


@functools.cache
def answers(engine: str) -> Any:
    file = Path(__file__).parents[2] / "data" / "hive_folded.json.xz"
    return json.loads(lzma.decompress(file.read_bytes()))[engine]


@functools.cache
def table(engine: str) -> edges.Table:
    return edges.table(COLUMNS, rows_at(moment(engine)))


def moment(engine: str) -> datetime.datetime:
    """When Hive was asked."""
    return datetime.datetime.fromisoformat(answers(engine)["moment"])


def semantics(engine: str) -> Semantics:
    return Semantics.named(engine, "UTC").at(Clock.fixed((moment(engine) - EPOCH) // MICROSECOND))


def undecided(expression: HudiExpression, engine: str) -> tuple[bool, list[str]]:
    """Whether the outcome of a row is open, and the reasons of the leaves."""
    schema, rows = table(engine)
    bound = bind(expression, schema, semantics(engine))
    outcomes = evaluate(bound, len(slices(len(rows))), [source(schema, rows)]).outcomes.tolist()
    is_open = any(outcome not in (TRUE, FALSE, NULL) for outcome in outcomes[: len(rows)])
    return is_open, [leaf.reason for leaf in bound.leaves if leaf.reason]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_filter_of_hive_decides_what_its_query_returns(engine: str, way: str) -> None:
    found = answers(engine)
    assert {sql for sql, of in found[way].items() if not isinstance(of, str)} == REFUSED[engine]
    asked = set(found["selected"]) - REFUSED[engine] - OTHER.get((engine, way), set())
    assert asked <= {*CONSTANT, *MOMENT}
    assert len(asked) >= 158
    filters = {sql: sarg.decode(found[way][sql]) for sql in sorted(asked)}
    wrong, decided = edges.contradictions(filters, found["selected"], table(engine), semantics(engine))
    assert wrong[:20] == []
    assert {sql for sql, expression in filters.items() if undecided(expression, engine)[0]} <= OPEN
    assert decided > 158 * 34 - 100


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_condition_as_text_decides_it_too_or_names_the_constant(engine: str) -> None:
    found = answers(engine)["selected"]
    filters = {sql: parse(sql, engine) for sql in found}  # type: ignore[arg-type]
    wrong, _ = edges.contradictions(filters, found, table(engine), semantics(engine))
    assert wrong[:20] == []
    for sql, expression in filters.items():
        is_open, reasons = undecided(expression, engine)
        assert not is_open or sql in OPEN_IN_TEXT | OPEN, sql
        if is_open and sql not in OPEN:
            assert any("the constant" in reason for reason in reasons), sql


@pytest.mark.parametrize("engine", ENGINES)
def test_a_plan_from_now_on_keeps_what_a_query_returns(engine: str) -> None:
    """The clock of the question is after that of the plan: an hour and two days."""
    found = answers(engine)["selected"]
    for hours in (0, 1, 48):
        clock = Clock.from_now_on(zone_known=True, now=(moment(engine) - EPOCH).total_seconds() - hours * 3600)
        filters = {sql: parse(sql, engine) for sql in MOMENT if sql in found}  # type: ignore[arg-type]
        wrong, _ = edges.contradictions(filters, found, table(engine), Semantics.named(engine, "UTC").at(clock))
        assert wrong[:20] == []
