"""The latest answers of the sidecar, for ``explain``: each report has an id, which its reply and the log hold.

Reports are found by that id, and by the id of the query. A query may have several: one for each table or scan.
"""

from __future__ import annotations

import itertools
import secrets
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import field

from evaluator.language.records import frozen
from handler.sidecar.roots.allowed_roots import AllowedTable
from handler.sidecar.view import FilterDecision, View
from handler.views.texts import visible

__all__ = ["AnswerReport", "Reports", "list_of_reports"]


@frozen(slots=False, eq=False, kw_only=True)
class AnswerReport:
    """One answer.

    because          the text of ``metrics.BECAUSE`` that says why nothing was skipped, or ""
    reasons          the first of them, each cut
    view, decision   what the answer came from, as long as it is kept for other answers
    when             seconds since 1970
    filter_text      the filter for people, cut, where ``log_values`` allows it
    id               hexadecimal digits: it stands on a command line as it is
    """

    location: AllowedTable
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
    view: weakref.ref[View] | None = None
    decision: weakref.ref[FilterDecision] | None = None
    when: float = field(default_factory=time.time)
    filter_text: str = ""
    id: str = field(default_factory=lambda: secrets.token_hex(16))

    @property
    def table(self) -> str:
        return self.location.path

    def text(self, explanation: str = "") -> str:
        """The report for people, followed by the explanation of the plan."""
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
        if explanation:
            lines += ["", *explanation.split("\n")]
        return "".join(f"{visible(line)}\n" for line in lines)


def list_of_reports(reports: Sequence[AnswerReport]) -> str:
    """The answers to one query, a line each, for people."""
    lines = [f"query     {reports[0].query_id}   {len(reports)} answers: give the id of one", ""]
    lines += [
        f"{report.id}  {report.skipped} of {report.listed} files skipped  "
        f"{report.instant or 'no instant'}  {report.table}"
        for report in reports
    ]
    return "".join(f"{visible(line)}\n" for line in lines)


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

    def latest(self, count: int) -> list[AnswerReport]:
        """At most ``count`` reports, the latest first."""
        with self._lock:
            return list(itertools.islice(reversed(self._reports.values()), count))

    def get(self, report_id: str) -> AnswerReport | None:
        with self._lock:
            return self._reports.get(report_id)

    def of_query(self, query_id: str) -> list[AnswerReport]:
        """The reports on a query's answers, in the order in which they were made; of the query "" none."""
        with self._lock:
            return [report for report in self._reports.values() if query_id and report.query_id == query_id]

    def called(self, name: str) -> AnswerReport | Sequence[AnswerReport]:
        """The report of an id, or the only one of a query; of a query that has several, or none, all of them."""
        found = self.get(name) or self.of_query(name)
        return found[0] if isinstance(found, list) and len(found) == 1 else found
