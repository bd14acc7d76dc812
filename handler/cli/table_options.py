"""Options of every command about a table: properties from its catalog entry, and options of its file system."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["table_argument", "with_options", "with_storage_options", "with_table_options"]


def with_options(*options: Callable[[Any], Any]) -> Callable[[Callable[..., None]], Any]:
    """A decorator that adds several options to a command; its help lists them in this order."""

    def decorate(command: Callable[..., None]) -> Any:
        decorated: Any = command
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


def _named(context: click.Context, parameter: click.Parameter, table: str) -> str:
    """A table that is named: an empty text, as an unset variable of a shell gives, is no working directory."""
    del context
    if not table.strip():
        raise click.BadParameter("it is empty", param=parameter)
    return table


def _folders(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The shell completes folders."""
    from click.shell_completion import CompletionItem

    del context, parameter
    return [CompletionItem(incomplete, type="dir")]


table_argument = click.argument("table", callback=_named, shell_complete=_folders)


def _pairs(context: click.Context, parameter: click.Parameter, given: Sequence[str]) -> dict[str, str]:
    del context
    pairs = [text.partition("=") for text in given]
    wrong = [name for name, equals, _ in pairs if not (name and equals)]
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} is not KEY=VALUE", param=parameter)
    return {name: value for name, _, value in pairs}


with_table_options = click.option(
    "--table-option",
    "table_options",
    metavar="KEY=VALUE",
    multiple=True,
    callback=_pairs,
    help="What only the table's catalog entry says of it: hoodie.index.type=BUCKET, ...",
)


with_storage_options = click.option(
    "--storage-option",
    "storage_options",
    metavar="KEY=VALUE",
    multiple=True,
    callback=_pairs,
    help="What the file system needs: region=..., endpoint=..., anonymous=true, ...; keys "
    "rather in the environment, where other users do not see them.",
)
