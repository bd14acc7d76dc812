"""``make bench``: run the modules of this folder that have a ``run()``, or the named ones; print their measurements.

``run()`` gives rows (name, value with its unit, ratio to what it is compared with, or ""), or tables and text of its
own.
With ``--save``, the output of each module is also written to a file of its own in ``results/``.
"""

from __future__ import annotations

import datetime
import importlib
import os
import pkgutil
import platform
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click
from rich.console import Console
from rich.table import Table

import tests.bench
from tests.bench.engines import missing

_RESULTS = Path(__file__).with_name("results")
_WIDTH = 180


@click.command()
@click.argument("names", nargs=-1)
@click.option("--save", is_flag=True, help=f"Write what each module printed to {_RESULTS.name}/<module>.txt too.")
def main(names: tuple[str, ...], save: bool) -> None:
    """Time the hot paths and print ratios."""
    if save and missing():
        raise click.UsageError(f"a result is saved with every engine: install {', '.join(missing())}")
    modules = list(_benches(names))
    console = Console(width=_WIDTH, record=True)
    console.print(machine())
    for module in modules:
        name = module.__name__.rpartition(".")[2]
        rows = Table("benchmark", "measure", "value", "ratio")
        for item in module.run():
            if isinstance(item, tuple):
                rows.add_row(name, *item)
            else:
                console.print(item, highlight=False)
        if rows.row_count:
            console.print(rows)
        printed = console.export_text()  # of this module; the machine stands above the first
        if save:
            text = printed if printed.startswith(machine()) else f"{machine()}\n{printed}"
            _RESULTS.mkdir(exist_ok=True)
            lines = (line.rstrip() for line in text.splitlines())
            (_RESULTS / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _benches(names: tuple[str, ...]) -> Iterator[ModuleType]:
    modules = [
        module.name
        for module in pkgutil.iter_modules(tests.bench.__path__)
        if not module.name.startswith(("_", "test_"))
    ]
    for name in names or sorted(modules):
        if name not in modules:
            raise click.UsageError(f"no module {name}: {', '.join(sorted(modules))}")
        module = importlib.import_module(f"tests.bench.{name}")
        if hasattr(module, "run"):
            yield module


def machine() -> str:
    """The day, the cores, the system and the Python."""
    today = datetime.datetime.now(datetime.timezone.utc).date()
    return (
        f"{today}, {os.cpu_count()} cores ({platform.machine()}), {platform.system()}, "
        f"{platform.python_implementation()} {platform.python_version()}"
    )


if __name__ == "__main__":
    main()
