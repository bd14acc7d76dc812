"""What a notebook shows of a plan, of its remedies and of advice: a short text without scripts.

A notebook may be shown by a site that removes scripts, styles and pictures. What is left is then still readable: lists,
tables and texts. Colours come with the elements; those of the notebook's theme are kept.
"""

from __future__ import annotations

from functools import singledispatch

from evaluator.language.expression import to_text
from handler.advise.ranking import Advice
from handler.advise.remedies import WhatHelps
from handler.pages.advise_page import advice_values
from handler.pages.environment import render
from handler.pages.explain_page import steps_of
from handler.planning.plan import Plan

__all__ = ["notebook_html"]


@singledispatch
def notebook_html(item: object) -> str:
    """HTML of a plan, a ``WhatHelps`` or an ``Advice``."""
    raise TypeError(f"a plan or an advice is shown, not {type(item).__name__}")


@notebook_html.register
def _(item: Plan) -> str:
    blockers = item.why_not_more
    return render(
        "notebook_plan.html.j2",
        plan=item,
        filter=to_text(item.expression),
        total=len(item.slices),
        kept=len(item.kept_rows),
        full=len(item.fully_matched),
        tree=steps_of(item),
        blocker=blockers[0].sentence if blockers else "",
    )


@notebook_html.register
def _(item: WhatHelps) -> str:
    return render("notebook_remedies.html.j2", help=item)


@notebook_html.register
def _(item: Advice) -> str:
    return render("notebook_advice.html.j2", **advice_values(item))
