"""The engines whose SQL is read."""

from __future__ import annotations

from typing import Literal, TypeAlias

from evaluator.language.semantics import ENGINES

__all__ = ["Engine", "check_engine"]

#: The names of ``evaluator.language.semantics.ENGINES``.
Engine: TypeAlias = Literal["hive", "hive3", "hive4", "spark", "spark-ansi", "spark-try", "spark-legacy"]


def check_engine(engine: Engine) -> None:
    """Raise ValueError for an engine that is not known."""
    if not isinstance(engine, str) or engine not in ENGINES:
        raise ValueError(f"engine is one of {', '.join(ENGINES)}, not {engine!r:.60}")
