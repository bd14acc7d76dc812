"""The public names of the package: each is that of its module, and the example in the docstring runs."""

from __future__ import annotations

import ast
import doctest
import subprocess
import sys
from pathlib import Path

import pytest

import evaluator


def declared() -> dict[str, str]:
    """Name to module, as type checkers see it."""
    assert evaluator.__file__ is not None
    tree = ast.parse(Path(evaluator.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.name: str(node.module) for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }


def test_the_list_of_public_names_is_what_type_checkers_see() -> None:
    assert set(evaluator.__all__) == set(declared())


@pytest.mark.parametrize("name", evaluator.__all__)
def test_a_public_name_is_the_one_of_its_module(name: str) -> None:
    assert getattr(evaluator, name) is getattr(sys.modules[declared()[name]], name)


def test_a_name_that_is_not_public_is_not_found() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = evaluator.nothing


def test_the_example_of_the_docstring_runs() -> None:
    results = doctest.testmod(evaluator)
    assert (results.failed, results.attempted) == (0, 8)


def test_the_expression_language_loads_no_arrays() -> None:
    program = "import sys, evaluator; evaluator.Column; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
