"""The sentence of ``sargo advise`` that says why no candidate is worth building, and what to try instead."""

from __future__ import annotations

from evaluator.language.expression import column_names
from handler.advise.advisor import Advisor
from handler.advise.ranking import Advice

__all__ = ["why_nothing"]

#: A sketch with a lower score does not tell files apart.
USELESS = 1.0


def why_nothing(advisor: Advisor, advice: Advice) -> str:
    """Why none of the candidates is worth building, or ""."""
    if not advice.slices:
        return "the table has no file"
    if advice.slices == 1:
        return "the table has one file slice: there is nothing to tell apart"
    if advisor.workload is None:
        return _why_no_score(advisor, advice)
    if not advisor.filters:
        return _why_no_filter(advisor)
    if any(one.skipped > 0 for one in advice.candidates):
        return ""
    if advice.summary.kept == 0:
        return "no sketch skips a file on these filters: what the table has skips every file already"
    causes = []
    columns = sorted({name for one in advisor.filters for name in column_names(one.filter.expression)})
    helped = [one for one in advice.candidates if one.existing]
    if helped:
        kinds = ", ".join(dict.fromkeys(name for one in helped for name in one.existing.split(", ")))
        causes.append(f"what they would skip is skipped already, by {kinds}")
    if not advisor.entries:
        causes.append(
            "they name no column that a sketch can be made of" + (f" ({', '.join(columns[:5])})" if columns else "")
        )
    undecided = sum(advice.summary.undecided.values())
    if undecided:
        why, count = max(advice.summary.undecided.items(), key=lambda pair: pair[1])
        causes.append(
            f"{undecided} of {advice.summary.asked + sum(advisor.unbound.values())} cannot be decided by any "
            f"statistics, {count} of them because of: {why}"
        )
    open_filters = sum(one.filter.count for one in advisor.filters if not one.why_undecided and len(one.kept))
    if open_filters and advisor.entries and advice.sample.slices:
        causes.append(
            f"{open_filters} of {advice.summary.asked} ask for what may be in each of the file slices that they keep, "
            f'of {advice.sample.slices} that were looked at; try --what-if "sort by (...)"'
        )
    return "no sketch skips a file on these filters: " + "; ".join(
        causes or ["none of them keeps a file that was looked at"]
    )


def _why_no_filter(advisor: Advisor) -> str:
    workload = advisor.workload
    assert workload is not None
    if not workload.lines:
        return "the workload has no line"
    if workload.others == workload.lines:
        return (
            f"none of the {workload.lines} lines is of this table, but of {', '.join(workload.other_tables)}: name the "
            "table as the log does"
        )
    return (
        f"no line of the workload can be used: {workload.unread} are no filters"
        + (f", {workload.others} are of other tables" if workload.others else "")
        + "".join(f"; {why}" for why in list(advisor.unbound)[:1])
    )


def _why_no_score(advisor: Advisor, advice: Advice) -> str:
    if not advisor.entries:
        return "no column of the table can have a sketch"
    useful = [one for one in advice.candidates if not one.existing and one.score and one.score.score >= USELESS]
    if useful:
        return ""
    if any(one.existing for one in advice.candidates):
        return "no sketch is better than what the table has already"
    return (
        "no sketch tells the files apart: each value may be in every file that was looked at; try --what-if "
        '"sort by (...)"'
    )
