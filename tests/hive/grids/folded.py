"""Filters with constants and moments as people write them for Hive: what it hands over for them, and what they return.

Each condition is compiled by Hive's own Driver, with its cost-based optimiser and without it. The bytes of the filter
are those that an input format gets: Hive has computed some constants in them, and others not. The same condition is
the WHERE of a query, too.

Conditions on the moment use the clock of the day on which they are asked. Their rows stand around that day.
"""

from __future__ import annotations

import datetime
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.conformance.hive_filters import compiled
from tests.hive.grids.asking import Session
from tests.hive.grids.edges import make, selected
from tests.hive.server import ROOT, Server, Stack

COLUMNS = {
    "dt": "date",
    "ts": "timestamp",
    "s": "string",
    "i": "int",
    "l": "bigint",
    "d": "double",
    "p": "decimal(10,2)",
}
_DAYS = (
    *("1993-12-31", "1994-01-01", "1994-06-30", "1994-12-31", "1995-01-01", "1995-03-05", "1995-12-31"),
    *("1998-09-01", "1998-09-02", "1998-12-01", "2020-02-28", "2020-02-29", "2020-03-31"),
)
#: Days from the day of the questions on.
_FROM_TODAY = (-800, -400, -366, -365, -92, -91, -60, -31, -30, -29, -8, -7, -6, -1, 0, 1)
#: Hours from the moment of the questions on: no row stands so near an edge that the seconds of asking matter.
_FROM_NOW = (-1, -3, -26, 5)
#: Conditions whose constants have one value.
CONSTANT = (
    "dt >= date '1994-01-01' and dt < date '1994-01-01' + interval '1' year",
    "dt between date '1994-01-01' and date '1994-01-01' + interval '1' year",
    "dt >= date '1995-01-01' - interval '1' month",
    "dt < date '1993-07-01' + interval '6' month",
    "dt <= date '1998-12-01' - interval '90' day",
    "dt <= date '1998-12-01' - interval 90 days",
    "dt < date '1994-01-01' + interval '1-2' year to month",
    "dt >= interval '1' year + date '1994-01-01'",
    "dt < interval 3 month + date '1994-10-01'",
    "dt = to_date('1994-01-01')",
    "dt >= to_date('1995-03-05 10:11:12')",
    "dt < to_date(timestamp '1995-03-05 10:11:12')",
    "dt >= cast('1995-03-05' as date)",
    "dt < cast(timestamp '1995-03-05 10:11:12' as date)",
    "dt >= date_add('1994-12-31', 1)",
    "dt >= date_add(date '1994-12-31', 1)",
    "dt < date_sub('1998-12-01', 90)",
    "dt > date_sub(cast('1998-12-01' as date), 90)",
    "dt >= add_months('1994-01-01', 12)",
    "dt >= add_months(date '2020-01-31', 1)",
    "dt < add_months(cast('1994-01-01' as date), 12)",
    "dt <= last_day('1995-03-05')",
    "dt <= last_day(date '2020-02-10')",
    "dt >= trunc('1995-03-05', 'MM')",
    "dt >= trunc('1995-03-05', 'YYYY')",
    "dt >= trunc(date '1995-03-05', 'MONTH')",
    "dt >= next_day('1995-03-05', 'MO')",
    "dt = '1994-01-01'",
    "dt >= '1994-06-30' and dt <= '1995-01-01'",
    "dt in (date '1994-01-01', date '1994-12-31' + interval '1' day)",
    "dt in (cast('1994-01-01' as date), to_date('2020-02-29'))",
    "dt not in (date_add('1993-12-31', 1), date '1998-09-02')",
    "dt >= cast(concat('1994', '-', '06', '-30') as date)",
    "dt >= concat('1994', '-06', '-30')",
    "dt > cast(from_unixtime(788918400) as date)",
    "dt >= coalesce(null, date '1998-09-02')",
    "dt >= coalesce(cast(null as date), cast('1998-09-02' as date))",
    "dt >= if(1 = 1, date '1998-09-02', date '1990-01-01')",
    "dt >= case when 2 > 1 then date '1998-09-02' else date '1990-01-01' end",
    "dt >= case 3 when 3 then date '1998-09-02' end",
    "dt >= nvl(null, date '1998-09-02')",
    "dt >= greatest(date '1994-01-01', date '1998-09-02')",
    "dt < least(date '1994-01-01', date '1998-09-02')",
    "year(dt) = 1993 + 1",
    "year(dt) between 1994 and 1994 + 1",
    "month(dt) = month(date '1995-12-31')",
    "ts >= cast('1995-03-05 00:00:00' as timestamp)",
    "ts >= cast('1995-03-05' as timestamp)",
    "ts < timestamp '1994-01-01 00:00:00' + interval '1' day",
    "ts < timestamp '1994-01-01 00:00:00' + interval '1 2:03:04' day to second",
    "ts >= timestamp '1995-03-05 12:00:00' - interval '12' hour",
    "ts > timestamp '1998-09-02 00:30:00' - interval '30' minute",
    "ts >= date '1994-01-01' + interval '1' year",
    "ts < date '1998-12-01' - interval '90' day",
    "ts >= cast(date '1995-03-05' as timestamp)",
    "ts >= to_date('1995-03-05')",
    "ts between cast('1994-01-01' as timestamp) and cast('1994-12-31' as timestamp)",
    "ts >= from_unixtime(788918400)",
    "ts >= cast(788918400 as timestamp)",
    "ts >= '1995-03-05'",
    "ts >= '1995-03-05 00:00:00'",
    "ts in (cast('1994-01-01 00:00:00' as timestamp), timestamp '1995-01-01 00:00:00')",
    "s >= concat('1995-', '03-05')",
    "s = cast(date '1995-03-05' as string)",
    "s >= cast(date_sub('1998-12-01', 90) as string)",
    "s >= date_sub('1998-12-01', 90)",
    "s >= date_format(date '1995-03-05', 'yyyy-MM-dd')",
    "s >= date_format('1995-03-05 10:11:12', 'yyyy-MM')",
    "s = substr('x1994-01-01', 2)",
    "s = trim('  1994-01-01 ')",
    "s in (concat('1994', '-01-01'), upper('2020-02-29'))",
    "s like concat('1994', '%')",
    "s = lower('1994-01-01')",
    "s >= cast(1994 + 1 as string)",
    "s = regexp_replace('1994/01/01', '/', '-')",
    "s = replace('1994/01/01', '/', '-')",
    "s >= from_unixtime(788918400, 'yyyy-MM-dd')",
    "i >= 2 * 3 + 1",
    "i = -(-5)",
    "i < 100 / 10",
    "i in (1 + 1, 2 * 2, 10 - 1)",
    "i between 1 + 1 and 3 * 3",
    "i >= cast('7' as int)",
    "i = length('abcde')",
    "i >= round(6.5)",
    "i >= floor(7.9) and i < ceil(9.1)",
    "i >= pow(2, 3)",
    "i >= abs(-8)",
    "i % 5 = 10 % 7",
    "i >= if(true, 4, 5)",
    "i = case when 'a' = 'a' then 4 else 5 end",
    "i >= pmod(-3, 10)",
    "i >= 10 div 3",
    "i >= cast(7.9 as int)",
    "l >= unix_timestamp('1995-03-05 00:00:00')",
    "l >= unix_timestamp('1995-03-05', 'yyyy-MM-dd')",
    "l < unix_timestamp(timestamp '1995-03-05 00:00:00')",
    "l >= to_unix_timestamp('1995-03-05 00:00:00')",
    "l >= 24 * 60 * 60 * 9000",
    "l >= cast('794361600' as bigint)",
    "l between 86400L * 8766 and 86400L * 9131",
    "d >= 0.06 - 0.01",
    "d between 0.06 - 0.01 and 0.06 + 0.01",
    "d >= round(3.14159, 2)",
    "d < sqrt(100)",
    "d >= pow(2, 2)",
    "d >= cast('5.5' as double)",
    "d > exp(1)",
    "d > 1 / 4",
    "p >= 0.06 - 0.01",
    "p between 5.25 - 1 and 5.25 + 1",
    "p >= cast('5.25' as decimal(10,2))",
    "p >= round(5.249, 2)",
    "p >= 10 * 0.55",
    "p in (1.25 + 1, 0.25 * 13)",
    "p > 21 / 4",
)
#: Conditions on the moment.
MOMENT = (
    "dt >= current_date - interval '7' day",
    "dt >= current_date - interval 7 days",
    "dt >= current_date() - interval '1' month",
    "dt < current_date - interval '1' year",
    "dt >= date_sub(current_date, 7)",
    "dt >= date_sub(current_date(), 30)",
    "dt < date_sub(current_date, 30)",
    "dt > date_add(current_date, -8)",
    "dt = current_date",
    "dt < current_date",
    "dt between date_sub(current_date, 30) and current_date",
    "dt >= add_months(current_date, -3)",
    "dt >= trunc(current_date, 'MM')",
    "dt >= trunc(add_months(current_date, -1), 'MM') and dt < trunc(current_date, 'MM')",
    "dt > last_day(add_months(current_date, -2))",
    "dt >= to_date(current_timestamp)",
    "dt >= date_sub(to_date(current_timestamp), 7)",
    "dt >= cast(current_timestamp as date)",
    "dt >= to_date(from_unixtime(unix_timestamp()))",
    "dt >= date_sub(from_unixtime(unix_timestamp(), 'yyyy-MM-dd'), 7)",
    "dt >= date_sub(to_date(from_unixtime(unix_timestamp())), 7)",
    "datediff(current_date, dt) <= 7",
    "datediff(current_date, dt) < 31",
    "year(dt) = year(current_date)",
    "year(dt) >= year(current_date) - 1",
    "ts > current_timestamp - interval '2' hour",
    "ts > current_timestamp - interval '1' day",
    "ts > current_timestamp() - interval 30 day",
    "ts <= current_timestamp - interval '2' hour",
    "ts >= current_date - interval '7' day",
    "ts >= date_sub(current_date, 7)",
    "ts < current_timestamp",
    "unix_timestamp(ts) > unix_timestamp() - 7200",
    "l > unix_timestamp() - 7200",
    "l >= unix_timestamp() - 7 * 24 * 60 * 60",
    "l > unix_timestamp(current_timestamp) - 7200",
    "s >= date_sub(current_date, 7)",
    "s >= cast(date_sub(current_date, 7) as string)",
    "s >= cast(current_date as string)",
    "s >= date_format(date_sub(current_date, 7), 'yyyy-MM-dd')",
    "s >= date_format(current_timestamp, 'yyyy-MM-dd')",
    "s >= from_unixtime(unix_timestamp() - 7 * 86400, 'yyyy-MM-dd')",
    "s >= concat(year(current_date), '-01-01')",
    "s >= substr(cast(current_timestamp as string), 1, 10)",
)


