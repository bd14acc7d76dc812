"""Pruning by a join: the file slices of a fact table that can contain a row with one of a dimension's keys.

    plan = prune_by_join(spark, "/data/sales", "store_id", stores.where("country = 'NO'"), key="id")
    sales = read_by_join(spark, "/data/sales", "store_id", stores.where("country = 'NO'"), key="id")
    sales.join(stores, sales.store_id == stores.id)

The distinct keys are collected before the join, which is an inner or a left semi join on ``column = key`` or more:

    up to 10,000 keys           column IN (all of them)
    up to ``most_keys`` keys    the same, the keys as one array (``InKeys``): the bounds of slices are searched for
                                them, and indexes that know keys look them up
    more                        least <= column <= greatest key; and a Bloom filter of all keys, built by the executors,
                                for a slice with few possible values: integers and dates between close bounds, and
                                text where both bounds are equal. The plan's reasons say so

A NULL key matches no row. Where the types of column and key differ, Spark's analyser decides to which type each side is
cast, and Spark casts the keys. When that result is not supported, or the keys fail (a cast in ANSI mode), nothing is
skipped, and the plan says why.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from evaluator.functions.conversions import keeps_value
from evaluator.language.errors import SargoError, UnsupportedError
from evaluator.language.expression import (
    Cast,
    Column,
    Compare,
    Constant,
    HudiExpression,
    In,
    InKeys,
    Literal,
    Operand,
    Unknown,
    column_names,
)
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import ColumnStatistics
from handler.planning.arguments import check_session, is_path
from handler.planning.clocks import CLOCK_SKEW, AsOfClock, check_clock
from handler.planning.plan import Plan, Reason
from handler.spark.catalyst.conditions import Condition, TableNames, all_of, as_conditions, named_frame, to_expression
from handler.spark.catalyst.sessions import has_jvm
from handler.spark.join_keys import MAX_BYTES, JoinKeys, as_key_set, collect_keys
from handler.spark.pruning.prune import check_spark, conditions_or_unknown, plan_in_session, table_names
from handler.spark.pruning.read_optimized import plan_of_base_files
from handler.spark.pruning.read_options import agreed, read_options, settings_of
from handler.spark.pruning.schemas import spark_schema
from handler.spark.reading.columns_by_id import check_names_stay
from handler.spark.reading.reading import frame_of, source_of
from index_store.opened_table import OpenTable, open_table

__all__ = ["MAX_KEYS", "prune_by_join", "read_by_join"]

MAX_KEYS = 2_000_000
#: The possible values of a slice are looked up in the Bloom filter when there are at most so many.
_MAX_VALUES = 1_000
_CALL = "prune_by_join(spark, table, column, dimension)"
_KEY = "__sargo_join_key"


def prune_by_join(
    spark: SparkSession,
    path: OpenTable | str | os.PathLike[str],
    column: str,
    dimension: DataFrame,
    *,
    key: str | SparkColumn | None = None,
    condition: Condition | None = None,
    most_keys: int = MAX_KEYS,
    as_of: str | None = None,
    strict: bool = False,
    storage_options: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    as_of_clock: AsOfClock | None = None,
    clock_skew: float = CLOCK_SKEW,
    alias: str | None = None,
) -> Plan:
    """Which file slices of a fact table may contain rows with a key of the dimension.

    column        of the fact table: a name, or ``st.x`` for a field of a struct
    dimension     runs once to collect its keys; it must return the same rows when it is joined, else cache it
    key           of the dimension, by default its column of the same name, or its only one
    condition     on the fact table, which must hold beside the join
    most_keys     the number of keys up to which they are collected to the driver, sorted and compressed
    as_of, strict, storage_options, options, as_of_clock, clock_skew
                  as for ``prune``
    alias         the fact table's name or alias in the query, for ``o.store_id``; by default the one that ``column``
                  and ``condition`` use

    The plan's expression is ``column IN (...)``, or the range of the keys and an unknown part. More than 10,000 keys of
    some types (fractional numbers, binary, long decimals) are compared by their range. Raises TableError when the table
    cannot be opened, UnsupportedError when there is no such key, TypeError and ValueError for a mistake in an argument;
    with ``strict`` also what else fails.
    """
    _check(spark, path, column, dimension, most_keys)
    check_session(None, as_of, strict, None)
    check_clock(as_of_clock, clock_skew)
    asked = read_options(options, settings_of(spark))
    as_of = agreed("as_of", as_of, asked.as_of)
    opened = path if isinstance(path, OpenTable) else open_table(path, asked.table, storage_options=storage_options)
    conditions = () if condition is None else as_conditions(condition)
    names = table_names(spark, opened, (*conditions, column), as_of, alias)
    column = _own_name(column, names)
    wanted = _key_column(dimension, column, key)
    schema = spark_schema(opened.table, opened.at(as_of).slices.instant)
    parts = conditions_or_unknown(spark, schema, conditions, names, strict=strict)
    keys: JoinKeys | None = None
    operand: Operand | None = None
    try:
        given = dimension.select(wanted.alias(_KEY))
        operand, types = _sides(spark, schema, column, given.schema[0])
        keys = collect_keys(given, _KEY, types, most_keys)
        parts.append(_is_a_key(operand, keys, most_keys))
    except (SargoError, PySparkException, Py4JError) as error:
        if strict:
            raise
        parts.append(Unknown(f"the join: {' '.join(str(error).split())[:300]}"))
    plan = plan_in_session(
        spark, opened, all_of(parts), as_of, strict=strict, as_of_clock=as_of_clock, clock_skew=clock_skew
    )
    if keys is not None and operand is not None:
        plan = _without_absent_values(plan, operand, keys)
    return plan_of_base_files(plan) if asked.query == "read_optimized" else plan


def read_by_join(
    spark: SparkSession,
    path: OpenTable | str | os.PathLike[str],
    column: str,
    dimension: DataFrame,
    *,
    key: str | SparkColumn | None = None,
    condition: Condition | None = None,
    most_keys: int = MAX_KEYS,
    as_of: str | None = None,
    strict: bool = False,
    storage_options: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    as_of_clock: AsOfClock | None = None,
    clock_skew: float = CLOCK_SKEW,
    alias: str | None = None,
) -> DataFrame:
    """The fact table without the file slices that ``prune_by_join`` skips, to be joined with the dimension.

    Its rows are those of the kept slices that satisfy ``condition``; join them with the dimension to drop the others.
    Spark evaluates ``condition`` when it reads the rows: with ``as_of_clock`` that must be at this moment.
    """
    _check(spark, path, column, dimension, most_keys)
    asked = read_options(options, settings_of(spark))
    as_of, kind = agreed("as_of", as_of, asked.as_of), asked.query or "snapshot"
    opened = path if isinstance(path, OpenTable) else open_table(path, asked.table, storage_options=storage_options)
    if asked.by_id:
        check_names_stay(opened.table, 'read(..., reader="hudi")')
    plan = prune_by_join(
        spark,
        opened,
        column,
        dimension,
        key=key,
        condition=condition,
        most_keys=most_keys,
        as_of=as_of,
        strict=strict,
        options=options,
        as_of_clock=as_of_clock,
        clock_skew=clock_skew,
        alias=alias,
    )
    source = source_of(opened, plan.instant)
    frame = frame_of(spark, source, plan.kept, spark_schema(opened.table, plan.instant), kind)
    conditions = () if condition is None else as_conditions(condition)
    frame = named_frame(spark, frame, table_names(spark, opened, (*conditions, column), as_of, alias).qualifier)
    for part in conditions:
        frame = frame.where(part)
    return frame


def _check(spark: object, path: object, column: object, dimension: object, most_keys: object) -> None:
    """Raise TypeError or ValueError for an argument that cannot be one."""
    check_spark(spark, path, _CALL)
    if not isinstance(column, str):
        raise TypeError(f"column is the name of a column of the table, not {type(column).__name__}: {_CALL}")
    if is_path(column):
        raise TypeError(f"column is a table, and the table comes before it: {_CALL}")
    if not isinstance(dimension, DataFrame) and not type(dimension).__module__.startswith("pyspark.sql.connect"):
        raise TypeError(f"dimension is a DataFrame, not {type(dimension).__name__}: {_CALL}")
    if not isinstance(most_keys, int) or isinstance(most_keys, bool):
        raise TypeError(f"most_keys is a number of keys, not {type(most_keys).__name__}")
    if most_keys < 0:
        raise ValueError(f"most_keys is {most_keys}: give a number of keys from 0 on")


def _own_name(column: str, names: TableNames) -> str:
    """A column's name without the table's: ``i`` for ``o.i``."""
    plain = column.replace("`", "")
    leading = names.leading.get(plain)
    return column if leading is None else ".".join(plain.split(".")[leading:])


def _key_column(dimension: DataFrame, column: str, key: str | SparkColumn | None) -> SparkColumn:
    if key is None:
        if column in dimension.columns:
            key = column
        elif len(dimension.columns) == 1:
            key = dimension.columns[0]
        else:
            raise UnsupportedError(f"the dimension has no column {column}: name its key (key=...)")
    return dimension[key] if isinstance(key, str) else key


def _sides(
    spark: SparkSession,
    schema: StructType,
    column: str,
    key: StructField,
) -> tuple[Operand, tuple[Type, ...]]:
    """The operands that Spark compares: the fact table's, and the types to which the key is cast in turn."""
    if not has_jvm(spark):
        raise UnsupportedError(
            f"its types are not known without a session with a JVM: with Spark Connect collect the "
            f"keys, and prune by the SQL text {column} IN (...)"
        )
    both = StructType([*schema.fields, StructField(_KEY, key.dataType, True)])
    name = f"`{column.replace('`', '``')}`" if column in schema.names else column
    comparison = to_expression(spark, both, f"{name} = {_KEY}")
    if isinstance(comparison, Compare) and comparison.op == "=":
        for fact, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
            types: list[Type] = []
            key_side = other
            while isinstance(key_side, Cast):
                types.insert(0, key_side.type)
                key_side = key_side.operand
            if isinstance(key_side, Column) and key_side.path == (_KEY,) and key_side.type is not None:
                types.insert(0, key_side.type)
                if _KEY not in column_names(fact) and types[-1].kind not in (Kind.OTHER, Kind.VOID):
                    return fact, tuple(types)
    raise UnsupportedError(f"{column} = a key of type {key.dataType.simpleString()} is not understood: {comparison}")


