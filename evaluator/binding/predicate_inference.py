"""Predicate inference: conditions on a column that a leaf over a function of the column implies.

The range of a function that does not keep the order is wide. An equality can still be solved for the column:

    leaf                                            implies
    ==============================================  ============================================
    ``upper(s) = 'CH-1'``, ``lower(s) = 'ch-1'``    ``s >= 'CH-1' AND s <= 'cẖ...'``
    ``date_format(d, 'MM/dd/yyyy') = '01/04/2020'`` ``d >= DATE '2020-01-04' AND d < DATE '2020-01-05'``
    ``s IN (9, 10)`` in Hive                        ``CAST(s AS double) IN (9.0, 10.0)``

The leaf L is replaced by ``L AND implied``, which has the same value on every row. Where L is TRUE the implied
condition is TRUE. Where L is NULL it is NULL as well: both are NULL exactly where the column is. Where L is FALSE so is
the AND. (A list with NULL makes both NULL where nothing is found.)

Two bounds of a text that is read as a number, ``s BETWEEN 940 AND 955``, imply something together only
(``bounds_of_texts``, ``number_preimages``).
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from evaluator.functions.date_pattern import UNITS, fields_of
from evaluator.language import expression as ex
from evaluator.language.epoch import EPOCH, MICROSECOND
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, DOUBLE, STRING, TIMESTAMP, Kind, Type

__all__ = ["bounds_of_texts", "inferred_predicates", "members_as_read"]

#: Pairs of bounds in an AND that are looked at together.
_MAX_PAIRS = 8

_LAST_CHARACTER = "\U0010ffff"
#: The greatest character that upper() turns into text starting with this letter, and lower() likewise, where it is not
#: simply the letter's other case: dotless i, long s, sharp s, ligatures, letters with a mark below, the Kelvin sign.
_GREATEST = {
    "upper": {
        "A": "\u1e9a",
        "F": "\ufb04",
        "H": "\u1e96",
        "I": "\u0131",
        "J": "\u01f0",
        "S": "\ufb06",
        "T": "\u1e97",
        "W": "\u1e98",
        "Y": "\u1e99",
    },
    "lower": {"i": "\u0130", "k": "\u212a"},
}


def inferred_predicates(leaf: ex.HudiExpression) -> tuple[ex.HudiExpression, ...]:
    """Conditions to AND to a leaf; none for most leaves."""
    match leaf:
        case ex.Compare(
            op="=",
            left=ex.Call(function=("upper" | "lower") as case, arguments=(operand,)),
            right=ex.Literal(value=str() as text),
        ) if text.isascii():
            return _solved_case(case, operand, text)
        case ex.Compare(
            op="=",
            left=ex.Call(function="date_format", arguments=(operand, ex.Literal(value=str() as form))),
            right=ex.Literal(value=str() as text),
        ):
            return _solved_format(operand, form, text)
        case ex.Compare(op="=", left=ex.Literal() as constant, right=ex.Call() as call):
            return inferred_predicates(ex.Compare("=", call, constant))
        case _:
            return ()


def members_as_read(leaf: ex.In, semantics: Semantics) -> ex.In | None:
    """What follows from a text in a list of numbers, or of days: read as one of them it is a member; None otherwise.

    Spark rounds a text to the decimals of a list where an integer stands before them: '5.254' is in (5, 5.25).
    Without its optimiser Hive 3 compares '9' with the text of 9, and Hive 4 the double of '09' with that of 9. Texts
    that are equal are read alike, so either implies the condition.
    """
    target: Type | None = None
    members: list[ex.Operand] = []
    for member in leaf.members:
        if not isinstance(member, ex.Literal):
            return None
        kind = member.type.kind
        if kind is Kind.VOID:
            members.append(member)
            continue
        of = DATE if kind is Kind.DATE else DOUBLE
        if member.value is None or target not in (None, of):
            return None
        if of == DOUBLE:
            if not (kind.is_integer or kind in (Kind.DECIMAL, Kind.DOUBLE)) or not isinstance(
                member.value, int | float | Decimal
            ):
                return None
            if kind is Kind.DECIMAL and semantics.functions_of_spark:
                return None
            if not math.isfinite(member.value):
                return None
            member = ex.Literal(float(member.value), DOUBLE)
        target = of
        members.append(member)
    return None if target is None else ex.In(ex.Cast(leaf.operand, target), tuple(members))


def _solved_case(case: str, operand: ex.Operand, text: str) -> tuple[ex.HudiExpression, ...]:
    """Character by character from the least to the greatest that may yield the text; special ones end the upper
    bound.
    """
    lowest = text.upper()
    highest = ""
    for char in text:
        special = _GREATEST[case].get(char)
        if special is not None:
            highest += special + _LAST_CHARACTER
            break
        highest += char.lower()
    return (
        ex.Compare(">=", operand, ex.Literal(lowest, STRING)),
        ex.Compare("<=", operand, ex.Literal(highest, STRING)),
    )


def _solved_format(operand: ex.Operand, pattern: str, text: str) -> tuple[ex.HudiExpression, ...]:
    """The span of time with this text, if the pattern names every unit down to the smallest one, each once."""
    parsed = fields_of(pattern)
    if parsed is None:
        return ()
    fields, form = parsed
    if sorted(fields, key=UNITS.index) != list(UNITS[: len(fields)]) or not fields or re.search(r"\d%|%.\d", form):
        return ()
    try:
        start = datetime.datetime.strptime(text, form)
    except ValueError:
        return ()
    if start.strftime(form) != text or not 1600 <= start.year <= 9990:
        return ()
    end = _after(start, fields)
    return tuple(
        ex.Compare(op, operand, ex.Literal((at - EPOCH) // MICROSECOND, TIMESTAMP))
        for op, at in ((">=", start), ("<", end))
    )


def _after(start: datetime.datetime, fields: list[str]) -> datetime.datetime:
    match max(fields, key=UNITS.index):
        case "yyyy":
            return start.replace(year=start.year + 1)
        case "MM":
            return (start.replace(day=28) + datetime.timedelta(days=4)).replace(day=1)
        case unit:
            seconds = {"dd": 86_400, "HH": 3_600, "mm": 60, "ss": 1}[unit]
            return start + datetime.timedelta(seconds=seconds)


def bounds_of_texts(
    conditions: Sequence[ex.HudiExpression], schema: Schema, semantics: Semantics
) -> Iterator[tuple[ex.Compare, ex.Compare]]:
    """The lower and the upper bounds, in an AND, of a column of texts that is read as a number."""
    if not semantics.unreadable_rows_are_null:
        return
    bounds = [one for one in conditions if isinstance(one, ex.Compare) and _is_number_of_text(one, schema, semantics)]
    for least in [one for one in bounds if one.op in (">", ">=")][:_MAX_PAIRS]:
        most = next((one for one in bounds if one.op in ("<", "<=") and one.left == least.left), None)
        if most is not None:
            yield least, most


def _is_number_of_text(bound: ex.Compare, schema: Schema, semantics: Semantics) -> bool:
    column = bound.left.operand if isinstance(bound.left, ex.Cast) else bound.left
    if not isinstance(column, ex.Column) or not isinstance(bound.right, ex.Literal) or bound.right.type.kind.is_text:
        return False
    field = schema.resolve(column.name, case_sensitive=semantics.case_sensitive)
    return field is not None and field.type.kind.is_text
