"""The command line with every command in place, also those that are imported only when they are called."""

from __future__ import annotations

import importlib

import click

from handler.cli.main import main as _lazy

__all__ = ["main"]


def _loaded(command: click.Command) -> click.Command:
    module = getattr(command, "_module", None)
    if module is None:
        return command
    loaded: click.Command = importlib.import_module(module).command
    return loaded


#: The group ``sargo`` as people see it.
main = click.Group(
    _lazy.name,
    help=_lazy.help,
    params=list(_lazy.params),
    commands={name: _loaded(command) for name, command in sorted(_lazy.commands.items())},
)
