"""The command line as the pages show it."""

from __future__ import annotations

import click

from handler.cli.main import main as _sargo

__all__ = ["main"]

#: The group ``sargo``, with its commands in alphabetical order; the page has a table of the exit codes.
main = click.Group(
    _sargo.name,
    help=_sargo.help,
    params=list(_sargo.params),
    commands=dict(sorted(_sargo.commands.items())),
)
