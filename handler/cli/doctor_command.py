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
from handler.cli.exit_codes import BAD_INPUT, FOUND, OK, message_line
from handler.cli.extras import needs_extra
from handler.cli.output.consoles import print_json, print_text

if TYPE_CHECKING:
    from handler.doctor.findings import Finding, RunStatement

__all__ = ["command"]

_MARKS = {"ok": "ok      ", "warning": "warning ", "failed": "FAILED  "}
_AUTH, _WITH_PASSWORD = ("NONE", "NOSASL", "LDAP", "CUSTOM", "KERBEROS"), ("LDAP", "CUSTOM")
_FILE = click.Path(path_type=Path, dir_okay=False)


@contextmanager
def _hive(
    address: str, user: str | None, auth: str, password_file: Path | None, service: str | None
) -> Iterator[RunStatement]:
    """A session of HiveServer2 through PyHive."""
    login: dict[str, str] = {"auth": auth}
    if auth in _WITH_PASSWORD:
        if password_file is None:
            raise SargoError(f"--auth {auth} needs --password-file")
        try:
            login["password"] = password_file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SargoError(f"--password-file {password_file}: {error}") from error
    if auth == "KERBEROS":
        login["kerberos_service_name"] = service or "hive"
    try:
        from pyhive import hive  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError as error:
        raise SargoError("--hive needs the extra 'hive': pip install 'sargo[hive]'") from error
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or len(port) > 5:
        raise SargoError(f"--hive {address!r} is not HOST:PORT")
    try:
        connection = hive.connect(host, int(port), user, **login)
    except Exception as error:
        from handler.doctor.hive_login import login_advice

        advice = login_advice(error, auth)
        said = " ".join(str(getattr(error, "inner", None) or error).split())[
            :300
        ]  # Thrift wraps what it did not expect
        raise SargoError(f"--hive {address}: {said}{f'. {advice}' if advice else ''}") from error

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
    hive_lib: tuple[Path, ...],
    user: str | None,
    auth: str,
    password_file: Path | None,
    kerberos_service: str | None,
    secret_file: Path | None,
    tls_ca: Path | None,
) -> Iterator[Finding]:
    with needs_extra("doctor", "sidecar"):
        from handler.doctor.hudi import check_hudi, check_reader
        from handler.doctor.jar import check_jar
        from handler.doctor.settings import check_settings, hive_settings, site_settings
        from handler.doctor.sidecar import check_filter, check_sidecar, check_table, reach_sidecar
        from handler.sidecar.client import Client, Clients

    if jar is not None:
        yield from check_jar(jar)
    if hive_lib:
        yield from check_hudi(hive_lib)
    settings = site_settings(hive_site)
    if hive_site:
        yield from check_settings(settings, "hive-site.xml", address=sidecar)
    address = sidecar or settings.get("sargo.sidecar.address")
    given = Clients(address, tls_ca=tls_ca, secret_file=secret_file).clients if address else {}
    reached: list[Client] = []
    for one, asked in given.items():
        unreachable = reach_sidecar(one, asked)
        if unreachable is None:
            yield from check_sidecar(one, asked)
            reached.append(asked)
        else:  # once, and not again for each table
            yield unreachable
    looks_at_hive = bool(jar or hive_lib or hive_site or hive)
    for table in tables:
        yield from check_table(table, *reached)
        if looks_at_hive:
            yield from check_reader(table, hive_lib)
    if hive is not None:
        with _hive(hive, user, auth, password_file, kerberos_service) as ask:
            yield from check_settings(hive_settings(ask), "HiveServer2", address=address)
            if hive_table is not None and reached:
                yield from check_filter(ask, hive_table, hive_column, *reached)


@click.command("doctor", short_help="Check an installation: jar, settings, sidecar, tables, filters.")
@click.option("--jar", metavar="FILE", type=_FILE, help="The jar on Hive's class path.")
@click.option("--hive-site", metavar="FILE", type=_FILE, multiple=True, help="A hive-site.xml; may be repeated.")
@click.option(
    "--sidecar", metavar="HOST:PORT[,...]", help="The sidecars. Default: sargo.sidecar.address of --hive-site."
)
@click.option("--table", "tables", metavar="PATH", multiple=True, help="A table's folder or URI; may be repeated.")
@click.option(
    "--hive-lib",
    metavar="FOLDER|JAR",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Where Hudi's jars are on Hive's class path; may be repeated.",
)
@click.option("--hive", metavar="HOST:PORT", help="A running HiveServer2, asked through PyHive.")
@click.option("--hive-table", metavar="NAME", help="A table in Hive to run a query on: do filters arrive?")
@click.option("--hive-column", metavar="NAME", help="The column of that query's filter. Default: the first.")
@click.option("--user", metavar="NAME", help="Who asks HiveServer2.")
@click.option("--auth", type=click.Choice(_AUTH), default="NONE", show_default=True, help="The login of HiveServer2.")
@click.option("--password-file", metavar="FILE", type=_FILE, help="The password, for LDAP and CUSTOM.")
@click.option("--kerberos-service", metavar="NAME", help="For KERBEROS: the service's name. Default: hive.")
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
    if not any(given[name] for name in ("jar", "hive_lib", "hive_site", "sidecar", "tables", "hive")):
        raise click.UsageError("name what to look at: --hive-site, --jar, --hive-lib, --sidecar, --table or --hive")
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
