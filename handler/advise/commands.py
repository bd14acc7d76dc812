"""Commands that build entries of an own index, ready to be pasted into a shell.

sargo index create /data/trips --on city --on rider --using 'bloom_filter(fpp=0.01)'
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Collection, Iterable, Mapping

from index_store.own.builders.expressions import EXPRESSION, ZONE
from index_store.own.definition import SECONDARY_INDEX, Entry

__all__ = ["create_commands"]


def create_commands(
    table: str, entries: Iterable[Entry], names: Collection[str] = (), options: Mapping[str, str] | None = None
) -> list[str]:
    """One command for all columns that get the same sketches, and one for each secondary index.

    ``names``: of the indexes that the table has. ``options``: of the entries' definition, for the zone of expressions.
    """
    options = options or {}
    sketches_by_column: dict[str, list[str]] = {}
    secondary = []
    for entry in entries:
        if entry.sketch == SECONDARY_INDEX:
            secondary.append(((entry.on,), (SECONDARY_INDEX,)))
        else:
            sketches_by_column.setdefault(entry.on, []).append(entry.sketch)
    columns_by_sketches: dict[tuple[str, ...], list[str]] = {}
    for on, sketches in sketches_by_column.items():
        columns_by_sketches.setdefault(tuple(sketches), []).append(on)
    indexes = [*((tuple(columns), sketches) for sketches, columns in columns_by_sketches.items()), *secondary]
    free_names = (name for number in itertools.count(1) if (name := f"advised_{number}") not in names)
    is_named = bool(names) or bool(secondary and len(indexes) > 1)  # else they are named by their columns
    return [
        " ".join(
            [
                "sargo index create",
                shlex.quote(table),
                *(f"--on {shlex.quote(on)}" for on in columns),
                *(f"--using {shlex.quote(sketch)}" for sketch in sketches),
                *([f"--time-zone {options[ZONE]}"] if any(EXPRESSION + on in options for on in columns) else []),
                *([f"--name {next(free_names)}"] if is_named else []),
            ]
        )
        for columns, sketches in indexes
    ]
