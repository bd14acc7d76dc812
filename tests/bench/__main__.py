"""``make bench``: run every module of this folder that has a ``run()`` and print what it measured.

``run()`` gives rows (name, value with its unit, ratio to what it is compared with, or "").
"""

from __future__ import annotations

import importlib
import pkgutil

from rich.console import Console
from rich.table import Table

import tests.bench


def main() -> None:
    console = Console()
    table = Table("benchmark", "measure", "value", "ratio")
    for found in sorted(pkgutil.iter_modules(tests.bench.__path__), key=lambda module: module.name):
        if found.name.startswith("_"):
            continue
        module = importlib.import_module(f"tests.bench.{found.name}")
        for name, value, ratio in module.run():
            table.add_row(found.name, name, value, ratio)
    console.print(table)


if __name__ == "__main__":
    main()
