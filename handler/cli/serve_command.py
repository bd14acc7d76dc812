"""``sargo serve``: the sidecar, with a flag for every setting of its schema."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_origin

import click

from handler.sidecar.allowed_roots import AllowedRoots
from handler.sidecar.run import serve
from handler.sidecar.settings import Settings, SettingsError, load_settings, print_settings

__all__ = ["command"]

_BAD_SETTINGS = 2


def _flags() -> list[click.Parameter]:
    flags: list[click.Parameter] = []
    for name, field in Settings.model_fields.items():
        flag = f"--{name.replace('_', '-')}"
        if field.annotation is bool:
            flags.append(click.Option([f"{flag}/--no-{flag[2:]}"], default=None, help=f"{field.description}."))
        # A secret in a flag would be visible in the list of processes.
        elif name != "secret" and get_origin(field.annotation) is not Mapping:
            shown = "TEXT,..." if name == "roots" else name.rpartition("_")[2].upper()
            flags.append(click.Option([flag], metavar=shown, help=f"{field.description}."))
    return flags


def _serve(config: Path | None, print_config: bool, **flags: Any) -> None:
    try:
        settings = load_settings(config, {name: value for name, value in flags.items() if value is not None})
        if print_config:
            if settings.roots:
                AllowedRoots(settings.roots)  # an error that would prevent the start is reported here too
            click.echo(print_settings(settings))
            return
        serve(settings)
    except SettingsError as error:
        click.echo("sargo: " + " ".join(error.why.split()), err=True)
        sys.exit(_BAD_SETTINGS)


command = click.Command(
    "serve",
    callback=_serve,
    help="Answer Hive over Thrift which of the files it listed may be skipped, until SIGTERM.\n\n"
    "\b\nsargo serve --roots /warehouse\nsargo serve --config sidecar.toml --print-config\n\n"
    "A setting may stand in the file (KEY = VALUE), in the environment (SARGO_SIDECAR_KEY) or among the flags, "
    "which win.",
    short_help="Answer Hive over Thrift which files it may skip.",
    params=[
        click.Option(
            ["--config"],
            metavar="FILE",
            type=click.Path(path_type=Path, dir_okay=False),
            help="A TOML file with settings.",
        ),
        click.Option(["--print-config"], is_flag=True, help="Print the settings as a file and leave."),
        *_flags(),
    ],
)
