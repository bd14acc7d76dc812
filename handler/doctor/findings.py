"""The result of one check of ``sargo doctor``, and how a check runs statements on Hive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from evaluator.language.records import frozen

__all__ = ["Finding", "FindingState", "RunStatement"]

FindingState = Literal["ok", "warning", "failed"]
#: Runs a statement on HiveServer2 and returns its rows.
RunStatement = Callable[[str], Sequence[Sequence[object]]]


@frozen
class Finding:
    """One result: the check that made it, the state, a sentence for people, and the remedy if it is not well."""

    check: str
    state: FindingState
    text: str
    remedy: str = ""
