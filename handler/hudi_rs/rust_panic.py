"""A fault in the Rust code of a package (hudi-rs) as an exception class, for ``except (Exception, panic()) as error``.

Such a fault raises ``pyo3_runtime.PanicException``, which is no Exception and cannot be imported.
"""

from __future__ import annotations

import sys

__all__ = ["panic"]


def panic() -> type[BaseException]:
    """The class of the exception that is being handled, if it is such a fault; else Exception."""
    current = sys.exc_info()[0]
    return current if current is not None and current.__module__ == "pyo3_runtime" else Exception
