"""The differences between engines, as data (contract C8). Binding reads the flags; no rule tests for an engine.

``time_zone`` is the session zone of wall-clock timestamps. Hive and Spark default to the zone of their process, and so
does ``Semantics.named(engine)``. Name the zone when the query runs in another process.
"""

from __future__ import annotations

import functools
import os
from dataclasses import KW_ONLY, replace
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from evaluator.language.clock import Clock
from evaluator.language.errors import UnsupportedError
from evaluator.language.records import frozen
from evaluator.language.zones import zone_named

__all__ = ["ENGINES", "Semantics", "process_time_zone"]


@frozen(slots=False)
class Semantics:
    """The rules of one engine in one session. A flag that is set where the version is not known means "may".

    Each flag is tested against the answers of real Hive 3.1.3, Hive 4.0.1 and Spark 3.5.5 (``tests/evaluator/data``).

    In ANSI mode an overflow, a bad cast or a division by zero fails the query. Such a row has no value, and the user
    expects the error: a condition that may raise it in a slice is unknown there, and keeps the slice. Only another
    condition that is ANDed to it may skip the slice, as in Spark's own pushdown. The rules of ANSI mode are therefore
    those of NULL, and ``spark-ansi`` and ``spark-legacy`` share their flags, but for text that cannot be read.
    ``spark-try`` is for users who would rather skip the slice: a text that cannot be read is NULL in it.

    Comparisons:

    signed_zero_differs         Hive 2 compares some doubles with Double.compare (-0.0 < 0.0).
    zeros_differ_in_lists       Hive looks up a double of an IN list by its bits: -0.0 is not in (0.0).
    binary_lists_fail           Hive 3 finds no binary value in an IN list, and so all of them NOT IN it.
    lists_take_column_type      Hive 3 converts the members of an IN list to the column's type: a timestamp among dates
                                loses its time, and a double beyond the range of an int is the greatest int.
    constants_take_column_type  Hive may round a double constant to the type of a float column, and reads the digits
                                of a float constant anew for a double column.
    decimals_meet_in_38_digits  Spark compares decimals of two types, or a decimal and an integer, in a type of 38
                                digits that has the larger scale. A number that does not fit is NULL, or an error.
    decimals_may_be_null        Hive's comparison with a decimal of 38 digits, unless it is a shorter number and both
                                sides have one type, or of a decimal with a double that no decimal holds, may be NULL.
    between_is_one_test         Hive's BETWEEN converts both bounds before it compares: see ``binding.between``.
    nullif_converts             Hive's nullif casts its second argument to the type of the first one, and may cut it.
    text_takes_column_type      Spark casts a text that is compared with an integer to that integer type, and to NULL
                                (or an error) when it does not fit; Hive compares both as doubles.

    Dates and timestamps:

    date_hides_timestamp        Hive 2 compares a timestamp with a date as dates.
    utc_timestamps              Hive reads Hudi's UTC instants as wall clocks of UTC or of the session zone, by version
                                and setting; Spark always uses the session zone.
    bare_date_is_null           Hive 2 cannot read ``'2020-01-02'`` as a timestamp and yields NULL.
    moments_as_text             Hive 2 may compare a timestamp with text as text: then ``2020-01-02 00:00:00`` is
                                greater than ``'2020-01-02'``, though the moments are equal.
    dates_from_any_text         A text that is compared with a date is read up to its day: ``'2020-1-2 12:00'`` is
                                2020-01-02.
    micros_only                 Spark drops the digits of a timestamp constant below the microsecond.

    fields_may_shift            Hudi's readers in Hive 3.1 may show another field of a struct in a query that reads a
                                timestamp, too.

    Casts:

    wide_decimals_vanish        Hive casts a decimal to double, float or boolean by way of decimal(38,18).
    doubles_may_not_fit         Hive's decimal of a double may be NULL (of 4.9E-324, say).
    floats_may_keep_doubles     Hive's vectorized ``CAST(double AS FLOAT)`` does not round.
    floats_cast_by_text         Hive's decimal of a float has the float's shortest digits: 9007199300000000 for 2^53.
                                Spark takes it by way of double.
    longs_round_by_double       Hive's ceil and floor of a bigint go by way of double: floor(2^53 + 1) is 2^53.
    doubles_round_by_long       Hive's vectorized round makes 2^63 of every double beyond.
    long_tests_wrap             Hive 3's vectorized comparison of bigints subtracts where its result is a value, as in
                                IF and CASE: -2^63 > 1 is TRUE.
    days_truncate_as_millis     Hive 4's vectorized trunc takes the days of a date for milliseconds: it makes 1970-01-01
                                of 2020-02-29.
    seconds_are_rough           Hive's ``CAST(timestamp AS DOUBLE)`` may lose the digits below the millisecond.

    Constants (``evaluator.functions.constants``):

    casts_may_vanish            Hive 3.1 takes a constant for one that its cast to another numeric type gives:
                                ``i >= CAST(7.9 AS INT)`` is ``i >= 7.9``.
    null_tests_see_columns      Hive's optimiser may test columns for NULL instead of what a cast or arithmetic makes of
                                them.
    dates_count_days            Spark adds a number to a date as days, and a date moved by whole days is a date. In Hive
                                it is a timestamp.
    dates_may_lose_hours        Spark moves a date by hours to a timestamp, or cuts the hours off: a setting
                                (``spark.sql.legacy.interval.enabled``) decides.
    moves_by_instant            Spark and Hive 2 move a timestamp by an interval as an instant of the session zone. From
                                Hive 3 on a timestamp is a wall clock.
    days_keep_wall_clock        Spark moves an instant by months and by whole days to the same wall clock.
    dates_move_by_instant       Hive 2 moves a date by months as the instant of its midnight.
    last_days_stay              Hive's add_months keeps the last day of a month the last day.
    lists_meet_as_text          Spark without ANSI mode compares a text with a list of integers as text: s IN (9, 10).
    lists_read_texts            A text is in a list of numbers or days in Spark's ANSI mode, and in Hive 3 and 4, where
                                its double or its date is, and in Hive 3 without the optimiser where the text itself is.
    dates_of_any_number         Hive 3 reads a date of any two digits: '2020-13-00' is the day before 2021-01-01.
    unreadable_text_is_null     A constant text that is no number or date is NULL beside one in Spark without ANSI mode.
    unreadable_rows_are_null    So is a text of a column, and in Hive 3 and 4, too. Beside a constant text these Hives
                                say FALSE or NULL, by version and operator.
    values_from_paths           Hudi's reader in Spark takes the values of partition columns from the paths of
                                partitions, whatever the files hold.
    functions_of_spark          make_date, to_date and to_timestamp with a pattern are Spark's own functions.

    ``clock`` is what is known of the moment at which the query runs; None: nothing is.
    """

    engine: str
    time_zone: str
    _: KW_ONLY
    case_sensitive: bool = False
    signed_zero_differs: bool = False
    zeros_differ_in_lists: bool = False
    binary_lists_fail: bool = False
    lists_take_column_type: bool = False
    constants_take_column_type: bool = False
    decimals_meet_in_38_digits: bool = False
    decimals_may_be_null: bool = False
    between_is_one_test: bool = False
    nullif_converts: bool = False
    text_takes_column_type: bool = False
    date_hides_timestamp: bool = False
    utc_timestamps: bool = False
    bare_date_is_null: bool = False
    moments_as_text: bool = False
    dates_from_any_text: bool = False
    micros_only: bool = False
    fields_may_shift: bool = False
    wide_decimals_vanish: bool = False
    doubles_may_not_fit: bool = False
    floats_may_keep_doubles: bool = False
    floats_cast_by_text: bool = False
    longs_round_by_double: bool = False
    doubles_round_by_long: bool = False
    long_tests_wrap: bool = False
    days_truncate_as_millis: bool = False
    seconds_are_rough: bool = False
    casts_may_vanish: bool = False
    null_tests_see_columns: bool = False
    dates_count_days: bool = False
    dates_may_lose_hours: bool = False
    moves_by_instant: bool = False
    days_keep_wall_clock: bool = False
    dates_move_by_instant: bool = False
    last_days_stay: bool = False
    functions_of_spark: bool = False
    lists_meet_as_text: bool = False
    lists_read_texts: bool = False
    dates_of_any_number: bool = False
    unreadable_text_is_null: bool = False
    unreadable_rows_are_null: bool = False
    values_from_paths: bool = False
    clock: Clock | None = None

    def of_constants(self) -> Semantics:
        """The rules for functions of constants, which no engine computes in batches."""
        return replace(self, days_truncate_as_millis=False) if self.days_truncate_as_millis else self

    @classmethod
    def named(cls, engine: str, time_zone: str | None = None) -> Semantics:
        """The semantics of an engine: one of ``ENGINES``. Raises UnsupportedError for another name or an unknown zone.

        ``hive`` and ``spark`` hold for every version and setting; the others are tighter: ``hive3`` (3.1), ``hive4``,
        ``spark-ansi`` and ``spark-legacy`` (``spark.sql.ansi.enabled`` true and false). ``spark-try`` is ``spark-ansi``
        for the rows that are no error: a text that is no date is NULL, as in ``try_cast``.
        """
        return _named(engine, process_time_zone() if time_zone is None else time_zone)

    def at(self, clock: Clock | None) -> Semantics:
        """The same rules for a query that runs at a moment."""
        if clock is None:
            return self
        moved = object.__new__(Semantics)
        vars(moved).update(vars(self), clock=clock)  # a tenth of what replace() takes, for each query
        return moved

    @property
    def zone(self) -> str:
        """The session zone, with one name for UTC."""
        return "UTC" if self.is_utc else self.time_zone

    @property
    def known_casts(self) -> bool:
        """Whether a function is known to read an argument of another type as a cast does: in Spark, Hive 3 and 4."""
        return self.functions_of_spark or self.unreadable_rows_are_null

    @property
    def is_utc(self) -> bool:
        return self.time_zone in ("UTC", "Etc/UTC", "Z", "Zulu", "Etc/Zulu", "UCT", "Etc/UCT", "Universal")


