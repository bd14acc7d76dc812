"""An answer, as reports, metrics and audits see it: for names that may be skipped, or for the files to read."""

from __future__ import annotations

from evaluator.language.records import frozen
from handler.sidecar.recording.audit import SkippedFile
from handler.sidecar.view import FilterDecision, View

__all__ = ["Answer", "why_nothing"]


@frozen(slots=False, kw_only=True)
class Answer:
    """The content of a report.

    because       the key of ``metrics.BECAUSE`` that says why nothing is skipped, or ""
    listed        how many files the question is about
    covered       how many of them are known, and ``full`` of how many every row matches
    could_skip    how many files would be skipped if shadow mode were off
    audited       the skipped files to audit
    """

    because: str
    listed: int
    instant: str | None = None
    audited: tuple[SkippedFile, ...] = ()
    covered: int = 0
    skipped: int = 0
    could_skip: int = 0
    full: int = 0
    reasons: tuple[str, ...] = ()
    view: View | None = None
    decision: FilterDecision | None = None


def why_nothing(decision: FilterDecision) -> str:
    """The key of ``metrics.BECAUSE`` for a plan that skips none of the files; "list" when it skips others."""
    planned = decision.planned
    if planned.is_too_large:
        return "size"
    if not (planned.is_evaluated and planned.is_read):
        return "filter"
    return "list" if decision.skipped.any() else "plan"
