"""Filters on the clock skip what is too old in every zone."""

from __future__ import annotations

import pytest

from evaluator.language.epoch import DAY
from evaluator.language.outcome import TRUE
from tests.evaluator.functions.test_clock_ranges import NOW, ZONES, at, outcome


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    "text",
    [
        "t > now() - interval 1 day",
        "t >= current_timestamp() - interval '7' day",
        "t > now() - interval 36 hours",
        "t > now() - interval 1 month",
        "t >= timestampadd(DAY, -7, now())",
        "t >= date_trunc('day', now() - interval 1 day)",
        "t >= date_trunc('hour', now()) - interval 1 hour",
        "t > dateadd(DAY, -7, current_date())",
        "t between now() - interval 2 days and now()",
        "n > now() - interval 1 day",
        "n > localtimestamp() - interval 1 month",
        "t + interval 1 day > now()",
        "now() - t < interval 1 day",
        "timestampdiff(DAY, t, now()) < 7",
        "d >= cast(now() - interval 7 days as date)",
        "d >= to_date(now() - interval 1 month)",
        "p >= date_format(now() - interval 1 day, 'yyyy-MM-dd')",
        "i >= cast(date_format(now() - interval 1 day, 'yyyyMMdd') as int)",
        "l > unix_timestamp(now() - interval 1 day)",
    ],
)
def test_what_is_months_old_is_skipped_in_every_zone(zone: str, text: str) -> None:
    """The clock's range ends in the year 9000, beyond the tables of the zones."""
    first, last = at("2026-08-01"), at("2026-08-02")
    old = {
        "d": (first // DAY, last // DAY),
        "p": ("2026-08-01", "2026-08-02"),
        "i": (20260801, 20260802),
        "l": (first // 1_000_000, last // 1_000_000),
        **dict.fromkeys(("t", "n"), (first, last)),
    }
    assert outcome(text, NOW, zone=zone, **old) & TRUE == 0
