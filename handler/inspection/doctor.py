"""``sargo doctor``: whether an installation of Hive, jar, sidecar and table can skip files, and what to do if not.

Each check gives one finding or a few; none stops the others. What was not named is not checked, and says so.

    jar        it is Sargo's, whole, of this version, for Java 8, and brings no Thrift that clashes with Hive's
    settings   of hive-site.xml or of a running HiveServer2: those without which Hive hands out no filter
    sidecar    it is reachable, well, and speaks this protocol
    table      the sidecar can open it; it has statistics of columns
    filter     a query through HiveServer2 makes Hive ask the sidecar
"""

from __future__ import annotations

import ipaddress
import json
import re
import socket
import struct
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from evaluator.language.errors import SargoError
from handler.inspection.table_report import report_table
from handler.sidecar.client import Client, ClientError
from handler.sidecar.idl import Refused, interface
from index_store.opened_table import open_table

__all__ = [
    "Ask",
    "Finding",
    "State",
    "check_filter",
    "check_jar",
    "check_settings",
    "check_sidecar",
    "check_table",
    "hive_settings",
    "site_settings",
]

State = Literal["ok", "warning", "failed"]
#: Runs a statement on HiveServer2 and gives its rows.
Ask = Callable[[str], Sequence[Sequence[object]]]

_ENTRY = "io/sargo/hive/PruningInputFormat.class"
_CLASS_VERSION_OF_JAVA_8 = 52
_HIVE_INPUT_FORMAT = "org.apache.hadoop.hive.ql.io.HiveInputFormat"

#: What must be set how; the value that counts when it is not set (None: that differs); what happens otherwise.
_NEEDED = (
    ("hive.optimize.ppd", "true", "true", "Hive pushes no filter down"),
    ("hive.optimize.ppd.storage", "true", "true", "Hive pushes no filter down to table scans"),
    ("hive.optimize.index.filter", "true", None, "tables that were not made with STORED BY get no filter"),
    (
        "hive.input.format",
        _HIVE_INPUT_FORMAT,
        "org.apache.hadoop.hive.ql.io.CombineHiveInputFormat",
        "under MapReduce Hive lists files itself and asks nobody",
    ),
    ("hoodie.file.group.reader.enabled", "false", "true", "Hudi 1.0's reader fails in Hive"),
)
_SETTINGS = (*(key for key, *_ in _NEEDED), "sargo.enabled", "sargo.sidecar.address", "hive.execution.engine")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: where, how it is, and what to do about it if it is not well."""

    check: str
    state: State
    text: str
    remedy: str = ""


# -- the jar


def check_jar(path: Path) -> Iterator[Finding]:
    """Whether a jar is Sargo's for Hive, and of this version."""
    build = "build it anew: mvn -f handler/java package"
    try:
        with zipfile.ZipFile(path) as jar:
            names = jar.namelist()
            if _ENTRY not in names:
                yield Finding("jar", "failed", f"{path} does not hold {_ENTRY}", build)
                return
            major = struct.unpack("!4xHH", jar.read(_ENTRY)[:8])[1]
            found = _jar_version(jar)
    except (OSError, zipfile.BadZipFile, struct.error) as error:
        yield Finding("jar", "failed", f"{path} cannot be read: {error}", build)
        return
    ours = version("sargo")
    if found is None:
        yield Finding("jar", "warning", "the jar does not tell its version", build)
    elif _base(found) != _base(ours):
        yield Finding(
            "jar", "warning", f"the jar is of version {found}, this is {ours}", "install the same version of both"
        )
    else:
        yield Finding("jar", "ok", f"version {found}")
    if major > _CLASS_VERSION_OF_JAVA_8:
        yield Finding("jar", "failed", f"its classes need Java {major - 44}, Hive 3.1 runs on Java 8", build)
    if any(name.startswith("org/apache/thrift/") for name in names):
        yield Finding(
            "jar",
            "failed",
            "it brings a Thrift that clashes with Hive's",
            "use the shaded jar, in which Thrift has another name",
        )


def _jar_version(jar: zipfile.ZipFile) -> str | None:
    """From the manifest, or from what Maven writes beside it."""
    for name in jar.namelist():
        key = (
            r"Implementation-Version:\s*(\S+)"
            if name == "META-INF/MANIFEST.MF"
            else (
                r"version=(\S+)" if re.fullmatch(r"META-INF/maven/io\.sargo[^/]*/[^/]+/pom\.properties", name) else None
            )
        )
        match = re.search(key, jar.read(name).decode("utf-8", "replace")) if key else None
        if match:
            return match[1]
    return None


