"""The program of a filter: one fold gives the outcome, and the sought values of leaves decide where it can be TRUE."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.binding.program import And, Leaf, Not, Or, Program, Refine, Step
from evaluator.binding.truth_values import Possible, TruthValue
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.schema import Schema
from tests.evaluator.short_forms import SPARK
from tests.sampling import examples

NAND = Program((Leaf(0), Leaf(1), And(2), Not()))


def texts(program: Program) -> str:
    return program.fold(
        leaf=str, negate=lambda one: f"!{one}", conjoin=lambda all_: f"({'&'.join(all_)})", disjoin="|".join
    )


def sought_texts(program: Program) -> str:
    return program.fold_sought(
        leaf=lambda index, sought: f"{index}{sought.name[0]}",
        conjoin=lambda all_: f"({'&'.join(all_)})",
        disjoin=lambda all_: f"({'|'.join(all_)})",
    )


@pytest.mark.parametrize(
    ("steps", "text", "sought"),
    [
        ((Leaf(0),), "0", "0T"),
        ((Leaf(0), Leaf(1), Leaf(2), And(3)), "(0&1&2)", "(0T&1T&2T)"),
        ((Leaf(0), Not()), "!0", "0F"),
        ((Leaf(0), Not(), Not()), "!!0", "0T"),
        ((Leaf(0), Leaf(1), And(2), Not()), "!(0&1)", "(0F|1F)"),
        ((Leaf(0), Leaf(1), Not(), Or(2), Not()), "!0|!1", "(0F&1T)"),
        ((Leaf(0), And(0), Or(2), Leaf(1), And(2)), "(0|()&1)", "((0T|())&1T)"),
        ((Or(0), Not()), "!", "()"),
    ],
    ids=str,
)
def test_a_fold_combines_in_order_and_not_vanishes_from_what_is_sought(
    steps: tuple[Step, ...], text: str, sought: str
) -> None:
    assert texts(Program(steps)) == text
    assert sought_texts(Program(steps)) == sought


@pytest.mark.parametrize(
    ("steps", "flat"),
    [
        ((Leaf(0),), True),
        ((Leaf(0), Leaf(1), And(2)), True),
        ((Leaf(0), Leaf(1), Or(2)), False),
        ((Leaf(0), Not()), False),
        ((Leaf(0), Leaf(1), And(2), Leaf(2), And(2)), False),
    ],
    ids=str,
)
def test_one_leaf_and_one_and_of_leaves_are_flat(steps: tuple[Step, ...], flat: bool) -> None:
    assert Program(steps).is_flat_conjunction is flat


def test_leaves_and_forms_of_steps_are_listed() -> None:
    assert NAND.leaf_indices == (0, 1)
    assert [step.arity for step in NAND.steps] == [0, 0, 2, 1]
    assert Refine(outcome.TRUE).arity == 2
    assert [NAND.uses(form) for form in (Leaf, Not, And, Or)] == [True, True, True, False]
    assert NAND.sought_values() == {0: TruthValue.FALSE, 1: TruthValue.FALSE}
    assert Possible("t", "f", "n")[TruthValue.NULL] == "n"
    assert [value.bit for value in TruthValue] == [outcome.TRUE, outcome.FALSE, outcome.NULL]


def sought_in(*steps: Step) -> str:
    """What is asked of the leaves, as text."""
    return Program(steps).fold_sought(
        leaf=lambda index, sought: f"{index} {sought.name}",
        conjoin=lambda operands: f"({' and '.join(operands)})",
        disjoin=lambda operands: f"({' or '.join(operands)})",
    )


def test_a_refinement_is_asked_where_it_rules_out_what_is_sought() -> None:
    rules_out_true, rules_out_false = Refine(outcome.TRUE), Refine(outcome.FALSE | outcome.NULL)
    assert sought_in(Leaf(0), Leaf(1), rules_out_true) == "(0 TRUE and 1 TRUE)"
    assert sought_in(Leaf(0), Leaf(1), rules_out_false) == "0 TRUE"
    assert sought_in(Leaf(0), Leaf(1), rules_out_true, Not()) == "0 FALSE"
    assert sought_in(Leaf(0), Leaf(1), rules_out_false, Not()) == "(0 FALSE and 1 FALSE)"
    both = (Leaf(0), Leaf(1), rules_out_true, Leaf(2), Leaf(3), rules_out_false, Or(2))
    assert sought_in(*both) == "((0 TRUE and 1 TRUE) or 2 TRUE)"


def test_a_refinement_changes_the_result_before_it() -> None:
    program = Program((Leaf(7), Leaf(5), Leaf(0), Leaf(1), Refine(outcome.TRUE), And(3)))

    def folded(**refine: Any) -> str:
        return program.fold(
            leaf=str, negate=lambda one: f"not {one}", conjoin=" and ".join, disjoin=" or ".join, **refine
        )

    assert folded() == "7 and 5 and 0"
    assert (
        folded(refine=lambda result, leaf, bits: f"{result} without {leaf} of {bits}") == "7 and 5 and 0 without 1 of 1"
    )


TREES = st.recursive(
    st.just(ex.Constant(True)),
    lambda below: st.one_of(
        below.map(ex.Not),
        st.lists(below, min_size=1, max_size=3).map(lambda children: ex.And(tuple(children))),
        st.lists(below, min_size=1, max_size=3).map(lambda children: ex.Or(tuple(children))),
    ),
    max_leaves=8,
)


@settings(max_examples=examples(39, at_night=2000))
@given(tree=TREES, data=st.data())
def test_what_is_sought_is_the_true_bit_of_the_outcome(tree: ex.HudiExpression, data: st.DataObject) -> None:
    program = bind(tree, Schema([]), SPARK).program
    count = len(program.leaf_indices)
    leaves = data.draw(st.lists(st.integers(1, 7), min_size=count, max_size=count))

    def combine(table: tuple[int, ...], start: int, operands: list[int]) -> int:
        for operand in operands:
            start = table[start << 3 | operand]
        return start

    whole = program.fold(
        leaf=leaves.__getitem__,
        negate=outcome.NOT_TABLE.__getitem__,
        conjoin=lambda operands: combine(outcome.AND_TABLE, outcome.TRUE, operands),
        disjoin=lambda operands: combine(outcome.OR_TABLE, outcome.FALSE, operands),
    )
    possible = program.fold_sought(
        leaf=lambda index, sought: bool(leaves[index] & sought.bit), conjoin=all, disjoin=any
    )
    assert possible == bool(whole & outcome.TRUE)


def test_ten_thousand_levels_are_folded() -> None:
    tree: ex.HudiExpression = ex.Constant(True)
    for level in range(10_001):
        tree = ex.Not(tree) if level % 2 else ex.And((tree, ex.Constant(None)))
    program = bind(tree, Schema([]), SPARK).program
    assert program.fold(leaf=lambda _: 1, negate=lambda depth: depth + 1, conjoin=max, disjoin=max) == 5001
    assert (
        program.fold_sought(leaf=lambda *_: 0, conjoin=lambda of: max(of) + 1, disjoin=lambda of: max(of) + 1) == 5001
    )
