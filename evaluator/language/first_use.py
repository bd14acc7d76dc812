"""Public names of a package, imported at their first use.

The garbage collector rests meanwhile. Modules make tens of thousands of objects, which all stay: looking through them
finds nothing, and takes a tenth of the time of the imports.
"""

from __future__ import annotations

from importlib import import_module

from evaluator.language.collector import CollectorAtRest

TYPE_CHECKING = False  # ``typing`` would be the first thing that ``import sargo`` loads
if TYPE_CHECKING:
    from typing import Any

__all__ = ["import_member"]


def import_member(module: str, name: str) -> Any:
    """A member of a module. Raises what importing raises."""
    with CollectorAtRest():
        return getattr(import_module(module), name)
