"""Names of test cases that every process gives alike."""

from __future__ import annotations


def plain_id(value: object) -> str | None:
    """The value as text, where that is the same in every process; functions and sets are numbered by pytest."""
    return str(value) if isinstance(value, str | int | float | tuple | dict) else None
