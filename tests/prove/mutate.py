"""The mutation check: a mutant of the rules that no fast test notices is a hole in the tests.

    python -m tests.prove.mutate                 every module below; exit code 1 if a mutant survives
    python -m tests.prove.mutate evaluator.binding.rules one module

Each mutant is imported instead of its module in a forked process, which runs the module's fast tests until the first
one fails. The working tree is never touched. Mutants that change nothing that could be observed are listed in
``equivalent.json`` with the reason; an entry that fits no mutant is an error too.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import json
import os
import pathlib
import signal
import sys
import time
from collections.abc import Sequence
from types import CodeType, ModuleType

import fastavro
import hypothesis
import hypothesis.strategies
import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.fs
import pyarrow.parquet
import pytest

from tests.prove.mutants import Mutant, mutants_of

__all__ = ["EQUIVALENT", "ROOT", "TESTS", "main", "path_of"]

#: Libraries that every mutant's tests need: imported once, before the forks.
LOADED: tuple[ModuleType, ...] = (
    *(fastavro, hypothesis, hypothesis.strategies, np, pa),
    *(pyarrow.compute, pyarrow.fs, pyarrow.parquet),
)
RULES = (
    ("tests/evaluator/binding/test_rules.py",),
    ("tests/evaluator/binding/test_rule_table.py", "tests/evaluator/evaluation/test_pitfalls.py"),
)
DISTRUST = "tests/evaluator/statistics/test_distrust.py"
RANGES = "tests/evaluator/functions/test_values_of_ranges.py"
DIGESTS = "tests/evaluator/functions/test_digests.py"
KINDS = "tests/index_store/kinds"
MERGED = "tests/handler/planning/test_own_merged_rows.py"
SURVIVING = "tests/index_store/own/builders/test_surviving_rows.py"
#: Arguments for pytest by module, in turns: what kills most in least time comes first.
TESTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "evaluator.language.outcome": (("tests/evaluator/language/test_outcome.py",),),
    "evaluator.binding.rules": (*RULES, ("tests/evaluator/binding/test_interval_sets.py",)),
    "evaluator.binding.program": (("tests/evaluator/binding/test_program.py",),),
    "evaluator.binding.operand_pairs": (
        ("tests/evaluator/binding/test_operand_pairs.py", "-k", "not the_outcome_of"),
        ("tests/evaluator/binding/test_operand_pairs.py",),
    ),
    "evaluator.statistics.ranges": (*RULES, ("tests/evaluator/binding/test_key_sets.py",)),
    "evaluator.binding.letter_preimages": (("tests/evaluator/functions/test_letter_sources.py",),),
    "evaluator.binding.text_pieces": (("tests/evaluator/functions/test_letter_sources.py",),),
    "evaluator.binding.number_preimages": (("tests/evaluator/binding/test_number_preimages.py",),),
    "evaluator.evaluation.judged_by_file": (("tests/evaluator/evaluation/test_judged_by_file.py",),),
    "evaluator.evaluation.not_null": (("tests/evaluator/evaluation/test_not_null.py", "-k", "not hold_every"),),
    "evaluator.functions.epoch_numbers": (("tests/evaluator/functions/test_more_functions.py", "-k", "moments"),),
    "evaluator.functions.bits": (("tests/evaluator/functions/test_more_functions.py",),),
    "evaluator.language.readable_texts": (("tests/evaluator/language/test_readable_texts.py",),),
    "evaluator.statistics.distrust": ((DISTRUST, "-k", "not merged_range"), (DISTRUST,)),
    "evaluator.binding.member_runs": (("tests/evaluator/binding/test_member_runs.py",),),
    "evaluator.binding.dates_as_text": (
        ("tests/evaluator/functions/test_constants.py",),
        ("tests/evaluator/functions/test_clock_ranges.py",),
        (RANGES,),
        (DIGESTS,),
    ),
    "evaluator.functions.digests": ((RANGES, "-k", "digest or check or sha2"), (DIGESTS, "-k", "other_types")),
    "evaluator.functions.curves": ((RANGES, "-k", "not (digit or digest or ascii or sha2 or hex)"),),
    "evaluator.functions.months_apart": (("tests/evaluator/functions/test_months_apart.py", "-k", "not hold_every"),),
    "evaluator.functions.number_texts": (
        (RANGES, "-k", "digits or hex or ascii"),
        (DIGESTS, "-k", "other_types"),
    ),
    "index_store.kinds.record_keys.stored_values": (
        (f"{KINDS}/test_stored_values.py", f"{KINDS}/test_stored_values_limits.py"),
    ),
    "index_store.kinds.record_keys.secondary_entries": ((f"{KINDS}/test_secondary_entries.py",),),
    "index_store.own.builders.logged_versions": (
        ("tests/index_store/own/builders/test_logged_versions.py",),
        (MERGED,),
    ),
    "index_store.own.builders.surviving_rows": ((SURVIVING, "-k", "not hudi"), (MERGED,), (SURVIVING,)),
    "index_store.own.store.merged_slices": ((SURVIVING, "-k", "not hudi"), (MERGED,)),
    "index_store.own.maintenance.merged_files": (
        ("tests/index_store/own/maintenance/test_merged_files.py",),
        (MERGED,),
    ),
    "index_store.own.provider.merged_rows": ((MERGED,),),
    "index_store.table.row_precedence": (("tests/index_store/table/test_row_precedence.py",), (MERGED,)),
}
SECONDS = 120
ROOT = pathlib.Path(__file__).parents[2]
EQUIVALENT = pathlib.Path(__file__).parent / "equivalent.json"


class _Mutated(importlib.machinery.SourceFileLoader):
    """Loads a module from a changed syntax tree."""

    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self._tree = tree

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        return compile(self._tree, self.path, "exec")


class _Finder(importlib.abc.MetaPathFinder):
    """Finds one module as its mutant, and no other."""

    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        self._name = name
        self._loader = _Mutated(name, path, tree)

    def find_spec(self, fullname: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        return importlib.machinery.ModuleSpec(fullname, self._loader, origin=self._loader.path)


def main(names: Sequence[str]) -> int:
    """Check the modules; print what survives."""
    own = ("evaluator", "index_store", "handler", "tests.index_store", "tests.handler")
    assert not any(name.startswith(own) for name in sys.modules), "a mutant could not replace its module"
    equivalent = json.loads(EQUIVALENT.read_text(encoding="utf-8"))
    unused = [entry for entry in equivalent if entry["module"] in names]
    survivors = 0
    for name in names:
        started = time.monotonic()
        path = path_of(name)
        if not _survives(name, path, Mutant(ast.parse(path.read_text(encoding="utf-8")), 0, "", "", "")):
            print(f"{name}: its own tests fail without any change")
            return 1
        count = excused = 0
        for mutant in mutants_of(path.read_text(encoding="utf-8")):
            count += 1
            entry = next(
                (
                    e
                    for e in equivalent
                    if (e["module"], e["inside"], e["was"], e["now"]) == (name, mutant.inside, mutant.was, mutant.now)
                ),
                None,
            )
            if entry is not None:
                excused += 1
                unused = [e for e in unused if e is not entry]
                continue
            if _survives(name, path, mutant):
                survivors += 1
                print(
                    f"SURVIVES {path.relative_to(ROOT)}:{mutant.line} in {mutant.inside or 'the module'}\n"
                    f"    was {mutant.was}\n    now {mutant.now}",
                    flush=True,
                )
        print(f"{name}: {count} mutants, {excused} of them equivalent, {time.monotonic() - started:.0f} s", flush=True)
    for entry in unused:
        print(f"no such mutant any more: {entry}")
    print(f"{survivors} mutants survive")
    return 1 if survivors or unused else 0


def path_of(name: str) -> pathlib.Path:
    """The module's file, found without importing it."""
    return ROOT.joinpath(*name.split(".")).with_suffix(".py")


def _survives(name: str, path: pathlib.Path, mutant: Mutant) -> bool:
    """Whether the fast tests pass with the mutant in the place of its module."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os._exit(_run_tests(name, path, mutant))
    _, status = os.waitpid(child, 0)
    return os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0


def _run_tests(name: str, path: pathlib.Path, mutant: Mutant) -> int:
    signal.alarm(SECONDS)  # a mutant that never ends is noticed, as no test sets the clock to its own time
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    sys.meta_path.insert(0, _Finder(name, str(path), mutant.tree))
    os.chdir(ROOT)
    for arguments in TESTS[name]:
        code = int(pytest.main(["-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "--timeout=0", *arguments]))
        if code != 0:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(TESTS)))
