"""The options of commands that plan a filter over a table: the filter itself, whose rules hold, and as of when."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from evaluator.language.errors import UnknownColumnError, UnsupportedError
from evaluator.language.semantics import ENGINES, Semantics
from handler.cli.exit_codes import InputError
from handler.cli.output.consoles import spinner
from handler.cli.table_options import table_argument, with_options, with_storage_options, with_table_options
from handler.cli.text_arguments import read_filter_argument, read_sql_argument

if TYPE_CHECKING:
    from evaluator.language.clock import Clock
    from handler.planning.filters import ReadFilter
    from handler.sql.parsing import Engine

__all__ = ["check_session", "with_plan"]


def _chosen_filter(where: str | None, hive_filter: str | None, engine: Engine | None) -> tuple[ReadFilter, Engine]:
    """The filter of exactly one of the two options, and the engine whose rules it follows."""
    if (where is None) == (hive_filter is None):
        raise click.UsageError("give either --where SQL|@FILE|- or --hive-filter B64|@FILE|-")
    from handler.planning.filters import ReadFilter, read_condition

    if where is not None:
        text = read_sql_argument(where)
        return read_condition(text, engine or "spark"), engine or "spark"
    assert hive_filter is not None
    given = read_filter_argument(hive_filter)
    import sarg

    return ReadFilter(sarg.decode(given)), engine or "hive"


def _chosen_clock(
    as_of_clock: str | None, skew: float | None, time_zone: str | None, *, is_of_hive: bool
) -> Clock | None:
    """The clock of the query. Hive fixes its own before the filter is written, so nothing is known of it."""
    from handler.planning.clocks import CLOCK_SKEW, check_clock, clock_of

    skew = CLOCK_SKEW if skew is None else skew
    try:
        check_clock(as_of_clock, skew)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return None if as_of_clock is None and is_of_hive else clock_of(as_of_clock, skew, time_zone)


def with_plan(command: Callable[..., None]) -> Any:
    """Add the options of a table and a filter to a command, which is called with their plan in their place."""

    @functools.wraps(command)
    def call_with_plan(
        table: str,
        where: str | None,
        hive_filter: str | None,
        engine: Engine | None,
        as_of: str | None,
        table_options: dict[str, str],
        storage_options: dict[str, str],
        time_zone: str | None,
        as_of_clock: str | None,
        clock_skew: float | None,
        alias: str | None,
        strict: bool,
        lenient: bool,
        **others: Any,
    ) -> None:
        read, rules = _chosen_filter(where, hive_filter, engine)
        check_session(time_zone, as_of)
        clock = _chosen_clock(as_of_clock, clock_skew, time_zone, is_of_hive=hive_filter is not None)
        from handler.planning.arguments import check_alias
        from handler.planning.prune import OnFailure, plan_expression
        from index_store.opened_table import open_table

        check_alias(alias)
        if strict and lenient:
            raise click.UsageError("--strict and --lenient contradict each other")
        on_failure = OnFailure.SKIP_NOTHING if lenient else OnFailure.RAISE_UNKNOWN_COLUMNS
        with spinner("pruning"):
            opened = open_table(table, table_options, storage_options=storage_options)
            on_failure = OnFailure.RAISE if strict else on_failure
            try:
                plan = plan_expression(
                    opened, read, rules, as_of, time_zone, clock=clock, on_failure=on_failure, alias=alias
                )
            except UnknownColumnError as error:
                raise InputError(str(error) if strict else f"{error} (--lenient goes on without it)") from error
        command(plan, **others)

    return with_options(
        table_argument,
        click.option("--where", metavar="SQL|@FILE|-", help="A condition, such as \"fare > 50 AND city = 'sf'\"."),
        click.option("--hive-filter", metavar="B64|@FILE|-", help="The value of hive.io.filter.expr.serialized."),
        click.option(
            "--engine",
            type=click.Choice(ENGINES),
            help="Whose rules hold. Default: spark for --where, hive for --hive-filter.",
        ),
        click.option("--as-of", metavar="INSTANT", help="Answer for the table as of this instant or date."),
        with_table_options,
        with_storage_options,
        click.option("--time-zone", metavar="ZONE", help="Session zone of the query. Default: this machine's."),
        click.option("--alias", metavar="NAME", help="The table's name in the query (o.fare). Default: the one used."),
        click.option(
            "--as-of-clock",
            metavar="MOMENT",
            help="When the query runs, if its filter reads the clock. Default: from now on.",
        ),
        click.option(
            "--clock-skew",
            type=float,
            metavar="SECONDS",
            help="By how much the clock of the query may be behind this machine's. Default: 300.",
        ),
        click.option(
            "--strict",
            is_flag=True,
            help="Fail instead of skipping nothing: indexes that cannot be read.",
        ),
        click.option(
            "--lenient", is_flag=True, help="Skip nothing by conditions on columns that the table does not have."
        ),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
    )(call_with_plan)


def check_session(time_zone: str | None, as_of: str | None) -> None:
    """Refuse a zone or an instant that cannot be one before a table is opened."""
    from index_store.table.timeline import parse_as_of

    try:
        Semantics.named("spark", time_zone)
        if as_of is not None:
            parse_as_of(as_of)
    except (UnsupportedError, ValueError) as error:
        raise InputError(str(error)) from error
