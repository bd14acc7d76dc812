"""``sargo advise --json``: the advice as plain values."""

from __future__ import annotations

from typing import Any

from handler.advise.commands import create_commands
from handler.advise.ranking import Advice, Candidate
from handler.advise.what_if import WhatIf
from handler.advise.workload import Workload
from index_store.own.advice.selectivity_score import SelectivityScore
from index_store.own.definition import Entry

__all__ = ["advice_report", "commands_of"]


def commands_of(advice: Advice) -> list[str]:
    """The commands that build the proposed entries."""
    return create_commands(
        advice.table, (chosen.entry for chosen in advice.proposal.entries), advice.names, advice.options
    )


def advice_report(advice: Advice, nothing: str, layout: WhatIf | None) -> dict[str, Any]:
    """The advice as plain values for JSON (docs/reference/json.md).

    ``nothing``: why no candidate is worth building, or "".
    """
    document: dict[str, Any] = {
        "table": advice.table,
        "instant": advice.instant,
        "slices": advice.slices,
        "sample": {
            "slices": advice.sample.slices,
            "files": advice.sample.files,
            "bytes": advice.sample.bytes,
            "complete": advice.complete,
            "seconds": round(advice.sample.seconds, 3),
            "unread_files": dict(advice.sample.failed),
        },
        "workload": None
        if advice.workload is None
        else {
            **_workload(advice.workload),
            "kept": round(advice.summary.kept),
            "slices": advice.slices * advice.summary.asked,
            "undecided": dict(advice.summary.undecided),
            "not_of_the_table": dict(advice.summary.unbound),
            "by_filter": [
                {
                    "filter": one.filter.text,
                    "count": one.filter.count,
                    "line": one.filter.line,
                    "kept": one.now,
                    "kept_with_chosen": None if one.after is None else round(one.after, 2),
                }
                for one in advice.proposal.remaining
            ],
        },
        "candidates": [_candidate(one, by_workload=advice.workload is not None) for one in advice.candidates],
        "chosen": {
            "entries": [
                {**_entry(one.entry), "skipped": round(one.skipped, 2), "bytes": one.size}
                for one in advice.proposal.entries
            ],
            "bytes": advice.proposal.size,
            "seconds": round(advice.proposal.seconds, 3),
            "commands": commands_of(advice),
        },
        "nothing_helps": nothing or None,
    }
    if layout is not None:
        document["what_if"] = _layout(layout)
    return document


def _workload(workload: Workload) -> dict[str, Any]:
    return {
        "lines": workload.lines,
        "filters": len(workload.filters),
        "asked": sum(one.count for one in workload.filters),
        "unread": workload.unread,
        "unread_lines": [{"line": one.line, "why": one.why} for one in workload.unread_lines],
        "of_other_tables": workload.others,
        "other_tables": list(workload.other_tables),
        "left_out": workload.left_out,
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {"on": entry.on, "sketch": entry.sketch}


def score_as_dict(score: SelectivityScore | None) -> dict[str, Any] | None:
    """A score as plain values."""
    return (
        None
        if score is None
        else {
            "score": round(score.score, 2),
            "basis": score.basis or "exact",
            "left": round(score.left, 2),
            "slices": score.slices,
            "asked": score.asked,
        }
    )


def _candidate(one: Candidate, *, by_workload: bool) -> dict[str, Any]:
    document = {
        **_entry(one.entry),
        "bytes": one.size,
        "seconds": round(one.seconds, 3),
        "reads": "footers" if one.from_footers else "rows",
        "effectiveness": score_as_dict(one.score),
        "existing": one.existing or None,
    }
    if by_workload:
        document.update(
            skipped=round(one.skipped, 2),
            skipped_alone=round(one.alone or 0.0, 2),
            filters=one.filters,
            skipped_per_kilobyte=round(1000 * one.per_byte, 4),
        )
    return document


def _layout(layout: WhatIf) -> dict[str, Any]:
    return {
        "arrangement": layout.arrangement,
        "rows": layout.rows,
        "pieces": layout.pieces,
        "exact": layout.exact,
        "within_partitions": layout.partitioned,
        "left_out": dict(layout.left_out),
        "kept_before": round(layout.before, 2),
        "kept_after": round(layout.after, 2),
        "filters": [
            {
                "filter": one.text,
                "count": one.count,
                "kept_now": one.now,
                "kept_before": round(one.before, 2),
                "kept_after": round(one.after, 2),
            }
            for one in layout.filters
        ],
        "columns": [
            {"column": one.name, "before": score_as_dict(one.before), "after": score_as_dict(one.after)}
            for one in layout.columns
        ],
    }
