"""``what_helps``: which index or clustering would make a plan keep fewer file slices, and the answer to that.

A remedy is named only when the data confirms it (``remedy_search``). Where that cannot be asked, the answer says so.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from evaluator.explain.pruning_blockers import PruningBlocker
from evaluator.language.records import frozen
from handler.advise.remedy_search import NotAskedError, NothingHelpsError, Remedy, RemedySearch
from handler.planning.plan import Plan
from handler.planning.plan_pages import shown_in_notebook

__all__ = ["DEFAULT_SECONDS", "Remedy", "WhatHelps", "what_helps"]

#: How long files are read, about.
DEFAULT_SECONDS = 5.0


@frozen(slots=False, kw_only=True)
class WhatHelps:
    """What would make a plan keep fewer than ``kept`` of its file slices.

    remedies    those that the data confirmed, own indexes first
    nothing     why there are none; "" where there are some, or where it was not asked
    not_asked   why the data was not asked, or ""
    looked_at   the file slices whose files were read, of ``slices``
    plan        the plan whose blockers are explained
    """

    plan: Plan
    remedies: tuple[Remedy, ...] = ()
    nothing: str = ""
    not_asked: str = ""
    looked_at: int = 0
    seconds: float = 0.0

    @property
    def kept(self) -> int:
        """The slices that the plan keeps."""
        return len(self.plan.kept_rows)

    @property
    def slices(self) -> int:
        """The slices of the table."""
        return len(self.plan.slices)

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that build the own indexes, each once."""
        return tuple(dict.fromkeys(one.command for one in self.remedies if one.command))

    @cached_property
    def why_not_more(self) -> tuple[PruningBlocker, ...]:
        """The plan's blockers, each with the remedies that are of its columns."""

        def confirmed(blocker: PruningBlocker) -> Iterator[str]:
            if blocker.remedy:
                yield blocker.remedy
            for one in self.remedies:
                if blocker.cause != "not decided" and set(one.columns) & set(blocker.columns):
                    yield one.text

        return tuple(replace(one, remedy=" or ".join(confirmed(one))) for one in self.plan.why_not_more)

    def _repr_html_(self) -> str | None:
        return shown_in_notebook(self)

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "remedies": [one.to_dict() for one in self.remedies],
            "nothing": self.nothing or None,
            "not_asked": self.not_asked or None,
            "looked_at": self.looked_at,
            "seconds": round(self.seconds, 3),
        }


def what_helps(plan: Plan, seconds: float = DEFAULT_SECONDS) -> WhatHelps:
    """Ask the data of some files what would make the plan keep fewer file slices. It reads for about ``seconds``.

    What cannot be read or asked is in ``not_asked``; nothing is proposed then. Raises TypeError and ValueError for
    arguments that are no plan and no time.
    """
    if not isinstance(plan, Plan):
        raise TypeError(f"plan is what prune returns, not {type(plan).__name__}")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"seconds is a number, not {type(seconds).__name__}")
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"seconds is {seconds}: give the seconds that reading may take, from 0 on")
    began = time.perf_counter()
    found = WhatHelps(plan=plan)
    try:
        question = RemedySearch(plan, seconds)
        remedies = question.remedies()
        looked_at = len(question.advisor.sample.slices)
        found = replace(
            found, remedies=remedies, nothing="" if remedies else question.why_nothing(), looked_at=looked_at
        )
    except NotAskedError as error:
        found = replace(found, not_asked=str(error))
    except NothingHelpsError as error:
        found = replace(found, nothing=str(error))
    except Exception as error:  # a report is useful without remedies (C4)
        found = replace(found, not_asked=f"the files cannot be asked: {' '.join(str(error).split())}")
    return replace(found, seconds=time.perf_counter() - began)
