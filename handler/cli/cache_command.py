"""``sargo cache``: the snapshots of large tables on disk, with which opening a table again reads only new commits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from handler.cli.exit_codes import InputError
from handler.cli.output.consoles import print_json, print_text, stdout_console

if TYPE_CHECKING:
    from index_store.snapshots import KeptTable, SnapshotCache

__all__ = ["command"]


@click.command("cache")
@click.option("--clear", "clear", is_flag=True, help="Remove what is kept; of TABLE only, if it is named.")
@click.argument("table", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(clear: bool, table: str | None, as_json: bool) -> None:
    """Show or clear the snapshots of large tables that are kept on disk.

    SARGO_CACHE names the folder, or is "off"; SARGO_CACHE_BYTES is its limit. What is shared in a store
    (SARGO_CACHE=s3://...) is neither counted nor cleared.
    A folder that others may write into is refused.
    """
    from index_store.snapshots import default_cache

    cache = default_cache()
    if cache is None:
        if as_json:
            print_json({"folder": None, "tables": []})
        else:
            print_text("nothing is kept: SARGO_CACHE is off")
        return
    refused = cache.why_refused()
    if refused:
        raise InputError(f"snapshots are neither read nor stored: {refused}")
    removed = cache.clear(None if table is None else _name(table)) if clear else 0
    kept = cache.tables()
    if as_json:
        print_json(
            {
                "folder": os.fspath(cache.folder),
                "limit": cache.limit,
                "removed": removed,
                "shared": None if cache.shared is None else cache.shared.name,
                "tables": [_row(one) for one in kept],
            }
        )
        return
    _show(cache, kept, removed if clear else None)


def _name(table: str) -> str:
    """The name of a table in the cache."""
    from index_store.storage.storage import Storage

    storage = Storage.at(table)
    return f"{storage.client.kind}:{storage.root}"


def _row(one: KeptTable) -> dict[str, object]:
    from handler.views.texts import minute_text

    return {
        "table": one.table.partition(":")[2],
        "instant": one.instant,
        "columns": one.columns,
        "bytes": one.size,
        "used": minute_text(one.used),
    }


def _show(cache: SnapshotCache, kept: list[KeptTable], removed: int | None) -> None:
    from rich.table import Table
    from rich.text import Text

    from handler.views.texts import count_text, minute_text, size_text

    console = stdout_console()
    if removed is not None:
        console.print(f"removed what was kept of {count_text(removed, 'table')}", highlight=False)
    rows = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    rows.add_column("table", overflow="fold")
    rows.add_column("instant", no_wrap=True)
    for name in ("columns", "size", "last used"):
        rows.add_column(name, justify="right", no_wrap=True)
    for one in kept:
        rows.add_row(
            Text(one.table.partition(":")[2]),
            one.instant or "·",
            str(one.columns),
            size_text(one.size),
            minute_text(one.used),
        )
    if kept:
        console.print(rows)
    total = sum(one.size for one in kept)
    console.print(Text(f"{size_text(total)} of at most {size_text(cache.limit)} in {cache.folder}", style="bold"))
    if cache.shared is not None:
        console.print(Text(f"shared with others through {cache.shared.name}"))
