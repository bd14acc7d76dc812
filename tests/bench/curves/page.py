"""The page of the documentation: what was measured, as tables and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.bench.curves.charts import chart
from tests.bench.curves.growth import COMMIT, LAYOUTS, MAX_COLD, PEERS, Growth
from tests.bench.engines.sargo import Sargo
from tests.bench.shapes import SHAPES

__all__ = ["CHARTED", "charts_of", "page_of"]

#: The shapes that have a chart, and the ends of its file's name.
CHARTED = {"1 equality": "equality", "10-leaf AND/OR": "leaves", "IN of 1,000": "in"}
_LAYOUTS = {
    "random": "Each column in an order of its own: sorting by one would not help another.",
    "clustered": "`id`, `user` and `day` grow from file to file.",
    "wide": "Random, and one file in a hundred spans all ids.",
}


def charts_of(measured: Sequence[Growth]) -> Mapping[str, str]:
    """SVG documents by file name, of the random layout."""
    chosen = [one for one in measured if one.layout == LAYOUTS[0]]
    found = {}
    for shape, ending in CHARTED.items():
        curves = {
            name: [(one.files, one.seconds[shape][name]) for one in chosen if name in one.seconds[shape]]
            for name in (Sargo.name, COMMIT, *PEERS)
        }
        found[f"growth-{ending}.svg"] = chart(
            f"{shape}, random layout: CPU time", {name: curve for name, curve in curves.items() if curve}
        )
    return found


def page_of(measured: Sequence[Growth], machine: str, versions: str) -> str:
    """The page, in Markdown."""
    sizes = sorted({one.files for one in measured})
    by_key = {(one.layout, one.files): one for one in measured}
    lines = [
        "# How cost grows",
        "",
        "What a filter costs over 100 files and over more, for each shape of filter and each layout of a table. "
        "`make bench-curves`",
        "measures, and writes this page. The files are made up (`tests/bench/datasets.py`), the shapes are those of "
        "`tests/bench/shapes.py`.",
        "",
        f"{machine}. {versions}.",
        "",
        "Times are CPU milliseconds over all threads, medians of rounds in which the engines take turns. Filters are "
        "bound, planned or prepared",
        "before, and all engines keep the same files. In brackets: as a multiple of Polars, and of a flat numpy scan.",
        "",
        *(line for name in charts_of(measured) for line in ("```{diagram} " + name, "```", "")),
    ]
    for layout in LAYOUTS:
        if not any(one.layout == layout for one in measured):
            continue
        lines += [
            f"## {layout.capitalize()}",
            "",
            _LAYOUTS[layout],
            "",
            _row("Warm", *(f"{n:,} files" for n in sizes)),
            _row(*["---"] * (len(sizes) + 1)),
        ]
        for shape in SHAPES:
            lines.append(_row(shape.name, *(_warm(by_key.get((layout, n)), shape.name) for n in sizes)))
        lines += [
            "",
            _row("After a commit", *(f"{n:,} files" for n in sizes)),
            _row(*["---"] * (len(sizes) + 1)),
        ]
        for shape in SHAPES:
            lines.append(_row(shape.name, *(_commit(by_key.get((layout, n)), shape.name) for n in sizes)))
        lines.append("")
    lines += [
        "One file in a thousand was replaced, and as many are new. In brackets: as a multiple of the time before.",
        "",
        "## Cold, and memory",
        "",
        _row("Random layout", *(f"{n:,} files" for n in sizes)),
        _row(*["---"] * (len(sizes) + 1)),
        _row("indexing six columns, once: CPU", *(_of(by_key, n, lambda one: _ms(one.indexed)) for n in sizes)),
        _row("... per file and column", *(_of(by_key, n, _each) for n in sizes)),
        _row("indexed statistics: bytes", *(_of(by_key, n, lambda one: f"{one.index_bytes:,}") for n in sizes)),
        _row("... per file and column", *(_of(by_key, n, lambda one: f"{_share(one):.0f}") for n in sizes)),
        _row("open a table, read 4 columns, prune: CPU", *(_of(by_key, n, _cold) for n in sizes)),
        "",
        f"The last row reads a metadata table on disk that nothing is known of; above {MAX_COLD:,} files none is "
        "written. What a snapshot makes",
        "of it in the next process is on the page of {doc}`snapshots`. "
        "The columns are three numbers of 8 bytes, a date and two texts.",
    ]
    return "\n".join(lines) + "\n"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _warm(one: Growth | None, shape: str) -> str:
    if one is None:
        return ""
    seconds = one.seconds[shape]
    mine = seconds[Sargo.name]
    ratios = [f"{mine / seconds[peer]:.2g}" for peer in ("Polars", "flat numpy scan") if peer in seconds]
    return f"{_ms(mine)} ({', '.join(ratios)})"


def _commit(one: Growth | None, shape: str) -> str:
    if one is None:
        return ""
    seconds = one.seconds[shape]
    return f"{_ms(seconds[COMMIT])} ({seconds[COMMIT] / seconds[Sargo.name]:.2g})"


def _of(by_key: Mapping[tuple[str, int], Growth], n: int, text: object) -> str:
    one = by_key.get((LAYOUTS[0], n))
    assert callable(text)
    return "" if one is None else str(text(one))


def _each(one: Growth) -> str:
    return f"{one.indexed / one.files / 6 * 1e6:.2f} µs"


def _share(one: Growth) -> float:
    return one.index_bytes / one.files / 6


def _cold(one: Growth) -> str:
    return "" if one.cold is None else _ms(one.cold)


def _ms(seconds: float) -> str:
    value = seconds * 1e3
    return f"{value:,.0f} ms" if value >= 100 else f"{value:.3g} ms"
