"""Events in the order of their time, in 60 files of 12 days each, with dates and numbers as people store them."""

from __future__ import annotations

import datetime
import random
from collections.abc import Mapping
from typing import Any

from evaluator.language.types import BIGINT, DATE, INT, STRING, TIMESTAMP_LTZ, Type
from evaluator.statistics.columns import ColumnStatistics
from tests.evaluator.short_forms import stats

__all__ = ["FILES", "TYPES", "events", "known"]

FILES, ROWS = 60, 40
_DAYS = 730
_BEGIN = datetime.datetime(2024, 11, 29)
_EPOCH = datetime.datetime(1970, 1, 1)
TYPES: Mapping[str, Type] = {
    **dict.fromkeys(("ds", "ts", "iso", "dks", "ym", "sid", "uid", "c"), STRING),
    **dict.fromkeys(("dk", "y", "m"), INT),
    **dict.fromkeys(("id", "l"), BIGINT),
    "d": DATE,
    "t": TIMESTAMP_LTZ,
}
_CITIES = sorted(["amsterdam", "berlin", "bern", "delhi", "essen", "kyoto", "lima", "lyon", "oslo", "paris", "rome"])


def events() -> list[dict[str, Any]]:
    """The rows; ``file`` is the number of the file."""
    rng, key, rows = random.Random(5), 100_000, []
    for place in range(FILES * ROWS):
        seconds = _DAYS * 86_400 * place // (FILES * ROWS) + rng.randint(0, 3_000)
        moment = _BEGIN + datetime.timedelta(seconds=seconds)
        key += rng.randint(1, 40)
        rows.append(
            {
                "file": place // ROWS,
                "t": moment,
                "d": moment.date(),
                "ds": f"{moment:%Y-%m-%d}",
                "ts": f"{moment:%Y-%m-%d %H:%M:%S}",
                "iso": f"{moment:%Y-%m-%dT%H:%M:%SZ}",
                "dks": f"{moment:%Y%m%d}",
                "dk": int(f"{moment:%Y%m%d}"),
                "ym": f"{moment:%Y-%m}",
                "y": moment.year,
                "m": moment.month,
                "l": (moment - _EPOCH) // datetime.timedelta(seconds=1),
                "id": key,
                "sid": str(key),
                "uid": f"user-{key:09}",
                "c": _CITIES[place * len(_CITIES) // (FILES * ROWS)],
            }
        )
    return rows


def known() -> list[dict[str, ColumnStatistics]]:
    """The statistics of each file."""
    rows = events()
    files = [rows[start : start + ROWS] for start in range(0, len(rows), ROWS)]
    return [
        {name: stats(kind, *_ends([_stored(row[name]) for row in one]), nulls=0) for name, kind in TYPES.items()}
        for one in files
    ]


def _ends(values: list[Any]) -> tuple[Any, Any]:
    return min(values), max(values)


def _stored(value: Any) -> Any:
    match value:
        case datetime.datetime():
            return (value - _EPOCH) // datetime.timedelta(microseconds=1)
        case datetime.date():
            return (value - _EPOCH.date()).days
        case _:
            return value
