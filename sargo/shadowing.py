"""Finds modules of other projects that have the name of one of Sargo's packages and are imported in its place.

``handler.py`` is a common name for a file. Where one lies in the working directory, or on PYTHONPATH, Python imports it
instead of Sargo's package, and what fails then names neither. ``import sargo`` looks first and raises an ImportError
with the file and the remedy. The command ``sargo`` prints the same as one line and ends with exit code 4.

Nothing is imported to find this out: the finders of the interpreter are asked where each name would come from.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

__all__ = ["PACKAGES", "ShadowedError", "check", "raise_if_shadowed", "shadowed"]

#: Sargo's packages, which stand beside this one.
PACKAGES = ("evaluator", "handler", "index_store", "sarg")


class ShadowedError(ImportError):
    """Another module is imported instead of one of Sargo's packages. ``name`` is its name, ``path`` its file."""


def check() -> None:
    """Raise ShadowedError if a package is shadowed, unless this is the command: it tells in one line (``__main__``)."""
    if not _is_the_command():
        raise_if_shadowed()


def raise_if_shadowed() -> None:
    """Raise ShadowedError for the first package that is shadowed."""
    for name in PACKAGES:
        path = shadowed(name)
        if path is not None:
            raise ShadowedError(_sentence(name, path), name=name, path=path)


def shadowed(name: str) -> str | None:
    """The file or folder that is imported by this name, unless it is Sargo's own package; None for Sargo's own."""
    loaded = sys.modules.get(name)
    spec = _find(name) if loaded is None else getattr(loaded, "__spec__", None)
    if spec is None:
        return getattr(loaded, "__file__", None)  # None if it is not found at all: the import that follows says so
    if spec.origin is not None and _same(spec.origin, os.path.join(_home(), name, "__init__.py")):
        return None
    return spec.origin or next(iter(spec.submodule_search_locations or ()), name)


def _find(name: str) -> ModuleSpec | None:
    """Where the interpreter would import a name from."""
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        spec: ModuleSpec | None = None if find is None else find(name, None, None)
        if spec is not None:
            return spec
    return None


def _home() -> str:
    """The folder that holds Sargo's packages."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _sentence(name: str, path: str) -> str:
    way = "rename it, start Python in another folder"
    way += ", or start it with -P" if sys.version_info >= (3, 11) else ""
    return (
        f"{path} is imported instead of Sargo's package {name!r} ({os.path.join(_home(), name)}): "
        f"{way}, or take its folder off PYTHONPATH"
    )


def _is_the_command() -> bool:
    """Whether the process is ``sargo`` or ``python -m sargo``, which imports this package before its own code runs."""
    program = os.path.basename(sys.argv[0]) if getattr(sys, "argv", None) else ""
    if program == "-m":  # while ``python -m`` looks for the module
        words = sys.orig_argv
        return words[words.index("-m") + 1 :][:1] == ["sargo"] if "-m" in words else "-msargo" in words
    return program in ("sargo", "sargo.exe", "sargo-script.py")
