"""The latest answers of the sidecar, for ``explain``: each report has an id that only its reply contains."""

from __future__ import annotations

import io
import secrets
import threading
import weakref
from collections import OrderedDict
from dataclasses import dataclass, field

from rich.console import Console

from handler.sidecar.view import FilterDecision
from handler.views.explain import show_explanation

__all__ = ["AnswerReport", "Reports"]


@dataclass(frozen=True, eq=False, kw_only=True)
class AnswerReport:
    """One answer.

    because     the text of ``metrics.BECAUSE`` that says why nothing was skipped, or ""
    decision    the plan behind the answer, while the view caches it
    """

    table: str
    instant: str | None
    query_id: str
    user: str
    engine: str
    query_type: str
    listed: int
    covered: int
    skipped: int
    could_skip: int
    because: str
    reasons: tuple[str, ...]
    seconds: float
    decision: weakref.ref[FilterDecision] | None = None
    id: str = field(default_factory=lambda: secrets.token_urlsafe(16))

    def text(self) -> str:
        """The report for people, with the explanation of the plan while the view caches it."""
        lines = [
            f"table     {self.table}",
            f"instant   {self.instant or 'none'}   ({self.query_type}, {self.engine})",
            f"query     {self.query_id or 'not named'}   user {self.user or 'not named'}",
            f"files     {self.listed} listed, {self.covered} known, {self.skipped} skipped"
            + (f" ({self.could_skip} could be)" if self.could_skip != self.skipped else ""),
            f"seconds   {self.seconds:.4f}",
        ]
        if self.because:
            lines.append(f"nothing was skipped: {self.because}")
        lines += [f"- {reason}" for reason in self.reasons]
        decision = self.decision() if self.decision is not None else None
        if decision is not None:
            page = io.StringIO()
            show_explanation(decision.plan, Console(file=page, width=120, highlight=False, color_system=None))
            lines += ["", page.getvalue().rstrip()]
        return "\n".join(lines) + "\n"


class Reports:
    """The latest ``limit`` reports."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._reports: OrderedDict[str, AnswerReport] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, report: AnswerReport) -> None:
        with self._lock:
            self._reports[report.id] = report
            while len(self._reports) > self._limit:
                self._reports.popitem(last=False)

    def get(self, report_id: str) -> AnswerReport | None:
        with self._lock:
            return self._reports.get(report_id)