def _is_a_key(operand: Operand, keys: JoinKeys, most_keys: int) -> HudiExpression:
    """The condition that the operand is one of the keys, or lies in their range."""
    if keys.values == ():
        return Constant(False)
    if keys.values is not None:
        return In(operand, tuple(Literal(value, keys.type) for value in keys.values))
    key_range = all_of(
        Compare(op, operand, Literal(value, keys.type))
        for op, value in ((">=", keys.least), ("<=", keys.greatest))
        if value is not None
    )
    if keys.array is None:
        too_many = (
            f"most_keys={most_keys:,}"
            if keys.count > most_keys
            else f"the {MAX_BYTES >> 20} MB of keys that are collected"
        )
        why = (
            f"the join has {keys.count:,} keys, more than {too_many}: no index looks them up, only their range is used"
        )
        return all_of([key_range, Unknown(f"{why}, and a Bloom filter" if keys.bloom is not None else why)])
    column = _without_casts(operand)
    key_set = None if column is None or column.type is None else as_key_set(keys.array, keys.type, column.type)
    if column is not None and key_set is not None:
        return InKeys(column, key_set) if len(key_set) else Constant(False)
    why = (
        f"the {keys.count:,} keys of the join are of type {keys.type}: no index looks them up, only their range is used"
    )
    return all_of([key_range, Unknown(why)])


