"""``from_utc_timestamp(t, zone)`` and ``to_utc_timestamp(t, zone)``: a moment moved by the offset of a zone.

    from_utc_timestamp(t, z)   t taken for UTC, as z's clocks show it then
    to_utc_timestamp(t, z)     t taken for what z's clocks show, in UTC

Spark computes with the instant, Hive from 3 on with the wall clock. Only names of regions are decided: Java knows
abbreviations (``PST``) that others do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from zoneinfo import ZoneInfoNotFoundError

from evaluator.functions.base import Argument, RangeFunction, constant_of
from evaluator.functions.calendar import as_shown, wall_clock
from evaluator.functions.conversions import cast
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.semantics import Semantics
from evaluator.language.types import TIMESTAMP, TIMESTAMP_LTZ, Kind, Type
from evaluator.language.zones import zone_named

__all__ = ["FUNCTIONS"]


def _moment_type(types: Sequence[Type]) -> Type:
    if len(types) != 2 or not types[0].kind.is_timestamp or types[1].kind is not Kind.STRING:
        raise UnsupportedError("a timestamp of another zone is decided for timestamps and names of zones only")
    return types[0]


def _in_zone(arguments: Sequence[Argument], semantics: Semantics) -> Semantics:
    """The session in the zone that is named. Raises UnsupportedError where the zone or the engine is not decided."""
    name = constant_of(arguments[1], "a zone")
    is_instant = arguments[0].type.kind is Kind.TIMESTAMP_LTZ
    if is_instant is not semantics.functions_of_spark or (semantics.moves_by_instant and not is_instant):
        raise UnsupportedError("a timestamp of another zone is not decided for this type under this engine")
    if name != "UTC" and "/" not in name:
        raise UnsupportedError(f"the zone {name!r} is not decided: use the name of a region, such as Europe/Berlin")
    try:
        zone_named(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UnsupportedError(f"the zone {name!r} is not known") from None
    return replace(semantics, time_zone=name, utc_timestamps=False)


def _from_utc(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    there = _in_zone(arguments, semantics)
    shown = wall_clock(Argument(TIMESTAMP_LTZ, arguments[0].interval), there)
    return shown if semantics.functions_of_spark else as_shown(shown, semantics)


def _to_utc(arguments: Sequence[Argument], _: Type, semantics: Semantics) -> Interval:
    there = _in_zone(arguments, semantics)
    instants = cast(Argument(TIMESTAMP, arguments[0].interval), TIMESTAMP_LTZ, there)
    return instants if semantics.functions_of_spark else as_shown(instants, semantics)


FUNCTIONS = {
    "from_utc_timestamp": RangeFunction(_moment_type, _from_utc),
    "to_utc_timestamp": RangeFunction(_moment_type, _to_utc),
}
