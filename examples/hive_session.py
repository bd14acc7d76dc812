"""A session of HiveServer2 by PyHive: one query with and without Sargo, whose rows have to be the same.

    python hive_session.py hive.example.com 10000 lake.trips "fare > 50"

The administrator has put the jar on Hive's class path and runs a sidecar (docs/get-started/hive.md).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

from pyhive import hive


def timed(cursor: Any, statement: str) -> tuple[list[Any], float]:
    """The sorted rows of a statement, and the seconds that it took."""
    began = time.monotonic()
    cursor.execute(statement)
    return sorted(cursor.fetchall(), key=repr), time.monotonic() - began


def compare(connection: Any, table: str, condition: str) -> tuple[int, dict[str, float]]:
    """The number of rows, and the seconds with Sargo turned on and off. Raises when the rows differ."""
    statement = f"SELECT * FROM {table} WHERE {condition}"
    rows, seconds = {}, {}
    with connection.cursor() as cursor:
        for enabled in ("false", "true"):
            cursor.execute(f"SET sargo.enabled={enabled}")
            rows[enabled], seconds[enabled] = timed(cursor, statement)
    if rows["true"] != rows["false"]:
        raise RuntimeError(f"please report it: {len(rows['true'])} rows with Sargo, {len(rows['false'])} without")
    return len(rows["true"]), seconds


def main(arguments: Sequence[str]) -> None:
    """Compare, and print the result."""
    host, port, table, condition = arguments
    connection = hive.connect(host=host, port=int(port), auth="NONE")
    count, seconds = compare(connection, table, condition)
    print(f"{count} rows; {seconds['true']:.2f} s with Sargo, {seconds['false']:.2f} s without")
    print("Hive's log names a report of the answer: sargo report ID shows what was skipped, and why not more")
    connection.close()


if __name__ == "__main__":
    main(sys.argv[1:])
