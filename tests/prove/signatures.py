"""The arguments of the functions that the evaluator decides, so that random filters use each with fitting arguments.

A word per argument; ``?`` may be left out, ``*`` may come more than once. A function without a line here fails the
run: a hole in the proof is a failure.
"""

from __future__ import annotations

__all__ = ["SIGNATURES"]

SIGNATURES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("+", "-", "*"), ("number", "number")),
    "/": ("number", "number"),
    **dict.fromkeys(("%", "mod"), ("integer", "small")),
    "pmod": ("integer", "small"),
    "div": ("integer", "small"),
    **dict.fromkeys(("&", "|", "^"), ("integer", "integer")),
    "~": ("integer",),
    **dict.fromkeys(("shiftleft", "shiftright", "shiftrightunsigned"), ("integer", "small")),
    **dict.fromkeys(("weekofyear", "yearofweek", "dayofweek", "weekday"), ("moment",)),
    **dict.fromkeys(("negative", "positive", "abs", "floor", "ceil", "ceiling", "sign", "signum"), ("number",)),
    **dict.fromkeys(("round", "bround"), ("number", "digits?")),
    **dict.fromkeys(("exp", "ln", "log", "log10", "log2", "log1p", "expm1", "sqrt"), ("number",)),
    **dict.fromkeys(("greatest", "least"), ("any", "same", "same*")),
    **dict.fromkeys(
        (
            "year",
            "quarter",
            "month",
            "day",
            "dayofmonth",
            "dayofyear",
            "hour",
            "minute",
            "second",
            "to_date",
            "to_timestamp",
            "last_day",
        ),
        ("moment",),
    ),
    **dict.fromkeys(("unix_timestamp", "to_unix_timestamp"), ("moment",)),
    **dict.fromkeys(("date_add", "date_sub"), ("moment", "small")),
    **dict.fromkeys(("unix_date", "unix_seconds", "unix_millis", "unix_micros"), ("moment",)),
    "timestamp_seconds": ("number",),
    **dict.fromkeys(("date_from_unix_date", "timestamp_millis", "timestamp_micros"), ("integer",)),
    "add_months": ("moment", "small"),
    "datediff": ("moment", "moment"),
    "trunc": ("moment", "unit"),
    "date_trunc": ("unit", "moment"),
    "date_format": ("moment", "pattern"),
    **dict.fromkeys(("from_utc_timestamp", "to_utc_timestamp"), ("moment", "zone")),
    "from_unixtime": ("integer", "pattern?"),
    **dict.fromkeys(
        ("lower", "lcase", "upper", "ucase", "initcap", "trim", "ltrim", "rtrim", "length", "hex"), ("text",)
    ),
    **dict.fromkeys(("sin", "cos", "asin", "acos", "atan", "tanh", "degrees", "radians", "cbrt"), ("number",)),
    "pow": ("number", "small"),
    **dict.fromkeys(("factorial", "bin"), ("integer",)),
    **dict.fromkeys(("md5", "sha1", "crc32", "ascii"), ("text",)),
    "sha2": ("text", "digest"),
    "months_between": ("moment", "moment"),
    "timestampdiff": ("length", "moment", "moment"),
    "next_day": ("moment", "weekday"),
    "left": ("text", "small"),
    "substring_index": ("text", "separator", "one"),
    **dict.fromkeys(("substr", "substring"), ("text", "small", "small?")),
    "concat": ("text", "text", "text*"),
    "repeat": ("text", "small"),
    **dict.fromkeys(("coalesce", "nvl", "ifnull"), ("any", "same")),
    "isnan": ("number",),
    "branches": ("any", "same", "same*"),
}
