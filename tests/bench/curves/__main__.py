"""``make bench-curves``: measure over 100 to ``--most`` files, and write the page and its charts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from tests.bench.__main__ import machine
from tests.bench.curves.growth import LAYOUTS, PEERS, SIZES, Growth, measure
from tests.bench.curves.page import charts_of, page_of
from tests.bench.engines import engines
from tests.bench.engines.sargo import Sargo

_DOCS = Path(__file__).resolve().parents[3] / "docs"


@click.command()
@click.option("--most", default=1_000_000, show_default=True, help="The most files; 10,000,000 take 16 GB of memory.")
def main(most: int) -> None:
    """Measure how cost grows, and write docs/internals/growth.md. A run that is ended leaves what it has measured."""
    versions = ", ".join(engine.version() for engine in engines() if engine.name in (Sargo.name, *PEERS))
    measured: list[Growth] = []
    for n in SIZES:
        for layout in LAYOUTS:
            if n <= most:
                measured.append(measure(layout, n))
                click.echo(f"{n:,} files, {layout}")
                _write(measured, versions)


def _write(measured: Sequence[Growth], versions: str) -> None:
    (_DOCS / "internals/growth").with_suffix(".md").write_text(page_of(measured, machine(), versions), encoding="utf-8")
    for name, text in charts_of(measured).items():
        (_DOCS / "diagrams" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
