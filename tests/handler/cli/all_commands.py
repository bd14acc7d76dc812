"""Every command of ``sargo`` by its words, and how to call those that look at a table."""

from __future__ import annotations

from collections.abc import Iterator

import click

from handler.cli.main import main


def commands(group: click.Group = main, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """``(("prune",), ...)``, ``(("index", "create"), ...)``: every command that is no group."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        else:
            yield (*words, name), command


#: Every command that takes a table; ``{table}`` stands for it.
ON_A_TABLE: dict[str, list[str]] = {
    "prune": ["prune", "{table}", "--where", "i = 100"],
    "diff": ["diff", "{table}", "--where", "i = 100", "--where", "i = 200"],
    "explain": ["explain", "{table}", "--where", "i = 100"],
    "inspect": ["inspect", "{table}"],
    "files": ["files", "{table}"],
    "advise": ["advise", "{table}", "--workload", "/dev/null"],
    "index create": ["index", "create", "{table}", "--on", "i"],
    "index list": ["index", "list", "{table}"],
    "index show": ["index", "show", "{table}"],
    "index refresh": ["index", "refresh", "{table}"],
    "index optimize": ["index", "optimize", "{table}"],
    "index vacuum": ["index", "vacuum", "{table}"],
    "index drop": ["index", "drop", "{table}"],
    "sql": ["sql", "SHOW INDEXES FROM TABLE '{table}'"],
}


def on_table(name: str, table: object) -> list[str]:
    """The arguments of the command for this table."""
    return [word.replace("{table}", str(table)) for word in ON_A_TABLE[name]]
