"""The command line as the pages show it."""

from __future__ import annotations

import click

from handler.cli.main import main as _sargo

__all__ = ["main"]

_context = click.Context(_sargo)

#: The group ``sargo``, with its commands in alphabetical order; the page has a table of the exit codes.
main = click.Group(
    _sargo.name,
    help=_sargo.help,
    params=list(_sargo.params),
    commands={
        name: command
        for name in _sargo.list_commands(_context)
        if (command := _sargo.get_command(_context, name)) is not None
    },
)
