"""sqlglot's values as operands: columns, literals, casts, arithmetic and functions.

    =====================  ======================================
    SQL                    operand
    =====================  ======================================
    st.x                   Column(("st", "x"))
    ucase(s), substr(s, 2) upper(s), substring(s, 2)
    int(x)                 CAST(x AS INT)
    nullif(a, b)           if(a = b, NULL, a)
    nullifzero(a)          if(a = 0, NULL, a)
    zeroifnull(a)          if(a IS NULL, 0, a)
    CASE a WHEN 1 THEN x   if(a = 1, x, NULL)
    coalesce(a > 1, FALSE) a condition as TRUE, FALSE or NULL
    split(s, '-')[0]       substring_index(s, '-', 1)
    a[0], a subquery       Opaque with a reason (C1)
    =====================  ======================================

A synonym becomes the name of ``evaluator.language.function_names``. Any other function keeps its name in lower case,
and ``evaluator.binding.bind`` says whether it can be decided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from evaluator.language.construction import case_when, item_of_array, truth_of
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
from evaluator.language.time_spans import TIME_SPAN, span_of_parts
from evaluator.language.types import BOOLEAN, INT, TIMESTAMP_LTZ, Kind
from handler.sql.intervals import interval
from handler.sql.literals import VOID, LiteralError, binary, date, number, shortened, string, suffixed, timestamp
from handler.sql.type_names import type_of

__all__ = ["OperandReader"]

_OPERATORS: Mapping[type[exp.Expr], str] = {getattr(exp, name): sign for name, sign in SQL_OPERATORS.items()}

#: Functions that are an IF over so many arguments.
_CONDITIONALS: dict[str, tuple[int, Callable[..., Operand]]] = {
    "nvl2": (3, lambda value, then, otherwise: If(Not(IsNull(value)), then, otherwise)),
    "nullif": (2, lambda value, other: If(Compare("=", value, other), Literal(None, VOID), value)),
    "nullifzero": (1, lambda value: If(Compare("=", value, Literal(0, INT)), Literal(None, VOID), value)),
    "zeroifnull": (1, lambda value: If(IsNull(value), Literal(0, INT), value)),
}

#: Types whose name is also a cast function: ``int(x)`` is ``CAST(x AS INT)``.
_CAST_FUNCTIONS = {
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

#: The functions of the fields of EXTRACT, and of Spark's date_part. EXTRACT(SECOND ...) has a fraction in Spark.
_FIELD_FUNCTIONS = {
    field: function
    for function, fields in {
        "year": "year y years yr yrs",
        "yearofweek": "yearofweek",
        "quarter": "quarter qtr",
        "month": "month mon mons months",
        "weekofyear": "week w weeks",
        "day": "day d days",
        "dayofweek": "dayofweek dow",
        "dayofweek_iso": "dayofweek_iso dow_iso",
        "dayofyear": "doy",
        "hour": "hour h hours hr hrs",
        "minute": "minute m min mins minutes",
        "extract_second": "second s sec seconds secs",
    }.items()
    for field in fields.split()
}
_DATE_DIFFERENCES = ("datediff", "timestampdiff")

#: Units of Spark's dateadd that an interval does not have.
_UNITS_OF_UNITS = {"quarter": (3, "month"), "dayofyear": (1, "day")}

_MAX_PRECISION = 38

#: Functions of the clock with a syntax of their own.
_MOMENTS: dict[type[exp.Expr], str] = {
    exp.CurrentDate: "current_date",
    exp.CurrentTimestamp: "current_timestamp",
}
#: Functions with a syntax of their own whose value changes from query to query.
_RUN_TIME_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.CurrentTime: "current_time",
    exp.CurrentUser: "current_user",
}


class OperandReader:
    """Turns values into operands. ``condition`` translates the conditions inside them: those of IF and CASE."""

    def __init__(self, condition: Callable[[exp.Expr], HudiExpression]) -> None:
        self._condition = condition

    def read(self, node: exp.Expr) -> Operand:
        """The operand of a parsed value; Opaque for a value that is not understood."""
        node = node.unnest()
        if (literal := _literal(node)) is not None:
            return literal
        if (sign := _OPERATORS.get(type(node))) is not None:
            return Call(sign, (self.read(node.this), self.read(node.expression)))
        if (moment := _MOMENTS.get(type(node))) is not None and not node.this:
            return Call(moment, ())
        if (function := _RUN_TIME_FUNCTIONS.get(type(node))) is not None:
            return Opaque(f"{function} is not known here")
        match node:
            case exp.Column():
                return _column(node)
            case exp.Dot():
                return self._struct_field(node)
            case exp.Cast():  # exp.TryCast is a subclass; both dialects read CAST as a TryCast without "safe"
                operand, to = self.read(node.this), type_of(node.to)
                return Call("try_cast", (operand,), to) if node.args.get("safe") else Cast(operand, to)
            case exp.Neg():
                return Call("negative", (self.read(node.this),))
            case exp.BitwiseNot():
                return Call("~", (self.read(node.this),))
            case exp.If():
                return If(
                    self._condition(node.this),
                    self._branch_result(node.args.get("true")),
                    self._branch_result(node.args.get("false")),
                )
            case exp.Case():
                return self._case(node)
            case exp.Extract() if (field := _FIELD_FUNCTIONS.get(node.name.lower())) is not None:
                return Call(field, (self.read(node.expression),))
            case exp.Trim() if not node.args.get("collation"):
                name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or ""), "trim")
                return Call(name, tuple(self.read(part) for part in (node.this, node.expression) if part is not None))
            case exp.StrPosition():
                parts = [node.args.get("substr"), node.this, node.args.get("position")]
                return Call("locate", tuple(self.read(part) for part in parts if part is not None))
            case exp.Substring():
                parts = [node.this, node.args.get("start"), node.args.get("length")]
                return Call("substring", tuple(self.read(part) for part in parts if part is not None))
            case exp.Anonymous():
                return self._function(node.name.lower(), node.expressions)
            case exp.Interval():
                return interval(node)
            case exp.Bracket():
                array, places = self.read(node.this), [self.read(place) for place in node.expressions]
                item = item_of_array(array, places[0], 0) if len(places) == 1 else None
                return item or Opaque("an element of an array or a map is not decided")
            case exp.Query() | exp.Subquery():
                return Opaque("a subquery is not decided")
            case exp.Predicate() | exp.Connector() | exp.Not():
                return truth_of(self._condition(node))
            case exp.Placeholder() | exp.Parameter():
                return Opaque("a parameter has no value here")
            case _:
                return Opaque(f"{node.key} is not decided")

    def _struct_field(self, node: exp.Dot) -> Operand:
        parent = self.read(node.this)
        if isinstance(parent, Column) and isinstance(node.expression, exp.Identifier):
            return Column((*parent.path, node.expression.name))
        return Opaque("a field of a computed value is not decided")

    def _case(self, node: exp.Case) -> Operand:
        otherwise = self._branch_result(node.args.get("default"))
        value = None if node.this is None else self.read(node.this)  # once: a CASE in a CASE would double at each level
        branches = [
            (
                self._condition(branch.this) if value is None else Compare("=", value, self.read(branch.this)),
                self._branch_result(branch.args.get("true")),
            )
            for branch in node.args["ifs"]
        ]
        return case_when(branches, otherwise)

    def _branch_result(self, node: exp.Expr | None) -> Operand:
        return Literal(None, VOID) if node is None else self.read(node)

    def _function(self, name: str, nodes: Sequence[exp.Expr]) -> Operand:
        if name == "if" and len(nodes) == 3:
            return If(self._condition(nodes[0]), self.read(nodes[1]), self.read(nodes[2]))
        arguments = tuple(self.read(node) for node in nodes)
        if name in _CAST_FUNCTIONS and len(arguments) == 1:
            to = exp.DataType.from_str(name, dialect="hive")
            return Cast(arguments[0], type_of(to))
        if name in _CONDITIONALS and len(arguments) == _CONDITIONALS[name][0]:
            return _CONDITIONALS[name][1](*arguments)
        if name == "branches":  # in a tree it is a conditional without its condition, in a text a user's function
            return Opaque(f"function {name} is not decided")
        name = SQL_SYNONYMS.get(name, name)
        if name in ("date_add", "timestampadd") and len(arguments) == 3:
            span = _span_of_unit(nodes[0], arguments[1])
            return Opaque(f"{name} with a unit is not decided") if span is None else _moved(arguments[2], span)
        if name in _DATE_DIFFERENCES and len(arguments) == 3:
            return _difference_in(nodes[0], arguments[1:])
        if name in ("date_part", "datepart") and len(arguments) == 2:
            return _part_of(*arguments)
        if name in ("ltrim", "rtrim") and len(arguments) == 2:  # Spark's have the characters first
            return Call(name, arguments[::-1])
        if name == "element_at" and len(arguments) == 2:
            return item_of_array(*arguments, 1) or Opaque("an element of an array or a map is not decided")
        if name == "decode" and len(arguments) > 2:
            return _decoded(*arguments)
        return Call(name, arguments)


def _difference_in(unit: exp.Expr, moments: Sequence[Operand]) -> Operand:
    """``timestampdiff(HOUR, a, b)``, which Spark also calls datediff."""
    if not isinstance(unit, exp.Column | exp.Var):
        return Opaque("datediff with a unit is not decided")
    return Call("timestampdiff", (string(unit.name.lower()), *moments))


def _part_of(field: Operand, moment: Operand) -> Operand:
    """``date_part('year', d)``."""
    match field:
        case Literal(value=str() as name) if name.lower() in _FIELD_FUNCTIONS:
            return Call(_FIELD_FUNCTIONS[name.lower()], (moment,))
        case _:
            return Opaque("date_part of this field is not decided")


def _decoded(value: Operand, *others: Operand) -> Operand:
    """``decode(value, key, result, ..., otherwise)``: keys are compared so that NULL equals NULL."""
    pairs = list(zip(others[::2], others[1::2], strict=False))
    otherwise = others[-1] if len(others) % 2 else Literal(None, VOID)
    return case_when([(Compare("<=>", value, key), result) for key, result in pairs], otherwise)


def _span_of_unit(unit: exp.Expr, count: Operand) -> Literal | None:
    """The interval of ``dateadd(DAY, -7, d)``; None where it is no constant."""
    match unit, count:
        case exp.Column() | exp.Var(), Literal(value=int() as number):
            times, name = _UNITS_OF_UNITS.get(unit.name.lower(), (1, unit.name))
            span = span_of_parts([(str(number * times), name)])
            return None if span is None else Literal(span, TIME_SPAN)
        case _:
            return None


def _moved(moment: Operand, span: Literal) -> Operand:
    """Spark's ``dateadd`` with a unit makes a timestamp of its last argument."""
    return Call("+", (Cast(moment, TIMESTAMP_LTZ), span))


