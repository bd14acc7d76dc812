"""``scan``: the rows of a Hudi table that satisfy a condition, for any engine, in one call.

scan("/data/trips", "fare > 50 AND city = 'sf'").scan_polars()
scan("s3://lake/trips", "fare > 50", columns=["city", "fare"], as_of="2026-11-01").to_duckdb(con, "trips")
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.language.expression import Constant
from handler.engines.scan import Scan
from handler.planning.clocks import AsOfClock
from handler.planning.filters import Filter
from handler.planning.plan_rows import Query
from handler.planning.prune import Openable, prune
from handler.sql.parsing import Engine

__all__ = ["scan"]


def scan(
    table: Openable,
    where: Filter | None = None,
    columns: Sequence[str] | None = None,
    as_of: str | None = None,
    *,
    engine: Engine | None = None,
    time_zone: str | None = None,
    as_of_clock: AsOfClock | None = None,
    alias: str | None = None,
    strict: bool = False,
    filtered: bool = True,
    query: Query = "snapshot",
    by_name: bool = False,
) -> Scan:
    """Plan which file slices a condition needs, and give their rows to an engine; no data file is read yet.

    where      as the filter of ``prune``; by default all rows
    columns    the columns of the result; by default all, with Hudi's own

    The other arguments are those of ``prune`` and of ``Plan.scan``, which raise what they do there. The result has
    ``to_batches()``, ``to_table()``, ``to_pandas()``, ``to_pyarrow_dataset()``, ``scan_polars()``, ``to_duckdb(con)``
    and ``tasks(n)``.
    """
    plan = prune(
        table,
        Constant(True) if where is None else where,
        engine,
        as_of,
        strict,
        time_zone,
        as_of_clock,
        alias=alias,
    )
    return plan.scan(columns, filtered=filtered, query=query, by_name=by_name)
