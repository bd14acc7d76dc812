"""The size of a tree is that of a walk over it, and it is found although the walk would never end."""

import pytest

from evaluator.language.expanded_size import CHARACTERS_PER_NODE, expanded_size
from evaluator.language.expression import And, Column, Compare, In, Like, Literal, Not, Or, Unknown, walk
from evaluator.language.types import INT, STRING, Type

LESS = Compare("<", Column(("a",)), Literal(5, INT))


def test_every_shared_subtree_counts_each_time_it_is_met():
    tree = LESS
    for level in range(200):
        tree = And((tree, tree)) if level % 2 else Or((tree, Not(tree)))
        if level < 12:
            assert expanded_size(tree) == sum(1 for _ in walk(tree))
    assert expanded_size(tree) > 2**200


@pytest.mark.parametrize(
    "node",
    [
        Literal("x" * 10 * CHARACTERS_PER_NODE, STRING),
        Literal(b"x" * 10 * CHARACTERS_PER_NODE, STRING),
        Like(Column(("s",)), "%" * 10 * CHARACTERS_PER_NODE),
        Unknown("x" * 10 * CHARACTERS_PER_NODE),
        Column(("x" * 10 * CHARACTERS_PER_NODE,)),
        Column(("s",), Type.parse(f"struct<{'x' * 10 * CHARACTERS_PER_NODE}:int>")),
    ],
    ids=lambda node: type(node).__name__,
)
def test_a_long_text_counts_as_many_nodes(node):
    assert 10 < expanded_size(node) <= 13


def test_a_list_counts_its_members():
    assert expanded_size(In(Column(("a",)), tuple(Literal(n, INT) for n in range(1000)))) == 1002
