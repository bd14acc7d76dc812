"""Sargo beside other engines on the same statistics: six shapes of filter on RFC-15's data sets, and one tiny case.

The time is that from a filter that is bound or planned already to the numbers of the kept files, in CPU time of the
process over all threads. Peers run on one thread, on data in their own resident form, in the cheapest known way
to the answer.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.table import Table

from tests.bench.engines import engines, missing
from tests.bench.engines.sargo import Sargo, SargoFlat
from tests.bench.goals import Verdict, verdicts
from tests.bench.measurements import Measurement, measure, measure_tiny
from tests.bench.shapes import SHAPES
from tests.bench.timing import measure_bandwidth

__all__ = ["run"]

_RUNS = (
    ("C", "clustered"),
    ("C", "random"),
    ("M", "clustered"),
    ("M", "random"),
    ("E", "clustered"),
    ("E", "random"),
    ("E", "wide"),
)


def run(chosen: Sequence[tuple[str, str]] = _RUNS) -> Iterator[RenderableType]:
    """A table for each data set and layout, one for the tiny case, and the goals."""
    bandwidth = measure_bandwidth()
    yield "\n".join(
        [
            "Engines: " + ", ".join(dict.fromkeys(engine.version() for engine in engines())),
            *(["Not installed: " + ", ".join(missing())] if missing() else []),
            f"In a CPU second, a copy of 256 MB moves {bandwidth.copy / 1e9:.1f} GB (read and written), "
            f"a pass that only reads {bandwidth.read / 1e9:.1f} GB.",
            "Cells: CPU milliseconds, median of interleaved rounds, and Sargo's time as a multiple of it.",
            "Filters are bound, planned or prepared before; all engines keep the same files.",
        ]
    )
    measured = []
    for data, layout in chosen:
        measured.append(measure(data, layout, bandwidth))
        yield _table(measured[-1])
    yield _build_table(measured)
    tiny = measure_tiny()
    yield _tiny_table(tiny)
    yield _goal_table(verdicts(measured, tiny))


def _table(measurement: Measurement) -> Table:
    table = Table(
        "CPU ms (Sargo / engine)",
        *(shape.name for shape in SHAPES),
        title=f"{measurement.data}: {measurement.files:,} files, {measurement.layout}",
        title_justify="left",
    )
    table.add_row("files kept", *(f"{measurement.kept[shape.name]:,}" for shape in SHAPES), end_section=True)
    for name in (engine.name for engine in engines()):
        shown = f"{name} (4,000 files, extrapolated)" if name in measurement.extrapolated else name
        table.add_row(
            shown, *(_cell(measurement, shape.name, name) for shape in SHAPES), end_section=name == SargoFlat.name
        )
    table.add_section()
    for how, seconds in measurement.streaming.items():
        table.add_row(
            f"streaming at {how} speed",
            *(_timed(seconds[shape.name], measurement.seconds[shape.name][Sargo.name]) for shape in SHAPES),
        )
    return table


def _cell(measurement: Measurement, shape: str, engine: str) -> str:
    if engine not in measurement.seconds[shape]:
        return measurement.not_offered[shape].get(engine, "")
    seconds = measurement.seconds[shape]
    return _number(seconds[engine] * 1e3) if engine == Sargo.name else _timed(seconds[engine], seconds[Sargo.name])


def _timed(seconds: float, sargo: float) -> str:
    return f"{_number(seconds * 1e3)} ({_number(sargo / seconds)})"


def _number(value: float) -> str:
    """Three digits that count: 0.0123, 1.23, 123, 12,345."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 0.001 else f"{value:.1e}"


def _build_table(measured: Sequence[Measurement]) -> Table:
    columns = list(measured[0].build)
    table = Table("Indexing for Sargo, once: CPU ms", *columns, "ns per file")
    for measurement in measured:
        table.add_row(
            f"{measurement.data} {measurement.layout}",
            *(_number(measurement.build[column] * 1e3) for column in columns),
            _number(sum(measurement.build.values()) / measurement.files * 1e9),
        )
    return table


def _tiny_table(measurement: Measurement) -> Table:
    [(shape, seconds)] = measurement.seconds.items()
    table = Table(
        "engine",
        "CPU µs a call",
        "Sargo / engine",
        title=f"{measurement.files} slices, {shape}: binding or planning in every call",
        title_justify="left",
    )
    for name, median in seconds.items():
        table.add_row(name, _number(median * 1e6), "" if name == Sargo.name else _number(seconds[Sargo.name] / median))
    return table


def _goal_table(goals: Sequence[Verdict]) -> Table:
    table = Table("goal", "measured", "where it is worst", "verdict")
    for verdict in goals:
        if verdict.worst is None:
            table.add_row(verdict.goal, "", "", "not measured")
            continue
        where, figure = verdict.worst
        table.add_row(
            verdict.goal,
            f"{_number(figure)} {verdict.unit}",
            where,
            "[green]met[/]" if verdict.is_met else "[red]missed[/]",
        )
    return table


def main() -> None:
    """``python -m tests.bench.peers E random``: some data sets (such as ``CM``) in one layout, or in all."""
    data, layout = [*sys.argv[1:], "", ""][:2]
    console = Console(width=None if sys.stdout.isatty() else 200)
    for shown in run([(d, where) for d, where in _RUNS if d in (data or d) and where == (layout or where)]):
        console.print(shown, highlight=False)


if __name__ == "__main__":
    main()
