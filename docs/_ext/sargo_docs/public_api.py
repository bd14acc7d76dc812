"""``{public-api} module``: every name of the module's ``__all__``, documented from its docstring.

``{result-types}`` with lines ``module.Class``: classes that public functions return and nobody imports.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from types import ModuleType

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from sargo_docs.docstrings import to_rst

__all__ = ["PublicApi", "ResultTypes", "setup"]


#: The packages with public names.
PACKAGES = ("handler", "index_store", "evaluator", "sarg")
#: The modules of ``sargo``: the first one that has a name documents it.
FACADES = ("sargo", "sargo.spark", "sargo.sql", "sargo.expressions")


class PublicApi(SphinxDirective):
    """A module's docstring and public names: functions, classes, constants, each group in alphabetical order."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module = importlib.import_module(self.arguments[0])
        introduction = to_rst(inspect.cleandoc(module.__doc__ or "").splitlines())
        lines = ["```{eval-rst}", *introduction, f".. currentmodule:: {module.__name__}", ""]
        for name in sorted(getattr(module, "__all__", ()), key=lambda name: (_rank(module, name), name)):
            member = getattr(module, name)
            home = _home(member, name, module)
            if inspect.ismodule(member):
                lines += [f"``{module.__name__}.{name}`` is a module: see :doc:`/reference/python/{name}`.", ""]
            elif home != module.__name__:
                lines += [f"``{module.__name__}.{name}`` is :py:obj:`{home}.{name}`.", ""]
            elif inspect.isroutine(member) or inspect.isclass(member):
                lines += [f".. {_directive(member)}:: {name}", *_options(member), ""]
            else:
                lines += [f".. py:data:: {name}", f"   :value: {member}", ""]
        return self.parse_text_to_nodes("\n".join([*lines, "```", ""]))


class ResultTypes(SphinxDirective):
    """Classes by their whole names, one a line, in the order given."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        lines = ["```{eval-rst}"]
        for path in self.content:
            module, _, name = path.rpartition(".")
            lines += [f".. autoclass:: {path}", *_options(getattr(importlib.import_module(module), name)), ""]
        return self.parse_text_to_nodes("\n".join([*lines, "```", ""]))


def _home(member: object, name: str, module: ModuleType) -> str:
    """The module whose page documents the member: ``sargo``, or its own package, where that has it as a public name."""
    for facade in map(importlib.import_module, FACADES):
        if name in getattr(facade, "__all__", ()) and getattr(facade, name) is member:
            return facade.__name__
    package = str(getattr(member, "__module__", "")).partition(".")[0]
    if package not in PACKAGES or package == module.__name__.partition(".")[0]:
        return module.__name__
    home = importlib.import_module(package)
    return package if name in getattr(home, "__all__", ()) and getattr(home, name) is member else module.__name__


def _rank(module: ModuleType, name: str) -> int:
    member = getattr(module, name)
    return 0 if inspect.isroutine(member) else 1 if inspect.isclass(member) else 2


def _directive(member: object) -> str:
    if inspect.isclass(member):
        return "autoexception" if issubclass(member, BaseException) else "autoclass"
    return "autofunction"


def _options(member: object) -> list[str]:
    """Members of classes. The fields of a dataclass are listed, unless its docstring has a table of them."""
    if not inspect.isclass(member):
        return []
    options = ["   :members:", "   :exclude-members: __init__"]
    if dataclasses.is_dataclass(member):
        described = any(re.search(rf"^ *{field.name}\b.* {{2,}}", member.__doc__ or "", re.MULTILINE)
                        for field in dataclasses.fields(member))  # fmt: skip
        options += [] if described else ["   :undoc-members:"]
    return options


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("public-api", PublicApi)
    app.add_directive("result-types", ResultTypes)