def _without_casts(operand: Operand) -> Column | None:
    """The column below casts that keep every value, so that no two values are equal after them."""
    while isinstance(operand, Cast):
        source = operand.operand.type if isinstance(operand.operand, Column | Cast) else None
        if source is None or not keeps_value(source, operand.type):
            return None
        operand = operand.operand
    return operand if isinstance(operand, Column) else None


def _without_absent_values(plan: Plan, operand: Operand, keys: JoinKeys) -> Plan:
    """The plan without the slices whose possible values are all absent from the Bloom filter."""
    inner = operand.operand if isinstance(operand, Cast) else operand
    if keys.bloom is None or plan.schema is None or plan.ask is None or not isinstance(inner, Column):
        return plan
    column = plan.schema.resolve(inner.name)
    if column is None or not _same_values(column.type, keys.type) or not len(plan.kept_rows):
        return plan
    might_match = np.ones(len(plan.kept_rows), np.bool_)
    for provider in plan.ask([column]):
        statistics = provider.statistics.get(column.name)
        if statistics is not None and statistics.type == column.type:
            might_match &= _might_match(statistics.take(plan.kept_rows), keys)
    skipped = int(np.count_nonzero(~might_match))
    if not skipped:
        return plan
    reason = Reason("filter", f"{skipped} more slices are skipped: none of their values is a key of the join")
    return replace(plan, kept_rows=plan.kept_rows[might_match], explanation=None, reasons=(*plan.reasons, reason))


def _same_values(column: Type, keys: Type) -> bool:
    """Whether a value of the column has the same form as a key: the same type, or an integer among wider ones."""
    if not (column.kind.is_integer and keys.kind.is_integer):
        return column == keys
    return keys.integer_range()[0] <= column.integer_range()[0]


def _might_match(statistics: ColumnStatistics, keys: JoinKeys) -> npt.NDArray[np.bool_]:
    """``(k,) bool``: the slices with a possible value that might be a key."""
    assert keys.bloom is not None
    lo_known, hi_known = statistics.usable_bounds
    might_match: npt.NDArray[np.bool_] = np.ones(len(statistics), np.bool_)
    is_discrete = keys.type.kind.is_integer or keys.type.kind is Kind.DATE
    for row in np.flatnonzero(lo_known & hi_known).tolist():
        lo, hi = statistics.lo[row], statistics.hi[row]
        if is_discrete and 0 <= int(hi) - int(lo) < _MAX_VALUES:
            might_match[row] = keys.bloom.might_contain_any(range(int(lo), int(hi) + 1))
        elif keys.type.kind is Kind.STRING and lo == hi:
            might_match[row] = keys.bloom.might_contain_any([lo])
    return might_match
