"""The SQL names of Hive's function classes, and the classes that need more than a name.

    ======================================================  =====  ================================================
    class                                                   name   rule
    ======================================================  =====  ================================================
    org.apache.hadoop.hive.ql.udf.generic.GenericUDFLower   lower  the class in lower case, without its prefix
    org.apache.hadoop.hive.ql.udf.UDFDayOfMonth             day    a row of ``evaluator.language.function_names``
    com.example.Lower                                       None   a user's function may have the name of Hive's own
    ======================================================  =====  ================================================

A function whose name the evaluator does not know is Unknown at its node (C1).

Source: ``org.apache.hadoop.hive.ql.exec.FunctionRegistry``.
"""

from __future__ import annotations

from evaluator.language.function_names import HIVE_FUNCTIONS

__all__ = ["CASTS", "RUN_TIME_FUNCTIONS", "VIRTUAL_COLUMNS", "sql_name"]

_PACKAGES = (
    "org.apache.hadoop.hive.ql.udf.generic.GenericUDF",
    "org.apache.hadoop.hive.ql.udf.UDF",
    "org.apache.hadoop.hive.ql.udf.generic.UDF",
    "org.apache.hadoop.hive.ql.udf.",
)

#: Classes of casts. The type of the node is the type to cast to.
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

#: Functions whose value depends on the time, the session or the call, not on the row alone.
RUN_TIME_FUNCTIONS = frozenset(
    [
        "UDFRand",
        "UDFUUID",
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

#: Columns that Hive computes for each row (``VirtualColumn``); no file has statistics of them.
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


def sql_name(java: str) -> str | None:
    """The SQL name of one of Hive's own function classes; None for any other class."""
    listed_name = HIVE_FUNCTIONS.get(java.rpartition(".")[2])
    for package in _PACKAGES:
        if java.startswith(package):
            class_name = java.removeprefix(package)
            return None if "." in class_name else listed_name or class_name.lower()
    return None
