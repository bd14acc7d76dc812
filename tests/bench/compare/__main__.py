"""``make bench-compare BASE=main``: the hot paths of this checkout beside those of another commit.

Fails when a path is slower than ``--limit`` times the base, twice: what is slower is timed again by two new processes,
because the places that a process gets in memory last as long as it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from tests.bench.compare.checkouts import NoCommit, checked_out, commit_of
from tests.bench.compare.hot_paths import HOT_PATHS
from tests.bench.compare.ratios import Comparison, shown
from tests.bench.compare.rounds import compared

_REPOSITORY = Path(__file__).resolve().parents[3]
_WIDTH = 140


@click.command()
@click.option("--base", required=True, help="The commit to compare with, by any name that git knows.")
@click.option("--seconds", default=60.0, show_default=True, help="How long the rounds take, without preparation.")
@click.option("--limit", default=1.3, show_default=True, help="More than this ratio fails.")
@click.option("--only", default="", help="Only paths whose name holds this text.")
def main(base: str, seconds: float, limit: float, only: str) -> None:
    """Time the hot paths of two checkouts in turns, and print ratios."""
    names = [name for name in HOT_PATHS if only in name]
    if not names:
        raise click.UsageError(f"no path holds {only!r}: {', '.join(HOT_PATHS)}")
    try:
        commit = commit_of(_REPOSITORY, base)
    except NoCommit as error:
        raise click.UsageError(str(error)) from None
    console = Console(width=_WIDTH)
    with checked_out(_REPOSITORY, commit) as folder:
        measured = compared(folder, _REPOSITORY, names, seconds)
        console.print(_table(measured, f"this checkout / {base} ({commit[:12]})", limit))
        doubted = [one.name for one in measured if one.is_slower(limit)]
        if doubted:
            measured = compared(folder, _REPOSITORY, doubted, seconds)
            console.print(_table(measured, "once more, by new processes", limit))
    slower = [one.name for one in measured if one.is_slower(limit)]
    if slower:
        raise click.ClickException(f"more than {limit} x the base: {'; '.join(slower)}")


def _table(measured: Sequence[Comparison], title: str, limit: float) -> Table:
    table = Table("CPU of a call", "base", "now", "ratio", "of half the rounds", "rounds", title=title)
    for one in measured:
        if one.why:
            table.add_row(one.name, "", "", "", f"not in the base: {one.why[:60]}", "")
            continue
        low, _, high = one.spread
        ratio = f"{one.ratio:.2f}"
        table.add_row(
            one.name,
            shown(min(one.base)),
            shown(min(one.head)),
            f"[red]{ratio}[/]" if one.is_slower(limit) else ratio,
            f"{low:.2f} to {high:.2f}",
            str(len(one.base)),
        )
    return table


if __name__ == "__main__":
    main()