@functools.lru_cache(64)
def _named(engine: str, zone: str) -> Semantics:
    try:
        zone_named(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UnsupportedError(f"time zone {zone!r} is not known") from error
    if engine not in _FLAGS:
        raise UnsupportedError(f"engine {engine!r} is not known: use {', '.join(ENGINES)}")
    flags: dict[str, Any] = dict.fromkeys(_FLAGS[engine], True)
    return Semantics(engine.partition("-")[0].rstrip("34"), zone, **flags)


def process_time_zone() -> str:
    """The IANA name of this process's zone: TZ if that is one, else the system's setting, else UTC."""
    for candidate in (os.environ.get("TZ", "").lstrip(":"), _system_zone()):
        if candidate:
            try:
                ZoneInfo(candidate)
            except (ZoneInfoNotFoundError, ValueError, OSError):
                continue
            return candidate
    return "UTC"


def _system_zone() -> str:
    try:
        target = os.readlink("/etc/localtime")
    except OSError:
        return ""
    return target.rpartition("zoneinfo/")[2]


_HIVE = (
    "zeros_differ_in_lists",
    "constants_take_column_type",
    "decimals_may_be_null",
    "between_is_one_test",
    "nullif_converts",
    "utc_timestamps",
    "fields_may_shift",
    "wide_decimals_vanish",
    "doubles_may_not_fit",
    "floats_may_keep_doubles",
    "floats_cast_by_text",
    "longs_round_by_double",
    "doubles_round_by_long",
    "last_days_stay",
    "null_tests_see_columns",
)
_SPARK = (
    "decimals_meet_in_38_digits",
    "text_takes_column_type",
    "dates_from_any_text",
    "micros_only",
    "dates_count_days",
    "dates_may_lose_hours",
    "moves_by_instant",
    "days_keep_wall_clock",
    "functions_of_spark",
    "values_from_paths",
)
_FLAGS: dict[str, tuple[str, ...]] = {
    "hive": (
        *_HIVE,
        "signed_zero_differs",
        "long_tests_wrap",
        "days_truncate_as_millis",
        "binary_lists_fail",
        "lists_take_column_type",
        "date_hides_timestamp",
        "bare_date_is_null",
        "moments_as_text",
        "seconds_are_rough",
        "moves_by_instant",
        "dates_move_by_instant",
        "casts_may_vanish",
    ),
    "hive3": (
        *_HIVE,
        "casts_may_vanish",
        "long_tests_wrap",
        "binary_lists_fail",
        "lists_take_column_type",
        "dates_from_any_text",
        "dates_of_any_number",
        "lists_read_texts",
        "unreadable_rows_are_null",
    ),
    "hive4": (
        *_HIVE,
        "days_truncate_as_millis",
        "dates_from_any_text",
        "seconds_are_rough",
        "lists_read_texts",
        "unreadable_rows_are_null",
    ),
    "spark": _SPARK,
    "spark-ansi": _SPARK,
    "spark-try": (*_SPARK, "lists_read_texts", "unreadable_rows_are_null"),
    "spark-legacy": (*_SPARK, "lists_meet_as_text", "unreadable_text_is_null", "unreadable_rows_are_null"),
}
#: The names that ``Semantics.named`` knows.
ENGINES = tuple(_FLAGS)
