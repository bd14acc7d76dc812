"""Time zones as Spark names them, which is as Java does, by names that ``evaluator.language.zones`` takes.

Java                                  here
====================================  ====================================
America/New_York                      the same
Z, UTC, GMT, UTC+0                    UTC
+8, +08:00, UTC+8, GMT+08:00          +08:00
PST, IST, ... (Java's short names)    America/Los_Angeles, Asia/Kolkata, ...
Etc/UTC, Zulu, Etc/GMT+5, ...         UTC, -05:00, ...
"""

from __future__ import annotations

import re

from evaluator.language.zones import offset_parts

__all__ = ["zone_of_java"]

#: Greenwich, by all its names; most of them are names in ``Etc``, too.
_UTC = frozenset(("Z", "UTC", "GMT", "UT", "UCT", "Universal", "Zulu", "Greenwich", "GMT0", "GMT+0", "GMT-0"))
#: The signs of these are the other way round.
_ETC = re.compile(r"Etc/GMT([+-])([1-9]|1[0-4])")
#: Java's short names: ``java.time.ZoneId.SHORT_IDS``.
_SHORT_NAMES = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "-05:00",
    "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "-07:00",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}


def zone_of_java(name: str) -> str:
    """The name that ``zone_named`` takes for a zone of Java; one that it takes already stays as it is.

    >>> zone_of_java("GMT+8"), zone_of_java("PST"), zone_of_java("+08:00"), zone_of_java("Europe/Paris")
    ('+08:00', 'America/Los_Angeles', '+08:00', 'Europe/Paris')
    """
    if name in _UTC or name.removeprefix("Etc/") in _UTC:
        return "UTC"
    if west := _ETC.fullmatch(name):
        return f"{'-' if west[1] == '+' else '+'}{int(west[2]):02}:00"
    if parts := offset_parts(name):
        sign, hours, minutes, seconds = parts
        if not (hours or minutes or seconds):
            return "UTC"
        return f"{sign}{hours:02}:{minutes:02}" + (f":{seconds:02}" if seconds else "")
    return _SHORT_NAMES.get(name, name)
