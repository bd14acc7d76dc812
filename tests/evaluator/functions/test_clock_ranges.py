"""C1: a filter on the clock, planned at one moment, skips no slice that matches at that moment or later.

The forms are those of dashboards, drawn with random numbers. For a query that runs at a random later moment two things
hold: the outcome by the plan's range of the clock contains that by the fixed moment, and it contains what the row-level
reference says of each row.
"""

from __future__ import annotations

import datetime
import random
from typing import Any

import pytest

from evaluator.binding.bind import bind
from evaluator.binding.interval_evaluation import evaluate_slice
from evaluator.language.clock import CLOCK_SKEW, Clock, reads_clock
from evaluator.language.epoch import DAY, EPOCH, MICROSECOND
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.outcome import FALSE, TRUE, UNKNOWN, of_value
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DATE, INT, STRING, TIMESTAMP, TIMESTAMP_LTZ
from evaluator.reference.row_oracle import value_of
from handler.sql import parse
from tests.sampling import examples

SCHEMA = Schema(
    (
        Field("d", DATE),
        Field("t", TIMESTAMP_LTZ),
        Field("n", TIMESTAMP),
        Field("p", STRING),
        Field("i", INT),
        Field("l", BIGINT),
    )
)
NOON = (datetime.datetime(2026, 11, 22, 12) - EPOCH) // MICROSECOND
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Pacific/Apia", "Australia/Lord_Howe", "+14:00", "-12:00")
DATES = (
    "current_date()",
    "current_date",
    "current_date() - interval {n} days",
    "current_date() + interval {n} days",
    "date_sub(current_date(), {n})",
    "date_add(current_date(), {n})",
    "add_months(current_date(), -{n})",
    "current_date() - interval '{n}' month",
    "date '2026-11-22' + interval '{n}' year",
    "last_day(add_months(current_date(), -{n}))",
    "trunc(current_date(), 'MM')",
    "trunc(date_sub(current_date(), {n}), 'YEAR')",
    "to_date(date_format(current_date(), 'yyyy-MM-dd'))",
    "cast(current_timestamp() as date)",
    "date_sub(to_date(current_timestamp()), {n})",
    "coalesce(null, current_date())",
    "greatest(current_date(), date '2020-01-01')",
    "case when current_date() > date '2026-12-01' then current_date() else date '2026-12-01' end",
    "if(d > current_date(), d, date_sub(current_date(), {n}))",
)
OF_SPARK = (
    "current_date() - {n}",
    "curdate() + {n}",
    "cast(now() - interval '{n}' hour as date)",
    "cast(dateadd(DAY, -{n}, now()) as date)",
    "date 'today'",
    "date 'yesterday'",
    "date(now())",
    "try_add(current_date(), -{n})",
    "next_day(date_sub(current_date(), {n}), 'MON')",
    "make_date(year(current_date()), 1, 1)",
    "make_date(year(date_sub(current_date(), {n})), month(current_date()), 1)",
    "make_date(year(current_date()) - 1, 12, 31)",
    "date_add(current_date(), 1 - dayofweek(current_date()))",
    "to_date(from_unixtime(unix_timestamp()))",
    "date_from_unix_date(unix_date(current_date()) - {n})",
)
MOMENTS_OF_SPARK = (
    "now() - interval '{n}' hour",
    "timestamp 'yesterday'",
    "timestampadd(HOUR, -{n}, now())",
    "dateadd(DAY, -{n}, current_date())",
    "timestamp(date_sub(current_date(), {n}))",
    "timestamp_seconds(unix_timestamp() - {n} * 3600)",
    "timestamp_millis(unix_millis(now()) - {n} * 3600000)",
    "cast(unix_timestamp() - {n} * 3600 as timestamp)",
    "to_timestamp(from_unixtime(unix_timestamp() - {n} * 86400))",
    "to_timestamp(date_format(now(), 'yyyy-MM-dd HH:mm:ss'))",
    "current_timestamp() - make_interval(0, 0, 0, {n})",
)
SECONDS_OF_SPARK = (
    "unix_timestamp(now())",
    "unix_seconds(now()) - {n}",
    "unix_timestamp(current_date())",
    "unix_timestamp(date_sub(current_date(), {n}))",
    "unix_timestamp(date_trunc('month', now()))",
    "unix_timestamp() div 3600 * 3600",
    "unix_timestamp(localtimestamp())",
)
TEXTS_OF_SPARK = (
    "concat(year(current_date()), '-01-01')",
    "left(current_date(), 7)",
    "substr(cast(date_sub(current_date(), {n}) as string), 1, 7)",
    "from_unixtime(unix_timestamp())",
)
MOMENTS = (
    "current_timestamp()",
    "current_timestamp",
    "current_timestamp() - interval {n} hours",
    "current_timestamp() - interval '{n}' day",
    "current_timestamp() + interval '{n}' month",
    "current_timestamp() - interval '{n}' month",
    "current_timestamp() - interval '{n} 03:00:00' day to second",
    "date_trunc('month', current_timestamp())",
    "date_trunc('hour', current_timestamp()) - interval {n} hours",
    "cast(date_sub(current_date(), {n}) as timestamp)",
)
SECONDS = ("unix_timestamp()", "unix_timestamp() - {n} * 3600", "unix_timestamp() + {n}")
TEXTS = (
    "date_format(current_date(), 'yyyy-MM-dd')",
    "date_format(date_sub(current_date(), {n}), 'yyyy-MM-dd')",
    "cast(date_sub(current_date(), {n}) as string)",
    "from_unixtime(unix_timestamp() - {n} * 86400, 'yyyy-MM-dd')",
    "trunc(current_date(), 'MM')",
    "last_day(add_months(current_date(), -{n}))",
    "add_months(date_sub(current_date(), {n}), 1)",
    "date_format(add_months(current_date(), -{n}), 'yyyy-MM-dd')",
    "date_format(last_day(date_sub(current_date(), {n})), 'yyyy-MM')",
)
OPS = ("<", "<=", "=", "!=", ">", ">=", "<=>")


