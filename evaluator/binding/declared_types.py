"""What a filter sees of a column whose declared type is not the stored one (contract C11): one table.

A table in Hive declares types of its own for Hudi's columns. Where they differ, Hive's reader may change a value before
the filter sees it, and statistics hold the stored value. Readers differ, too: those of base files alone and those that
merge log files convert in different ways. A pair decides something only where every reader that returns a value
returns one that is known here:

    declared               stored                    seen
    ---------------------  ------------------------  --------------------------------------------------------------
    none, the same type    any type                  the stored value
    string                 varchar(m)                the stored value
    varchar(n)             varchar(m), m <= n        the stored value
    varchar(n)             string; varchar(m), m > n the stored text or its first n characters, by reader
    char(n)                char(m), varchar(m),      the stored value: comparisons of CHAR allow for padding (P15)
                           m <= n
    char(n)                string; varchar(m), m > n the stored text or its first n characters, by reader
    bigint, int, smallint  an integer of fewer bits  the stored value
    decimal(p, s)          decimal(q, s), q <= p     the stored value
    bigint                 timestamp with local      the number in the file: the instant in milliseconds or
                           time zone                 microseconds, as the table's schema counts it
    timestamp              timestamp with local      the stored instant, its milliseconds, or NULL, by reader, as a
                           time zone                 wall clock of the zones that ``Semantics.utc_timestamps`` says
    anything else          anything else             not known: the condition is undecided

Among the last are a smaller integer (wraps, or is NULL), float for double (rounds), double for float (exact or by its
digits), another scale (read as it is stored, or rounded), date for timestamp and text for anything. Even ``IS NULL`` is
undecided for them, since what does not fit may become NULL.

The first n characters of a text are not above the text, and rise with it. So bounds ``'e00012'`` to ``'e00099'`` of a
``varchar(3)`` contain what every reader sees when the lower one is cut: ``'e00'`` to ``'e00099'``. A truncated column
is a function of the stored one: its keys are looked up in no index.

Hudi's reader of base files shows such a timestamp as NULL, and that of log files its milliseconds. What real Hive shows
for each row of each pair is recorded: ``tests/handler/planning/hive/test_hive_declared_types.py``.

The fields of a struct have names of their own. A field that is stored in another letter case than it is declared may be
read as NULL: it is undecided. So is, in Hive, every field in a table with a timestamp: where a query reads one that is
declared so, Hive 3.1.3 shows the first field of the struct for ``st.ab``. Hive has no table of Parquet files with
``timestamp with local time zone``.

Pitfall P15 is described in docs/facts/pitfalls.md#p15.
"""

from __future__ import annotations

import enum

from evaluator.language.types import Kind, Type

__all__ = ["NUMBERS", "Seen", "seen"]

#: How many microseconds one is, of the units in which files count timestamps.
NUMBERS = {"micros": 1, "millis": 1_000}


class Seen(enum.Enum):
    """What a filter sees of a column: its stored ``VALUE``, or it or less of it, or what is ``UNKNOWN``."""

    VALUE = "the stored value"
    PREFIX = "the stored text or its first characters"
    NUMBER = "the number that the file holds"
    MOMENT = "the stored instant, its milliseconds, or NULL"
    UNKNOWN = "not known"


def seen(declared: Type | None, stored: Type, unit: str = "") -> Seen:
    """The row of the table above for a declared and a stored type. ``None`` is a column without a declared type.

    ``unit``: of a stored timestamp, what its numbers in the files count (``Field.unit``).
    """
    if declared is None or declared == stored:
        return Seen.VALUE
    match declared.kind, stored.kind:
        case Kind.STRING, Kind.VARCHAR:
            return Seen.VALUE
        case (Kind.VARCHAR, Kind.VARCHAR) | (Kind.CHAR, Kind.CHAR | Kind.VARCHAR) if (
            stored.precision <= declared.precision
        ):
            return Seen.VALUE
        case Kind.VARCHAR | Kind.CHAR, Kind.STRING | Kind.VARCHAR:
            return Seen.PREFIX
        case (wide, narrow) if wide.is_integer and narrow.is_integer and _holds(declared, stored):
            return Seen.VALUE
        case Kind.DECIMAL, Kind.DECIMAL if declared.scale == stored.scale and declared.precision >= stored.precision:
            return Seen.VALUE
        case Kind.BIGINT, Kind.TIMESTAMP_LTZ if unit in NUMBERS:
            return Seen.NUMBER
        case Kind.TIMESTAMP, Kind.TIMESTAMP_LTZ:
            return Seen.MOMENT
        case _:
            return Seen.UNKNOWN


def _holds(declared: Type, stored: Type) -> bool:
    return declared.integer_range()[1] >= stored.integer_range()[1]
