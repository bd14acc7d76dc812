"""Binding: from a filter to leaves over the columns of one table, under one engine's semantics.

    HudiExpression + Schema + Semantics  ->  BoundExpression(leaves, program)

Binding resolves names, looks through casts that keep or merely round the value, and brings constants into the column's
own domain (C7). NOT, AND and OR are kept as they are (C1 needs no rewriting). A condition that cannot be decided
becomes an unknown leaf with its reason. Nothing is evaluated: ``BoundExpression.columns`` names the columns whose
statistics the filter needs.

The tree is compiled to a postfix program (``evaluator.binding.program``), so that 10,000 levels cost a loop and no
recursion.

Pitfall P11 is described in docs/facts/pitfalls.md#p11.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial

from evaluator.binding.between import as_one_test
from evaluator.binding.bind_plain import bind_plain
from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.clock_tests import compared_with_clock, is_range, may_be_out_of_range
from evaluator.binding.constant_domain import in_domain_of
from evaluator.binding.constant_tests import against_column, between_constants, constant_of
from evaluator.binding.dates_as_text import beside
from evaluator.binding.elapsed_times import as_microseconds
from evaluator.binding.function_types import as_text
from evaluator.binding.interval_evaluation import evaluate_slice
from evaluator.binding.leaves import (
    BoundLeaf,
    Comparison,
    Fixed,
    Lookup,
    Membership,
    NullTest,
    OutOfRange,
    Test,
    lookup_of_result,
    starts_with,
    text_constant,
)
from evaluator.binding.letter_preimages import implied_by_image
from evaluator.binding.membership_tests import membership_tests
from evaluator.binding.nan_tests import against_nan, is_nan
from evaluator.binding.null_tests import columns_tested_instead
from evaluator.binding.number_preimages import implied_by_number, implied_by_numbers
from evaluator.binding.operand_comparisons import between_operands
from evaluator.binding.operand_resolution import resolve_operand, span_of
from evaluator.binding.operands import (
    BoundColumn,
    BoundConstant,
    BoundFunction,
    BoundOperand,
    Condition,
    columns_of,
)
from evaluator.binding.predicate_inference import bounds_of_texts, inferred_predicates, members_as_read
from evaluator.binding.program import And, Leaf, Not, Or, Program, Refine, Step
from evaluator.binding.refinement import refined
from evaluator.binding.type_coercion import (
    as_rounded,
    common_decimal,
    has_one_form,
    in_38_digits,
    meets_in_38_digits,
    without_lossless_casts,
)
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.clock import reads_clock
from evaluator.language.column_resolution import with_near_names
from evaluator.language.construction import condition_compared
from evaluator.language.errors import UnknownColumnError, UnsupportedError
from evaluator.language.function_names import MIRRORED
from evaluator.language.key_set import KeySet
from evaluator.language.like import Form, parse_like
from evaluator.language.literal import to_ordinals
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.time_spans import TimeSpan
from evaluator.language.types import Kind
from evaluator.statistics.columns import array_dtype
from evaluator.statistics.ranges import Members

__all__ = ["bind", "bind_operand"]


#: Made once: most filters are short.
_INFINITE = (math.inf, -math.inf)
_FIRST_LEAVES = tuple(Leaf(number) for number in range(32))
#: For so many unknown columns of a filter similar names are looked for.
_MAX_NEAR = 5


def bind(expression: ex.HudiExpression, schema: Schema, semantics: Semantics) -> BoundExpression:
    """Bind a filter to a table's schema. It never fails: an undecided condition is an unknown leaf with its reason."""
    return _bind(expression, schema, semantics, _MAX_NEAR)


def _bind(expression: ex.HudiExpression, schema: Schema, semantics: Semantics, max_near: int) -> BoundExpression:
    """``max_near``: for so many unknown columns the reasons name similar columns."""
    if semantics.between_is_one_test:
        expression = as_one_test(expression, lambda operand: bind_operand(operand, schema, semantics), semantics)
    return _Binder(schema, semantics, max_near).bind(expression)


def bind_operand(operand: ex.Operand, schema: Schema, semantics: Semantics) -> BoundOperand:
    """Bind an operand to a table's schema. Raises UnsupportedError(why) if it cannot be decided."""
    return resolve_operand(operand, schema, semantics, partial(_bind_condition, schema, semantics))


