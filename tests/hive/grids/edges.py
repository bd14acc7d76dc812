"""Numbers beside 2^24, 2^53 and 2^63, wall clocks beside the changes of a clock, and constants: what Hive says of them.

A condition is asked as a column of a SELECT, which gives TRUE, FALSE or NULL for each row. Some are also asked as the
WHERE of a query, and compiled: the filter that Hive hands over has its casts and folded constants in it. The texts of
constants are those of ``tests/evaluator/data/constants.json.xz`` that Sargo computes under Hive.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.conformance.hive_filters import compiled
from tests.evaluator.functions.test_constants import ANSWERS, constant_in
from tests.handler.spark.record_edges import ZONES
from tests.hive.grids.asking import HiveError, Session, answers
from tests.hive.server import HIVE_4, Server

_P24, _P53, _P63 = 1 << 24, 1 << 53, 1 << 63
NUMBERS = {"i": "int", "l": "bigint", "f": "float", "d": "double", "d20": "decimal(20,0)", "d18": "decimal(18,2)"}
MOMENTS = {"c": "timestamp", "dt": "date", "s": "string"}
_VALUES = [0, 5, _P24 - 1, _P24, _P24 + 1, _P24 + 2, _P53 - 1, _P53, _P53 + 1, _P53 + 2, -_P24 - 1, -_P53 - 1]
_VALUES += [_P63 - 1, _P63 - 512, _P63 - 513, -_P63]
_OPS = ("=", "<>", "<", "<=", ">", ">=")
_CONSTANTS_AT_ONCE = 60
#: What Hive's grammar has not: a list that holds such a text is halved until it is found.
_REFUSED = re.compile(r"interval -|left\(|dayofyear|\bweeks?\b|microsecond|millisecond|interval '?-?\d+ \w+ \d+ \w+")


def number_rows() -> list[dict[str, str | None]]:
    """The rows of the table of numbers, as texts; the last one is all NULL."""
    rows: list[dict[str, str | None]] = []
    for n in _VALUES:
        of_int = n if abs(n) < 1 << 31 else (1 << 31) - 1 if n > 0 else -(1 << 31)
        cents = f"{n}.01" if abs(n) < 10**16 else "9007199254740993.25"
        rows.append(
            {**dict.fromkeys(("l", "d20"), str(n)), "f": f"{n}.0", "d": f"{n}.0", "i": str(of_int), "d18": cents}
        )
    return [*rows, dict.fromkeys(NUMBERS)]


def moment_rows(zone: str) -> list[dict[str, str | None]]:
    """The rows of the table of wall clocks, days and texts of a zone."""
    return [
        *({"c": clock, "dt": clock[:10], "s": clock} for clock in ZONES[zone]),
        dict.fromkeys(MOMENTS),
    ]


def ask(server: Server, home: Path) -> Iterator[dict[str, Any]]:
    """What is known so far: "numbers" and zones -> condition -> letters; "selected", "filters" and "constants"."""
    result: dict[str, Any] = {}
    session = Session(server)
    make(session, home, "numbers", NUMBERS, number_rows())
    conditions = number_conditions(random.Random(18), 700)
    result["numbers"] = _letters(answers(session, "numbers", "n", conditions), len(number_rows()))
    print(f"{server.stack.name}: {len(conditions)} conditions on numbers", flush=True)
    yield result
    result["constants"] = dict(_constants(session, server))
    yield result
    for zone in ZONES:
        name = zone.partition("/")[2].lower()
        there = Session(server, {"hive.local.time.zone": zone})
        make(session, home, name, MOMENTS, moment_rows(zone))
        asked = moment_conditions(ZONES[zone], random.Random(zone))
        result[zone] = _letters(answers(there, name, "n", asked), len(moment_rows(zone)))
        print(f"{server.stack.name}: {len(asked)} conditions on moments in {zone}", flush=True)
        yield result
        there.close()
    chosen = random.Random(3).sample(conditions, 120)
    result["selected"] = selected(session, "numbers", chosen, len(number_rows()))
    yield result
    columns = ", ".join(f"{name} {of}" for name, of in NUMBERS.items())
    compiled_filters = compiled(server.stack, chosen, columns)
    result["filters"] = {sql: found["filter"] for sql, found in compiled_filters.items() if "filter" in found}
    session.close()
    yield result


def make(
    session: Session, home: Path, name: str, columns: Mapping[str, str], rows: Sequence[Mapping[str, str | None]]
) -> None:
    folder = home / name
    folder.mkdir()
    lines = [
        "\x01".join([str(n), *("\\N" if row[column] is None else str(row[column]) for column in columns)])
        for n, row in enumerate(rows)
    ]
    (folder / "rows").write_text("\n".join(lines) + "\n")
    session.rows(f"DROP TABLE IF EXISTS {name}")
    typed = ", ".join(f"{column} {of}" for column, of in columns.items())
    session.rows(f"CREATE EXTERNAL TABLE {name} (n int, {typed}) LOCATION 'file://{folder}'")


def _letters(found: Mapping[str, Any], count: int) -> dict[str, str]:
    """Condition -> a letter for each row; an error of Hive is no answer."""
    return {
        sql: "".join(by_row[n] for n in range(count)) for sql, by_row in found.items() if not isinstance(by_row, str)
    }


def selected(session: Session, table: str, conditions: Sequence[str], count: int) -> dict[str, str]:
    """Condition -> T for the rows that a query returns, "." for the others."""
    result = {}
    for sql in conditions:
        try:
            rows = {row[0] for row in session.rows(f"SELECT n FROM {table} WHERE {sql}")}
        except HiveError:
            continue
        result[sql] = "".join("T" if n in rows else "." for n in range(count))
    return result


def _constants(session: Session, server: Server) -> Iterator[tuple[str, list[str | None] | None]]:
    """Text -> [the value as text, its type], or None where Hive refuses it."""
    engine = "hive4" if server.stack is HIVE_4 else "hive3"
    texts = [text for text in ANSWERS["texts"] if constant_in(text, engine) is not None]
    texts = [text for text in texts if not _REFUSED.search(text)]
    parts = [texts[n : n + _CONSTANTS_AT_ONCE] for n in range(0, len(texts), _CONSTANTS_AT_ONCE)]
    while parts:
        part = parts.pop()
        columns = ", ".join(f"CAST(({text}) AS string)" for text in part)
        try:
            [row] = session.rows(f"SELECT {columns}")
        except HiveError as error:
            if len(part) == 1:
                yield part[0], None
                print(f"{server.stack.name} refuses {part[0]}: {error}", flush=True)
            else:
                parts += [part[: len(part) // 2], part[len(part) // 2 :]]
            continue
        yield from ((text, value) for text, value in zip(part, row, strict=True))
    print(f"{server.stack.name}: {len(texts)} constants", flush=True)


def number_conditions(draw: random.Random, count: int) -> list[str]:
    """Conditions with constants of all numeric types beside the edges."""
    conditions: dict[str, None] = {}
    while len(conditions) < count:
        column = draw.choice(list(NUMBERS))
        a, b, c = (_number(draw) for _ in range(3))
        op, target = draw.choice(_OPS), draw.choice(["double", "float", "bigint", "decimal(20,0)"])
        forms = [
            *[f"{column} IN ({a}, {b})", f"{column} NOT IN ({a}, {b})", f"{column} IN ({a}, {b}, {c})"],
            *[f"{column} BETWEEN {a} AND {b}", f"{column} NOT BETWEEN {a} AND {b}", f"{column} {op} {a}"],
            f"CASE {column} WHEN {a} THEN 1 WHEN {b} THEN 2 ELSE 3 END = {draw.choice('123')}",
            f"CASE WHEN {column} {op} {a} THEN 1 WHEN {column} = {b} THEN 2 END = {draw.choice('12')}",
            f"CASE WHEN {column} IS NULL THEN {a} ELSE {column} END {op} {b}",
            f"IF({column} {op} {a}, {column}, {b}) = {c}",
            *(f"{name}({column}, {a}) {op} {b}" for name in ("coalesce", "greatest", "least", "nvl", "nullif")),
            *[f"CAST({column} AS {target}) IN ({a}, {b})", f"CAST({column} AS {target}) {op} {a}"],
        ]
        conditions[draw.choice(forms)] = None
    return list(conditions)


def _number(draw: random.Random) -> str:
    n = draw.choice(_VALUES[:-1])
    texts = [str(n) if abs(n) < 1 << 31 else f"{n}L", f"{n}L", f"{n}.0D", f"CAST({n}.0 AS float)", f"{n}BD"]
    texts.append(draw.choice(["1.5D", "1e3", "CAST(0.5 AS float)", "1.5", "0.5BD"]))
    texts.append(draw.choice([f"{n}.5BD", f"{n}.25", "5.00000000000000000001BD", f"{n}.000000000001BD"]))
    return draw.choice([*texts, draw.choice(["NULL", "CAST(NULL AS double)", "CAST(NULL AS decimal(20,2))", "1.5D"])])


def moment_conditions(clocks: Sequence[str], draw: random.Random) -> list[str]:
    """Conditions with constants in gaps and overlaps."""
    conditions: list[str] = []
    for clock in clocks:
        literals = [f"TIMESTAMP '{clock}'", f"'{clock}'", f"DATE '{clock[:10]}'"]
        for literal in literals:
            for column in MOMENTS:
                other, day = draw.choice(clocks), draw.choice(clocks)[:10]
                conditions += [f"{column} {op} {literal}" for op in draw.sample(_OPS, 3)]
                conditions += draw.sample(
                    [
                        f"{column} IN ({literal}, TIMESTAMP '{other}')",
                        f"{column} NOT IN ({literal}, DATE '{day}')",
                        f"{column} BETWEEN {literal} AND TIMESTAMP '{other}'",
                        f"coalesce({column}, {literal}) = {literal}",
                        f"CAST({column} AS timestamp) <= {literal}",
                        f"CAST({column} AS date) = {literal}",
                    ],
                    3,
                )
    conditions += [f"{a} {op} {b}" for op in _OPS for a, b in (("c", "dt"), ("dt", "c"), ("c", "s"), ("dt", "s"))]
    return list(dict.fromkeys(conditions))