def at(text: str) -> int:
    return (datetime.datetime.fromisoformat(text) - EPOCH) // MICROSECOND


def condition(rng: random.Random, engine: str) -> str:
    """A filter on the clock."""
    of_spark = engine.startswith("spark")
    dates = DATES + OF_SPARK * of_spark
    kinds = {
        "d": dates,
        "t": MOMENTS + MOMENTS_OF_SPARK * of_spark,
        "n": ("localtimestamp()", "localtimestamp() - interval {n} days") if of_spark else MOMENTS,
        "p": TEXTS + TEXTS_OF_SPARK * of_spark,
        "l": SECONDS + SECONDS_OF_SPARK * of_spark,
        "i": ("cast(date_format(date_sub(current_date(), {n}), 'yyyyMMdd') as int)", *SECONDS),
    }
    column = rng.choice("dddtttnpli")

    def moment(of: tuple[str, ...]) -> str:
        return rng.choice(of).replace("{n}", str(rng.choice((0, 1, 7, 13, 30, 400))))

    match rng.randrange(12):
        case 0:
            return f"{column} BETWEEN {moment(kinds[column])} AND {moment(kinds[column])}"
        case 1:
            return f"{column} IN ({moment(kinds[column])}, {moment(kinds[column])})"
        case 2:
            return f"datediff({moment(dates)}, d) {rng.choice(OPS)} {rng.randrange(30)}"
        case 3:
            part = rng.choice(("year", "month", "quarter", "dayofyear"))
            return f"{part}(d) {rng.choice(OPS)} {part}({moment(dates)})"
        case 4:
            return f"NOT (d {rng.choice(OPS)} {moment(dates)})"
        case 5:
            return f"{rng.choice('tn')} {rng.choice(OPS)} {moment(dates)}"
        case 6:
            return f"d {rng.choice(OPS)} {moment(kinds['t'])}"
        case _:
            return f"{column} {rng.choice(OPS)} {moment(kinds[column])}"


