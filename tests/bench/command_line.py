"""What a user waits for first: whole processes, from the start of the interpreter to its end.

    import sargo                          at most 0.15 CPU seconds
    sargo prune of 20 slices              at most 0.35 CPU seconds

The unit is CPU seconds of the process and its children. ``python -c pass`` and the imports of the libraries that
reading an index needs stand beside them: no command can take less. Bytecode is compiled before.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.timing import compiling_environment
from tests.index_store.synthetic import write_table

SLICES, ROUNDS = 20, 9
IMPORT_GOAL, PRUNE_GOAL = 0.15, 0.35
_ROOT = Path(__file__).parents[2]

Row = tuple[str, str, str]


def run() -> list[Row]:
    """Medians of interleaved runs; the ratio is to the goal where there is one."""
    with tempfile.TemporaryDirectory() as folder:
        table = str(Path(folder) / "table")
        write_table(Path(table), SLICES)
        prune = ["-m", "sargo", "prune", table, "--where", "name = 'b'"]
        commands: dict[str, tuple[list[str], float | None]] = {
            "python -c pass": (["-c", "pass"], None),
            "import numpy, pyarrow": (["-c", "import numpy, pyarrow"], None),
            "import sqlglot": (["-c", "import sqlglot"], None),
            "import sargo": (["-c", "import sargo"], IMPORT_GOAL),
            "sargo --help": (["-m", "sargo", "--help"], None),
            f"sargo prune, {SLICES} slices": (prune, PRUNE_GOAL),
            f"sargo prune --json, {SLICES} slices": ([*prune, "--json"], PRUNE_GOAL),
        }
        environment = compiling_environment() | {"PYTHONPATH": str(_ROOT), "SARGO_CACHE": str(Path(folder) / "cache")}
        spent: dict[str, list[float]] = {name: [] for name in commands}
        for turn in range(ROUNDS + 1):
            for name, (arguments, _) in commands.items():
                seconds = _cpu_seconds([sys.executable, *arguments], environment)
                if turn:  # the first compiles
                    spent[name].append(seconds)
    rows = []
    for name, (_, goal) in commands.items():
        median = statistics.median(spent[name])
        rows.append((name, f"{median:.3f} CPU s", "" if goal is None else f"{median / goal:.2f} x {goal} s"))
    return rows


def _cpu_seconds(command: list[str], environment: dict[str, str]) -> float:
    """User and system seconds of a process that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
