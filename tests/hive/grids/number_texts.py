"""What Hive says of texts beside numbers: lists, equalities, two bounds and casts, by each way in which it runs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.hive.grids.asking import LETTERS, asking_of_texts, write_texts
from tests.hive.server import Server

#: Texts that none draws.
FIXED = (
    *("", " ", "apple", "é5", "\u0665", "NaN", "Infinity", "0x5", "5_0", "5d", "5f", "5L", "+5", "-5", "--5"),
    *("5.", ".5", "5.254", "5.249", "5.2500000000000000001", "4.9999999999999999999", "99.99999999999999999999"),
    *("20260500.99999999999", "2026050.1e1", "9007199254740992", "9007199254740993", "9007199254740994", "1e400"),
)
NUMBERS = ("5", "5.25", "7.5", "100", "99.999", "20260501", "20260502", "9007199254740993", "0", "-5", "1e-300")
ASKED = (
    *("s IN (5, 5.25)", "s IN (5.25, 5)", "s IN (5.25, 7.5)", "s IN (5, 7)", "s IN (CAST(5.25 AS DOUBLE), 7)"),
    *("s IN (20260501, 20260502)", "s IN (9007199254740993, 1)", "s IN (99.999, 100)", "s IN (5, NULL)", "s IN (5)"),
    *("s IN (CAST(5 AS TINYINT), CAST(100 AS BIGINT))", "s NOT IN (5, 100)", "s = 5", "s = 5.25", "s = 20260501"),
    *("s BETWEEN 5 AND 7", "s BETWEEN 20260401 AND 20260430", "CAST(s AS INT) IN (5, 100)", "CAST(s AS BIGINT) = 5"),
    *("CAST(s AS DOUBLE) IN (5.25D, 100.0D)", "CAST(s AS DECIMAL(10, 2)) IN (5.25, 100)", "s IN (-5, 100)"),
)


def ask(server: Server, home: Path) -> Iterator[dict[str, Any]]:
    """The texts, and for each way of running and each question a letter for each text: T, F or N."""
    rng = random.Random(1)
    given = sorted({*FIXED, *(spelled(rng) for _ in range(300))})
    write_texts(home, given)
    answers: dict[str, Any] = {"texts": given}
    for vectorized in ("true", "false"):
        for optimised in ("true", "false"):
            session = asking_of_texts(
                server, home, {"hive.vectorized.execution.enabled": vectorized, "hive.cbo.enable": optimised}
            )
            found = {}
            for question in ASKED:
                rows = sorted(session.rows(f"SELECT n, {question} FROM texts"))
                found[question] = "".join(LETTERS[row[1]] for row in rows)
            answers[f"vectorized {vectorized}, optimised {optimised}"] = found
            session.close()
    yield answers


def spelled(rng: random.Random) -> str:
    """A number in one of its spellings, or in one that is not quite one."""
    number = Decimal(rng.choice(NUMBERS)) + rng.choice([0, 0, 0, 0, 1, -1, Decimal("1e-9"), Decimal("0.004")])
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    figures = "".join(map(str, digits)) + "0" * rng.choice([0, 0, 0, 1, 25])
    point = len(digits) + exponent
    shift = rng.choice([0, 0, 0, 1, 2, -1, point, point - 1])
    at = point - shift
    plain = f"0.{'0' * -at}{figures}" if at <= 0 else f"{figures[:at].ljust(at, '0')}.{figures[at:] or '0'}"
    if plain.endswith(".0") and rng.random() < 0.7:
        plain = plain[:-2]
    power = f"{rng.choice('eE')}{shift}" if shift else ""
    before = rng.choice(["", "", "", "", " ", "0", "+", "00", "\t"])
    return ("-" if sign else "") + before + plain + power + rng.choice(["", "", "", "", " ", "d", "x", "\n"])
