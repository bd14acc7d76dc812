"""``status_document``: everything that the sidecar's page shows, as plain values for JSON. Called on the event loop.

It names tables, users and columns, and filters where ``log_values`` is on. Every list has a limit.
"""

from __future__ import annotations

import shlex
import time
from typing import Any

from handler.sidecar.recording.history import PERIOD_SECONDS
from handler.sidecar.recording.metrics import BECAUSE, Metrics
from handler.sidecar.recording.reports import AnswerReport
from handler.sidecar.service import Service
from handler.version import VERSION

__all__ = ["MAX_QUESTIONS", "MAX_SHOWN_TABLES", "status_document"]

MAX_QUESTIONS, MAX_SHOWN_TABLES, MAX_SHOWN_COLUMNS = 100, 200, 50
_MAX_REASONS = 3


def status_document(service: Service, metrics: Metrics) -> dict[str, Any]:
    """The state now."""
    settings = service.settings
    return {
        "version": VERSION,
        "now": time.time(),
        "began": service.records.history.began,
        "status": "stopping" if service.stopping else "starting" if service.warm_start.opening else "ok",
        "shadow": settings.shadow,
        "log_values": settings.log_values,
        "period_seconds": PERIOD_SECONDS,
        "sums": _sums(service, metrics),
        "because": {
            text: count for key, text in BECAUSE.items() if (count := _sample(metrics, "skipped_nothing", because=key))
        },
        "tables": _tables(service),
        "history": [[one.begin, one.answers, one.listed, one.skipped] for one in service.records.history.periods],
        "questions": [
            _question(report, settings.log_values) for report in service.records.reports.latest(MAX_QUESTIONS)
        ],
        "columns": _columns(service),
        "errors": service.journal.latest_errors(),
    }


def _sample(metrics: Metrics, name: str, **labels: str) -> int:
    return int(metrics.registry.get_sample_value(f"sargo_{name}_total", labels) or 0)


def _sums(service: Service, metrics: Metrics) -> dict[str, Any]:
    return {
        "answers": _sample(metrics, "requests", method="prune", end="answered"),
        "failed": _sample(metrics, "requests", method="prune", end="failed"),
        "listed": _sample(metrics, "files_listed"),
        "skipped": _sample(metrics, "files_skipped"),
        "could_skip": _sample(metrics, "files_could_skip"),
        "refused": {
            sample.labels["code"]: int(sample.value)
            for family in metrics.refused.collect()
            for sample in family.samples
            if sample.value
        },
        "audits": {
            sample.labels["verdict"]: int(sample.value)
            for family in metrics.audits.collect()
            for sample in family.samples
        },
        "breakers": service.tables.unavailable,
        "kept": service.tables.kept,
        "cache_bytes": service.tables.nbytes,
        "cache_limit": service.settings.cache_bytes,
    }


def _tables(service: Service) -> list[dict[str, Any]]:
    """The open tables, and those that cannot be read, those that were used last first."""
    known = []
    for state in service.tables.states(MAX_SHOWN_TABLES):
        sums = service.records.history.tables.get(state.table)
        known.append(
            {
                "table": state.table,
                "instant": state.instant,
                "type": state.table_type,
                "table_version": state.version,
                "slices": state.slices,
                "bytes": state.nbytes,
                "age": state.age,
                "state": "wrong skip" if state.table in service.records.turned_off else state.state,
                "why": state.why,
                "answers": sums.answers if sums else 0,
                "listed": sums.listed if sums else 0,
                "skipped": sums.skipped if sums else 0,
            }
        )
    return known


def _question(report: AnswerReport, with_filter: bool) -> dict[str, Any]:
    question: dict[str, Any] = {
        "id": report.id,
        "when": report.when,
        "table": report.table,
        "instant": report.instant,
        "user": report.user,
        "query": report.query_id,
        "engine": report.engine,
        "type": report.query_type,
        "listed": report.listed,
        "skipped": report.skipped,
        "could_skip": report.could_skip,
        "milliseconds": round(report.seconds * 1000, 2),
        "because": report.because,
        "reasons": [] if not with_filter else list(report.reasons[:_MAX_REASONS]),
    }
    if with_filter:
        question["filter"] = report.filter_text
    return question


def _columns(service: Service) -> list[dict[str, Any]]:
    """The columns that filters ask for and no index has, most asked first, with the command of the advisor."""
    log = service.settings.filter_log
    asked = sorted(
        (
            (count, table, column)
            for table, sums in service.records.history.tables.items()
            for column, count in sums.unindexed.items()
        ),
        reverse=True,
    )
    return [
        {
            "table": table,
            "column": column,
            "asked": count,
            "command": shlex.join(["sargo", "advise", table, *([] if log is None else ["--workload", str(log)])]),
        }
        for count, table, column in asked[:MAX_SHOWN_COLUMNS]
    ]