def _bind_condition(schema: Schema, semantics: Semantics, condition: ex.HudiExpression) -> Condition:
    bound = _bind(condition, schema, semantics, max_near=0)  # its reasons are in no report
    return Condition(bound.columns, partial(evaluate_slice, bound), reads_clock(condition))


class _Binder:
    """Collects leaves and steps while it walks the tree with its own stack."""

    def __init__(self, schema: Schema, semantics: Semantics, max_near: int) -> None:
        self._schema = schema
        self._semantics = semantics
        self._max_near = max_near
        self._leaves: list[BoundLeaf] = []
        self._steps: list[Step] = []
        self._columns: dict[str, Field] = {}
        self._near: dict[str, UnknownColumnError] = {}

    def bind(self, expression: ex.HudiExpression) -> BoundExpression:
        stack: list[ex.HudiExpression | Step] = [expression]
        while stack:
            node = stack.pop()
            plain = bind_plain(node, self._schema, self._semantics)
            if plain is not None:
                bound_leaf, field = plain
                self._push(bound_leaf)
                self._columns[field.name] = field
                continue
            match node:
                case ex.And(children=children):
                    stack.append(And(len(children) + self._bind_number_ranges(children)))
                    stack.extend(reversed(children))
                case ex.Or(children=children):
                    stack.append(Or(len(children)))
                    stack.extend(reversed(children))
                case ex.Not(child=child):
                    stack.extend((Not(), child))
                case And() | Or() | Not() | Leaf() | Refine():
                    self._steps.append(node)
                case ex.Compare(left=ex.If()) if (condition := self._condition_compared(node)) is not None:
                    stack.append(condition)
                case leaf:
                    implied = (*inferred_predicates(leaf), *self._members_of_texts(leaf))
                    self._bind_leaf(leaf)
                    for condition in implied:
                        self._bind_leaf(condition)
                    if implied:
                        self._steps.append(And(1 + len(implied)))
                    self._bind_columns_tested_instead(leaf)
        steps = refined(self._leaves, self._steps, self._semantics)
        return BoundExpression(
            expression, tuple(self._leaves), Program(tuple(steps)), tuple(self._columns.values()), self._semantics
        )

    def _bind_leaf(self, node: ex.HudiExpression) -> None:
        columns = ex.column_names(node)
        try:
            tests = list(self._tests(node))
        except (UnsupportedError, OverflowError) as error:
            self._push(BoundLeaf(node, Fixed(outcome.UNKNOWN), columns, self._reason(error)))
            return
        for test, lookup in tests:
            self._push(BoundLeaf(node, test, self._read_by(test), None, lookup))
            implied = implied_by_image(test) or implied_by_number(test)
            if implied is not None:
                self._push(
                    BoundLeaf(node, implied, self._read_by(implied), note=f"as {implied.operand.field.name} spells it")
                )
                self._steps.append(And(2))
            if isinstance(test, Comparison) and (column := may_be_out_of_range(test.left, test.right)) is not None:
                # An engine may fold it, for NULL rows too: (test AND x) OR y is anything there, and else the test.
                for truth, step in ((True, And(2)), (False, Or(2))):
                    out_of_range = OutOfRange(column, truth, any_of_null=True)
                    self._push(BoundLeaf(node, out_of_range, self._read_by(test), note="for NULL rows"))
                    self._steps.append(step)
        if len(tests) > 1:
            self._steps.append(Or(len(tests)))

    def _bind_number_ranges(self, conditions: Sequence[ex.HudiExpression]) -> int:
        """Bind what two bounds of a text that is read as a number imply together: so many conditions more."""
        count = 0
        for least, most in bounds_of_texts(conditions, self._schema, self._semantics):
            try:
                [[lower, _]], [[upper, _]] = self._tests(least), self._tests(most)
            except (UnsupportedError, OverflowError, ValueError):
                continue
            implied = implied_by_numbers(lower, upper)
            if implied is not None:
                note = f"as {implied.operand.field.name} spells it"
                self._push(BoundLeaf(least, implied, self._read_by(implied), note=note))
                count += 1
        return count

    def _condition_compared(self, leaf: ex.Compare) -> ex.HudiExpression | None:
        """The condition that a leaf compares with TRUE, unless the engine may compare its integers in another way."""
        condition = condition_compared(leaf)
        if condition is None or not self._semantics.long_tests_wrap:
            return condition
        fields = (
            self._schema.resolve(name, case_sensitive=self._semantics.case_sensitive)
            for name in ex.column_names(condition)
        )
        return None if any(field is None or field.type.kind.is_integer for field in fields) else condition

    def _bind_columns_tested_instead(self, leaf: ex.HudiExpression) -> None:
        """(the leaf AND ?) OR a column IS NULL: TRUE where a column is NULL, FALSE where the leaf is, else either."""
        columns = columns_tested_instead(leaf) if self._semantics.null_tests_see_columns else ()
        if columns:
            self._push(BoundLeaf(leaf, Fixed(outcome.UNKNOWN), (), note="where no column is NULL"))
            self._steps.append(And(2))
            for column in columns:
                self._bind_leaf(ex.IsNull(column))
            self._steps.append(Or(1 + len(columns)))

    def _members_of_texts(self, leaf: ex.HudiExpression) -> tuple[ex.HudiExpression, ...]:
        """What a list of numbers or days implies for a text."""
        if not isinstance(leaf, ex.In) or not self._semantics.lists_read_texts:
            return ()
        read = members_as_read(leaf, self._semantics)
        try:
            operand = None if read is None else bind_operand(leaf.operand, self._schema, self._semantics)
        except UnsupportedError:
            return ()
        is_text = operand is not None and operand.type.kind in (Kind.STRING, Kind.VARCHAR)
        return (read,) if read is not None and is_text else ()

    def _reason(self, error: Exception) -> str:
        """Why a leaf is unknown. The first unknown columns of a filter come with the names that may be meant."""
        if isinstance(error, UnknownColumnError) and (error.name in self._near or len(self._near) < self._max_near):
            error = self._near.setdefault(error.name, with_near_names(error, self._schema))
        return str(error)

    def _push(self, leaf: BoundLeaf) -> None:
        number = len(self._leaves)
        self._steps.append(_FIRST_LEAVES[number] if number < len(_FIRST_LEAVES) else Leaf(number))
        self._leaves.append(leaf)

    def _read_by(self, test: Test) -> tuple[str, ...]:
        match test:
            case Comparison(left=left, right=right):
                read = {**columns_of(left), **columns_of(right)}
            case Fixed():
                read = {}
            case _:
                read = dict(columns_of(test.operand))
        self._columns.update(read)
        return tuple(read)

    def _tests(self, node: ex.HudiExpression) -> Iterator[tuple[Test, Lookup | None]]:
        """The tests whose OR is the leaf; mostly a single one."""
        match node:
            case ex.Compare(op=op):
                numbers = as_microseconds(node, self._operand, self._span, self._semantics)
                bound_left, bound_right = self._operand(numbers.left), self._operand(numbers.right)
                bound_left, bound_right = (
                    self._beside(bound_left, [bound_right]),
                    self._beside(bound_right, [bound_left]),
                )
                if is_range(bound_left) or is_range(bound_right):
                    yield compared_with_clock(op, bound_left, bound_right, self._semantics), None
                else:
                    yield self._comparison(op, bound_left, bound_right)
            case ex.In(operand=operand, members=members):
                bound, bound_members = self._operand(operand), [self._operand(member) for member in members]
                yield from membership_tests(self._beside(bound, bound_members), bound_members, self._semantics)
            case ex.InKeys(operand=operand, keys=keys):
                yield self._among_keys(operand, keys)
            case ex.IsNull(operand=operand):
                yield self._null_test(without_lossless_casts(self._operand(operand))), None
            case ex.Like(operand=operand, pattern=pattern, escape=escape):
                yield self._like(self._operand(operand), pattern, escape)
            case ex.Constant(value=value):
                yield Fixed(outcome.of_value(value)), None
            case ex.Unknown(reason=reason):
                raise UnsupportedError(reason)
            case _:
                raise UnsupportedError(f"{type(node).__name__} is not decided")

    def _operand(self, operand: ex.Operand) -> BoundOperand:
        return bind_operand(operand, self._schema, self._semantics)

    def _span(self, operand: ex.Operand) -> TimeSpan | None:
        bind_condition = partial(_bind_condition, self._schema, self._semantics)
        return span_of(operand, self._schema, self._semantics, bind_condition)

    def _beside(self, operand: BoundOperand, others: Sequence[BoundOperand]) -> BoundOperand:
        return beside(operand, others, self._semantics)

    # -- comparisons

    def _comparison(self, op: str, left: BoundOperand, right: BoundOperand) -> tuple[Test, Lookup | None]:
        if isinstance(left, BoundConstant) and not isinstance(right, BoundConstant):
            op, left, right = MIRRORED[op], right, left
        if not isinstance(right, BoundConstant):
            return between_operands(op, left, right, self._semantics), None
        if isinstance(left, BoundConstant):
            return between_constants(op, left, right), None
        if is_nan(right):
            of_nan = against_nan(op, left, self._semantics)
            if of_nan is not None:
                return of_nan, None
        if not right.interval.value:
            return (NullTest(left) if op == "<=>" else Fixed(outcome.NULL)), None
        if op == "<=>" and left.type.kind.is_text and not right.type.kind.is_text:
            raise UnsupportedError("text <=> a constant of another type is not decided: it may be NULL in Hive")
        operand, interval = in_domain_of(left, right, self._semantics)
        if meets_in_38_digits(operand.type, right.type, self._semantics):
            common, limit = common_decimal(operand.type, right.type)
            interval = as_rounded(interval, operand.type, right.type)
            if not -limit < interval.lo <= interval.hi < limit:
                raise UnsupportedError(
                    f"{operand.type} compared with a constant that {common} does not hold is not decided"
                )
            return Comparison(
                op, in_38_digits(operand, right.type, self._semantics), constant_of(interval, common)
            ), None
        if isinstance(operand, BoundFunction):
            comparison = Comparison(op, operand, constant_of(interval, operand.type))
            is_key = op in ("=", "<=>") and interval.is_point and not interval.null
            return comparison, lookup_of_result(comparison, [interval.lo]) if is_key else None
        test = against_column(op, operand, to_ordinals(interval, operand.type))
        is_key = op in ("=", "<=>") and interval.is_point and not interval.null and has_one_form(operand.type)
        is_key = is_key and (operand.type.kind is Kind.DECIMAL or not isinstance(interval.lo, Fraction))
        is_key = is_key and interval.lo not in _INFINITE
        return test, Lookup(operand.field, (interval.lo,)) if is_key else None

    # -- the other leaves

    def _among_keys(self, operand: ex.Operand, keys: KeySet) -> tuple[Test, Lookup | None]:
        """A list of keys in the column's own type. Its ends are bound as a list of literals would be.

        What the least and the greatest key become shows what every key becomes: itself, or nothing certain.
        """
        ends = keys[:1] if len(keys) < 2 else [keys[0], keys[-1]]
        literals = tuple(ex.Literal(ex.key_value(end, keys.type), keys.type) for end in ends)
        tests = list(self._tests(ex.In(operand, literals))) if literals else []
        if len(tests) == 1:
            [(test, lookup)] = tests
            if (
                isinstance(test, Membership)
                and isinstance(test.operand, BoundColumn)
                and test.operand.type == test.operand.field.type == keys.type
                and lookup is not None
                and list(lookup.values) == ends
            ):
                members = Members.of_keys(keys, array_dtype(keys.type))
                return Membership(test.operand, members), Lookup(lookup.column, keys)
        raise UnsupportedError(f"keys of type {keys.type} are not looked up in this column")

    def _null_test(self, operand: BoundOperand) -> Test:
        if isinstance(operand, BoundConstant):
            interval = operand.interval
            return Fixed((outcome.TRUE if interval.null else 0) | (outcome.FALSE if interval.value else 0))
        return NullTest(operand)

    def _like(self, operand: BoundOperand, pattern: str, escape: str) -> tuple[Test, Lookup | None]:
        operand = as_text(without_lossless_casts(operand), self._semantics)
        if isinstance(operand, BoundConstant) or not operand.type.kind.is_text:
            raise UnsupportedError(f"LIKE over {operand.type} is not decided")
        parsed = parse_like(pattern, escape)
        if operand.type.kind is Kind.CHAR:
            prefix = parsed.prefix.rstrip(" ")
            if any(c < " " for c in prefix):
                raise UnsupportedError("CHAR with characters below the space is not decided")
            return starts_with(operand, prefix, exact=False), None
        if parsed.form is Form.EQUALS:
            return self._comparison("=", operand, text_constant(parsed.prefix))
        if parsed.form is Form.STARTS:
            return starts_with(operand, parsed.prefix, exact=True), None
        return starts_with(operand, parsed.prefix, exact=False, pattern=parsed), None
