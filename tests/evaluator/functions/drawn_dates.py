"""Texts like dates: most of them good ones, others odd in some way."""

from __future__ import annotations

import datetime
import random

__all__ = ["ENDS", "drawn"]

ENDS = ["", "", "", " ", "\x7f", "T", "T10:00", " 10:30:59.5", "x", "0", " 25:00", "-", "Z"]
ENDS += ["T10:00:00+18:00", "\u0663"]


def drawn(rng: random.Random) -> str:
    day = datetime.date(2019, 12, 20) + datetime.timedelta(days=rng.randint(0, 400))
    form = rng.choice(["%Y-%m-%d"] * 4 + ["%Y%m%d", "%Y/%m/%d", "%Y-%m", "%Y%m%d%H", "%Y-%m-%dT10:00:00Z"])
    if rng.random() < 0.5:
        return day.strftime(form) + (rng.choice(ENDS) if rng.random() < 0.3 else "")
    separator = rng.choice(["-", "-", "-", "/", ""])
    month, of_month = (
        rng.choice([f"{n:02}", f"{n:02}", str(n), f"{n:03}", f" {n}", f"{n // 10}{chr(0x660 + n % 10)}"])
        for n in (rng.randint(0, 13), rng.randint(0, 32))
    )
    year = rng.choice(["2020", "2020", "2021", "20201", "202", "+2020", "2020 "])
    return year + separator + month + separator + of_month + rng.choice(ENDS)
