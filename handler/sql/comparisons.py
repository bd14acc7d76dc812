"""Reads comparisons of columns with constants, joined by AND, without a parser: ``fare > 50 AND city = 'sf'``.

    name    =  ==  <>  !=  <  <=  >  >=    5   -5   1.5   'text'

A text is read in full, or not at all. Then it means what sqlglot's tree of it means, in every dialect: a word that is
more than a name to sqlglot, a quote or a backslash in a text, a suffix and a comment are left to it.
"""

from __future__ import annotations

import re

from evaluator.language.expression import And, Column, Compare, HudiExpression
from handler.sql.numbers import number, string
from handler.sql.results import ParsedCondition

__all__ = ["read_comparisons"]

_MAX_CHARACTERS = 10_000
_SPACE = " \t\r\n"
_NUMBER = r"[0-9]{1,18}(?:\.[0-9]{1,18})?"
_COMPARISON = re.compile(
    rf"([A-Za-z_][A-Za-z0-9_]*)[{_SPACE}]*(<>|<=|>=|==|!=|<|>|=)"
    rf"(?:[{_SPACE}]*(?:'([^'\\]*)'|({_NUMBER}))|[{_SPACE}]+(-{_NUMBER}))"
)
_AND = re.compile(rf"[{_SPACE}]+[aA][nN][dD][{_SPACE}]+")
_OPERATORS = {"==": "=", "<>": "!="}
#: Words that sqlglot takes for more than the name of a column, in one of the dialects.
_WORDS = """
alter and any as between call case connect_by_root create cross current_catalog current_database current_date
current_schema current_time current_timestamp current_user distinct drop else except execute explain false fetch for
from glob grant having if ilike inner insert intersect into join lateral like localtimestamp minus not notnull null
on optimize or outer partitioned_by prepare qualify regexp rename returning revoke rlike rollback select
serdeproperties session_user show tablesample then true uncache union using vacuum values when where with xor
"""
_NO_NAMES = frozenset(_WORDS.split())


def read_comparisons(text: str) -> ParsedCondition | None:
    """The condition; None for a text of another form."""
    text = text.strip(_SPACE)
    if len(text) > _MAX_CHARACTERS:
        return None
    parts: list[HudiExpression] = []
    names: dict[str, None] = {}
    end = 0
    while (match := _COMPARISON.match(text, end)) is not None:
        name, operator, quoted, positive, negative = match.groups()
        value = string(quoted) if quoted is not None else number(positive or negative)
        if value is None or name.lower() in _NO_NAMES:
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
