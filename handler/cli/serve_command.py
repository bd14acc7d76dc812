"""``sargo serve``: the sidecar, with a flag for every setting of its schema."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from handler.cli.exit_codes import BAD_INPUT, message_line
from handler.cli.extras import needs_extra
from handler.cli.output.consoles import print_text
from handler.cli.setting_flags import setting_flags

__all__ = ["command"]


def _serve(config: Path | None, print_config: bool, **flags: Any) -> None:
    with needs_extra("serve", "sidecar"):
        from handler.sidecar.roots.allowed_roots import AllowedRoots
        from handler.sidecar.run import serve
        from handler.sidecar.settings import SettingsError, load_settings, print_settings

    try:
        settings = load_settings(config, {name: value for name, value in flags.items() if value is not None})
        if print_config:
            if settings.roots:
                AllowedRoots.of(settings).named(
                    settings.tables
                )  # an error that would prevent the start is reported here too
            print_text(print_settings(settings))
            return
        serve(settings)
    except SettingsError as error:
        click.echo(f"sargo: {message_line(error.why)}", err=True)
        sys.exit(BAD_INPUT)


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
        *setting_flags(),
    ],
)
