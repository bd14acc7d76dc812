"""``sargo doctor`` on the command line: the parts to check, and the findings as lines or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evaluator.language.errors import SargoError
from handler.cli.consoles import print_json, print_text
from handler.cli.exit_codes import BAD_INPUT, FOUND, OK, message_line
from handler.cli.extras import needs_extra

if TYPE_CHECKING:
    from handler.doctor.findings import Finding, RunStatement

__all__ = ["command"]

_MARKS = {"ok": "ok      ", "warning": "warning ", "failed": "FAILED  "}
_FILE = click.Path(path_type=Path, dir_okay=False)


@contextmanager
def _hive(address: str, user: str | None) -> Iterator[RunStatement]:
    """A session of HiveServer2, through PyHive without authentication (SASL NONE)."""
    try:
        from pyhive import hive  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError as error:
        raise SargoError("--hive needs the extra 'hive': pip install 'sargo[hive]'") from error
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or len(port) > 5:
        raise SargoError(f"--hive {address!r} is not HOST:PORT")
    try:
        connection = hive.connect(host, int(port), user, auth="NONE")
    except Exception as error:
        raise SargoError(f"--hive {address}: {' '.join(str(error).split())[:300]}") from error

    def ask(statement: str) -> Any:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()

    try:
        yield ask
    finally:
        connection.close()


def _findings(
    *,
    jar: Path | None,
    hive_site: tuple[Path, ...],
    sidecar: str | None,
    tables: tuple[str, ...],
    hive: str | None,
    hive_table: str | None,
    hive_column: str | None,
    user: str | None,
    secret_file: Path | None,
    tls_ca: Path | None,
) -> Iterator[Finding]:
    with needs_extra("doctor", "sidecar"):
        from handler.doctor.jar import check_jar
        from handler.doctor.settings import check_settings, hive_settings, site_settings
        from handler.doctor.sidecar import check_filter, check_sidecar, check_table
        from handler.sidecar.client import Client, read_secret

    if jar is not None:
        yield from check_jar(jar)
    settings = site_settings(hive_site)
    if hive_site:
        yield from check_settings(settings, "hive-site.xml", address=sidecar)
    address = sidecar or settings.get("sargo.sidecar.address")
    client = None
    if address:
        client = Client(address, tls_ca=tls_ca, secret=read_secret(secret_file, address))
        yield from check_sidecar(address, client)
    for table in tables:
        yield from check_table(table, client)
    if hive is not None:
        with _hive(hive, user) as ask:
            yield from check_settings(hive_settings(ask), "HiveServer2", address=address)
            if hive_table is not None and client is not None:
                yield from check_filter(ask, hive_table, hive_column, client)


@click.command("doctor", short_help="Check an installation: jar, settings, sidecar, tables, filters.")
@click.option("--jar", metavar="FILE", type=_FILE, help="The jar on Hive's class path.")
@click.option("--hive-site", metavar="FILE", type=_FILE, multiple=True, help="A hive-site.xml; may be repeated.")
@click.option("--sidecar", metavar="HOST:PORT", help="The sidecar. Default: sargo.sidecar.address of --hive-site.")
@click.option("--table", "tables", metavar="PATH", multiple=True, help="A table's folder or URI; may be repeated.")
@click.option("--hive", metavar="HOST:PORT", help="A running HiveServer2 (asked through PyHive, SASL NONE).")
@click.option("--hive-table", metavar="NAME", help="A table in Hive to run a query on: do filters arrive?")
@click.option("--hive-column", metavar="NAME", help="The column of that query's filter. Default: the first.")
@click.option("--user", metavar="NAME", help="Who asks HiveServer2.")
@click.option("--secret-file", metavar="FILE", type=_FILE, help="The sidecar's shared secret.")
@click.option("--tls-ca", metavar="FILE", type=_FILE, help="Certificate authorities of the sidecar; turns TLS on.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(as_json: bool, **given: Any) -> None:
    """Check an installation and say what to do about what is wrong.

    \b
    sargo doctor --hive-site /etc/hive/conf/hive-site.xml --jar sargo-hive.jar --table /warehouse/trips
    sargo doctor --sidecar sargo.example:10950 --hive hs2.example:10000 --hive-table trips --json

    Exit codes: 0 nothing failed, 1 something did, 2 bad input.
    """
    if not any(given[name] for name in ("jar", "hive_site", "sidecar", "tables", "hive")):
        raise click.UsageError("name what to look at: --hive-site, --jar, --sidecar, --table or --hive")
    try:
        findings = []
        for finding in _findings(**given):
            findings.append(finding)
            if not as_json:
                _show(finding)
    except SargoError as error:
        click.echo(f"sargo: {message_line(str(error))}", err=True)
        sys.exit(BAD_INPUT)
    failed = any(finding.state == "failed" for finding in findings)
    if as_json:
        print_json({"ok": not failed, "findings": [asdict(finding) for finding in findings]})
    sys.exit(FOUND if failed else OK)


def _show(finding: Finding) -> None:
    print_text(f"{_MARKS[finding.state]}{finding.check:<9} {finding.text}")
    if finding.remedy:
        print_text(f"{'':18}do: {finding.remedy}")
