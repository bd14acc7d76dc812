"""One table of one query, with the condition on it.

A filter has fields for its constants:

    {segment}                  a parameter, as text or a number
    {date}, {date + 3 month}   a date, moved by days, months or years
    {discount - 0.01}          a number, moved by a number
    {'%' word '%'}             a text of pieces

``spellings`` writes them. Where a query has more than one scan of a table, each has a name with a number: ``Q28.1``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scan:
    label: str
    table: str
    filter: str

    @property
    def query(self) -> str:
        return self.label.partition(".")[0]

    @property
    def name(self) -> str:
        return f"{self.label} {self.table}"


def scans(*rows: tuple[str, str, str]) -> tuple[Scan, ...]:
    return tuple(Scan(label, table, " ".join(condition.split())) for label, table, condition in rows)
