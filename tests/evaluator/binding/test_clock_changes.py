"""P14: wall clocks beside the gaps and overlaps of the session zone, against instants, wall clocks and days.

Spark compares a wall clock (``timestamp_ntz``) with an instant as instants. In a gap 02:30 becomes 03:30, and its
optimiser may then compare the wall clocks all the same. Each reading has to be in the outcome. P14 is described in
docs/facts/pitfalls.md#p14.
"""

import datetime
import operator
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.outcome import FALSE, TRUE
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, STRING, TIMESTAMP, TIMESTAMP_LTZ
from evaluator.statistics.columns import from_values
from tests.sampling import examples

EPOCH = datetime.datetime(1970, 1, 1)
MINUTE, DAY = 60_000_000, 86_400_000_000
SCHEMA = Schema([Field("c", TIMESTAMP), Field("z", TIMESTAMP_LTZ), Field("dt", DATE)])
OPS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
#: A clock set forward and one set back in each zone: by an hour, at midnight, by half an hour, over a whole day.
CHANGES = [
    ("Europe/Berlin", "2021-03-28 02:00"),
    ("Europe/Berlin", "2021-10-31 02:00"),
    ("America/Sao_Paulo", "2018-11-04 00:00"),
    ("America/Sao_Paulo", "2018-02-17 23:00"),
    ("Australia/Lord_Howe", "2021-10-03 02:00"),
    ("Australia/Lord_Howe", "2021-04-04 01:30"),
    ("Pacific/Apia", "2011-12-30 00:00"),
    ("Africa/Monrovia", "1972-01-07 00:00"),
    ("UTC", "2021-03-28 02:00"),
]


def micros(text):
    return (datetime.datetime.fromisoformat(text) - EPOCH) // datetime.timedelta(microseconds=1)


