"""What the sidecar answered lately, for ``explain``: each report under an id that only the asker was told."""

from __future__ import annotations

import io
import secrets
import threading
import weakref
from collections import OrderedDict
from dataclasses import dataclass, field

from rich.console import Console

from handler.sidecar.view import Decision
from handler.views.explain import show_explanation

__all__ = ["Report", "Reports"]


@dataclass(frozen=True, eq=False)
class Report:
    """One answer.

    because     the word of ``metrics.BECAUSE`` for why nothing was skipped, or ""
    decision    the plan behind the answer, while the view remembers it
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
    decision: weakref.ref[Decision] | None = None
    id: str = field(default_factory=lambda: secrets.token_urlsafe(16))

    def text(self) -> str:
        """The report for people; what each condition skipped follows while the plan is remembered."""
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
    """The last ``most`` reports."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._reports: OrderedDict[str, Report] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, report: Report) -> None:
        with self._lock:
            self._reports[report.id] = report
            while len(self._reports) > self._most:
                self._reports.popitem(last=False)

    def get(self, report_id: str) -> Report | None:
        with self._lock:
            return self._reports.get(report_id)
