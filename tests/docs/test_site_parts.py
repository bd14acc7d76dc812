"""What the site reads out of docstrings and Java becomes the right lists. Sphinx is not needed for these parts."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from tests.docs.blocks import ROOT


def part(name: str) -> ModuleType:
    """A module of the site's extension by its file: the extension as a whole needs Sphinx."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/_ext/sargo_docs/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_settings_of_the_jar_with_their_defaults():
    found = part("java_settings").jar_settings()
    assert {key: default for key, default, _ in found} == {
        "sargo.enabled": "true",
        "sargo.sidecar.address": "not set",
        "sargo.sidecar.timeout.ms": "2000",
        "sargo.sidecar.breaker.ms": "30000",
        "sargo.listing": "sidecar",
        "sargo.listing.verify": "16",
        "sargo.names.compress.from": "1048576",
        "sargo.tls.ca.file": "not set",
        "sargo.secret.file": "not set",
    }
    assert all(len(meaning.split()) > 4 for _, _, meaning in found)


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("One line.", "One line.\n"),
        ("path     where\nfilter   what", "``path``\n    where\n``filter``\n    what\n"),
        ("a, b   both\n       of them", "``a``, ``b``\n    both\n    of them\n"),
        ("path     where\nfirst, second\n         both", "``path``\n    where\n``first``, ``second``\n    both\n"),
        ("Text.\n\n    plan = prune(table)", "Text.\n\n.. code-block:: python\n\n    plan = prune(table)\n"),
        ("Text.\n\n    a --> b", "Text.\n\n.. code-block:: text\n\n    a --> b\n"),
        ("    x   1   2\n    y   3   4", ".. code-block:: text\n\n    x   1   2\n    y   3   4\n"),
    ],
    ids=["text", "arguments", "continued", "names alone", "code", "drawing", "table of three columns"],
)
def test_docstrings_as_pages(docstring, expected):
    assert "\n".join(part("docstrings").to_rst(docstring.splitlines())) == expected
