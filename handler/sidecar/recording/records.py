"""Writes an answer down: as a report, in the log, the metrics, the sums for the page and the log of filters.

It also has skipped files audited. After a wrong skip, a table is ``turned_off`` until the sidecar is started again.
"""

from __future__ import annotations

import random
import weakref
from collections.abc import Callable

from evaluator.language.semantics import Semantics
from handler.sidecar.decisions.planning import cut_text, cut_texts
from handler.sidecar.names import FileIndices
from handler.sidecar.recording.answers import Answer
from handler.sidecar.recording.audit import Audits, SkippedFile, Verdict, choose_slices
from handler.sidecar.recording.filter_log import FilterLog
from handler.sidecar.recording.history import History
from handler.sidecar.recording.journal import Journal
from handler.sidecar.recording.metrics import BECAUSE, Metrics
from handler.sidecar.recording.reports import AnswerReport, Reports
from handler.sidecar.requests import Question
from handler.sidecar.settings import Settings
from handler.sidecar.view import FilterDecision, View

__all__ = ["Records", "cause_of"]

#: The length of the cause when a table cannot be read: that of a client's whole message.
_MAX_CAUSE_LENGTH = 2000
#: The length of a filter that is written into ``filter_log``, and the characters of one that its report keeps.
_MAX_LOGGED_FILTER, _MAX_SHOWN_FILTER = 64 << 10, 1_000


class Records:
    """What is kept of the answers of one sidecar. Used on the event loop."""

    def __init__(self, settings: Settings, metrics: Metrics, journal: Journal) -> None:
        self.reports = Reports(settings.reports)
        self.history = History()
        self.turned_off: set[str] = set()
        self._settings = settings
        self._metrics = metrics
        self._journal = journal
        self._audits = Audits(self._record_verdict)
        self._filter_log = (
            None
            if settings.filter_log is None
            else FilterLog(settings.filter_log, settings.filter_log_bytes, settings.filter_log_older, journal)
        )

    def close(self) -> None:
        """Stop the audits, and close the log of filters."""
        self._audits.close()
        if self._filter_log is not None:
            self._filter_log.close()

    def add(self, question: Question, answer: Answer, seconds: float) -> AnswerReport:
        """Write an answer down; ``seconds``: how long it took."""
        report = AnswerReport(
            location=question.location,
            instant=answer.instant,
            query_id=question.query_id,
            user=question.user,
            engine=question.query.engine,
            query_type=question.query_type,
            listed=answer.listed,
            covered=answer.covered,
            skipped=answer.skipped,
            could_skip=answer.could_skip,
            because=BECAUSE[answer.because] if answer.because else "",
            reasons=cut_texts(answer.reasons),
            seconds=seconds,
            view=None if answer.view is None else weakref.ref(answer.view),
            decision=None if answer.decision is None else weakref.ref(answer.decision),
            filter_text=_shown_filter(answer) if self._settings.log_values else "",
        )
        self.reports.add(report)
        self._audits.audit(list(answer.audited))
        self._count(answer)
        unindexed = () if answer.decision is None else answer.decision.planned.unindexed
        self.history.add(question.location.path, answer.listed, answer.skipped, answer.could_skip, unindexed)
        self._journal.answered(report, answer.because, cause_of(answer))
        if (
            self._filter_log is not None
            and answer.decision is not None
            and answer.decision.planned.is_read
            and len(question.query.filter) <= _MAX_LOGGED_FILTER
        ):
            self._filter_log.write(question.location.path, question.query, answer.listed, answer.skipped)
        return report

    def _count(self, answer: Answer) -> None:
        metrics = self._metrics
        metrics.listed.inc(answer.listed)
        metrics.covered.inc(answer.covered)
        metrics.skipped.inc(answer.skipped)
        metrics.could_skip.inc(answer.could_skip)
        metrics.full.inc(answer.full)
        if answer.because:
            metrics.nothing.labels(answer.because).inc()

    # -- audits

    def choose_audited(
        self,
        question: Question,
        view: View,
        decision: FilterDecision,
        skipped: Callable[[], FileIndices],
        *,
        has_logs: bool,
    ) -> tuple[SkippedFile, ...]:
        """Some of the skipped files, for ``Answer.audited``; mostly none.

        skipped    gives their indices among the view's files
        has_logs   whether the engine merges log files
        """
        if random.random() >= self._settings.audit_rate:
            return ()
        merges = has_logs and question.query_type != "read_optimized"
        path, table, engine = question.location.path, view.opened.table, question.query.engine
        semantics = Semantics.named(engine, question.query.time_zone or "UTC")
        from_paths = table.partition_fields if semantics.values_from_paths else ()
        return tuple(
            SkippedFile(
                table=path,
                root=question.location.root,
                storage_options=self._settings.options_of(path),
                path=item.base_file,
                expression=decision.query,
                schema=table.schema,
                semantics=semantics,
                max_rows=self._settings.audit_rows,
                log_files=item.log_files if merges else (),
                from_paths=frozenset(name.partition(".")[0].lower() for name in from_paths),
            )
            for item in choose_slices(view.files, skipped(), self._settings.audit_files)
        )

    def _record_verdict(self, file: SkippedFile, verdict: Verdict) -> None:
        """Count a verdict. After a wrong skip, its table is not pruned until the sidecar is started again."""
        self._metrics.audits.labels(verdict).inc()
        if verdict == "failed":
            self.turned_off.add(file.table)
            self._metrics.alarm.set(len(self.turned_off))
            self._journal.say(
                "audit_failed",
                "error",
                table=file.table,
                file=file.path,
                consequence="this table is not pruned any more; keep the file and report it",
            )


def cause_of(answer: Answer) -> str:
    """Why the table cannot be read, on one line; "" when it can."""
    if answer.because != "table":
        return ""
    return cut_text(" ".join(" ".join(answer.reasons).split()), _MAX_CAUSE_LENGTH)


def _shown_filter(answer: Answer) -> str:
    return "" if answer.decision is None else cut_text(answer.decision.planned.text, _MAX_SHOWN_FILTER)
