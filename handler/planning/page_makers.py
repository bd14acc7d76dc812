"""What makes HTML of plans and advice. ``handler`` registers it when it is imported; the makers are above planning.

The module imports nothing, because it is loaded before the command line answers signals (``handler.cli.process``).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["PAGE_LIBRARIES", "made", "register"]

#: The libraries of the extra ``html``.
PAGE_LIBRARIES = ("itables", "jinja2", "markupsafe")

_MAKERS: dict[str, Callable[[], Callable[..., str]]] = {}


def register(name: str, load: Callable[[], Callable[..., str]]) -> None:
    """Name a maker. ``load`` imports it, when it is used for the first time."""
    _MAKERS[name] = load


def made(name: str, *arguments: Any, **options: Any) -> str:
    """What a maker makes. Raises ImportError when a library of the extra ``html`` is missing."""
    try:
        return _MAKERS[name]()(*arguments, **options)
    except ImportError as error:
        if error.name not in PAGE_LIBRARIES:
            raise
        raise ImportError(
            f"HTML needs the extra 'html' ({error.name} is missing): pip install 'sargo[html]'", name=error.name
        ) from error
