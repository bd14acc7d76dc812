"""Random filters over every form of leaf, every operator, type and function, nested in AND, OR and NOT.

The operands of their leaves are drawn by ``tests.prove.operand_grammar``.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from evaluator.language import expression as ex
from evaluator.language.construction import any_case_like, truth_of
from evaluator.language.key_set import KeySet, has_key_sets
from evaluator.language.regular_expression import matches
from evaluator.language.time_spans import TIME_SPAN, TimeSpan
from evaluator.language.types import BOOLEAN, DATE, INT, STRING, Kind, Type
from tests.prove.operand_grammar import NAMES, OperandGrammar
from tests.prove.values import TYPES

__all__ = ["OPERATORS", "Grammar"]

OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "<=>")
NULL = ex.Literal(None, Type(Kind.VOID))
_PATTERN_PIECES = ("%", "_", "a", "ap", "apple", "b", "\\%", "\\_", "\\\\", " ", "z", "é", "-")


class Grammar(OperandGrammar):
    """Draws filters over the columns of one table."""

    def filter(self) -> ex.HudiExpression:
        """A filter of a few leaves; now and then a chain of some hundred levels."""
        rng = self.rng
        if rng.random() < 0.003:
            return self._deep()
        return self._tree(rng.choice((0, 0, 1, 1, 2, 3)))

    def _tree(self, depth: int) -> ex.HudiExpression:
        rng = self.rng
        if depth == 0 or rng.random() < 0.15:
            return self.leaf()
        if rng.random() < 0.25:
            return ex.Not(self._tree(depth - 1))
        children = tuple(self._tree(depth - 1) for _ in range(rng.choice((1, 2, 2, 3))))
        return ex.And(children) if rng.random() < 0.5 else ex.Or(children)

    def _deep(self) -> ex.HudiExpression:
        tree = self.leaf()
        other = self.leaf()
        for _ in range(150):
            tree = self.rng.choice((ex.Not(tree), ex.And((tree, other)), ex.Or((other, tree))))
        return tree

    def _on_one_column(self, name: str, depth: int) -> ex.HudiExpression:
        """Conditions on one column under AND, OR and NOT."""
        rng = self.rng
        if depth == 0:
            match rng.randrange(6):
                case 0:
                    leaf: ex.HudiExpression = ex.IsNull(ex.Column(tuple(name.split("."))))
                case 1:
                    leaf = self._membership(name)
                case 2 if TYPES[name].kind.is_text:
                    leaf = ex.Like(ex.Column((name,)), self._pattern())
                case _:
                    column = ex.Column(tuple(name.split(".")))
                    constant = self.literal(TYPES[name]) if rng.random() < 0.8 else self.constant(name)
                    leaf = ex.Compare(rng.choice(OPERATORS), column, constant)
            return ex.Not(leaf) if rng.random() < 0.25 else leaf
        children = tuple(self._on_one_column(name, rng.randrange(depth)) for _ in range(rng.choice((2, 2, 3))))
        joined = ex.And(children) if rng.random() < 0.5 else ex.Or(children)
        return ex.Not(joined) if rng.random() < 0.15 else joined

    def _on_one_pair(self, left: ex.Operand, right: ex.Operand, depth: int) -> ex.HudiExpression:
        """Comparisons of the same two operands under AND, OR and NOT."""
        rng = self.rng
        if depth == 0:
            sides = (left, right) if rng.random() < 0.5 else (right, left)
            leaf = ex.Compare(rng.choice(OPERATORS), *sides)
            return ex.Not(leaf) if rng.random() < 0.25 else leaf
        children = [self._on_one_pair(left, right, rng.randrange(depth)) for _ in range(rng.choice((2, 2, 3)))]
        if rng.random() < 0.2:
            children.insert(rng.randrange(3), ex.IsNull(left))
        joined = ex.And(tuple(children)) if rng.random() < 0.5 else ex.Or(tuple(children))
        return ex.Not(joined) if rng.random() < 0.15 else joined

    def _of_truth(self) -> ex.HudiExpression:
        """A condition used as a value."""
        rng = self.rng
        truth = truth_of(self._tree(rng.choice((0, 0, 1))))
        other: ex.Operand
        match rng.randrange(5):
            case 0:
                return ex.IsNull(truth)
            case 1:
                other = self.column(rng.choice(("b", "b2")))
            case 2:
                other = truth_of(self._tree(0))
            case 3:
                truth = ex.Call("coalesce", (truth, self.literal(BOOLEAN)))
                other = self.literal(BOOLEAN)
            case _:
                other = self.literal(BOOLEAN)
        return ex.Compare(rng.choice(OPERATORS), truth, other)

    # -- leaves

    def leaf(self) -> ex.HudiExpression:
        """One leaf of any form, some of them under the NOT that belongs to the form."""
        rng = self.rng
        if rng.random() < 0.03:
            return self._clock_leaf()
        if rng.random() < 0.02:
            return self._shift_leaf()
        name = rng.choice(list(TYPES))
        sql_type = TYPES[name]
        if rng.random() < 0.06:
            return self._on_one_column(name, 2)
        if rng.random() < 0.03:
            return self._of_truth()
        if rng.random() < 0.03:
            pair = self._columns(name)
            left = self.function(1)[0] if rng.random() < 0.15 else pair.left
            return self._on_one_pair(left, pair.right, 2)
        match rng.randrange(32):
            case 0 | 1 | 2 | 3 | 4:
                return ex.Compare(rng.choice(OPERATORS), self.column(name), self.constant(name))
            case 5 | 6:
                return ex.Compare(rng.choice(OPERATORS), self.constant(name), self.column(name))
            case 7 | 8:
                return self._columns(name)
            case 9 | 10 | 11:
                leaf = self._membership(name)
                return ex.Not(leaf) if rng.random() < 0.4 else leaf
            case 12:
                lo, hi = self.constant(name), self.constant(name)
                between = ex.And((ex.Compare(">=", self.column(name), lo), ex.Compare("<=", self.column(name), hi)))
                return ex.Not(between) if rng.random() < 0.4 else between
            case 13:
                test = ex.IsNull(self.column(name))
                return ex.Not(test) if rng.random() < 0.5 else test
            case 14:
                return ex.Compare(rng.choice(OPERATORS), self.column(name), NULL)
            case 15:
                return ex.Not(ex.Compare("<=>", self.column(name), self.constant(name)))
            case 16 | 17:
                like = self._like(self.column(rng.choice(NAMES["text"])))
                return ex.Not(like) if rng.random() < 0.3 else like
            case 18:
                return ex.Compare("=", ex.Column((rng.choice(("b", "b2")),)), ex.Literal(True, BOOLEAN))
            case 19:
                return rng.choice((ex.Constant(rng.choice((True, False, None))), ex.Unknown("a condition")))
            case 20:
                return ex.Compare(rng.choice(OPERATORS), self.column(name), ex.Opaque("a value"))
            case 21:
                return ex.Compare(rng.choice(OPERATORS), self.literal(sql_type), self.literal(sql_type))
            case _:
                return self._function_leaf()

    def _like(self, column: ex.Column) -> ex.HudiExpression:
        """LIKE, ILIKE or RLIKE."""
        rng = self.rng
        match rng.randrange(8):
            case 0:
                return any_case_like(column, self._pattern(), rng.choice("\\#"))
            case 1:
                starts = ["".join(rng.choices("abpl1", k=rng.randint(1, 3))) for _ in range(rng.randint(1, 3))]
                text = "|".join(starts)
                return matches(column, rng.choice((f"^({text})", "|".join(f"^{start}" for start in starts))))
            case _:
                return ex.Like(column, self._pattern(), rng.choice("\\\\\\a"))

    def _columns(self, name: str) -> ex.Compare:
        rng = self.rng
        kind = TYPES[name].kind
        alike = [
            other
            for other, sql_type in TYPES.items()
            if sql_type.kind is kind
            or (sql_type.kind.is_number and kind.is_number)
            or (sql_type.kind.is_text and kind.is_text)
            or {sql_type.kind, kind} <= {Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_LTZ}
        ]
        other = rng.choice(alike if rng.random() < 0.95 else list(TYPES))
        return ex.Compare(rng.choice(OPERATORS), self.column(name), self.column(other))

    def _membership(self, name: str) -> ex.In | ex.InKeys:
        rng = self.rng
        if rng.random() < 0.15 and has_key_sets(TYPES[name]):
            return self._among_keys(name)
        count = 120 if rng.random() < 0.01 else rng.randint(1, 5)
        alike = count > 5 or rng.random() < 0.5
        members: list[ex.Operand] = [self.literal(TYPES[name]) if alike else self.constant(name) for _ in range(count)]
        if rng.random() < 0.2:
            members += self._neighbours(TYPES[name])
        if rng.random() < 0.25:
            members[rng.randrange(count)] = NULL
        return ex.In(self.column(name), tuple(members))

    def _neighbours(self, sql_type: Type) -> list[ex.Operand]:
        """A value of the columns and the ones after it: members that fill an interval."""
        first = self.literal(sql_type)
        if first.type != sql_type or not (sql_type.kind.is_integer or sql_type.kind is Kind.DATE):
            return [first]
        start = int(str(first.value))
        largest = sql_type.integer_range()[1] if sql_type.kind.is_integer else 2_900_000
        return [ex.Literal(min(start + step, largest), sql_type) for step in range(self.rng.randint(2, 12))]

    def _among_keys(self, name: str) -> ex.InKeys:
        """The column among many keys of its own type, as a join has them."""
        rng, sql_type = self.rng, TYPES[name]
        literals = [self.literal(sql_type) for _ in range(rng.choice((1, 3, 3, 40)))]
        values = [one.value for one in literals if one.type == sql_type and not isinstance(one.value, Fraction)]
        if sql_type.kind is Kind.DECIMAL:
            values = [int(Decimal(value).scaleb(sql_type.scale)) for value in values]
        return ex.InKeys(ex.Column(tuple(name.split("."))), KeySet.of(sql_type, values))

    def _pattern(self) -> str:
        return "".join(self.rng.choices(_PATTERN_PIECES, k=self.rng.randrange(4))) + self.rng.choice(("", "%"))

    def _function_leaf(self) -> ex.HudiExpression:
        rng = self.rng
        operand, sql_type = self.function(rng.choice((1, 1, 1, 2)))
        match rng.randrange(10):
            case 0:
                return ex.IsNull(operand)
            case 1:
                return ex.In(operand, tuple(self.literal(sql_type) for _ in range(rng.randint(1, 3))))
            case 2:
                return ex.Compare(rng.choice(OPERATORS), self.literal(sql_type), operand)
            case 3:
                return ex.Compare(rng.choice(OPERATORS), operand, self.operand("any", sql_type, 0)[0])
            case 4 if sql_type.kind.is_text:
                return ex.Like(operand, self._pattern())
            case _:
                return ex.Compare(rng.choice(OPERATORS), operand, self.literal(sql_type))

    def _clock_leaf(self) -> ex.HudiExpression:
        """A column, or what is computed from it, against the clock of the query."""
        rng = self.rng
        name = rng.choice([*NAMES["moment"], *NAMES["text"], "l"])
        kind = TYPES[name].kind
        date = self._moved(ex.Call("current_date", ()))
        if kind is Kind.DATE:
            moment = date
        elif kind.is_timestamp:
            moment = rng.choice((date, self._moved(ex.Call("current_timestamp", ()))))
        elif kind.is_text:
            moment = ex.Call("date_format", (date, ex.Literal(rng.choice(("yyyy-MM-dd", "yyyyMM", "MM/dd")), STRING)))
        else:
            moment = ex.Call("unix_timestamp", ())
        column = self.column(name)
        match rng.randrange(6):
            case 0 if kind is Kind.DATE or kind.is_timestamp:
                days = ex.Call("datediff", (date, column))
                return ex.Compare(rng.choice(OPERATORS), days, ex.Literal(rng.randint(-9, 40), INT))
            case 1:
                return ex.In(column, (moment, self.literal(TYPES[name])))
            case 2:
                return ex.Not(ex.Compare(rng.choice(OPERATORS), column, moment))
            case _:
                return ex.Compare(rng.choice(OPERATORS), column, moment)

    def _shift_leaf(self) -> ex.HudiExpression:
        """A date or a timestamp of a column that an operator moves, and days from a text."""
        rng = self.rng
        name = rng.choice([name for name in NAMES["moment"] if TYPES[name].kind is Kind.DATE] * 3 + ["ts", "i"])
        column = self.column(name)
        number = rng.choice((-400, -31, -1, 0, 1, 7, 30, 800))
        by: ex.Operand = ex.Literal(number, INT)
        if rng.random() < 0.7:
            unit = rng.choice(("months", "months", "days", "days", "micros"))
            by = ex.Literal(TimeSpan(unit, number // 7 if unit == "months" else number), TIME_SPAN)
        moved = ex.Call("+", (by, column)) if rng.random() < 0.2 else ex.Call(rng.choice("+-"), (column, by))
        if rng.random() < 0.25:
            days = [column, ex.Literal(rng.choice(("2020-01-01", "2019-12-31", "2020-02-29", "2020-1-1", "x")), STRING)]
            rng.shuffle(days)
            return ex.Compare(rng.choice(OPERATORS), ex.Call("datediff", tuple(days)), ex.Literal(number // 7, INT))
        return ex.Compare(rng.choice(OPERATORS), moved, self.literal(DATE))

    def _moved(self, moment: ex.Operand) -> ex.Operand:
        rng = self.rng
        number = rng.choice((0, 1, 7, 30, 400))
        match rng.randrange(5):
            case 0:
                unit = rng.choice(("months", "days", "micros"))
                span = TimeSpan(unit, number * (3_600_000_000 if unit == "micros" else 1))
                return ex.Call(rng.choice("+-"), (moment, ex.Literal(span, TIME_SPAN)))
            case 1:
                return ex.Call(rng.choice(("date_add", "date_sub")), (moment, ex.Literal(number, INT)))
            case 2:
                return ex.Call("add_months", (moment, ex.Literal(-number // 7, INT)))
            case _:
                return moment
