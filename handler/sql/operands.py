"""sqlglot's values -> operands: columns, literals, casts, arithmetic and functions.

Function names are lower case and canonical: a synonym (``ucase``, ``substr``, ``ceiling``, ``mod``) becomes the one
name that ``evaluator.functions`` knows. Anything else keeps its name: ``binding.bind`` says what can be decided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from evaluator.language.expression import (
    Call,
    Cast,
    Column,
    Compare,
    HudiExpression,
    If,
    IsNull,
    Literal,
    Not,
    Opaque,
    Operand,
)
from evaluator.language.function_names import SQL_OPERATORS, SQL_SYNONYMS
from evaluator.language.types import BOOLEAN, Kind
from handler.sql.literals import VOID, binary, date, number, string, suffixed, timestamp, type_of

__all__ = ["TRUE", "OperandReader"]

TRUE = Literal(True, BOOLEAN)

_OPERATORS: Mapping[type[exp.Expr], str] = {getattr(exp, name): sign for name, sign in SQL_OPERATORS.items()}

#: Functions that are an IF over their arguments.
_CONDITIONALS: dict[str, Callable[[Operand, Operand, Operand], Operand]] = {
    "nvl2": lambda value, then, otherwise: If(Not(IsNull(value)), then, otherwise),
    "nullif": lambda value, other, null: If(Compare("=", value, other), null, value),
}

#: ``int(x)`` is ``CAST(x AS INT)``.
_TYPE_FUNCTIONS = {
    "boolean",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "decimal",
    "string",
    "date",
    "binary",
}

#: Fields of EXTRACT that are functions too. EXTRACT(SECOND ...) is not: it has a fraction in Spark.
_EXTRACTED = {"year": "year", "quarter": "quarter", "month": "month", "day": "day", "hour": "hour", "minute": "minute"}

#: Functions that sqlglot's grammar gives a syntax of their own and that change from query to query.
_MOMENTS: dict[type[exp.Expr], str] = {
    exp.CurrentDate: "current_date",
    exp.CurrentTimestamp: "current_timestamp",
    exp.CurrentTime: "current_time",
    exp.CurrentUser: "current_user",
}


class OperandReader:
    """Reads values. ``condition`` reads the conditions inside them: those of IF and CASE."""

    def __init__(self, condition: Callable[[exp.Expr], HudiExpression]) -> None:
        self._condition = condition

    def read(self, node: exp.Expr) -> Operand:
        """The operand that a value of the parsed text stands for; what is not understood is Opaque."""
        node = node.unnest()
        if (literal := _literal(node)) is not None:
            return literal
        if (sign := _OPERATORS.get(type(node))) is not None:
            return Call(sign, (self.read(node.this), self.read(node.expression)))
        if (moment := _MOMENTS.get(type(node))) is not None:
            return Opaque(f"{moment} is not known here")
        match node:
            case exp.Column():
                return _column(node)
            case exp.Dot():
                return self._nested(node)
            case exp.Cast():  # exp.TryCast is a kind of exp.Cast; Hive's and Spark's CAST are TryCast without "safe"
                inner = self.read(node.this)
                to = type_of(node.to)
                return Call("try_cast", (inner,), to) if node.args.get("safe") else Cast(inner, to)
            case exp.Neg():
                return Call("negative", (self.read(node.this),))
            case exp.BitwiseNot():
                return Call("~", (self.read(node.this),))
            case exp.If():
                return If(
                    self._condition(node.this),
                    self._result(node.args.get("true")),
                    self._result(node.args.get("false")),
                )
            case exp.Case():
                return self._case(node)
            case exp.Extract() if node.name.lower() in _EXTRACTED:
                return Call(_EXTRACTED[node.name.lower()], (self.read(node.expression),))
            case exp.Trim() if not node.expression and not node.args.get("collation"):
                name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or ""), "trim")
                return Call(name, (self.read(node.this),))
            case exp.Substring():
                parts = [node.this, node.args.get("start"), node.args.get("length")]
                return Call("substring", tuple(self.read(part) for part in parts if part is not None))
            case exp.Anonymous():
                return self._function(node.name.lower(), node.expressions)
            case exp.Interval():
                return Opaque("an interval is not decided")
            case exp.Bracket():
                return Opaque("an element of an array or a map is not decided")
            case exp.Query() | exp.Subquery():
                return Opaque("a subquery is not decided")
            case exp.Predicate() | exp.Connector() | exp.Not():
                return Opaque("a condition used as a value is not decided")
            case exp.Placeholder() | exp.Parameter():
                return Opaque("a parameter has no value here")
            case _:
                return Opaque(f"{node.key} is not decided")

    def _nested(self, node: exp.Dot) -> Operand:
        base = self.read(node.this)
        if isinstance(base, Column) and isinstance(node.expression, exp.Identifier):
            return Column((*base.path, node.expression.name))
        return Opaque("a field of a computed value is not decided")

    def _case(self, node: exp.Case) -> Operand:
        """CASE: from the last branch to the first, each an IF around the ones behind it."""
        found = self._result(node.args.get("default"))
        for branch in reversed(node.args["ifs"]):
            condition = (
                self._condition(branch.this)
                if node.this is None
                else Compare("=", self.read(node.this), self.read(branch.this))
            )
            found = If(condition, self._result(branch.args.get("true")), found)
        return found

    def _result(self, node: exp.Expr | None) -> Operand:
        return Literal(None, VOID) if node is None else self.read(node)

    def _function(self, name: str, written: Sequence[exp.Expr]) -> Operand:
        arguments = tuple(self.read(argument) for argument in written)
        if name in _TYPE_FUNCTIONS and len(arguments) == 1:
            to = exp.DataType.from_str(name, dialect="hive")
            return Cast(arguments[0], type_of(to))
        if name in _CONDITIONALS and len(arguments) == (3 if name == "nvl2" else 2):
            return _CONDITIONALS[name](*arguments, *[Literal(None, VOID)] * (3 - len(arguments)))
        if name in ("if", "iff") and len(arguments) == 3:
            return If(self._condition(written[0]), *arguments[1:])
        name = SQL_SYNONYMS.get(name, name)
        if name in ("date_add", "datediff") and len(arguments) == 3:
            return Opaque(f"{name} with a unit is not decided")
        return Call(name, arguments)


def _literal(node: exp.Expr, sign: str = "") -> Operand | None:
    """Literals, signed ones and suffixed ones included; None when ``node`` is something else."""
    match node:
        case exp.Literal(is_string=True) if not sign:
            return string(node.this)
        case exp.Literal(is_string=False):
            return number(sign + node.this) or Opaque(f"no type holds {sign}{node.this}")
        case exp.Neg():
            return _literal(node.this.unnest(), "-" if not sign else "")
        case exp.Cast() if isinstance(node.this, exp.Literal) and not node.args.get("safe"):
            return _typed_literal(node, sign)
        case exp.Boolean() if not sign:
            return Literal(bool(node.this), BOOLEAN)
        case exp.Null() if not sign:
            return Literal(None, VOID)
        case exp.HexString() if not sign:
            return binary(node.this)
        case exp.RawString() if not sign:
            return string(node.this)
        case exp.Concat() if not sign and all(isinstance(e, exp.Literal) and e.is_string for e in node.expressions):
            return string("".join(e.this for e in node.expressions))  # 'a' 'b' is one string
        case _:
            return None


def _typed_literal(node: exp.Cast, sign: str) -> Operand | None:
    """``DATE 'x'``, ``TIMESTAMP 'x'``, ``5L``, ``1.5BD``: sqlglot writes them as casts of a literal."""
    to, text = type_of(node.to), node.this.this
    written_as_literal = type(node) is exp.Cast  # an explicit CAST(...) of these dialects is exp.TryCast
    if node.this.is_string:
        if written_as_literal and not sign and to.kind is Kind.DATE:
            return date(text)
        if written_as_literal and not sign and to.kind.is_timestamp:
            return timestamp(text)
        return suffixed(sign + text, to) if to.kind is Kind.DECIMAL else None
    return suffixed(sign + text, to)


def _column(node: exp.Column) -> Operand:
    parts = tuple(part.name for part in node.parts)
    return Opaque("* is not decided") if isinstance(node.this, exp.Star) else Column(parts)