def instant(wall_clock, zone):
    """As Java has it: the first instant of an overlap, the later one of a gap."""
    local = (EPOCH + datetime.timedelta(microseconds=wall_clock)).replace(tzinfo=ZoneInfo(zone))
    return (local - EPOCH.replace(tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)


def shown(moment, zone):
    """The wall clock at an instant."""
    at = EPOCH.replace(tzinfo=datetime.timezone.utc) + datetime.timedelta(microseconds=moment)
    return (at.astimezone(ZoneInfo(zone)).replace(tzinfo=None) - EPOCH) // datetime.timedelta(microseconds=1)


def readings(column, value, wall_clock, zone):
    """The pairs that Spark may compare: as instants, as wall clocks, or with the constant shifted."""
    if column == "z":
        return [(value, instant(wall_clock, zone))]
    value = value * DAY if column == "dt" else value
    as_instants = (instant(value, zone), instant(wall_clock, zone))
    return [as_instants, (value, wall_clock), (value, shown(as_instants[1], zone))] if column == "c" else [as_instants]


def outcomes_of(expression, parts, zone, engine="spark"):
    """The outcomes of slices, given by their rows."""
    statistics = {}
    for field in SCHEMA:
        values = [[row[field.name] for row in part if row[field.name] is not None] for part in parts]
        statistics[field.name] = from_values(
            field.type,
            [min(of, default=None) for of in values],
            [max(of, default=None) for of in values],
            [len(part) - len(of) for part, of in zip(parts, values, strict=True)],
            [len(part) for part in parts],
        )
    bound = bind(expression, SCHEMA, Semantics.named(engine, zone))
    return evaluate(bound, len(parts), [StatisticsProvider("rows", statistics)]).outcomes.tolist()


def row(c=None, z=None, dt=None):
    return {"c": c, "z": z, "dt": dt}


@settings(max_examples=examples(98, at_night=5000))
@given(data=st.data())
def test_every_reading_of_a_moment_near_a_change_is_in_the_outcome(data):
    zone, change = data.draw(st.sampled_from(CHANGES))
    at = micros(change)
    step = data.draw(st.sampled_from([1, MINUTE, 15 * MINUTE, 6 * 60 * MINUTE]))
    clocks = st.integers(-12, 16).map(lambda n: at + n * step) | st.integers(-12, 16).map(
        lambda n: at + n * 15 * MINUTE
    )
    column = data.draw(st.sampled_from(["c", "z", "dt"]))
    pool = {"c": clocks, "z": clocks.map(lambda w: instant(w, zone)), "dt": clocks.map(lambda w: w // DAY)}[column]
    parts = data.draw(st.lists(st.lists(pool, min_size=1, max_size=3), min_size=1, max_size=4))
    wall_clock, other = data.draw(clocks), data.draw(clocks)
    is_day = column == "z" and data.draw(st.booleans())  # a day against wall clocks or days is compared as one of those
    wall_clock = wall_clock // DAY * DAY if is_day else wall_clock
    constant = ex.Literal(wall_clock // DAY, DATE) if is_day else ex.Literal(wall_clock, TIMESTAMP)
    op = data.draw(st.sampled_from(list(OPS)))
    as_list = op == "=" and data.draw(st.booleans())
    operand = ex.Column((column,))
    leaf = ex.In(operand, (constant, ex.Literal(other, TIMESTAMP))) if as_list else ex.Compare(op, operand, constant)
    negated = data.draw(st.booleans())

    outcomes = outcomes_of(ex.Not(leaf) if negated else leaf, [[row(**{column: v}) for v in p] for p in parts], zone)

    for part, actual in zip(parts, outcomes, strict=True):
        for value in part:
            for number, (x, y) in enumerate(readings(column, value, wall_clock, zone)):
                answer = OPS[op](x, y)
                if as_list:
                    second = readings(column, value, other, zone)[number]
                    answer = answer or second[0] == second[1]
                assert actual & outcome.of_value(answer is not negated), (
                    f"{leaf} on {value} in {zone}: reading {number}"
                )


@settings(max_examples=examples(58, at_night=3000))
@given(data=st.data())
def test_wall_clocks_meet_instants_as_instants(data):
    zone, change = data.draw(st.sampled_from(CHANGES))
    clocks = st.integers(-12, 16).map(lambda n: micros(change) + n * 15 * MINUTE)
    op = data.draw(st.sampled_from(list(OPS)))
    rows = st.builds(lambda c, z: row(c=c, z=instant(z, zone)), clocks, clocks)
    parts = data.draw(st.lists(st.lists(rows, min_size=1, max_size=3), min_size=1, max_size=4))

    outcomes = outcomes_of(ex.Compare(op, ex.Column(("c",)), ex.Column(("z",))), parts, zone)

    for part, actual in zip(parts, outcomes, strict=True):
        for of in part:
            assert actual & outcome.of_value(OPS[op](instant(of["c"], zone), of["z"])), f"c {op} z on {of} in {zone}"


GAPS = [
    ("Europe/Berlin", "2021-03-28 02:30", "2021-03-28 03:30"),
    ("America/Sao_Paulo", "2018-11-04 00:15", "2018-11-04 01:15"),
    ("Australia/Lord_Howe", "2021-10-03 02:15", "2021-10-03 02:45"),
]


@pytest.mark.parametrize("engine", ["spark", "spark-ansi", "spark-legacy"])
@pytest.mark.parametrize(("zone", "in_gap", "behind"), GAPS)
def test_a_wall_clock_in_a_gap_may_be_the_one_behind_it(zone, in_gap, behind, engine):
    for constant, value in ((in_gap, behind), (behind, in_gap)):
        for form in (ex.Literal(micros(constant), TIMESTAMP), ex.Literal(f"{constant}:00", STRING)):
            part = [[row(c=micros(value))]]
            equal = ex.Compare("=", ex.Column(("c",)), form)
            assert outcomes_of(equal, part, zone, engine)[0] & TRUE
            assert outcomes_of(ex.Not(ex.In(ex.Column(("c",)), (form,))), part, zone, engine)[0] & FALSE


@pytest.mark.parametrize(("zone", "in_gap", "behind"), GAPS)
def test_other_hours_of_the_day_of_a_change_are_decided(zone, in_gap, behind):
    equal = ex.Compare("=", ex.Column(("c",)), ex.Literal(micros(in_gap), TIMESTAMP))
    hour = 60 * MINUTE
    parts = [[row(c=micros(behind) + 2 * hour)], [row(c=micros(in_gap) - 2 * hour)], [row(c=0)]]

    assert outcomes_of(equal, parts, zone) == [FALSE] * 3
    noon = ex.Compare("=", ex.Column(("c",)), ex.Literal(micros(in_gap) + 12 * hour, TIMESTAMP))
    assert outcomes_of(noon, [[row(c=micros(in_gap) + 12 * hour)]], zone) == [TRUE]


def test_a_text_in_a_between_is_read_in_the_type_of_the_other_bound_in_hive():
    """Hive 4.0.1: ``dt BETWEEN '2021-10-31 03:00:00' AND TIMESTAMP '2021-11-01 00:00:00'`` is FALSE on that day."""
    day = ex.Column(("dt",))
    between = ex.And(
        (
            ex.Compare(">=", day, ex.Literal("2021-10-31 03:00:00", STRING)),
            ex.Compare("<=", day, ex.Literal(micros("2021-11-01 00:00"), TIMESTAMP)),
        )
    )
    row = {"c": None, "z": None, "dt": micros("2021-10-31 00:00") // DAY}
    for engine in ("hive3", "hive4", "hive"):
        [actual] = outcomes_of(between, [[row]], "UTC", engine)
        assert actual & FALSE


def test_a_timestamp_in_a_list_of_dates_loses_its_time_in_hive_3():
    members = (ex.Literal(0, DATE), ex.Literal(micros("2021-03-28 04:00"), TIMESTAMP))
    row = {"c": None, "z": None, "dt": micros("2021-03-28 00:00") // DAY}
    for engine in ("hive3", "hive"):
        [actual] = outcomes_of(ex.In(ex.Column(("dt",)), members), [[row]], "UTC", engine)
        assert actual & TRUE
