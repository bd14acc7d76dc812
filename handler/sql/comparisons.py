"""Reads comparisons of columns with constants, joined by AND, without a parser: ``fare > 50 AND city = 'sf'``.

    name    =  ==  <>  !=  <  <=  >  >=    5  -5  1.5  'text'  DATE '2026-01-31'  TIMESTAMP '2026-01-31 10:00:00'

A text is read in full, or not at all. Then it means what sqlglot's tree of it means, in every dialect: a word that is
more than a name to sqlglot, a quote or a backslash in a text, a suffix and a comment are left to it.
"""

from __future__ import annotations

import re

from evaluator.language.expression import And, Column, Compare, HudiExpression, Literal
from evaluator.language.function_names import WITHOUT_PARENTHESES
from handler.sql.literals import LiteralError, date, number, string, timestamp
from handler.sql.results import ParsedCondition

__all__ = ["read_comparisons"]

_MAX_CHARACTERS = 10_000
_SPACE = " \t\r\n"
_NUMBER = r"[0-9]{1,18}(?:\.[0-9]{1,18})?"
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?"
_COMPARISON = re.compile(
    rf"([A-Za-z_][A-Za-z0-9_]*)[{_SPACE}]*(<>|<=|>=|==|!=|<|>|=)(?:[{_SPACE}]+(-{_NUMBER})|[{_SPACE}]*(?:({_NUMBER})"
    rf"|'([^'\\]*)'|(?i:date)[{_SPACE}]*'({_DAY})'|(?i:timestamp)[{_SPACE}]*'({_DAY} {_TIME})'))"
)
_AND = re.compile(rf"[{_SPACE}]+[aA][nN][dD][{_SPACE}]+")
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


def read_comparisons(text: str) -> ParsedCondition | None:
    """The condition; None for a text of another form."""
    text = text.strip(_SPACE)
    if len(text) > _MAX_CHARACTERS:
        return None
    parts: list[HudiExpression] = []
    names: dict[str, None] = {}
    end = 0
    while (match := _COMPARISON.match(text, end)) is not None:
        name, operator, *constant = match.groups()
        if (value := _value(*constant)) is None or name.lower() in _NO_NAMES:
            return None
        parts.append(Compare(_OPERATORS.get(operator, operator), Column((name,)), value))
        names[name] = None
        end = match.end()
        if end == len(text):
            return ParsedCondition(parts[0] if len(parts) == 1 else And(tuple(parts)), tuple(names))
        joined = _AND.match(text, end)
        if joined is None:
            return None
        end = joined.end()
    return None


def _value(
    negative: str | None, positive: str | None, quoted: str | None, day: str | None, moment: str | None
) -> Literal | None:
    if quoted is not None:
        return string(quoted)
    try:
        if day is not None:
            return date(day)
        if moment is not None:
            return timestamp(moment)
        return number(positive or negative or "")
    except LiteralError:  # which is said where the place in the text is known
        return None
