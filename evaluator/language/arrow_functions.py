"""``pyarrow.compute``, imported when a function of it is first called.

    from evaluator.language import arrow_functions as pc
    pc.sort_indices(array)

Importing ``pyarrow.compute`` makes some 300 Python functions, which takes as long as all the rest of ``pyarrow``. A
filter on a table of a few files calls none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    value = globals()[name] = getattr(import_module("pyarrow.compute"), name)
    return value