def _base(text: str) -> str:
    return re.split(r"[-+]", text)[0]


# -- the settings


def site_settings(paths: Iterable[Path]) -> dict[str, str]:
    """Properties of hive-site.xml files, later ones first. Raises SargoError when one cannot be read."""
    found: dict[str, str] = {}
    for path in paths:
        try:
            root = ElementTree.parse(path).getroot()
        except (OSError, ElementTree.ParseError) as error:
            raise SargoError(f"{path}: {error}") from error
        for entry in root.iter("property"):
            name = (entry.findtext("name") or "").strip()
            if name:
                found[name] = (entry.findtext("value") or "").strip()
    return found


def hive_settings(ask: Ask) -> dict[str, str]:
    """The same settings as a session of HiveServer2 has them."""
    found = {}
    for name in _SETTINGS:
        for row in ask(f"SET {name}"):
            key, equals, value = str(row[0]).partition("=")
            if equals and key.strip() == name:
                found[name] = value.strip()
    return found


def check_settings(settings: Mapping[str, str], where: str, *, address: str | None = None) -> Iterator[Finding]:
    """Whether Hive hands out filters and knows the sidecar. ``address``: of the sidecar that is looked at."""
    wrong = 0
    engine = settings.get("hive.execution.engine", "mr").lower()
    for key, wanted, default, consequence in _NEEDED:
        value = settings.get(key, default)
        if key == "hive.input.format" and engine == "tez":
            continue
        if value is None:
            yield Finding(
                "settings",
                "warning",
                f"{where}: {key} is not set, and off by default in Hive 3.1: {consequence}",
                f"set {key}={wanted}",
            )
        elif value.lower() != wanted.lower():
            wrong += 1
            yield Finding("settings", "failed", f"{where}: {key} is {value}: {consequence}", f"set {key}={wanted}")
    if settings.get("sargo.enabled", "true").lower() != "true":
        wrong += 1
        yield Finding("settings", "failed", f"{where}: sargo.enabled is off", "set sargo.enabled=true")
    told = settings.get("sargo.sidecar.address", "")
    if not told:
        wrong += 1
        yield Finding(
            "settings",
            "failed",
            f"{where}: sargo.sidecar.address is not set",
            f"set sargo.sidecar.address={address or 'HOST:PORT'}",
        )
    elif address is not None and told != address:
        yield Finding(
            "settings",
            "warning",
            f"{where}: Hive asks {told}, not {address}",
            f"set sargo.sidecar.address={address}, or look at that one",
        )
    if told and _is_loopback(told.rpartition(":")[0]) and engine == "tez":
        yield Finding(
            "settings",
            "warning",
            f"{where}: splits are made on Tez's application masters, and {told} is each machine's own",
            "listen on an address that they reach, or run a sidecar on every node",
        )
    if not wrong:
        yield Finding("settings", "ok", f"{where}: Hive hands out filters and asks {told}")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


# -- the sidecar


def check_sidecar(address: str, client: Client) -> Iterator[Finding]:
    """Whether it is there, well, and speaks this protocol."""
    try:
        told = json.loads(client.version())
        health = json.loads(client.health())
    except (ClientError, Refused, ValueError) as error:
        yield Finding(
            "sidecar",
            "failed",
            str(error),
            f"start 'sargo serve' so that {socket.gethostname()} reaches "
            f"{address}; is a firewall, another port or TLS between them?",
        )
        return
    ours = interface().PROTOCOL_VERSION
    if told.get("protocol") != ours:
        yield Finding(
            "sidecar",
            "failed",
            f"it speaks version {told.get('protocol')} of the protocol, not {ours}",
            "install the same version of both",
        )
    if health.get("status") != "ok":
        yield Finding("sidecar", "failed", f"it says {health.get('status')!r}", "start it again")
    else:
        yield Finding(
            "sidecar", "ok", f"{address} is there, version {told.get('sargo')}, with {health.get('tables')} tables open"
        )
    if health.get("shadow"):
        yield Finding(
            "sidecar", "warning", "it runs in shadow mode: it reports, and skips nothing", "set shadow = false"
        )
    if health.get("turned_off"):
        yield Finding(
            "sidecar",
            "failed",
            f"an audit found a wrong skip in {health['turned_off']} tables: they are not pruned",
            "see 'audit_failed' in its log, keep the file, report it",
        )


