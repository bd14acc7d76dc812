"""A plan as HTML: ``plan.explain_html()``, and what a notebook shows of a plan or an advice.

``handler.pages`` makes the HTML. It is above planning, so it is reached by what is registered (``page_makers``).
"""

from __future__ import annotations

import os
from typing import Any

from handler.planning.page_makers import PAGE_LIBRARIES, made

__all__ = ["PlanPages", "shown_in_notebook"]


class PlanPages:
    """What a plan shows of itself as HTML."""

    def explain_html(self, file: str | os.PathLike[str] | None = None, *, what_if_seconds: float = 5.0) -> str:
        """The page of ``sargo explain --html``: one self-contained HTML text, also written to ``file`` if it is given.

        ``what_if_seconds``: how long data files are read to find out what would help; 0 reads none.
        Raises ImportError when the libraries of the extra ``html`` are missing.
        """
        return made("explain_html", self, file, what_if_seconds=what_if_seconds)

    def _repr_html_(self) -> str | None:
        return shown_in_notebook(self)


def shown_in_notebook(item: Any) -> str | None:
    """What a notebook shows of a plan or an advice; None without the extra ``html``: it then shows ``repr``."""
    try:
        return made("notebook_html", item)
    except ImportError as error:
        if error.name not in PAGE_LIBRARIES:
            raise
        return None
