"""Options that every command about a table has: what its catalog entry says of it, and what its file system needs."""

from __future__ import annotations

from collections.abc import Sequence

import click

__all__ = ["storage_options", "table_options"]


def _pairs(context: click.Context, parameter: click.Parameter, given: Sequence[str]) -> dict[str, str]:
    del context
    pairs = [text.partition("=") for text in given]
    wrong = [name for name, equals, _ in pairs if not (name and equals)]
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} is not KEY=VALUE", param=parameter)
    return {name: value for name, _, value in pairs}


table_options = click.option(
    "--table-option",
    "table_options",
    metavar="KEY=VALUE",
    multiple=True,
    callback=_pairs,
    help="What only the table's catalog entry says of it: hoodie.index.type=BUCKET, ...",
)


storage_options = click.option(
    "--storage-option",
    "storage_options",
    metavar="KEY=VALUE",
    multiple=True,
    callback=_pairs,
    help="What the file system needs: region=..., endpoint=..., anonymous=true, ...; keys "
    "rather in the environment, where other users do not see them.",
)