# -- a table


def check_table(table: str, client: Client | None) -> Iterator[Finding]:
    """Whether the sidecar opens it, and what there is to skip by."""
    if client is not None:
        yield from _check_table_of_sidecar(table, client)
    try:
        report = report_table(open_table(table))
    except SargoError as error:
        yield Finding(
            "table",
            "warning" if client is not None else "failed",
            f"from here: {error}",
            "give the folder that holds .hoodie; the sidecar may see it all the same",
        )
        return
    columns = sorted(
        {
            name
            for covered in report.coverage
            if covered.kind == "column_stats"
            for name, known in covered.columns.items()
            if known.usable and not name.startswith("_hoodie_")
        }
    )
    if columns:
        some = ", ".join(columns[:8]) + (" ..." if len(columns) > 8 else "")
        yield Finding("table", "ok", f"{table}: {report.slices} file slices, statistics of {some}")
    else:
        yield Finding(
            "table",
            "failed",
            f"{table} has no statistics of columns: only partitions can be skipped",
            "write with hoodie.metadata.index.column.stats.enable=true, or run Hudi's indexer",
        )
    if report.note:
        yield Finding("table", "warning", f"{table}: {report.note}", "commit once more, or rebuild the metadata table")
    for text in report.failures:
        yield Finding("table", "warning", f"{table}: {text}", "rebuild this index with Hudi's indexer")


def _check_table_of_sidecar(table: str, client: Client) -> Iterator[Finding]:
    try:
        reply = client.prune(table, b"", ())
    except Refused as refused:
        remedy = {
            "table": "add its folder to the sidecar's roots",
            "secret": "give the secret with --secret-file, and to Hive with sargo.secret.file",
        }
        yield Finding("table", "failed", f"{table}: the sidecar refuses: {refused.why}", remedy.get(refused.code, ""))
        return
    except ClientError as error:
        yield Finding("table", "failed", f"{table}: no answer of the sidecar: {error.why}", "see its log")
        return
    if reply.instant is None:
        why = next(iter((reply.reasons or [])[1:]), "; ".join(reply.reasons or []))
        yield Finding(
            "table",
            "failed",
            f"{table}: the sidecar cannot open it: {why}",
            "let the user that it runs as read the table",
        )
    else:
        yield Finding("table", "ok", f"{table}: the sidecar has it open at {reply.instant}")


# -- from query to sidecar


def check_filter(ask: Ask, table: str, column: str | None, client: Client) -> Iterator[Finding]:
    """Whether a query with a filter makes Hive ask the sidecar. ``table`` is a name in Hive."""
    try:
        chosen = column or _first_column(ask, table)
        query = f"SELECT count(*) FROM {table} WHERE {chosen} IS NOT NULL"
        plan = "\n".join(str(row[0]) for row in ask(f"EXPLAIN {query}"))
        before = json.loads(client.health())["asked"]
        ask(query)
        after = json.loads(client.health())["asked"]
    except SargoError as error:
        yield Finding("filter", "failed", f"{table}: {error}", "run the query by hand")
        return
    except Exception as error:  # what a driver of HiveServer2 makes of an error of Hive
        yield Finding(
            "filter",
            "failed",
            f"{table}: the query fails: {' '.join(str(error).split())[:300]}",
            "run it by hand; see HiveServer2's log",
        )
        return
    if after > before:
        yield Finding("filter", "ok", f"{table}: a query with a filter asked the sidecar")
    elif "filterExpr:" not in plan:
        yield Finding(
            "filter",
            "failed",
            f"{table}: the plan's table scan carries no filter",
            "see the settings above; set hive.cbo.enable=true",
        )
    else:
        yield Finding(
            "filter",
            "failed",
            f"{table}: the filter reaches the table scan, but nobody asked the sidecar",
            "is the jar on the class path, the table's input format io.sargo.hive's, the address reachable "
            "from where splits are made? The log says 'sargo: kept all' and why",
        )


def _first_column(ask: Ask, table: str) -> str:
    for row in ask(f"DESCRIBE {table}"):
        name = str(row[0] or "").strip()
        if name and not name.startswith(("#", "_hoodie_")):
            return name
    raise SargoError("the table has no columns")
