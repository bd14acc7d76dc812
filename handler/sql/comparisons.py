"""Reads comparisons of columns with constants, joined by AND, without a parser: ``fare > 50 AND city = 'sf'``.

    name    =  ==  <>  !=  <  <=  >  >=    constant
    name    BETWEEN constant AND constant
    name    IN (constant, ...)
    name    IS NULL, IS NOT NULL

    constants    5  -5  1.5  'text'  DATE '2026-01-31'  TIMESTAMP '2026-01-31 10:00:00'

A text is read in full, or not at all. Then it means what sqlglot's tree of it means, in every dialect: a word that is
more than a name to sqlglot, a quote or a backslash in a text, a suffix and a comment are left to it.
"""

from __future__ import annotations

import re

from evaluator.language.expression import And, Column, Compare, HudiExpression, In, IsNull, Literal, Not
from evaluator.language.function_names import WITHOUT_PARENTHESES
from handler.sql.literals import LiteralError, date, number, string, timestamp
from handler.sql.results import ParsedCondition

__all__ = ["read_comparisons"]

_MAX_CHARACTERS = 10_000
_SPACE = " \t\r\n"
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?"


def _pattern(text: str) -> re.Pattern[str]:
    """A pattern in which ``_`` is any space and ``+`` some; letters of keywords have any case."""
    return re.compile(text.replace("_", f"[{_SPACE}]*").replace("+", f"[{_SPACE}]+"), re.IGNORECASE)


_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_OPERATOR = re.compile(rf"[{_SPACE}]*(<>|<=|>=|==|!=|<|>|=)(?:[{_SPACE}]+|(?!-))")
_CONSTANT = re.compile(
    rf"(-?[0-9]{{1,18}}(?:\.[0-9]{{1,18}})?)|'([^'\\]*)'"
    rf"|(?i:date)[{_SPACE}]*'({_DAY})'|(?i:timestamp)[{_SPACE}]*'({_DAY} {_TIME})'"
)
_AND = _pattern("+and+")
_BETWEEN = _pattern("+between+")
_IN = _pattern(r"+in_\(_")
_COMMA = _pattern("_,_")
_END_OF_LIST = _pattern(r"_\)")
_IS_NULL = _pattern("+is+(not+)?null")
_OPERATORS = {"==": "=", "<>": "!="}
#: Words that sqlglot takes for more than the name of a column, in one of the dialects.
_WORDS = """
alter and any array as between call case connect_by_root create cross current_catalog current_database current_date
current_schema current_time current_timestamp current_user distinct drop else except execute explain false fetch for
from glob grant having if ilike inner insert intersect into join lateral like list localtimestamp map minus not
notnull null nullable object on optimize or outer partitioned_by prepare qualify range regexp rename returning
revoke rlike rollback select serdeproperties session_user show struct tablesample then true uncache union using
vacuum values when where with xor
"""
_NO_NAMES = WITHOUT_PARENTHESES.union(_WORDS.split())


class _Other(Exception):  # noqa: N818 - the text may well be a condition
    """The text has another form."""


def read_comparisons(text: str) -> ParsedCondition | None:
    """The condition; None for a text of another form."""
    if len(text) > _MAX_CHARACTERS:
        return None
    reader = _Reader(text.strip(_SPACE))
    try:
        parts = [reader.comparison()]
        while not reader.is_at_end:
            reader.take(_AND)
            parts.append(reader.comparison())
    except (_Other, LiteralError):  # whose place in the text the parser says
        return None
    return ParsedCondition(parts[0] if len(parts) == 1 else And(tuple(parts)), tuple(reader.names))


class _Reader:
    """``names``: the columns in order of appearance."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self.names: dict[str, None] = {}

    @property
    def is_at_end(self) -> bool:
        return self._place == len(self._text)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        """What stands here. Raises _Other."""
        if (match := self._find(pattern)) is None:
            raise _Other
        return match

    def _find(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self._text, self._place)
        if match is not None:
            self._place = match.end()
        return match

    def comparison(self) -> HudiExpression:
        name = self.take(_NAME)[0]
        if name.lower() in _NO_NAMES:
            raise _Other
        self.names[name] = None
        column = Column((name,))
        if (match := self._find(_OPERATOR)) is not None:
            return Compare(_OPERATORS.get(match[1], match[1]), column, self._constant())
        if self._find(_BETWEEN) is not None:
            low = self._constant()
            self.take(_AND)
            return And((Compare(">=", column, low), Compare("<=", column, self._constant())))
        if self._find(_IN) is not None:
            members = [self._constant()]
            while self._find(_COMMA) is not None:
                members.append(self._constant())
            self.take(_END_OF_LIST)
            return In(column, tuple(members))
        is_null = IsNull(column)
        return is_null if self.take(_IS_NULL)[1] is None else Not(is_null)

    def _constant(self) -> Literal:
        digits, text, day, moment = self.take(_CONSTANT).groups()
        if text is not None:
            return string(text)
        value = date(day) if day is not None else timestamp(moment) if moment is not None else number(digits)
        if value is None:
            raise _Other
        return value
