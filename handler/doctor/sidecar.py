"""Whether a sidecar is reachable and opens a table, and whether a query in Hive makes Hive ask the sidecar."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluator.language.errors import SargoError
from handler.doctor.findings import Finding, RunStatement
from handler.doctor.listing import check_listing
from handler.inspection.table_report import report_table
from handler.sidecar.client import Client, ClientError
from handler.sidecar.idl import PROTOCOL_VERSION, Refused
from handler.sidecar.roots.locations import wire_location
from handler.views.texts import visible
from index_store.opened_table import open_table

__all__ = ["check_filter", "check_sidecar", "check_table", "reach_sidecar"]

#: The characters of a message on why roots cannot be read.
_MAX_CAUSES = 2000


def reach_sidecar(address: str, client: Client) -> Finding | None:
    """Why the sidecar cannot be reached; None when it can."""
    try:
        _answers(client)
    except (ClientError, Refused, ValueError) as error:
        return Finding(
            "sidecar",
            "failed",
            str(error),
            f"start 'sargo serve' so that {socket.gethostname()} reaches "
            f"{address}; is a firewall, another port or TLS between them?",
        )
    return None


def _answers(client: Client) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """What it says of its version and its health. Raises ClientError, Refused or ValueError."""
    try:
        state = client.health(shows_secret=True)
    except Refused:  # a wrong secret: the check of a table says so
        state = client.health()
    versions, health = json.loads(client.version()), json.loads(state)
    if not (isinstance(versions, dict) and isinstance(health, dict)):
        raise ClientError("who listens there is no sidecar")
    return versions, health


def check_sidecar(address: str, client: Client) -> Iterator[Finding]:
    """Whether the sidecar is reachable, well, and speaks this protocol."""
    unreachable = reach_sidecar(address, client)
    if unreachable is not None:
        yield unreachable
        return
    versions, health = _answers(client)
    ours = PROTOCOL_VERSION
    if versions.get("protocol") != ours:
        yield Finding(
            "sidecar",
            "failed",
            f"it speaks version {_said(versions, 'protocol')} of the protocol, not {ours}",
            "install the same version of both",
        )
    if health.get("status") == "starting":
        yield Finding(
            "sidecar", "warning", f"it still opens {_said(health, 'opening')} tables that its settings name", "wait"
        )
    elif health.get("status") != "ok":
        yield Finding("sidecar", "failed", f"it says {_said(health, 'status')}", "start it again")
    else:
        yield Finding(
            "sidecar",
            "ok",
            f"{address} is there, version {_said(versions, 'sargo')}, with {_said(health, 'tables')} tables open",
        )
    if health.get("shadow"):
        yield Finding(
            "sidecar", "warning", "it runs in shadow mode: it reports, and skips nothing", "set shadow = false"
        )
    roots = health.get("roots")
    causes = [f"{root}: {why}" for root, why in roots.items()] if isinstance(roots, dict) else []
    if causes or health.get("roots_unreadable"):
        yield Finding(
            "sidecar",
            "failed",
            f"it cannot read {_said(health, 'roots_unreadable')} of its roots"
            + (f": {visible('; '.join(causes))[:_MAX_CAUSES]}" if causes else ", see 'root_unreadable' in its log"),
            "install the client of that file system beside the sidecar, or let it reach the cluster",
        )
    if health.get("turned_off"):
        yield Finding(
            "sidecar",
            "failed",
            f"an audit found a wrong skip in {_said(health, 'turned_off')} tables: they are not pruned",
            "see 'audit_failed' in its log, keep the file, report it",
        )


def _said(answer: Mapping[str, Any], key: str) -> str:
    return visible(str(answer.get(key)))[:80]


# -- a table


def check_table(table: str, *clients: Client) -> Iterator[Finding]:
    """Whether each sidecar opens the table, and whether the table has statistics to skip by."""
    for client in clients:
        who = client.address if len(clients) > 1 else "the sidecar"
        yield from _check_table_of_sidecar(table, client, who)
        yield from check_listing(table, client, who)
    try:
        report = report_table(open_table(table))
    except SargoError as error:
        yield Finding(
            "table",
            "warning" if clients else "failed",
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
        yield Finding("table", "ok", f"{table}: {report.slices.count} file slices, statistics of {some}")
    else:
        yield Finding(
            "table",
            "failed",
            f"{table} has no statistics of columns: only partitions can be skipped",
            "write with hoodie.metadata.index.column.stats.enable=true, or run Hudi's indexer",
        )
    if report.slices.note:
        yield Finding(
            "table", "warning", f"{table}: {report.slices.note}", "commit once more, or rebuild the metadata table"
        )
    for text in report.failures:
        yield Finding("table", "warning", f"{table}: {text}", "rebuild this index with Hudi's indexer")


def _check_table_of_sidecar(table: str, client: Client, who: str) -> Iterator[Finding]:
    try:
        reply = client.prune(wire_location(table), b"", ())
    except Refused as refused:
        remedy = {
            "table": "add its folder to the sidecar's roots",
            "secret": "give the secret with --secret-file, and to Hive with sargo.secret.file",
        }
        yield Finding("table", "failed", f"{table}: {who} refuses: {refused.why}", remedy.get(refused.code, ""))
        return
    except ClientError as error:
        yield Finding("table", "failed", f"{table}: no answer of {who}: {error.why}", "see its log")
        return
    if reply.instant is None:
        why = next(iter((reply.reasons or [])[1:]), "; ".join(reply.reasons or []))
        yield Finding(
            "table",
            "failed",
            f"{table}: {who} cannot open it: {visible(why)}",
            "let the user that it runs as read the table",
        )
    else:
        yield Finding("table", "ok", f"{table}: {who} has it open at {visible(reply.instant)}")


# -- from query to sidecar


def check_filter(ask: RunStatement, table: str, column: str | None, *clients: Client) -> Iterator[Finding]:
    """Whether a query with a filter makes Hive ask one of the sidecars. ``table`` is a name in Hive."""
    try:
        chosen = column or _first_column(ask, table)
        query = f"SELECT count(*) FROM {table} WHERE {chosen} IS NOT NULL"
        plan = "\n".join(str(row[0]) for row in ask(f"EXPLAIN {query}"))
        before = _asked(clients)
        ask(query)
        after = _asked(clients)
    except SargoError as error:
        yield Finding("filter", "failed", f"{table}: {error}", "run the query by hand")
        return
    except Exception as error:  # a driver of HiveServer2 raises errors of its own
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


def _asked(clients: Sequence[Client]) -> int:
    """How many requests the sidecars were asked."""
    return sum(int(json.loads(client.health())["asked"]) for client in clients)


def _first_column(ask: RunStatement, table: str) -> str:
    for row in ask(f"DESCRIBE {table}"):
        name = str(row[0] or "").strip()
        if name and not name.startswith(("#", "_hoodie_")):
            return name
    raise SargoError("the table has no columns")
