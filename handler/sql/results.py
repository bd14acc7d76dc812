"""What reading a text comes to: a condition and the columns that it names, or an error that quotes it."""

from __future__ import annotations

from evaluator.language.errors import SargoError
from evaluator.language.expression import HudiExpression
from evaluator.language.records import record

__all__ = ["ParsedCondition", "SqlError", "excerpt", "printable"]

_MAX_SHOWN = 80


def excerpt(text: str) -> str:
    """The start of a condition in one line of at most 80 printable characters, for messages."""
    line = " ".join(text[: _MAX_SHOWN * 20].split())
    line = line if len(line) <= _MAX_SHOWN else line[: _MAX_SHOWN - 3] + "..."
    return printable(line)


def printable(text: str) -> str:
    """The text with escapes in place of control characters, lone surrogates and the like."""
    return text if text.isprintable() else "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


class SqlError(SargoError):
    """``text`` is not a condition of the dialect. ``why`` is the reason, ``position`` the (line, column) if known."""

    def __init__(self, text: str, why: str, position: tuple[int, int] | None = None) -> None:
        where = f" at line {position[0]}, column {position[1]}" if position else ""
        super().__init__(f"cannot read the condition{where}: {why} (in: {excerpt(text)})")
        self.text = text
        self.why = why
        self.position = position


@record
class ParsedCondition:
    """A condition, and the columns that its text names, by dotted name in order of appearance."""

    expression: HudiExpression
    columns: tuple[str, ...]
