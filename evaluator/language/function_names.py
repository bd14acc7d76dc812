"""Names of functions and operators, once for all front ends (contract C8: engines are data).

A filter arrives as SQL text, as Catalyst's tree or as Hive's tree. Each names a function in its own way; this table
maps every spelling to the one name that ``evaluator.functions`` decides by:

    name         SQL text                Catalyst      Hive
    lower        lower, lcase            Lower         GenericUDFLower (by rule: lower-case class without its prefix)
    substring    substring, substr       Substring     UDFSubstr (as "substr")
    %            a % b, mod(a, b)        Remainder     GenericUDFOPMod

A function without a row keeps the name under which it arrives. CONTRIBUTING.md lists what a new function needs beside
its row.

Sources: ``org.apache.hadoop.hive.ql.exec.FunctionRegistry``,
``org.apache.spark.sql.catalyst.analysis.FunctionRegistry``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY

from evaluator.language.records import record

__all__ = [
    "CATALYST_COMPARISONS",
    "CATALYST_FUNCTIONS",
    "COMPARISONS",
    "FUNCTION_NAMES",
    "HIVE_COMPARISONS",
    "HIVE_FUNCTIONS",
    "KEY_NAMES",
    "MIRRORED",
    "SQL_COMPARISONS",
    "SQL_OPERATORS",
    "SQL_SYNONYMS",
    "SYNONYMS",
    "WITHOUT_PARENTHESES",
    "Comparison",
    "FunctionName",
    "spellings",
]


@record
class Comparison:
    """A comparison operator. ``a op b`` is ``b mirrored a``; the rest are the class names of sqlglot and the
    engines.
    """

    op: str
    mirrored: str
    sql: str
    catalyst: str
    hive: str


COMPARISONS = (
    Comparison("=", "=", "EQ", "EqualTo", "GenericUDFOPEqual"),
    Comparison("!=", "!=", "NEQ", "", "GenericUDFOPNotEqual"),
    Comparison("<=>", "<=>", "NullSafeEQ", "EqualNullSafe", "GenericUDFOPEqualNS"),
    Comparison("<", ">", "LT", "LessThan", "GenericUDFOPLessThan"),
    Comparison("<=", ">=", "LTE", "LessThanOrEqual", "GenericUDFOPEqualOrLessThan"),
    Comparison(">", "<", "GT", "GreaterThan", "GenericUDFOPGreaterThan"),
    Comparison(">=", "<=", "GTE", "GreaterThanOrEqual", "GenericUDFOPEqualOrGreaterThan"),
)


@record
class FunctionName:
    """One function under all its names.

    name             the name by which it is decided and shown
    synonyms         further names that mean it wherever they come from
    text_synonyms    further names that mean it in SQL text only
    sql              sqlglot's class, for an operator between two values
    catalyst         Catalyst's classes
    hive             Hive's classes that do not follow the rule (``sarg.translation.function_names``)
    hive_name        the name that Hive's classes get, where a filter of Hive shows another than ``name``
    key_name         the name in canonical keys, which stand in own indexes on disk, where it is another than ``name``
    """

    name: str
    _: KW_ONLY
    synonyms: tuple[str, ...] = ()
    text_synonyms: tuple[str, ...] = ()
    sql: str = ""
    catalyst: tuple[str, ...] = ()
    hive: tuple[str, ...] = ()
    hive_name: str = ""
    key_name: str = ""


FUNCTION_NAMES = (
    # operators
    FunctionName(
        "+",
        sql="Add",
        catalyst=("Add",),
        hive=("GenericUDFOPPlus", "GenericUDFOPNumericPlus", "GenericUDFOPDTIPlus"),
    ),
    FunctionName(
        "-",
        sql="Sub",
        catalyst=("Subtract",),
        hive=("GenericUDFOPMinus", "GenericUDFOPNumericMinus", "GenericUDFOPDTIMinus"),
    ),
    FunctionName("*", sql="Mul", catalyst=("Multiply",), hive=("GenericUDFOPMultiply",)),
    FunctionName("/", sql="Div", catalyst=("Divide",), hive=("GenericUDFOPDivide",)),
    FunctionName("%", synonyms=("mod",), sql="Mod", catalyst=("Remainder",), hive=("GenericUDFOPMod",)),
    FunctionName("div", sql="IntDiv", catalyst=("IntegralDivide",), hive=("UDFOPLongDivide",)),
    FunctionName("pmod", catalyst=("Pmod",), hive=("GenericUDFPosMod",)),
    FunctionName("negative", catalyst=("UnaryMinus",), hive=("GenericUDFOPNegative",)),
    FunctionName("positive", catalyst=("UnaryPositive",), hive=("GenericUDFOPPositive",)),
    FunctionName("&", sql="BitwiseAnd", catalyst=("BitwiseAnd",), hive=("UDFOPBitAnd",)),
    FunctionName("|", sql="BitwiseOr", catalyst=("BitwiseOr",), hive=("UDFOPBitOr",)),
    FunctionName("^", sql="BitwiseXor", catalyst=("BitwiseXor",), hive=("UDFOPBitXor",)),
    FunctionName("~", catalyst=("BitwiseNot",), hive=("UDFOPBitNot",)),
    FunctionName("shiftleft", catalyst=("ShiftLeft",), hive=("UDFOPBitShiftLeft",)),
    FunctionName("shiftright", catalyst=("ShiftRight",), hive=("UDFOPBitShiftRight",)),
    FunctionName("shiftrightunsigned", catalyst=("ShiftRightUnsigned",), hive=("UDFOPBitShiftRightUnsigned",)),
    # numbers
    FunctionName("abs", catalyst=("Abs",)),
    FunctionName("floor", catalyst=("Floor",)),
    FunctionName("ceil", synonyms=("ceiling",), catalyst=("Ceil",)),
    FunctionName("round", catalyst=("Round",)),
    FunctionName("bround", catalyst=("BRound",)),
    FunctionName("exp", catalyst=("Exp",)),
    FunctionName("ln", catalyst=("Log",)),
    FunctionName("log10", catalyst=("Log10",)),
    FunctionName("log2", catalyst=("Log2",)),
    FunctionName("log1p", catalyst=("Log1p",)),
    FunctionName("expm1", catalyst=("Expm1",)),
    FunctionName("sqrt", catalyst=("Sqrt",)),
    FunctionName("sign", synonyms=("signum",), catalyst=("Signum",)),
    FunctionName("pow", text_synonyms=("power",), catalyst=("Pow",), hive=("GenericUDFPower",)),
    FunctionName("cbrt", catalyst=("Cbrt",)),
    FunctionName("sin", catalyst=("Sin",)),
    FunctionName("cos", catalyst=("Cos",)),
    FunctionName("asin", catalyst=("Asin",)),
    FunctionName("acos", catalyst=("Acos",)),
    FunctionName("atan", catalyst=("Atan",)),
    FunctionName("tanh", catalyst=("Tanh",)),
    FunctionName("degrees", catalyst=("ToDegrees",)),
    FunctionName("radians", catalyst=("ToRadians",)),
    FunctionName("factorial", catalyst=("Factorial",)),
    FunctionName("greatest", catalyst=("Greatest",)),
    FunctionName("least", catalyst=("Least",)),
    FunctionName("isnan", catalyst=("IsNaN",)),
    FunctionName("coalesce", synonyms=("nvl", "ifnull"), catalyst=("Coalesce",)),
    # dates and timestamps
    FunctionName("year", catalyst=("Year",)),
    FunctionName("quarter", catalyst=("Quarter",)),
    FunctionName("month", catalyst=("Month",)),
    FunctionName("day", synonyms=("dayofmonth",), catalyst=("DayOfMonth",), hive=("UDFDayOfMonth",)),
    FunctionName("dayofyear", catalyst=("DayOfYear",)),
    FunctionName("weekofyear", catalyst=("WeekOfYear",)),
    FunctionName("yearofweek", catalyst=("YearOfWeek",)),
    FunctionName("dayofweek", catalyst=("DayOfWeek",)),
    FunctionName("weekday", catalyst=("WeekDay",)),
    FunctionName("hour", catalyst=("Hour",)),
    FunctionName("minute", catalyst=("Minute",)),
    FunctionName("second", catalyst=("Second",)),
    FunctionName("date_add", text_synonyms=("dateadd",), catalyst=("DateAdd",), hive=("GenericUDFDateAdd",)),
    FunctionName("date_sub", catalyst=("DateSub",), hive=("GenericUDFDateSub",)),
    FunctionName("datediff", text_synonyms=("date_diff",), catalyst=("DateDiff",)),
    FunctionName("add_months", catalyst=("AddMonths",), hive=("GenericUDFAddMonths",)),
    FunctionName("last_day", catalyst=("LastDay",), hive=("GenericUDFLastDay",)),
    FunctionName("make_date", catalyst=("MakeDate",)),
    FunctionName("make_timestamp", catalyst=("MakeTimestamp",)),
    FunctionName("make_interval", catalyst=("MakeInterval",)),
    FunctionName("make_dt_interval", catalyst=("MakeDTInterval",)),
    FunctionName("make_ym_interval", catalyst=("MakeYMInterval",)),
    FunctionName("next_day", catalyst=("NextDay",), hive=("GenericUDFNextDay",)),
    FunctionName("months_between", catalyst=("MonthsBetween",), hive=("GenericUDFMonthsBetween",)),
    FunctionName("to_date", catalyst=("ParseToDate",), hive=("GenericUDFDate",)),
    FunctionName("to_timestamp", catalyst=("ParseToTimestamp", "GetTimestamp")),
    FunctionName("trunc", catalyst=("TruncDate",)),
    FunctionName("date_trunc", catalyst=("TruncTimestamp",)),
    FunctionName("date_format", catalyst=("DateFormatClass",), hive=("GenericUDFDateFormat",)),
    FunctionName(
        "unix_timestamp",
        text_synonyms=("to_unix_timestamp",),
        catalyst=("UnixTimestamp", "ToUnixTimestamp"),
        hive=("GenericUDFUnixTimeStamp",),
    ),
    FunctionName("to_unix_timestamp", hive=("GenericUDFToUnixTimeStamp",)),
    FunctionName("from_unixtime", catalyst=("FromUnixTime",), hive=("GenericUDFFromUnixTime", "UDFFromUnixTime")),
    FunctionName("from_utc_timestamp", catalyst=("FromUTCTimestamp",), hive=("GenericUDFFromUtcTimestamp",)),
    FunctionName("to_utc_timestamp", catalyst=("ToUTCTimestamp",), hive=("GenericUDFToUtcTimestamp",)),
    FunctionName("unix_date", catalyst=("UnixDate",)),
    FunctionName("unix_seconds", catalyst=("UnixSeconds",)),
    FunctionName("unix_millis", catalyst=("UnixMillis",)),
    FunctionName("unix_micros", catalyst=("UnixMicros",)),
    FunctionName("date_from_unix_date", catalyst=("DateFromUnixDate",)),
    FunctionName("timestamp_seconds", catalyst=("SecondsToTimestamp",)),
    FunctionName("timestamp_millis", catalyst=("MillisToTimestamp",)),
    FunctionName("timestamp_micros", catalyst=("MicrosToTimestamp",)),
    FunctionName("current_date", hive=("GenericUDFCurrentDate",)),
    FunctionName("current_timestamp", hive=("GenericUDFCurrentTimestamp",)),
    # text
    FunctionName("lower", synonyms=("lcase",), catalyst=("Lower",)),
    FunctionName("upper", synonyms=("ucase",), catalyst=("Upper",)),
    FunctionName("initcap", catalyst=("InitCap",)),
    FunctionName("length", text_synonyms=("char_length", "character_length", "len"), catalyst=("Length",)),
    FunctionName("character_length", hive=("GenericUDFCharacterLength",)),
    FunctionName("octet_length", catalyst=("OctetLength",), hive=("GenericUDFOctetLength",)),
    FunctionName("hex", catalyst=("Hex",), hive=("UDFHex",)),
    FunctionName("bin", catalyst=("Bin",), hive=("UDFBin",)),
    FunctionName("md5", catalyst=("Md5",), hive=("UDFMd5",)),
    FunctionName("sha1", text_synonyms=("sha",), catalyst=("Sha1",), hive=("UDFSha1",)),
    FunctionName("sha2", catalyst=("Sha2",), hive=("GenericUDFSha2",)),
    FunctionName("crc32", catalyst=("Crc32",), hive=("UDFCrc32",)),
    FunctionName("trim", catalyst=("StringTrim",)),
    FunctionName("ltrim", catalyst=("StringTrimLeft",)),
    FunctionName("rtrim", catalyst=("StringTrimRight",)),
    FunctionName("left", catalyst=("Left",)),
    FunctionName(
        "substring",
        synonyms=("substr",),
        catalyst=("Substring",),
        hive=("UDFSubstr",),
        hive_name="substr",
        key_name="substr",
    ),
    FunctionName("reverse", catalyst=("Reverse",)),
    FunctionName("replace", catalyst=("StringReplace",)),
    FunctionName("translate", catalyst=("StringTranslate",)),
    FunctionName("right", catalyst=("Right",)),
    FunctionName("lpad", catalyst=("StringLPad",)),
    FunctionName("rpad", catalyst=("StringRPad",)),
    FunctionName("instr", catalyst=("StringInstr",)),
    FunctionName("ascii", catalyst=("Ascii",)),
    FunctionName("bit_length", catalyst=("BitLength",)),
    FunctionName("split", catalyst=("StringSplit",)),
    FunctionName("split_part", catalyst=("SplitPart",)),
    FunctionName("substring_index", catalyst=("SubstringIndex",), hive=("GenericUDFSubstringIndex",)),
    FunctionName("concat", sql="DPipe", catalyst=("Concat",)),
    FunctionName("concat_ws", catalyst=("ConcatWs",), hive=("GenericUDFConcatWS",)),
    FunctionName("repeat", catalyst=("StringRepeat",)),
    FunctionName("space", catalyst=("StringSpace",)),
    FunctionName("chr", catalyst=("Chr",)),
    FunctionName("elt", catalyst=("Elt",)),
    FunctionName("rlike", hive=("GenericUDFRegExp",)),
    FunctionName("regexp_extract", hive=("UDFRegExpExtract",)),
    FunctionName("regexp_replace", catalyst=("RegExpReplace",), hive=("UDFRegExpReplace",)),
    FunctionName("locate", catalyst=("StringLocate",), text_synonyms=("position",)),
    FunctionName("find_in_set", hive=("UDFFindInSet",)),
    FunctionName("format_number", hive=("GenericUDFFormatNumber",)),
    # the rest
    FunctionName("get_json_object", hive=("UDFJson",)),
    FunctionName("parse_url", hive=("UDFParseUrl",)),
    FunctionName("map_keys", hive=("GenericUDFMapKeys",)),
    FunctionName("map_values", hive=("GenericUDFMapValues",)),
    FunctionName("sort_array", hive=("GenericUDFSortArray",)),
    FunctionName("array_contains", hive=("GenericUDFArrayContains",)),
    FunctionName("named_struct", hive=("GenericUDFNamedStruct",)),
    FunctionName("in_bloom_filter", hive=("GenericUDFInBloomFilter",)),
    FunctionName("murmur_hash", hive=("GenericUDFMurmurHash",)),
    FunctionName("interval", hive=("GenericUDFInternalInterval",)),
    FunctionName("cast_format", hive=("GenericUDFCastFormat",)),
    FunctionName("current_user", hive=("GenericUDFCurrentUser",)),
    FunctionName("logged_in_user", hive=("GenericUDFLoggedInUser",)),
    FunctionName("current_database", hive=("GenericUDFCurrentDatabase", "UDFCurrentDB")),
)

#: ``a op b`` is ``b MIRRORED[op] a``.
MIRRORED: Mapping[str, str] = {row.op: row.mirrored for row in COMPARISONS}
#: sqlglot's class -> operator.
SQL_COMPARISONS: Mapping[str, str] = {row.sql: row.op for row in COMPARISONS}
#: Catalyst's class -> operator; ``!=`` is NOT over ``EqualTo`` there.
CATALYST_COMPARISONS: Mapping[str, str] = {row.catalyst: row.op for row in COMPARISONS if row.catalyst}
#: Hive's class -> operator.
HIVE_COMPARISONS: Mapping[str, str] = {row.hive: row.op for row in COMPARISONS}

#: synonym -> name, for names from anywhere.
SYNONYMS: Mapping[str, str] = {other: row.name for row in FUNCTION_NAMES for other in row.synonyms}
#: synonym -> name, for names in SQL text.
SQL_SYNONYMS: Mapping[str, str] = {
    other: row.name for row in FUNCTION_NAMES for other in (*row.synonyms, *row.text_synonyms)
}
#: sqlglot's class of an operator between two values -> name.
SQL_OPERATORS: Mapping[str, str] = {row.sql: row.name for row in FUNCTION_NAMES if row.sql}
#: Catalyst's class -> name. The arguments are the node's children, in their order.
CATALYST_FUNCTIONS: Mapping[str, str] = {java: row.name for row in FUNCTION_NAMES for java in row.catalyst}
#: Hive's class (without its package) -> name.
HIVE_FUNCTIONS: Mapping[str, str] = {java: row.hive_name or row.name for row in FUNCTION_NAMES for java in row.hive}
#: name -> the name in canonical keys, where it is another one.
KEY_NAMES: Mapping[str, str] = {
    other: row.key_name or row.name
    for row in FUNCTION_NAMES
    for other in (row.name, *row.synonyms)
    if other != (row.key_name or row.name)
}


def spellings(name: str) -> tuple[str, ...]:
    """The name of a function and its synonyms; the name alone where the table has no row for it."""
    return next(((row.name, *row.synonyms) for row in FUNCTION_NAMES if row.name == name), (name,))


#: Functions that Spark and Hive also take without parentheses, where no column has the name.
WITHOUT_PARENTHESES = frozenset(
    (
        *("current_catalog", "current_database", "current_date", "current_schema", "current_time"),
        *("current_timestamp", "current_user", "grouping__id", "localtimestamp", "session_user", "user"),
    )
)
