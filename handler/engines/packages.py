"""Imports a package of an extra when it is first needed; a missing one is an error that names the extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from evaluator.language.errors import UnsupportedError

__all__ = ["needed"]


def needed(module: str, extra: str) -> Any:
    """The module. Raises UnsupportedError when its package is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise
        raise UnsupportedError(f"{module.partition('.')[0]} is not installed: pip install 'sargo[{extra}]'") from None
