"""Hive's function classes and what they are called in SQL (lower case), as tables.

A class outside these tables but inside Hive's own package becomes a call by its own name, in lower case, which the
evaluator does not know: unknown, at that node. A class outside Hive's package is a user's function and gets no name,
for that may be the name of one of Hive's.
"""

from __future__ import annotations

__all__ = ["CASTS", "COMPARISONS", "RUN_TIME_FUNCTIONS", "VIRTUAL_COLUMNS", "sql_name"]

_PACKAGES = (
    "org.apache.hadoop.hive.ql.udf.generic.GenericUDF",
    "org.apache.hadoop.hive.ql.udf.UDF",
    "org.apache.hadoop.hive.ql.udf.generic.UDF",
    "org.apache.hadoop.hive.ql.udf.",
)

#: Comparison functions and their operator.
COMPARISONS = {
    "GenericUDFOPEqual": "=",
    "GenericUDFOPNotEqual": "!=",
    "GenericUDFOPEqualNS": "<=>",
    "GenericUDFOPLessThan": "<",
    "GenericUDFOPEqualOrLessThan": "<=",
    "GenericUDFOPGreaterThan": ">",
    "GenericUDFOPEqualOrGreaterThan": ">=",
}

#: Casts; the target type is the type of the node.
CASTS = frozenset(
    [
        "UDFToBoolean",
        "UDFToByte",
        "UDFToShort",
        "UDFToInteger",
        "UDFToLong",
        "UDFToFloat",
        "UDFToDouble",
        "UDFToString",
        "GenericUDFToDecimal",
        "GenericUDFToDate",
        "GenericUDFTimestamp",
        "GenericUDFToChar",
        "GenericUDFToVarchar",
        "GenericUDFToString",
        "GenericUDFToBinary",
        "GenericUDFToTimestampLocalTZ",
    ]
)

#: Functions whose value is not a matter of the row: another moment, session or call gives another value.
RUN_TIME_FUNCTIONS = frozenset(
    [
        "UDFRand",
        "UDFUUID",
        "GenericUDFCurrentTimestamp",
        "GenericUDFCurrentDate",
        "GenericUDFCurrentUser",
        "GenericUDFLoggedInUser",
        "GenericUDFCurrentDatabase",
        "GenericUDFCurrentSchema",
        "GenericUDFCurrentCatalog",
        "GenericUDFCurrentGroups",
        "GenericUDFCurrentAuthorizer",
        "UDFCurrentDB",
        "UDFVersion",
        "UDFBuildVersion",
        "GenericUDFReflect",
        "GenericUDFReflect2",
        "GenericUDFSurrogateKey",
        "GenericUDFInFile",
        "GenericUDFMacro",
    ]
)

#: Columns that Hive makes up for each row; no file has statistics of them.
VIRTUAL_COLUMNS = frozenset(
    [
        "INPUT__FILE__NAME",
        "BLOCK__OFFSET__INSIDE__FILE",
        "ROW__OFFSET__INSIDE__BLOCK",
        "RAW__DATA__SIZE",
        "ROW__ID",
        "ROW__IS__DELETED",
        "GROUPING__ID",
        "PARTITION__SPEC__ID",
        "PARTITION__HASH",
        "PARTITION__PROJECTION",
        "FILE__PATH",
        "ROW__POSITION",
        "SNAPSHOT__ID",
    ]
)

_NAMES = {
    "GenericUDFOPPlus": "+",
    "GenericUDFOPNumericPlus": "+",
    "GenericUDFOPDTIPlus": "+",
    "GenericUDFOPMinus": "-",
    "GenericUDFOPNumericMinus": "-",
    "GenericUDFOPDTIMinus": "-",
    "GenericUDFOPMultiply": "*",
    "GenericUDFOPDivide": "/",
    "GenericUDFOPMod": "%",
    "UDFOPLongDivide": "div",
    "GenericUDFPosMod": "pmod",
    "GenericUDFOPNegative": "negative",
    "GenericUDFOPPositive": "positive",
    "UDFOPBitAnd": "&",
    "UDFOPBitOr": "|",
    "UDFOPBitXor": "^",
    "UDFOPBitNot": "~",
    "UDFOPBitShiftLeft": "shiftleft",
    "UDFOPBitShiftRight": "shiftright",
    "UDFOPBitShiftRightUnsigned": "shiftrightunsigned",
    "GenericUDFBRound": "bround",
    "GenericUDFPower": "power",
    "UDFYear": "year",
    "UDFMonth": "month",
    "UDFDayOfMonth": "day",
    "UDFDayOfWeek": "dayofweek",
    "UDFWeekOfYear": "weekofyear",
    "GenericUDFDateAdd": "date_add",
    "GenericUDFDateSub": "date_sub",
    "GenericUDFDateDiff": "datediff",
    "GenericUDFAddMonths": "add_months",
    "GenericUDFLastDay": "last_day",
    "GenericUDFNextDay": "next_day",
    "GenericUDFMonthsBetween": "months_between",
    "GenericUDFDate": "to_date",
    "GenericUDFDateFormat": "date_format",
    "GenericUDFFromUnixTime": "from_unixtime",
    "UDFFromUnixTime": "from_unixtime",
    "GenericUDFUnixTimeStamp": "unix_timestamp",
    "GenericUDFToUnixTimeStamp": "to_unix_timestamp",
    "GenericUDFFromUtcTimestamp": "from_utc_timestamp",
    "GenericUDFToUtcTimestamp": "to_utc_timestamp",
    "GenericUDFCharacterLength": "character_length",
    "GenericUDFOctetLength": "octet_length",
    "UDFSubstr": "substr",
    "GenericUDFSubstringIndex": "substring_index",
    "GenericUDFConcatWS": "concat_ws",
    "GenericUDFRegExp": "rlike",
    "UDFRegExpExtract": "regexp_extract",
    "UDFRegExpReplace": "regexp_replace",
    "UDFFindInSet": "find_in_set",
    "UDFJson": "get_json_object",
    "UDFParseUrl": "parse_url",
    "GenericUDFFormatNumber": "format_number",
    "GenericUDFMapKeys": "map_keys",
    "GenericUDFMapValues": "map_values",
    "GenericUDFSortArray": "sort_array",
    "GenericUDFArrayContains": "array_contains",
    "GenericUDFNamedStruct": "named_struct",
    "GenericUDFInBloomFilter": "in_bloom_filter",
    "GenericUDFMurmurHash": "murmur_hash",
    "GenericUDFInternalInterval": "interval",
    "GenericUDFCastFormat": "cast_format",
    "GenericUDFNvl": "nvl",
    "GenericUDFCurrentDate": "current_date",
    "GenericUDFCurrentTimestamp": "current_timestamp",
    "GenericUDFCurrentUser": "current_user",
    "GenericUDFLoggedInUser": "logged_in_user",
    "GenericUDFCurrentDatabase": "current_database",
    "UDFCurrentDB": "current_database",
}


def sql_name(java: str) -> str | None:
    """The SQL name of a function class of Hive's own; None for a class of somebody else."""
    simple = java.rpartition(".")[2]
    known = _NAMES.get(simple)
    for package in _PACKAGES:
        if java.startswith(package):
            rest = java.removeprefix(package)
            return None if "." in rest else known or rest.lower()
    return None
