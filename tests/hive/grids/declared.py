"""The grid declared type x stored type x operation x reader: what Hive shows of columns that it declares otherwise.

The tables are two of the conformance suite, written by Hudi 1.0.2, with one column for each stored type. For each cell
a table in Hive declares that column with another type, and each reader is asked for all values of the column:

    cow         base files, one row after the other, in HiveServer2 itself
    vectorized  base files, in a job that reads batches of rows: for the cells that ``declared_types`` knows
    merged      base files and log files: the ``_rt`` table of Hudi's Hive sync (3.1.3), a storage handler (4.0.1)

Conditions over ``cow`` and ``merged`` are made of values that were shown. Their answers are T, F, N (NULL), one letter
for each row. A reader that does not show all rows has failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from evaluator.binding.declared_types import Seen, seen
from evaluator.language.types import Type
from tests.conformance.stored_truth import unpack
from tests.hive.grids.asking import HiveError, Session, answers, texts
from tests.hive.server import HIVE_4, Server
from tests.hive.tables import COPY_ON_WRITE, HUDI_COLUMNS, MERGED, OUTPUT, SERDE

ROWS = {"cow": 94, "mor": 78}
TABLES = {"cow": "1.0.2_wide_cow", "mor": "1.0.2_wide_mor"}
#: The columns and their stored types. ``ti`` holds small integers, ``note`` some texts of 4,500 characters.
COLUMNS = {
    "ti": "int",
    "i": "int",
    "l": "bigint",
    "f": "float",
    "d": "double",
    "price": "decimal(10,2)",
    "big": "decimal(38,6)",
    "s": "string",
    "note": "string",
    "dt": "date",
    "t": "timestamp with local time zone",
    "b": "boolean",
    "bin": "binary",
}
DECLARED = (
    *("varchar(3)", "varchar(20)", "char(3)", "char(20)", "string"),
    *("bigint", "int", "smallint", "tinyint", "float", "double"),
    *("decimal(10,2)", "decimal(12,2)", "decimal(12,4)", "decimal(9,1)", "decimal(38,6)"),
    *("date", "timestamp", "timestamp with local time zone", "boolean", "binary"),
)
KEY = "`_hoodie_record_key`"
#: Plans of a plain SELECT need no optimiser.
PLAIN = {"hive.cbo.enable": "false"}


def ask(server: Server, home: Path) -> Iterator[dict[str, Any]]:
    """What is known after each declared type: reader -> column -> declared type -> {"values": by key, "conditions"}.

    A cell that failed is {"error": why}.
    """
    folders = {kind: unpack(name, home) for kind, name in TABLES.items()}
    result: dict[str, Any] = {}
    with ThreadPoolExecutor(4) as pool:
        cells = pool.map(lambda number: _asked(server, folders, number), range(len(DECLARED)))
        for declared, found in zip(DECLARED, cells, strict=True):
            for (reader, column), cell in found.items():
                result.setdefault(reader, {}).setdefault(column, {})[declared] = cell
            failed = sum("error" in cell for cell in found.values())
            print(f"{server.stack.name} {declared}: {len(found)} cells, {failed} errors", flush=True)
            yield result


def _asked(server: Server, folders: Mapping[str, Path], number: int) -> dict[tuple[str, str], dict[str, Any]]:
    """(reader, column) -> cell, for one declared type."""
    declared = DECLARED[number]
    columns = ", ".join((HUDI_COLUMNS, "id string, ts bigint", *(f"`{name}` {declared}" for name in COLUMNS)))
    session, plain = Session(server), Session(server, PLAIN)
    for sql in native(f"cow_{number}", columns, COPY_ON_WRITE, folders["cow"]):
        session.rows(sql)
    if server.stack is HIVE_4:
        session.rows(through_handler(f"merged_{number}", f"{columns}, p string", folders["mor"]))
    else:
        for sql in native(f"merged_{number}", columns, MERGED, folders["mor"]):
            session.rows(sql)
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for reader, kind in (("cow", "cow"), ("merged", "mor")):
        table = f"{reader}_{number}"
        shown = dict(_batches(plain, table, list(COLUMNS), ROWS[kind]))
        conditions = [
            (column, *asked)
            for column, cell in shown.items()
            if "values" in cell
            for asked in conditions_on(f"`{column}`", declared, cell["values"])
        ]
        said = answers(session, table, KEY, [sql for *_, sql in conditions])
        for column, op, constants, sql in conditions:
            shown[column].setdefault("conditions", []).append([op, constants, said[sql]])
        cells |= {(reader, column): cell for column, cell in shown.items()}
    session.close()
    plain.close()
    known = [name for name, of in COLUMNS.items() if _seen(declared, of) is not Seen.UNKNOWN]
    if known:
        jobs = Session(server, {**PLAIN, "hive.fetch.task.conversion": "none"})
        cells |= {("vectorized", column): cell for column, cell in _batches(jobs, f"cow_{number}", known, ROWS["cow"])}
        jobs.close()
    return cells


def _seen(declared: str, stored: str) -> Seen:
    """The tables hold timestamps in microseconds."""
    return seen(Type.parse(declared), Type.parse(stored), "micros" if stored.startswith("timestamp") else "")


def native(name: str, columns: str, input_format: str, folder: Path) -> Iterator[str]:
    """The statements that declare a partitioned table as Hudi's Hive sync does."""
    location = f"file://{folder}"
    days = sorted(path.name for path in folder.glob("p=*"))
    yield (
        f"CREATE EXTERNAL TABLE {name} ({columns}) {'PARTITIONED BY (p string)' if days else ''} "
        f"ROW FORMAT SERDE '{SERDE}' "
        f"WITH SERDEPROPERTIES ('hoodie.query.as.ro.table'='false', 'path'='{location}') "
        f"STORED AS INPUTFORMAT '{input_format}' OUTPUTFORMAT '{OUTPUT}' LOCATION '{location}'"
    )
    added = " ".join(f"PARTITION (p='{n}') LOCATION '{location}/{day}'" for n, day in enumerate(days))
    if days:
        yield f"ALTER TABLE {name} ADD {added}"


