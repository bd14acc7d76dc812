"""``inspect_page``: a table, its indexes, and how much the ranges of its columns overlap, as one page."""

from __future__ import annotations

import shlex

from handler.advise.what_if import WhatIf
from handler.inspection.overlap_report import OverlapReport
from handler.inspection.table_report import TableReport
from handler.pages.environment import render_page
from handler.pages.range_charts import chart_of, layout_charts

__all__ = ["inspect_page"]

MAX_CHARTS, MAX_PARTITIONS = 24, 2_000


def inspect_page(report: TableReport, overlap: OverlapReport, layout: WhatIf | None = None) -> str:
    """The page of a table; ``layout``: its ranges after another order of the rows."""
    slices = report.slices
    after = {} if layout is None else {one.name: one for one in layout.columns}
    worst = overlap.columns[0].column.name if overlap.columns else ""
    return render_page(
        "inspect.html.j2",
        title=f"{report.name or report.path}: what is known of its files",
        scripts=("page.js", "tables.js"),
        with_tables=True,
        report=report,
        overlap=overlap,
        layout=layout,
        shown_layout_charts=0 if layout is None else layout.arrangement.count(",") + 1,
        after=after,
        charts=[chart_of(one.ranges, one.kind, one.column.name) for one in overlap.columns[:MAX_CHARTS]],
        layout_charts=[] if layout is None else layout_charts(layout),
        partitions=list(slices.by_partition.items())[:MAX_PARTITIONS],
        more_partitions=max(len(slices.by_partition) - MAX_PARTITIONS, 0),
        most_in_partition=max(slices.by_partition.values(), default=0),
        advise_command=shlex.join(["sargo", "advise", report.path]),
        what_if_command=shlex.join(
            ["sargo", "inspect", report.path, "--html", "what-if.html", "--what-if", f"sort by ({worst})"]
        ),
        coverage=[
            (covered.kind, name, column.usable, covered.slices)
            for covered in report.coverage
            for name, column in covered.columns.items()
        ],
    ).html
