"""The SQL names of Hive's function classes, and the classes that need more than a name.

    class                                                  name
    org.apache.hadoop.hive.ql.udf.generic.GenericUDFLower  lower: the class in lower case, without its prefix
    org.apache.hadoop.hive.ql.udf.UDFDayOfMonth            day: ``evaluator.language.function_names`` has a row for it
    com.example.Lower                                      none: a user's function may bear the name of one of Hive's

A name that the evaluator does not know is Unknown at its node.
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


def sql_name(java: str) -> str | None:
    """The SQL name of a function class of Hive's own; None for a class of somebody else."""
    simple = java.rpartition(".")[2]
    known = HIVE_FUNCTIONS.get(simple)
    for package in _PACKAGES:
        if java.startswith(package):
            rest = java.removeprefix(package)
            return None if "." in rest else known or rest.lower()
    return None
