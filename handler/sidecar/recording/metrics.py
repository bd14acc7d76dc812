"""Counters and gauges of the sidecar for Prometheus, and the values that their labels may have.

No label contains the name of a table, a user or a value, because more people may read the metrics than the tables.
"""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

from handler.sidecar.recording.audit import VERDICTS

__all__ = ["BECAUSE", "Metrics"]

#: Why an answer skips nothing.
BECAUSE = {
    "plan": "the filter rules out no file slice",
    "list": "no listed file belongs to a file slice that is ruled out",
    "filter": "the filter cannot be read",
    "no_filter": "the scan has no filter",
    "size": "the filter is too large, or takes too long",
    "query_type": "queries of this kind are not pruned",
    "table": "the table cannot be opened",
    "time": "the answer was not ready in time",
    "shadow": "shadow mode",
    "audit": "an audit found a wrong skip in this table",
    "failure": "the sidecar failed",
}

_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class Metrics:
    """All metrics of one sidecar, in a registry of its own."""

    def __init__(self) -> None:
        disable_created: Callable[[], None] = disable_created_metrics
        disable_created()  # no second series with the time of creation
        self.registry = CollectorRegistry()
        registry = self.registry
        self.requests = Counter(
            "sargo_requests",
            "Calls by method and how they ended (answered, refused, failed)",
            ["method", "end"],
            registry=registry,
        )
        self.refused = Counter("sargo_refused", "Refused calls by code", ["code"], registry=registry)
        self.seconds = Histogram(
            "sargo_request_seconds",
            "Seconds from the last byte of a call to its answer",
            ["method"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.listed = Counter("sargo_files_listed", "File names that clients listed", registry=registry)
        self.covered = Counter("sargo_files_known", "Listed files that the view of the table has", registry=registry)
        self.skipped = Counter("sargo_files_skipped", "Listed files that were answered as skippable", registry=registry)
        self.could_skip = Counter("sargo_files_could_skip", "The same, as if shadow mode were off", registry=registry)
        self.full = Counter("sargo_files_fully_matched", "Listed files of which every row matches", registry=registry)
        self.nothing = Counter(
            "sargo_skipped_nothing", "Answers that skip nothing, by cause", ["because"], registry=registry
        )
        self.audits = Counter(
            "sargo_audits", f"Audited file slices by verdict ({', '.join(VERDICTS)})", ["verdict"], registry=registry
        )
        self.alarm = Gauge(
            "sargo_audit_alarm_tables", "Tables that an audit turned off. Anything but 0 is an alarm", registry=registry
        )
        self.connections = Gauge("sargo_connections", "Open connections", registry=registry)
        self.connections_closed = Counter(
            "sargo_connections_closed", "Connections that were closed for a cause", ["because"], registry=registry
        )
        for because in BECAUSE:
            self.nothing.labels(because)
        for verdict in VERDICTS:
            self.audits.labels(verdict)

    def watch(self, name: str, text: str, read: Callable[[], float]) -> None:
        """A gauge that is read when the page is."""
        Gauge(name, text, registry=self.registry).set_function(read)
