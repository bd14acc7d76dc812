"""Writes the tables of timestamps in two units anew, with real Hudi: ``python -m tests.hive.grids.write_units FOLDER``.

    units_cow, units_mor    Hudi 1.0.2: ``ms`` and ``us`` by a schema of milliseconds and of microseconds   units.py
    footer_RELEASE          a bulk insert of milliseconds under a schema of microseconds                    P14

Runs with the Python that has Spark 3.5. ``tests/hive/grids/data/units.tar.xz`` holds the former,
``tests/handler/data/millis_under_micros.tar.xz`` the latter. The schema of ``units`` is given with
``hoodie.write.schema``, as Flink and streaming sources give it: Spark has no timestamp of milliseconds.

Pitfall P14 is described in docs/facts/pitfalls.md#p14.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.tables.releases import PYTHON, RELEASES, ROOT, session
from tests.tables.writer import _options

_FIRST = 1_700_000_000
_UNITS = "id string, ts bigint, ms bigint, us bigint, st struct<Xy:int,ab:string,n:int,ms:bigint,us:bigint>"


def _schema(name: str) -> str:
    moments = {unit: {"type": "long", "logicalType": f"timestamp-{unit}"} for unit in ("millis", "micros")}
    ms, us = moments["millis"], moments["micros"]

    def fields(**types: Any) -> list[dict[str, Any]]:
        return [{"name": name, "type": ["null", of], "default": None} for name, of in types.items()]

    inside = fields(Xy="int", ab="string", n="int", ms=ms, us=us)
    struct = {"type": "record", "name": "st", "namespace": f"hoodie.{name}.{name}_record", "fields": inside}
    columns = fields(id="string", ts="long", ms=ms, us=us, st=struct)
    return json.dumps({"type": "record", "name": f"{name}_record", "namespace": f"hoodie.{name}", "fields": columns})


def _rows(first: int, last: int, shift: int = 0, ts: int = 1) -> Iterator[tuple[Any, ...]]:
    for n in range(first, last):
        us = _FIRST * 1_000_000 + (n + shift) * 3_600_000_123 if n % 7 else None
        us = -1_234_567 if n == 5 else us
        ms = None if us is None else us // 1000
        yield f"k{n:02d}", ts, ms, us, None if n % 5 == 4 else (n + shift, f"t{n:02d}x", n - 3, ms, us)


def write(release: str, folder: Path) -> None:
    """The tables of a release."""
    spark = session(RELEASES[release], folder)

    def commit(name: str, operation: str, rows: list[Any], columns: str, mor: bool = False, **more: str) -> None:
        frame = spark.createDataFrame(rows, columns).coalesce(1)
        options = {
            **_options(name, mor, None, frozenset(["col"])),
            "hoodie.datasource.write.operation": operation,
            "hoodie.metadata.index.column.stats.column.list": ",".join(
                {"id", "ts", "ms", "us", "t"} & {*frame.columns}
            ),
            **{key.replace("__", "."): value for key, value in more.items()},
        }
        frame.write.format("hudi").options(**options).mode("append").save(str(folder / name))

    for name, mor in (("units_cow", False), ("units_mor", True)) if release == "1.0.2" else ():
        for first in (0, 8, 16):
            commit(name, "insert", [*_rows(first, first + 8)], _UNITS, mor, hoodie__write__schema=_schema(name))
        commit(name, "upsert", [*_rows(8, 11, 100, 2)], _UNITS, mor, hoodie__write__schema=_schema(name))
    hours = [datetime.datetime.fromtimestamp(_FIRST + 3600 * n, datetime.timezone.utc) for n in range(16)]
    for first in (0, 8):
        rows = [(f"k{n}", 1, hours[n]) for n in range(first, first + 8)]
        unit = {"hoodie__parquet__outputtimestamptype": "TIMESTAMP_MILLIS"}
        commit(f"footer_{release}", "bulk_insert", rows, "id string, ts bigint, t timestamp", **unit)
    spark.stop()


def main(folder: str, release: str = "") -> None:
    if release:
        write(release, Path(folder).resolve())
        return
    for name, of in RELEASES.items():
        of.fetch()
        subprocess.run([str(PYTHON), "-m", "tests.hive.grids.write_units", folder, name], cwd=ROOT, check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