def through_handler(name: str, columns: str, folder: Path) -> str:
    """The statement that declares a table of the storage handler."""
    return (
        f"CREATE EXTERNAL TABLE {name} ({columns}) STORED BY 'io.sargo.hive.HudiStorageHandler' "
        f"LOCATION 'file://{folder}'"
    )


def _batches(session: Session, table: str, columns: list[str], count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """One query for many columns, halved where it fails."""
    try:
        rows = session.rows(f"SELECT {KEY}, {', '.join(f'`{name}`' for name in columns)} FROM {table}")
        if len({row[0] for row in rows} - {None}) != count:
            raise HiveError("rows are lost")
    except HiveError as error:
        if len(columns) == 1:
            yield columns[0], {"error": str(error)}
            return
        middle = len(columns) // 2
        yield from _batches(session, table, columns[:middle], count)
        yield from _batches(session, table, columns[middle:], count)
        return
    keys = [row[0] for row in rows]
    for number, name in enumerate(columns, 1):
        yield name, {"values": dict(zip(keys, texts(row[number] for row in rows), strict=True))}


def conditions_on(name: str, declared: str, values: Mapping[str, str | None]) -> Iterator[tuple[str, list[str], str]]:
    """(operation, constants as texts, SQL) for values that were shown of a column, named as in SQL."""
    yield "is null", [], f"{name} IS NULL"
    shown = sorted({value for value in values.values() if value is not None and _is_finite(value)})
    picked = [shown[place * (len(shown) - 1) // 4] for place in range(5)] if shown and declared != "binary" else []
    a, b, c, d, e = [*picked, *[""] * 5][:5]
    for op, constants in (
        ("=", [a]),
        ("=", [b]),
        ("<>", [c]),
        ("<", [c]),
        (">", [c]),
        (">=", [d]),
        ("in", [b, d, e]),
        ("not in", [b, c]),
        ("between", [b, c]),
        ("like", [a]),
        ("like", [b[:1] + "%"]),
        ("like", ["%" + c[-1:]]),
    ):
        if not picked or (op == "like" and not re.match("string|varchar|char", declared)):
            continue
        if declared == "boolean" and op not in ("=", "<>", "in", "not in"):
            continue
        written = [_literal(text, declared) if op != "like" else _quoted(text) for text in constants]
        yield op, constants, _sql(op, name, written)


def _is_finite(text: str) -> bool:
    return text not in ("inf", "-inf", "nan") and "\x00" not in text


def _sql(op: str, name: str, written: list[str]) -> str:
    match op:
        case "in" | "not in":
            return f"{name} {op} ({', '.join(written)})"
        case "between" | "not between":
            return f"{name} {op} {written[0]} AND {written[1]}"
        case _:
            return f"{name} {op} {written[0]}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _literal(text: str, declared: str) -> str:
    kind = declared.partition("(")[0]
    match kind:
        case "boolean" | "tinyint" | "smallint" | "int":
            return text
        case "bigint":
            return f"{text}L"
        case "double":
            return f"{text}D" if "e" not in text else f"CAST('{text}' AS double)"
        case "float" | "decimal" | "timestamp with local time zone":
            return f"CAST('{text}' AS {declared})"
        case "date" | "timestamp":
            return f"{kind} '{text}'"
        case _:
            return _quoted(text)
