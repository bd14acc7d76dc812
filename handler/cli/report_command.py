"""``sargo report``: the sidecar's report on one answer, by the id in the engine's log, or by that of the query."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from handler.cli.exit_codes import BAD_INPUT, UNREADABLE, InputError, message_line
from handler.cli.extras import needs_extra
from handler.cli.output.consoles import print_text

__all__ = ["command"]


@click.command("report", short_help="Show what the sidecar skipped for a query, and why not more.")
@click.argument("report_id", metavar="ID")
@click.option(
    "--sidecar",
    metavar="HOST:PORT[,...]",
    default="127.0.0.1:10950",
    show_default=True,
    help="Where it listens; of several, the one that has the report answers.",
)
@click.option(
    "--secret-file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The sidecar's shared secret.",
)
@click.option(
    "--tls-ca",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Certificate authorities of the sidecar; turns TLS on.",
)
def command(report_id: str, sidecar: str, secret_file: Path | None, tls_ca: Path | None) -> None:
    """Show the sidecar's report ID: what was skipped for a query, by which condition and index, and why not more.

    Hive's log, and the driver's log of Spark, name the id of each answer ("sargo: asked, ... report=ID"). ID may also
    be the id of the query: where it has several answers, they are listed. Values of the filter and of the table's
    statistics are in the report. A sidecar with a shared secret shows it to those who give the secret.

    Exit codes: 0 shown, 2 no such report or a wrong secret, 3 no answer of the sidecar.
    """
    with needs_extra("report", "sidecar"):
        from handler.sidecar.client import ClientError, Clients
        from handler.sidecar.idl import Refused

    if not re.fullmatch(r"[\w.:-]{1,200}", report_id, re.ASCII):
        raise InputError(f"{report_id!r} is no id of a report or query: the engine's log names it, as report=ID")
    try:
        client = Clients(sidecar, tls_ca=tls_ca, secret_file=secret_file)
    except ClientError as error:
        raise InputError(error.why) from error
    try:
        print_text(client.explain(report_id), newline=False)
    except Refused as refused:
        click.echo(f"sargo: {message_line(refused.why)}", err=True)
        sys.exit(BAD_INPUT)
    except ClientError as error:
        click.echo(f"sargo: {message_line(error.why)}", err=True)
        sys.exit(UNREADABLE)
