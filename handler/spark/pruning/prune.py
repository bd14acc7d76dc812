"""``prune`` for a Spark session: the file slices of a Hudi table that a condition needs, by Spark's own semantics.

    Column or SQL text ─► Spark's analyser ─► HudiExpression ─► ``handler.planning.prune.prune`` ─► Plan

The session's analyser resolves the condition with its ANSI mode, time zone and case rules.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql.types import StructType

from evaluator.language.errors import SargoError, UnsupportedError
from evaluator.language.expression import HudiExpression, Unknown
from handler.planning.arguments import check_alias, check_session, check_table, is_path, is_session
from handler.planning.clocks import CLOCK_SKEW, AsOfClock, check_clock, clock_of
from handler.planning.plan import Plan
from handler.planning.prune import OnFailure, plan_expression
from handler.planning.qualified_names import leading_parts, qualifier_of
from handler.spark.catalyst.conditions import (
    NO_NAMES,
    Condition,
    ConditionSyntaxError,
    NoConditionError,
    TableNames,
    all_of,
    as_conditions,
    engine_of,
    time_zone_of,
    to_expression,
    together,
)
from handler.spark.pruning.read_optimized import plan_of_base_files
from handler.spark.pruning.read_options import agreed, read_options, settings_of
from handler.spark.pruning.schemas import spark_schema
from handler.sql.parsing import Engine, SqlError, parse_condition
from index_store.opened_table import OpenTable, open_table

__all__ = [
    "check_conditions",
    "check_spark",
    "conditions_or_unknown",
    "plan_in_session",
    "prune",
    "prune_opened",
    "table_names",
]

#: Text that may hold a qualified name.
_QUALIFIED = re.compile(r"[\w`]\s*\.\s*[^\W\d`]|`\s*\.\s*`|[\w]\s*\.\s*`")
_CALL = "prune(spark, table, condition)"


def prune(
    spark: SparkSession,
    path: OpenTable | str | os.PathLike[str],
    condition: Condition,
    *,
    as_of: str | None = None,
    strict: bool = False,
    storage_options: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    filesystem: Any = None,
    distributed: bool = False,
    as_of_clock: AsOfClock | None = None,
    clock_skew: float = CLOCK_SKEW,
    alias: str | None = None,
) -> Plan:
    """Which file slices of a Hudi table may hold rows that satisfy a condition.

        plan = prune(spark, "/data/trips", "fare > 50 AND city LIKE 'san%'")
        plan = prune(spark, "/data/trips", [F.col("fare") > 50, F.col("city").startswith("san")])
        print(len(plan.kept), "of", len(plan.slices))

    path              the table's path or URI, or what ``handler.open_table`` returned, which caches statistics
    condition         SQL text, a Column, or a list of them, which must all hold (an empty one restricts nothing)
    as_of             answer for the table as of this instant or date; by default the latest
    strict            raise what cannot be used instead of skipping nothing by it
    storage_options, options, filesystem
                      as for ``handler.open_table``; not used when ``path`` is an opened table, except Hudi's read
                      options (``as.of.instant``, ``hoodie.datasource.query.type``, ...), of which one that would give
                      other rows raises UnsupportedError
    distributed       evaluate the statistics in executors: the same answer, for tables whose statistics do not fit
                      the driver
    as_of_clock, clock_skew
                      when the query runs, as for ``handler.prune``: by default now or later
    alias             the table's name or alias in the query, for columns such as ``o.fare``; by default the one that
                      the SQL texts use

    A plan may be used later than it is made. ``current_date()`` and the other functions of the clock rule out what is
    too old now, because it stays too old (``plan.moment``). ``rand()`` and the like rule nothing out, nor do
    user functions and subqueries; what is ANDed to them still does. The plan holds for the session's settings
    (``spark.sql.ansi.enabled``, ``spark.sql.session.timeZone``) as they are now. Hudi's reader takes read options from
    the settings, too (``hoodie.datasource.query.type``), and so does this.

    A mistake in the call always raises: TypeError and ValueError for an argument that is none, ConditionError for text
    that Spark cannot parse (SqlError with Spark Connect) and for what can be no condition on rows: a value such as
    ``i + 1``, an aggregate or window function, ``explode``, a whole statement, a column of another DataFrame
    (``df.i``). TableError is raised when the table cannot be opened. With ``strict`` also ConditionError is raised when
    Spark refuses the condition, as for a column that the table does not have, and what ``handler.prune`` raises with
    it. Otherwise ``plan.reasons`` says what could not be used.
    """
    check_spark(spark, path, _CALL)
    conditions = check_conditions(condition, _CALL)
    check_session(None, as_of, strict, None)
    check_clock(as_of_clock, clock_skew)
    asked = read_options(options, settings_of(spark))
    as_of = agreed("as_of", as_of, asked.as_of)
    opened = _opened(spark, path, asked.table, storage_options, filesystem, distributed)
    names = table_names(spark, opened, conditions, as_of, alias)
    plan = prune_opened(
        spark, opened, conditions, as_of, names, strict=strict, as_of_clock=as_of_clock, clock_skew=clock_skew
    )
    return plan_of_base_files(plan) if asked.query == "read_optimized" else plan


def prune_opened(
    spark: SparkSession,
    opened: OpenTable,
    conditions: tuple[str | Column, ...],
    as_of: str | None,
    names: TableNames,
    *,
    strict: bool,
    as_of_clock: AsOfClock | None = None,
    clock_skew: float = CLOCK_SKEW,
) -> Plan:
    """The plan of conditions for the merged rows of a table."""
    expression = _expression(spark, opened, conditions, as_of, names, strict)
    return plan_in_session(
        spark, opened, expression, as_of, strict=strict, as_of_clock=as_of_clock, clock_skew=clock_skew
    )


def table_names(
    spark: SparkSession, opened: OpenTable, conditions: Iterable[str | Column], as_of: str | None, alias: str | None
) -> TableNames:
    """The name by which SQL texts name columns of the table. Raises TwoTablesError where they use two.

    A Column is resolved by Spark under the alias that is given or that the texts use.
    """
    check_alias(alias)
    texts = [one for one in conditions if isinstance(one, str) and _QUALIFIED.search(one)]
    if alias is None and not texts:
        return NO_NAMES
    columns = dict.fromkeys(name for text in texts for name in _columns_of(text, engine_of(spark)))
    case_sensitive = str(spark.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"
    try:
        schema = opened.table.schema_at(opened.at(as_of).slices.instant)
    except SargoError:
        return NO_NAMES  # planning says so
    qualifier = qualifier_of(columns, schema, alias, case_sensitive=case_sensitive)
    if qualifier is None:
        return NO_NAMES
    return TableNames(qualifier, leading_parts(columns, schema, qualifier, case_sensitive=case_sensitive))


def _columns_of(text: str, engine: Engine) -> tuple[str, ...]:
    try:
        return parse_condition(text, engine).columns
    except SqlError:  # Spark parses it, or says what is wrong
        return ()


def check_spark(spark: object, table: object, call: str) -> None:
    """Raise TypeError for what is no session or no table. ``call``: how the function is called."""
    if not isinstance(spark, SparkSession) and not is_session(spark):
        order = ": the session comes first" if is_session(table) else ""
        kind = spark.__name__ if isinstance(spark, type) else type(spark).__name__
        raise TypeError(f"the first argument is the SparkSession, not {kind}{order}: {call}")
    check_table(table, call)


def check_conditions(condition: Condition, call: str) -> tuple[str | Column, ...]:
    """The conditions as a tuple. Raises TypeError for anything else, such as the table."""
    if is_path(condition):
        raise TypeError(f"the condition is a table, and the table comes before it: {call}")
    return as_conditions(condition)


def plan_in_session(
    spark: SparkSession,
    opened: OpenTable,
    expression: HudiExpression,
    as_of: str | None,
    *,
    strict: bool,
    as_of_clock: AsOfClock | None = None,
    clock_skew: float = CLOCK_SKEW,
) -> Plan:
    """The plan of an expression by the rules and in the time zone of a session."""
    on_failure = OnFailure.RAISE if strict else OnFailure.SKIP_NOTHING
    zone = time_zone_of(spark)
    clock = clock_of(as_of_clock, clock_skew, zone)
    return plan_expression(opened, expression, engine_of(spark), as_of, zone, clock=clock, on_failure=on_failure)


def _opened(
    spark: SparkSession,
    path: OpenTable | str | os.PathLike[str],
    options: Mapping[str, str] | None,
    storage_options: Mapping[str, str] | None,
    filesystem: Any,
    distributed: bool,
) -> OpenTable:
    if isinstance(path, OpenTable):
        return path
    if not distributed:
        return open_table(path, options, filesystem=filesystem, storage_options=storage_options)
    if filesystem is not None:
        raise UnsupportedError("a file system of this process with distributed=True: give a URI and storage_options")
    from handler.spark.distributed.distributed import open_distributed

    return open_distributed(spark, os.fspath(path), options=options, storage_options=storage_options)


def _expression(
    spark: SparkSession,
    opened: OpenTable,
    conditions: tuple[str | Column, ...],
    as_of: str | None,
    names: TableNames,
    strict: bool,
) -> HudiExpression:
    """The AND of the conditions. One that cannot be read is Unknown, and the others still prune."""
    instant = opened.at(as_of).slices.instant
    try:
        schema = spark_schema(opened.table, instant)
    except SargoError as error:
        if strict:
            raise
        return Unknown(str(error))
    return all_of(conditions_or_unknown(spark, schema, conditions, names, strict=strict))


def conditions_or_unknown(
    spark: SparkSession,
    schema: StructType,
    conditions: Sequence[str | Column],
    names: TableNames = NO_NAMES,
    *,
    strict: bool,
) -> list[HudiExpression]:
    """Each condition as an expression: Unknown with the reason when it is not understood, which ``strict`` raises.

    Text that cannot be parsed, and what can be no condition on rows, always raise.
    """
    return [
        _or_unknown(spark, schema, condition, names, strict) if expression is None else expression
        for condition, expression in zip(conditions, together(spark, schema, conditions, names), strict=True)
    ]


def _or_unknown(
    spark: SparkSession, schema: StructType, condition: str | Column, names: TableNames, strict: bool
) -> HudiExpression:
    try:
        return to_expression(spark, schema, condition, names)
    except (SqlError, ConditionSyntaxError, NoConditionError):
        raise
    except SargoError as error:
        if strict:
            raise
        return Unknown(str(error))
