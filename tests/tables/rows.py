"""The rows of the tables: the same columns everywhere, values that grow with the row's number, a few odd files.

Row n is in file n // 8. Values grow with n so that files have narrow ranges. The odd files:

    file 0, 1   `an` is NULL throughout; in tables that grew, `extra` is not there yet and `w` is an int
    file 3      texts that look like numbers, patterns, blanks at the ends
    file 4      NaN, both zeros and infinity among plain floats
    file 5      floats that are all zeros, of both signs
    file 6      notes of more than 4 KB: Parquet stores no bounds for them
    file 7      the ends of every type, ancient and far dates and timestamps
    file 8      all values NaN, and a `note` that is NULL throughout
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from decimal import Context, Decimal
from typing import Any

ROWS_A_FILE = 8
FILES = 12
#: Values of the partition column: all but the last are encoded in the path.
PARTITIONS = ("a b", "x=1/y", "ü%é", "plain")
COLUMNS = {
    "id": "string",
    "ts": "bigint",
    "ti": "tinyint",
    "si": "smallint",
    "i": "int",
    "l": "bigint",
    "f": "float",
    "d": "double",
    "price": "decimal(10,2)",
    "big": "decimal(38,6)",
    "s": "string",
    "note": "string",
    "dt": "date",
    "t": "timestamp",
    "tn": "timestamp_ntz",
    "b": "boolean",
    "bin": "binary",
    "st": "struct<x:int,y:string>",
    "an": "int",
    "u": "int",
    "w": "bigint",
    "extra": "int",
    "p": "string",
}
#: Of these, the columns that writers keep statistics of: not `u`.
INDEXED = (*(name for name in COLUMNS if name not in ("st", "u", "p")), "st.x", "st.y")

WORDS = ("apple", "banana", "Cherry", "date", "elder", "Fig", "grape", "äpfel", "日本", "𝄞zebra", "lemon", "mango")
TEXTS = ("10", "9", "1e1", "a%b", "a_b", "trail ", " lead", "it's")
UTC = datetime.timezone.utc
NAN, INFINITY = float("nan"), float("inf")
WIDE = Context(prec=60)


def day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


def moment(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text).replace(tzinfo=UTC)


#: By file and place in it: the columns that are odd there.
ODD: dict[tuple[int, int], dict[str, Any]] = {
    **{(3, place): {"s": text} for place, text in enumerate(TEXTS)},
    (4, 0): {"f": NAN, "d": NAN},
    (4, 1): {"f": -0.0, "d": -0.0},
    (4, 2): {"f": 0.0, "d": 0.0},
    (4, 3): {"f": INFINITY, "d": INFINITY},
    (4, 4): {"f": None, "d": None},
    (4, 5): {"f": 5.0, "d": 8.0},
    **{(5, place): {"f": (-0.0, 0.0)[place % 2], "d": -0.0} for place in range(8)},
    **{(6, place): {"note": chr(ord("a") + place) * (4_500 + place)} for place in range(8)},
    (7, 0): {
        "ti": 127,
        "si": 32767,
        "i": 2**31 - 1,
        "l": 2**63 - 1,
        "f": -INFINITY,
        "d": -INFINITY,
        "price": Decimal("99999999.99"),
        "big": Decimal("99999999999999999999999999999999.999999"),
        "dt": day("0001-01-03"),
        "t": moment("0001-01-03 00:00:00"),
    },
    (7, 1): {
        "ti": -128,
        "si": -32768,
        "i": -(2**31),
        "l": -(2**63),
        "f": 3.4028234663852886e38,
        "d": 1.7976931348623157e308,
        "price": Decimal("-99999999.99"),
        "big": Decimal("-99999999999999999999999999999999.999999"),
        "dt": day("9999-12-31"),
        "t": moment("9999-12-31 23:59:59.999999"),
    },
    (7, 2): {"dt": day("1582-10-04"), "t": moment("1582-10-04 12:00:00"), "f": 1.401298464324817e-45, "d": 4.9e-324},
    (7, 3): {"dt": day("1582-10-15"), "t": moment("1582-10-15 12:00:00")},
    (7, 4): {"dt": day("1969-12-31"), "t": moment("1969-12-31 23:59:59.999999")},
    (7, 5): {"dt": day("1970-01-01"), "t": moment("1970-01-01 00:00:00")},
    (7, 6): {"dt": day("2020-02-29"), "t": moment("2020-03-29 01:30:00"), "s": None, "bin": None, "st": None},
    **{(8, place): {"f": NAN, "d": NAN, "note": None} for place in range(8)},
}


def row(n: int, shift: int = 0, ts: int = 1, **given: Any) -> dict[str, Any]:
    """Row n as its `ts`-th writer leaves it. `shift` moves the values that grow, `given` replaces columns."""
    file, place = divmod(n, ROWS_A_FILE)
    m = n + shift
    at = datetime.timedelta(hours=7 * m, microseconds=123_457 * m)
    regular = {
        "id": f"k{n:03d}",
        "ts": ts,
        "ti": max(-128, min(127, 12 * file - 60 + place + shift)),
        "si": m * 10 - 300,
        "i": None if n % 17 == 4 else m * 10 - 300,
        "l": None if n % 19 == 6 else m * 10**10 - 3 * 10**11,
        "f": m * 0.5 - 20,
        "d": m * 1.25 - 50,
        "price": Decimal(m * 111 - 3333).scaleb(-2),
        "big": WIDE.multiply(Decimal(m - 40), Decimal("12345678901234567890.123456")),
        "s": None if n % 13 == 5 else "" if n % 29 == 7 else f"{WORDS[file % 12]}-{m:03d}",
        "note": f"n{m:03d}",
        "dt": day("2020-01-01") + datetime.timedelta(days=5 * m - 200),
        "t": moment("2020-01-01 00:00:00") + at,
        "tn": datetime.datetime(2020, 1, 1, 0, 30) + at,
        "b": (True, False, None, n % 2 == 0)[file % 4],
        "bin": f"b{m:03d}".encode(),
        "st": None if n % 19 == 2 else (None if n % 19 == 9 else m, f"y{m:03d}"),
        "an": None if file < 2 else m,
        "u": m,
        "w": m * 1000,
        "extra": None if n % 5 == 0 else m,
        "p": PARTITIONS[file % 4],
    }
    return {**regular, **(ODD.get((file, place), {}) if not shift else {}), **given}


def files(*numbers: int) -> list[dict[str, Any]]:
    """All rows of these files."""
    return [row(n) for number in numbers for n in range(number * ROWS_A_FILE, (number + 1) * ROWS_A_FILE)]


def columns(table_version: int, without: Iterable[str] = (), **other_types: str) -> dict[str, str]:
    """Name -> type, for a table version: only version 9 has TIMESTAMP_NTZ."""
    left_out = {*without, *(("tn",) if table_version < 9 else ())}
    return {name: other_types.get(name, kind) for name, kind in COLUMNS.items() if name not in left_out}
