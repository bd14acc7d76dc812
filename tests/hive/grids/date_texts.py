"""What Hive reads of texts like dates: the day of each, by CAST and by functions, row by row and vectorized."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.evaluator.functions.drawn_dates import drawn
from tests.hive.grids.asking import asking_of_texts, texts, write_texts
from tests.hive.server import Server

#: Texts that none draws.
FIXED = (
    *("2020-1-1", "2020-13-01", "2020-99-99", "2020-00-10", "2020-05-32", "2020-05-99", "2020-5-100", "2020-05-015"),
    *("2020--1-05", "2020-05--3", "2020-05", "2020-05-", "2020", "2020-02-30", "2020-05-05 25:00:00", "2020-05-05.5"),
    *("2020-12-31 99:99:99", "2020-01-01 -99:99:99", "2020-12-31 100:00:00", "2020-01-01 00:00:-1"),
    *("2020-05-05T10", "2020-12-31 23:59:60", "2020-12-31T23:59:59-11:00", "2020-05-05\t", "2020-+5-05"),
)
#: Each gives the day, or something that follows from it.
ASKED = (
    *("cast(s as date)", "to_date(s)", "year(s)", "month(s)", "datediff(s, '1970-01-01')", "date_add(s, 0)"),
    *("add_months(s, 0)", "last_day(s)", "trunc(s, 'MM')", "quarter(s)", "date_format(s, 'yyyy-MM-dd')"),
    *("s >= date '2020-06-01'", "s < date '2020-06-01'", "s >= timestamp '2020-06-01 00:00:00'"),
)


def ask(server: Server, home: Path) -> Iterator[dict[str, Any]]:
    """The texts, and for each question the answers to them; NULL is None."""
    rng = random.Random(1)
    given = sorted({*FIXED, *(drawn(rng) for _ in range(900))})
    write_texts(home, given)
    answers: dict[str, Any] = {"texts": given}
    for vectorized in ("true", "false"):
        session = asking_of_texts(server, home, {"hive.vectorized.execution.enabled": vectorized})
        for question in ASKED:
            found = texts(row[1] for row in sorted(session.rows(f"SELECT n, {question} FROM texts")))
            if answers.setdefault(question, found) != found:
                raise AssertionError(f"{question} has other answers where vectorized is {vectorized}")
        session.close()
    yield answers