def rows_at(now: datetime.datetime) -> list[dict[str, str | None]]:
    """The rows of the table on the day of the questions, as texts; the last one is all NULL."""
    clocks = [datetime.datetime.fromisoformat(day) for day in _DAYS]
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    clocks += [today + datetime.timedelta(days=days) for days in _FROM_TODAY]
    clocks += [now.replace(microsecond=0) + datetime.timedelta(hours=hours) for hours in _FROM_NOW]
    rows: list[dict[str, str | None]] = [
        {
            "dt": f"{clock:%Y-%m-%d}",
            "ts": f"{clock:%Y-%m-%d %H:%M:%S}",
            "s": f"{clock:%Y-%m-%d}",
            "i": str(n % 13),
            "l": str(int(clock.replace(tzinfo=datetime.timezone.utc).timestamp())),
            "d": str(n % 13 / 2) if n % 3 else f"0.0{n % 9}",
            "p": f"{n % 8}.25" if n % 3 else f"0.0{n % 9}",
        }
        for n, clock in enumerate(clocks)
    ]
    return [*rows, dict.fromkeys(COLUMNS)]


def ask(server: Server, home: Path) -> Iterator[dict[str, Any]]:
    """What is known so far: "moment" in UTC, "selected" -> condition -> T or "." for each row; "filters" and
    "without_cbo" -> condition -> Base64 of the bytes, or what ``tests.conformance.hive_filters`` has in their place."""
    now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    result: dict[str, Any] = {"moment": now.isoformat(sep=" ")}
    session = Session(server)
    rows = rows_at(now)
    make(session, home, "folded", COLUMNS, rows)
    result["selected"] = selected(session, "folded", [*CONSTANT, *MOMENT], len(rows))
    session.close()
    print(f"{server.stack.name}: {len(result['selected'])} of {len(CONSTANT) + len(MOMENT)} queries", flush=True)
    yield result
    columns = ", ".join(f"{name} {of}" for name, of in COLUMNS.items())
    with tempfile.TemporaryDirectory(prefix="sargo-folded-") as folder:
        for name, stack in (("filters", server.stack), ("without_cbo", _without_cbo(server.stack, Path(folder)))):
            found = compiled(stack, [*CONSTANT, *MOMENT], columns)
            result[name] = {sql: of.get("filter", of) for sql, of in found.items()}
            print(f"{server.stack.name}: {sum('filter' in of for of in found.values())} {name}", flush=True)
            yield result


def _without_cbo(stack: Stack, folder: Path) -> Stack:
    """The same Hive with its cost-based optimiser off."""
    settings = ET.parse(ROOT / "hive_conf" / stack.fragment)
    item = ET.SubElement(settings.getroot(), "property")
    ET.SubElement(item, "name").text = "hive.cbo.enable"
    ET.SubElement(item, "value").text = "false"
    file = folder / stack.fragment
    settings.write(file)
    return replace(stack, fragment=str(file))
