"""What ``import sargo`` offers: the same objects as the packages', found lazily, by type checkers too."""

from __future__ import annotations

import ast
import importlib
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import sargo
from handler.demo.run import unpack_table

MODULES = ["sargo", "sargo.spark", "sargo.sql", "sargo.expressions"]


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_is_found_and_another_is_not(name):
    module = importlib.import_module(name)
    for public in module.__all__:
        assert getattr(module, public) is not None
        assert public in dir(module)
    with pytest.raises(AttributeError, match="no attribute 'nosuch'"):
        _ = module.nosuch


@pytest.mark.parametrize("name", MODULES)
def test_a_type_checker_finds_every_public_name(name):
    """What mypy reads stands in one ``if TYPE_CHECKING``, or is a plain import."""
    file = Path(importlib.import_module(name).__file__)
    nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
    found = {alias.asname for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    found |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    found |= {node.target.id for node in nodes if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}
    assert set(importlib.import_module(name).__all__) <= found
    assert (file.parent / "py.typed").exists()


def test_the_names_are_those_of_the_packages():
    import evaluator
    import handler
    import handler.spark
    import index_store
    import sarg

    for package in (handler, handler.spark, index_store, evaluator, sarg):
        for facade in (sargo, sargo.spark, sargo.expressions):
            for public in set(facade.__all__) & set(package.__all__):
                if (package, facade, public) not in exceptions(index_store, handler):
                    assert getattr(facade, public) is getattr(package, public), public
    assert set(handler.__all__) <= set(sargo.__all__)
    assert sargo.spark.__all__ == handler.spark.__all__


def exceptions(index_store, handler):
    """Names that two packages use for different things; sargo takes handler's."""
    spark = handler.spark
    return {(index_store, sargo, "open_table"), (handler, sargo.spark, "prune"), (spark, sargo, "prune")}


def test_importing_it_loads_no_library_until_a_name_is_used():
    code = (
        "import json, sys, sargo\n"
        "before = sorted(sys.modules)\n"
        "from sargo import prune\n"
        "print(json.dumps([before, prune.__module__, 'numpy' in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    before, module, loaded = json.loads(done.stdout)
    assert not {"numpy", "pyarrow", "click", "handler", "evaluator", "typing"} & set(before)
    assert (module, loaded) == ("handler.planning.prune", True)


def test_a_plan_is_made_with_it_alone(tmp_path):
    table = sargo.open_table(str(unpack_table(tmp_path)))
    plan = sargo.prune(table, "i BETWEEN 400 AND 700 AND p = 'p1'")
    assert isinstance(plan, sargo.Plan)
    assert 0 < len(plan.kept) < len(plan.slices)
    tree = sargo.expressions.Compare(
        ">", sargo.expressions.Column(("i",)), sargo.expressions.Literal(650, sargo.expressions.INT)
    )
    assert len(sargo.prune(table, tree).kept) < len(plan.slices)
    assert pickle.loads(pickle.dumps(sargo.expressions.Column)) is sargo.expressions.Column


@pytest.mark.parametrize("arguments", [["--version"], ["prune", "--help"]])
def test_the_module_is_the_command(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "sargo", *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "sargo" in done.stdout