def _literal(node: exp.Expr, sign: str = "") -> Operand | None:
    """The literal, also one with a sign or a suffix; None when ``node`` is not a literal."""
    match node:
        case exp.Literal(is_string=True) if not sign:
            return string(node.this)
        case exp.Literal(is_string=False):
            return number(sign + node.this) or Opaque(f"no type holds {shortened(sign + node.this)}")
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
    text = node.this.this
    is_literal_syntax = type(node) is exp.Cast  # CAST(...) in the text is exp.TryCast in both dialects
    try:
        to = type_of(node.to)
    except LiteralError:
        if node.to.this is exp.DType.DECIMAL and len(text) > _MAX_PRECISION:  # 1.5BD: the type has the number's digits
            return Opaque(f"no type holds {shortened(sign + text)}")
        raise
    if node.this.is_string:
        if is_literal_syntax and not sign and to.kind is Kind.DATE:
            return date(text)
        if is_literal_syntax and not sign and to.kind.is_timestamp:
            return timestamp(text)
        return suffixed(sign + text, to) if to.kind is Kind.DECIMAL else None
    return suffixed(sign + text, to)


def _column(node: exp.Column) -> Operand:
    parts = tuple(part.name for part in node.parts)
    if len(parts) == 1 and parts[0].lower() == "localtimestamp" and not node.this.args.get("quoted"):
        return Call("localtimestamp", ())  # where a column has this name, binding says so
    return Opaque("* is not decided") if isinstance(node.this, exp.Star) else Column(parts)
