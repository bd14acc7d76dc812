"""What Hive shows of timestamps of both units and of fields of structs that it declares otherwise.

``data/units.tar.xz`` holds two tables of Hudi 1.0.2, which ``write_units.py`` writes: milliseconds in ``ms``,
microseconds in ``us``, and a struct ``st`` with fields ``Xy``, ``ab``, ``n``, ``ms`` and ``us``. The readers are those
of ``declared.py``. A variant declares every column and field with one type; a field may have another letter case.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.hive.grids.asking import HiveError, Session, answers, texts
from tests.hive.grids.declared import KEY, PLAIN, conditions_on, native, through_handler
from tests.hive.server import HIVE_4, Server
from tests.hive.tables import COPY_ON_WRITE, HUDI_COLUMNS, MERGED

ARCHIVE = Path(__file__).parent / "data" / "units.tar.xz"
#: The tables with the readers of each.
READERS = {"cow": "units_cow", "vectorized": "units_cow", "merged": "units_mor"}
ROWS = 24
STORED = {
    "ms": "timestamp with local time zone",
    "us": "timestamp with local time zone",
    "st.Xy": "int",
    "st.ab": "string",
    "st.n": "int",
    "st.ms": "timestamp with local time zone",
    "st.us": "timestamp with local time zone",
}
_LOCAL = "timestamp with local time zone"


def _all(top: str, xy: str, ab: str, n: str, fields: str, name: str = "st.Xy") -> dict[str, str]:
    return {"ms": top, "us": top, name: xy, "st.ab": ab, "st.n": n, "st.ms": fields, "st.us": fields}


#: Name, as it is declared -> type. The first is what Hudi's Hive sync declares by default.
VARIANTS = (
    _all("bigint", "int", "string", "int", "bigint"),
    _all("bigint", "int", "string", "int", "bigint", name="st.xy"),
    _all("string", "int", "string", "int", "string", name="st.XY"),
    _all("timestamp", "bigint", "varchar(3)", "bigint", "timestamp", name="st.xy"),
    _all("int", "smallint", "char(3)", "smallint", "int", name="st.xy"),
    _all("double", "double", "varchar(20)", "tinyint", "double", name="st.xy"),
    _all("decimal(38,6)", "string", "int", "decimal(10,2)", "decimal(38,6)", name="st.xy"),
    _all("date", "bigint", "char(20)", "string", "date"),
    {"us": _LOCAL},
)


def unpack(home: Path) -> Path:
    """The tables, below this folder."""
    with tarfile.open(ARCHIVE) as opened:
        opened.extractall(home, filter="data")
    return home


def ask(server: Server, home: Path) -> Iterator[dict[str, Any]]:
    """What is known after each variant: reader -> name -> declared type -> {"values": by key, "conditions"}, or
    {"error": why}."""
    unpack(home)
    result: dict[str, Any] = {}
    for number, variant in enumerate(VARIANTS):
        for reader, cells in _asked(server, home, number, variant):
            for name, cell in cells.items():
                result.setdefault(reader, {}).setdefault(name, {})[variant[name]] = cell
            failed = {name: cell["error"] for name, cell in cells.items() if "error" in cell}
            print(f"{server.stack.name} {number} {reader}: {failed}", flush=True)
        yield result


def _asked(
    server: Server, home: Path, number: int, variant: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, dict[str, Any]]]]:
    fields = ", ".join(f"{name[3:]}: {of}" for name, of in variant.items() if name.startswith("st."))
    top = [f"{name} {of}" for name, of in variant.items() if not name.startswith("st.")]
    columns = ", ".join([HUDI_COLUMNS, "id string, ts bigint", *top, *([f"st struct<{fields}>"] if fields else [])])
    session, plain = Session(server), Session(server, PLAIN)
    jobs = Session(server, {**PLAIN, "hive.fetch.task.conversion": "none"})
    made = [*native(f"units_cow_{number}", columns, COPY_ON_WRITE, home / "units_cow")]
    if server.stack is HIVE_4:
        made.append(through_handler(f"units_mor_{number}", columns, home / "units_mor"))
    else:
        made += native(f"units_mor_{number}", columns, MERGED, home / "units_mor")
    try:
        for sql in made:
            session.rows(sql)
    except HiveError as error:
        for reader in READERS:
            yield reader, {name: {"error": f"not created: {error}"} for name in variant}
        return
    for reader, asked in (("cow", plain), ("merged", plain), ("vectorized", jobs)):
        table = f"{READERS[reader]}_{number}"
        shown = {name: _shown(asked, table, name) for name in variant}
        if reader != "vectorized":
            conditions = [
                (name, *found)
                for name, cell in shown.items()
                if "values" in cell
                for found in conditions_on(name, variant[name], cell["values"])
            ]
            said = answers(session, table, KEY, [sql for *_, sql in conditions])
            for name, op, constants, sql in conditions:
                shown[name].setdefault("conditions", []).append([op, constants, said[sql]])
        yield reader, shown
    for one in (session, plain, jobs):
        one.close()


def _shown(session: Session, table: str, name: str) -> dict[str, Any]:
    try:
        rows = session.rows(f"SELECT {KEY}, {name} FROM {table}")
    except HiveError as error:
        return {"error": str(error)}
    if len({row[0] for row in rows} - {None}) != ROWS:
        return {"error": "rows are lost"}
    return {"values": dict(zip([row[0] for row in rows], texts(row[1] for row in rows), strict=True))}
