"""``advise_page``: which indexes would be worth their bytes, and what another order of the rows would do."""

from __future__ import annotations

import shlex
from typing import Any

from handler.advise.ranking import Advice, Candidate
from handler.advise.reasons import USELESS
from handler.advise.what_if import WhatIf, WhatIfFilter
from handler.pages.environment import render_page
from handler.pages.range_charts import layout_charts
from handler.views.advise_report import commands_of

__all__ = ["advice_values", "advise_page"]

MAX_FILTERS = 500


def advise_page(advice: Advice, nothing: str = "", layout: WhatIf | None = None) -> str:
    """The page of an advice. ``nothing``: why no candidate is worth building; ``layout``: a simulated order."""
    return render_page(
        "advise.html.j2",
        title=f"{advice.table.rstrip('/').rpartition('/')[2] or advice.table}: which indexes are worth their bytes",
        scripts=("page.js", "tables.js"),
        with_tables=True,
        nothing=nothing,
        layout=layout,
        layout_filters=[] if layout is None else _changed(layout),
        max_filters=MAX_FILTERS,
        charts=[] if layout is None else layout_charts(layout),
        workload_command=shlex.join(["sargo", "advise", advice.table, "--workload", "filters.sql"]),
        what_if_command=shlex.join(["sargo", "advise", advice.table, "--what-if", "sort by (COLUMN)"]),
        **advice_values(advice),
    ).html


def advice_values(advice: Advice) -> dict[str, Any]:
    """What templates show of an advice, by its names in them."""
    by_workload = advice.workload is not None
    return {
        "advice": advice,
        "by_workload": by_workload,
        "useful": [one for one in advice.candidates if _is_useful(one, by_workload=by_workload)],
        "existing": [one for one in advice.candidates if one.existing],
        "commands": commands_of(advice),
        "together": sum(one.skipped for one in advice.proposal.entries),
        "remaining": sorted(advice.proposal.remaining, key=lambda one: -one.filter.count * (one.after or 0))[
            :MAX_FILTERS
        ],
    }


def _is_useful(one: Candidate, *, by_workload: bool) -> bool:
    if by_workload:
        return one.skipped > 0
    return not one.existing and one.score is not None and one.score.score >= USELESS


def _changed(layout: WhatIf) -> list[WhatIfFilter]:
    """The filters of a simulated layout, those first for which most changes."""
    return sorted(layout.filters, key=lambda one: -one.count * abs(one.after - one.before))[:MAX_FILTERS]
