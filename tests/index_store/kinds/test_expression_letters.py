"""Bounds of lower() and upper() hold whatever locale wrote and reads them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_store.kinds.expression_functions import EXPRESSION_FUNCTIONS, IDENTITY
from index_store.kinds.expressions.case_mappings import first_uncertain, possible_images, widen_letter_case
from index_store.kinds.expressions.expression_keys import texts_of_bound, texts_of_values
from tests.plain_id import plain_id

LOCALES = ("", "tr", "lt", "simple")


def _image(text, mapping, locale):
    """The image of a text under a locale, or where each character is mapped to one (``simple``)."""
    if locale == "simple":
        return "".join(image if len(image := getattr(char, mapping)()) == 1 else char for char in text)
    if locale == "lt" and mapping == "upper":
        text = text.replace("i\u0307", "i").replace("j\u0307", "j")
    special = {"lower": {"I": "\u0131", "\u0130": "i"}, "upper": {"i": "\u0130"}}[mapping] if locale == "tr" else {}
    return "".join(special.get(char, getattr(char, mapping)()) for char in text)


LOCALE = st.sampled_from(LOCALES)
LETTERS = st.text("aBfFhIiJjkKlLsStTzZ0 \u0130\u0131\u212a\u00e9\u00c9\u00df\u017f\u0307\ufb01\ufb03\ufb06", max_size=6)


@pytest.mark.parametrize("mapping", ["lower", "upper"])
@given(texts=st.lists(LETTERS, min_size=1, max_size=4), writer=LOCALE, reader=LOCALE)
def test_bounds_of_letters_hold_for_a_reader_of_another_locale(mapping, texts, writer, reader):
    written = [_image(text, mapping, writer) for text in texts]
    lows, highs, bounded = widen_letter_case(
        np.array([min(written)], object), np.array([max(written)], object), first_uncertain(mapping)
    )
    for text in texts:
        image = _image(text, mapping, reader)
        assert lows[0] <= image
        assert not bounded[0] or image <= highs[0]


@pytest.mark.parametrize("mapping", ["lower", "upper"])
@given(text=LETTERS, writer=LOCALE, reader=LOCALE)
def test_what_a_writer_of_another_locale_made_is_among_the_images(mapping, text, writer, reader):
    found = possible_images(_image(text, mapping, reader), mapping)
    assert not found or _image(text, mapping, writer) in found


@pytest.mark.parametrize(
    ("text", "mapping", "expected"),
    [
        ("zoo", "lower", {"zoo"}),
        ("file", "lower", {"file", "f\u0131le", "fi\u0307le", "f\u0130le"}),
        ("stra\u00dfe", "lower", set()),
        ("k1", "lower", {"k1", "\u212a1"}),
        ("", "upper", {""}),
        ("SS", "upper", {"SS", "\u017fS", "S\u017f", "\u017f\u017f", "\u00df", "\u1e9e"}),
        ("i" * 5, "lower", set()),
    ],
    ids=plain_id,
)
def test_a_text_stands_for_every_image_that_a_writer_may_have_made(text, mapping, expected):
    assert set(possible_images(text, mapping)) == expected


@pytest.mark.parametrize(
    ("lo", "hi", "expected"),
    [
        ("banana", "elder", ("bai", "f")),
        ("abc", "dead", ("abc", "dead")),
        ("zebra", "zoo", ("i", None)),
        ("", "\u00e9t\u00e9", ("", None)),
        ("cherry-1", "fig-9", ("chei", "g")),
    ],
)
def test_bounds_of_lower_are_kept_up_to_the_first_letter_that_may_differ(lo, hi, expected):
    lows, highs, bounded = widen_letter_case(np.array([lo], object), np.array([hi], object), "i")
    assert (lows[0], highs[0] if bounded[0] else None) == expected


@given(texts=st.lists(st.tuples(LETTERS, LETTERS), max_size=5))
def test_bounds_of_many_are_widened_as_each_by_itself(texts):
    lo, hi = (np.array([pair[side] for pair in texts], object) for side in (0, 1))
    whole = widen_letter_case(lo, hi, "i")
    for row in range(len(texts)):
        alone = widen_letter_case(lo[row : row + 1], hi[row : row + 1], "i")
        assert [part[0] for part in alone] == [part[row] for part in whole]


@pytest.mark.parametrize(
    ("function", "values", "texts"),
    [
        (EXPRESSION_FUNCTIONS["length"], (5, -1), [b"5", b"-1"]),
        (EXPRESSION_FUNCTIONS["length"], ("5",), None),
        (EXPRESSION_FUNCTIONS["length"], (True,), None),
        (EXPRESSION_FUNCTIONS["trim"], ("\u00e9",), [b"\xc3\xa9"]),
        (EXPRESSION_FUNCTIONS["trim"], ("a", 5), None),
        (IDENTITY, ("",), None),
        (EXPRESSION_FUNCTIONS["lower"], ("k",), [b"k", b"\xe2\x84\xaa"]),
        (EXPRESSION_FUNCTIONS["lower"], ("\u00e9",), None),
    ],
)
def test_a_value_is_looked_up_only_under_texts_that_are_certain(function, values, texts):
    assert texts_of_values(function, values) == texts


@pytest.mark.parametrize(
    ("function", "bound", "texts"),
    [
        ("length", "abc", [b"3"]),
        ("trim", " a ", [b"a"]),
        ("lower", "ABC", [b"abc"]),
        ("upper", "\u00e9", None),
        ("year", 17_000, None),
        ("trim", " ", None),
    ],
)
def test_a_bound_has_the_texts_that_a_writer_may_have_made_of_it(function, bound, texts):
    assert texts_of_bound(EXPRESSION_FUNCTIONS[function], bound) == texts
