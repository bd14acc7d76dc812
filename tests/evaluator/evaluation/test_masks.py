"""Masks are lent and given back once each, however many are lent."""

import time

from evaluator.evaluation.masks import Masks


def test_a_mask_is_lent_again_only_after_it_was_given_back() -> None:
    masks = Masks(3)
    first, second = masks.take(), masks.take()
    assert first is not second
    masks.give_back(second)
    masks.give_back(second)  # it is not lent any more
    assert masks.take() is second
    assert masks.take() is not second
    masks.give_back(Masks(3).take())  # of another pool: nothing happens
    assert masks.take() is not first


def test_many_masks_are_given_back_in_any_order() -> None:
    """50,000 of a filter of as many conditions: a search through those that are lent would take minutes."""
    started = time.process_time()
    masks = Masks(1)
    lent = [masks.take() for _ in range(50_000)]
    for mask in reversed(lent):
        masks.give_back(mask)
    assert {id(masks.take()) for _ in lent} == set(map(id, lent))
    assert time.process_time() - started < 15
