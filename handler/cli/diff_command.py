"""``sargo diff``: two plans of one table, which differ in the filter, the instant or the engine's rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from evaluator.language.errors import UnknownColumnError
from evaluator.language.semantics import ENGINES
from handler.cli.exit_codes import InputError
from handler.cli.filter_options import check_session
from handler.cli.output.consoles import print_json, spinner, stdout_console
from handler.cli.table_options import table_argument, with_storage_options, with_table_options
from handler.cli.text_arguments import read_sql_argument

if TYPE_CHECKING:
    from handler.sql.parsing import Engine

__all__ = ["command"]

T = TypeVar("T")


@click.command("diff", short_help="Show which file slices only one of two filters, or instants, keeps.")
@table_argument
@click.option("--where", "wheres", metavar="SQL|@FILE|-", multiple=True, required=True, help="A condition; one or two.")
@click.option("--as-of", "instants", metavar="INSTANT", multiple=True, help="An instant or date; none, one or two.")
@click.option("--engine", "engines", type=click.Choice(ENGINES), multiple=True, help="Whose rules hold; one or two.")
@with_table_options
@with_storage_options
@click.option("--time-zone", metavar="ZONE", help="Session zone of the query. Default: this machine's.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    table: str,
    wheres: tuple[str, ...],
    instants: tuple[str, ...],
    engines: tuple[Engine, ...],
    table_options: dict[str, str],
    storage_options: dict[str, str],
    time_zone: str | None,
    as_json: bool,
) -> None:
    """Show which file slices of TABLE only one of two plans keeps: of two filters, two instants or two engines.

    An option that is given once holds for both plans.

    \b
    sargo diff /data/trips --where "fare > 50" --where "fare > 50 AND city = 'sf'"
    sargo diff /data/trips --where "fare > 50" --as-of 2026-01-01 --as-of 2026-02-01
    sargo diff /data/trips --where "day = 5" --engine hive --engine spark
    """
    if max(len(wheres), len(instants), len(engines)) != 2:
        raise click.UsageError("give --where, --as-of or --engine twice, for the two plans")
    for instant in instants:
        check_session(time_zone, instant)
    check_session(time_zone, None)
    from handler.planning.clocks import CLOCK_SKEW, clock_of
    from handler.planning.filters import read_condition
    from handler.planning.plan_diff import PlanDiff
    from handler.planning.prune import OnFailure, plan_expression
    from handler.views.diff import show_diff
    from index_store.opened_table import open_table

    rules: tuple[Engine, ...] = engines or ("spark",)
    texts = _pair([read_sql_argument(where) for where in wheres])
    filters = [read_condition(text, engine) for text, engine in zip(texts, _pair(rules), strict=True)]
    clock = clock_of(None, CLOCK_SKEW, time_zone)
    with spinner("pruning"):
        opened = open_table(table, table_options, storage_options=storage_options)
        try:
            first, second = (
                plan_expression(
                    opened, read, engine, as_of, time_zone, clock=clock, on_failure=OnFailure.RAISE_UNKNOWN_COLUMNS
                )
                for read, engine, as_of in zip(filters, _pair(rules), _pair(instants or (None,)), strict=True)
            )
        except UnknownColumnError as error:
            raise InputError(str(error)) from error
    diff = PlanDiff.of(first, second)
    if as_json:
        print_json(diff.to_dict())
    else:
        show_diff(diff, stdout_console())


def _pair(given: Sequence[T]) -> tuple[T, T]:
    return given[0], given[-1]
