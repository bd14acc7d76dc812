"""Range functions: what a function can yield when its arguments lie in known intervals.

A family is one file. Each function is sound on the *interval it is given* or says that it does not know
(an interval without bounds); no function is taken for monotone by its name (pitfall P9).

    arithmetic.py    + - * / % abs negative floor ceil round exp ln log10 log2 sqrt greatest least ...
    conversions.py   CAST between all types
    calendar.py      year month day quarter hour ... date_add datediff trunc date_format to_date unix_timestamp ...
    text.py          lower upper substr left concat length ...
    conditional.py   branches (IF, CASE), coalesce, nvl, nullif

Pitfall P9 is described in docs/facts/pitfalls.md#p9.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluator.functions import arithmetic, calendar, conditional, text
from evaluator.functions.base import RangeFunction
from evaluator.language.function_names import SYNONYMS

__all__ = ["FUNCTIONS", "RangeFunction"]

_BY_NAME = {**arithmetic.FUNCTIONS, **calendar.FUNCTIONS, **conditional.FUNCTIONS, **text.FUNCTIONS}
#: Range functions by name and by synonym.
FUNCTIONS: Mapping[str, RangeFunction] = {
    **_BY_NAME,
    **{synonym: _BY_NAME[name] for synonym, name in SYNONYMS.items()},
}