def row_at(rng: random.Random, moment: int) -> dict[str, Any]:
    """A row with values around a moment; some are NULL."""
    near = moment + int(rng.gauss(0, 1) * rng.choice((1, 40, 700, 20_000)) * 3_600_000_000)
    near = max(near, 0)
    day = EPOCH.date() + datetime.timedelta(days=near // DAY)
    row = {
        "d": near // DAY,
        "t": near,
        "n": near,
        "p": day.isoformat() if rng.random() < 0.9 else f"{day.year}-{day.month}-{day.day}",
        "i": rng.choice((near // 1_000_000, int(day.strftime("%Y%m%d")))),
        "l": near // 1_000_000,
    }
    row["i"] = min(row["i"], 2**31 - 1)
    return {name: None if rng.random() < 0.05 else value for name, value in row.items()}


def interval_around(values: list[Any]) -> Interval:
    present = [value for value in values if value is not None]
    if not present:
        return Interval(null=True, value=False)
    return Interval(min(present), max(present), None in values)


@pytest.mark.parametrize(
    "condition",
    [
        "p >= date_format(add_months(current_date(), -1), 'yyyy-MM')",
        "i >= cast(date_format(last_day(add_months(current_date(), -1)), 'yyyyMM') as int)",
        "d >= date_sub(trunc(current_date(), 'MM'), 3)",
        "datediff(d, add_months(current_date(), -1)) >= 0",
        "months_between(last_day('2020-01-05'), d) < 0",
        "dayofweek(last_day('2020-01-05')) = 6",
        "p >= substr(add_months(current_date(), -1), 1, 7)",
        "p >= replace(add_months('2020-01-05', -1), '-', '')",
        "d IN (add_months('2020-01-05', -1), date '2020-01-05')",
        "last_day('2020-01-05') = date '2020-01-31'",
    ],
)
@pytest.mark.parametrize("engine", ["hive", "hive3", "hive4"])
def test_hives_text_of_a_date_is_read_as_a_date_and_taken_as_text(engine: str, condition: str) -> None:
    clock = Clock.from_now_on(zone_known=True, now=NOON / 1e6)
    bound = bind(parse(condition, engine), SCHEMA, Semantics.named(engine, "UTC").at(clock))  # type: ignore[arg-type]
    assert [leaf.reason for leaf in bound.leaves if leaf.reason] == []


@pytest.mark.parametrize("engine", ["spark", "spark-ansi", "hive", "hive3", "hive4"])
def test_no_row_that_matches_at_a_later_moment_is_skipped(engine: str) -> None:
    rng = random.Random(engine)
    told = skipped = 0
    for _ in range(examples(164, at_night=6_000)):
        zone = rng.choice(ZONES) if rng.random() < 0.5 else "UTC"
        planned = at("2024-01-01") + rng.randrange(3 * 365) * DAY + rng.randrange(DAY)
        delay = rng.choice((0, 0, 3_600_000_000, DAY, 40 * DAY, 900 * DAY, 9000 * DAY)) * rng.random()
        later = planned + int(delay) - int(CLOCK_SKEW * 1e6 * rng.random())
        text = condition(rng, engine)
        expression = parse(text, engine)  # type: ignore[arg-type]
        session = Semantics.named(engine, zone)
        planning = session.at(Clock.from_now_on(zone_known=True, now=planned / 1e6))
        query = session.at(Clock.fixed(later))
        rows = [row_at(rng, rng.choice((planned, later))) for _ in range(rng.choice((1, 1, 3)))]
        intervals = {name: interval_around([row[name] for row in rows]) for name in rows[0]}
        by_range = evaluate_slice(bind(expression, SCHEMA, planning), intervals)
        at_moment = bind(expression, SCHEMA, query)
        by_moment = evaluate_slice(at_moment, intervals)
        where = f"{text!r} as {engine} in {zone}, planned {planned}, run {later}, rows {rows}"
        skipped += not by_range & TRUE
        if not any(leaf.reason for leaf in at_moment.leaves):
            assert by_range | by_moment == by_range or _is_wider(by_moment), where
        for row in rows:
            try:
                value = value_of(expression, row, SCHEMA, query)
            except UnsupportedError:
                continue
            told += 1
            assert of_value(value) & by_range, f"{value}: {where}"
    assert told > examples(98, at_night=300)
    assert skipped > examples(16, at_night=400)


def _is_wider(by_moment: int) -> bool:
    """A fixed moment may be taken as a wall clock of a gap, which is open by more than the range of instants."""
    return by_moment & (TRUE | FALSE) == TRUE | FALSE


@pytest.mark.parametrize("zone", ZONES)
def test_in_an_unknown_zone_the_day_may_be_another_one(zone: str) -> None:
    rng = random.Random(zone)
    for _ in range(examples(35, at_night=2_000)):
        planned = at("2026-01-01") + rng.randrange(DAY * 365)
        later = planned + rng.choice((0, 5, 300)) * 86_400 * rng.randrange(1_000_000)
        column, text = rng.choice(
            [("d", one) for one in (*DATES[:6], *OF_SPARK)]
            + [("t", one) for one in MOMENTS_OF_SPARK]
            + [("l", one) for one in SECONDS_OF_SPARK]
            + [("n", "localtimestamp() - interval {n} hours"), ("t", "now() - interval {n} days")]
            + [("t", "now() - interval '{n}' month"), ("d", "cast(now() as date)"), ("p", TEXTS[1]), ("p", TEXTS[3])]
        )
        text = f"{column} {rng.choice(OPS)} {text.replace('{n}', str(rng.randrange(9)))}"
        expression = parse(text, "spark")
        planning = Semantics.named("spark", "UTC").at(Clock.from_now_on(zone_known=False, now=planned / 1e6))
        query = Semantics.named("spark", zone).at(Clock.fixed(later))
        row = row_at(rng, later)
        by_range = evaluate_slice(bind(expression, SCHEMA, planning), {n: interval_around([row[n]]) for n in row})
        try:
            value = value_of(expression, row, SCHEMA, query)
        except UnsupportedError:
            by_moment = evaluate_slice(bind(expression, SCHEMA, query), {n: interval_around([row[n]]) for n in row})
            assert by_moment & by_range, text
            continue
        assert of_value(value) & by_range, f"{value}: {text!r} in {zone}, planned {planned}, run {later}, row {row}"


def outcome(text: str, clock: Clock | None, engine: str = "spark", zone: str = "UTC", **ends: Any) -> int:
    bound = bind(parse(text, engine), SCHEMA, Semantics.named(engine, zone).at(clock))  # type: ignore[arg-type]
    return evaluate_slice(bound, {name: Interval(*pair, null=False) for name, pair in ends.items()})


def day(text: str) -> int:
    return at(text) // DAY


NOW = Clock.from_now_on(zone_known=True, now=NOON / 1e6)


@pytest.mark.parametrize(
    "text",
    [
        "d >= current_date() - interval 7 days",
        "d >= current_date - 7",
        "d > date_sub(current_date(), 8)",
        "d between current_date() - interval 7 days and current_date()",
        "d in (current_date(), date_sub(current_date(), 1))",
        "datediff(current_date(), d) <= 7",
        "d >= now() - interval 7 days",
        "d >= dateadd(DAY, -7, current_date())",
    ],
)
def test_what_is_older_than_a_week_is_skipped(text: str) -> None:
    assert outcome(text, NOW, d=(day("2026-10-01"), day("2026-11-13"))) == FALSE
    assert outcome(text, NOW, d=(day("2026-10-01"), day("2026-11-16"))) & TRUE or "in (" in text
    assert outcome(text, NOW, d=(day("2026-11-22"), day("2026-11-22"))) & TRUE
    assert outcome(text, None, d=(day("2026-10-01"), day("2026-11-13"))) == UNKNOWN


def test_what_is_before_today_stays_open_when_it_lies_ahead() -> None:
    assert outcome("d < current_date()", NOW, d=(day("2026-11-22"), day("2026-11-30"))) == TRUE | FALSE
    assert outcome("d < current_date()", NOW, d=(day("2026-11-01"), day("2026-11-21"))) == TRUE


def test_an_open_end_of_validity_is_not_reached() -> None:
    last = day("9999-12-31")
    assert outcome("d < current_date()", NOW, d=(last, last)) == FALSE


def test_the_day_of_an_unknown_zone_may_be_the_day_before() -> None:
    anywhere = Clock.from_now_on(zone_known=False, now=(NOON - 6 * 3_600_000_000) / 1e6)
    assert outcome("d >= current_date()", anywhere, d=(day("2026-11-21"), day("2026-11-21"))) & TRUE
    assert outcome("d >= current_date()", anywhere, d=(day("2026-11-20"), day("2026-11-20"))) == FALSE


def test_a_fixed_moment_is_exact() -> None:
    fixed = Clock.showing(NOON, "UTC")
    assert outcome("d < current_date()", fixed, d=(day("2026-11-22"), day("2026-11-30"))) == FALSE
    assert outcome("d = current_date()", fixed, d=(day("2026-11-22"), day("2026-11-22"))) == TRUE
    assert outcome("t = now()", fixed, t=(NOON, NOON)) == TRUE


def test_a_clock_that_is_set_back_shows_less() -> None:
    before = at("2026-10-25 00:55:00")  # 02:55 in Berlin, an hour before 02:00 shows again
    clock = Clock.from_now_on(zone_known=True, skew=0, now=before / 1e6)
    shown = at("2026-10-25 02:10:00")
    assert outcome("n >= localtimestamp()", clock, zone="Europe/Berlin", n=(shown, shown)) & TRUE


def test_a_column_may_have_the_name_of_a_function() -> None:
    schema = Schema((Field("d", DATE), Field("current_date", DATE)))
    bound = bind(parse("d >= current_date", "spark"), schema, Semantics.named("spark", "UTC").at(NOW))
    assert "the column of this name" in str(bound.leaves[0].reason)


def test_beside_the_skew_a_second_earlier_is_too_old() -> None:
    moment = NOON - int(CLOCK_SKEW * 1e6)
    assert outcome("t >= now()", NOW, t=(moment, moment)) & TRUE
    assert outcome("t >= now()", NOW, t=(moment - 1, moment - 1)) == FALSE


def test_small_integers_beside_the_clock_are_kept_for_their_nulls() -> None:
    schema = Schema((Field("i", INT),))
    bound = bind(parse("i >= unix_timestamp()", "spark"), schema, Semantics.named("spark", "UTC").at(NOW))
    assert evaluate_slice(bound, {"i": Interval(0, 9, null=False)}) == FALSE
    assert evaluate_slice(bound, {"i": Interval(0, 9, null=True)}) == UNKNOWN
    assert evaluate_slice(bound, {"i": Interval(null=True, value=False)}) == UNKNOWN


@pytest.mark.parametrize(
    ("text", "reads"),
    [("d < current_date()", True), ("d < date '2020-01-01'", False), ("l = unix_timestamp(t)", False)],
)
def test_which_filters_read_the_clock(text: str, reads: bool) -> None:
    assert reads_clock(parse(text, "spark")) is reads
