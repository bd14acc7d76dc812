"""What differs between engines, as data (contract C8). Binding reads it; no rule asks which engine it serves.

``time_zone`` is the session zone in which wall-clock timestamps are meant. Hive and Spark take the zone of their
process by default, and so does ``Semantics.named(engine)``: name the zone when the query runs elsewhere.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from evaluator.errors import UnsupportedError

__all__ = ["Semantics", "process_time_zone"]


@dataclass(frozen=True, slots=True)
class Semantics:
    """The rules of one engine in one session.

    signed_zero_differs   Hive compares some doubles with Double.compare (-0.0 < 0.0), others with ``<``: either may
    hold.
                          Spark normalises: -0.0 = 0.0.
    date_hides_timestamp  Hive compares a timestamp with a date as timestamps or, in old versions, as dates.
    utc_timestamps        Hive reads Hudi's UTC instants as wall clocks of UTC or of the session zone, by version and
                          setting; Spark always uses the session zone.
    bare_date_is_null     Old Hive cannot read ``'2020-01-02'`` as a timestamp and yields NULL.
    moments_as_text       Old Hive may compare a timestamp with text as text: then ``2020-01-02 00:00:00`` is greater
                          than ``'2020-01-02'``, though the moments are equal.
    """

    engine: str
    time_zone: str
    case_sensitive: bool = False
    signed_zero_differs: bool = False
    date_hides_timestamp: bool = False
    utc_timestamps: bool = False
    bare_date_is_null: bool = False
    moments_as_text: bool = False

    @classmethod
    def named(cls, engine: str, time_zone: str | None = None) -> Semantics:
        """The semantics of ``"hive"`` or ``"spark"``. Raises UnsupportedError for another engine or an unknown zone."""
        zone = process_time_zone() if time_zone is None else time_zone
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise UnsupportedError(f"time zone {zone!r} is not known") from error
        match engine:
            case "spark":
                return cls("spark", zone)
            case "hive":
                return cls("hive", zone, signed_zero_differs=True, date_hides_timestamp=True, utc_timestamps=True,
                           bare_date_is_null=True, moments_as_text=True)
            case _:
                raise UnsupportedError(f"engine {engine!r} is not known: use hive or spark")

    @property
    def zone(self) -> str:
        """The session zone, with one name for UTC."""
        return "UTC" if self.is_utc else self.time_zone

    @property
    def is_utc(self) -> bool:
        return self.time_zone in ("UTC", "Etc/UTC", "Z", "Zulu", "Etc/Zulu", "UCT", "Etc/UCT", "Universal")


def process_time_zone() -> str:
    """The IANA name of this process's zone: TZ if it names one, else the system's setting, else UTC."""
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
