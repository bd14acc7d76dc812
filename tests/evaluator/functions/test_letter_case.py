"""lower and upper over ranges of text: sound for every text of the range, and as tight as the table says."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.functions.letter_case import LOWER, UPPER

CASES = {"lower": LOWER, "upper": UPPER}


@pytest.mark.parametrize(
    ("case", "lo", "hi", "least", "greatest"),
    [
        ("lower", "apple-002", "é-014", "ai", None),
        ("lower", "banana-032", "Ω-047", "bai", None),
        ("lower", "grape-180", "日-201", "gi", None),
        ("lower", "Cherry-062", "é-080", "[", None),
        ("lower", "", "elder-147", "", "\u0132"),
        ("lower", "J", "elder", "[", "{"),
        ("lower", "dab", "dad", "dab", "dad"),
        ("lower", "zebra", "zoo", "zebi", "zo\u0132"),
        ("lower", "zebra", "é", "i", None),
        ("lower", "zebra", "zË", "zebi", "{"),
        ("lower", "TITLE", "TITLE", "ti", "t\u0132"),
        ("lower", "9", "B", "9", "b"),
        ("lower", "9", "BB", "9", "bb"),
        ("lower", "a", None, "a", None),
        ("lower", "z", None, "i", None),
        ("upper", "cherry", "date", "CA", "Da"),
        ("upper", "Cherry", "date", "A", "a"),
        ("upper", "mango", "nut", "MA", "N\u0131"),
        ("upper", "mango", "é", "MA", None),
        ("upper", "fig", "fig", "FI", "F\u0131"),
        ("upper", "j", "j\u0307z", "J", "K"),
        ("upper", "ja", "k", "J", "K"),
    ],
    ids=str,
)
def test_the_bounds_of_a_range(case, lo, hi, least, greatest):
    assert CASES[case].bounds(lo, hi) == (least, greatest)


@pytest.mark.parametrize(("case", "convert"), [("lower", str.lower), ("upper", str.upper)])
def test_no_other_character_beyond_ascii_becomes_ascii(case, convert):
    becomes = {code: image[0] for code in range(128, sys.maxunicode + 1) if (image := convert(chr(code)))[:1].isascii()}
    letters = CASES[case]
    assert becomes.items() <= letters.to_ascii.items()
    lithuanian = {0x00CC, 0x00CD, 0x0128} if case == "lower" else set()
    assert letters.to_ascii.keys() - becomes.keys() == lithuanian


TEXT = st.text(
    st.sampled_from("aAbBiIjJkKzZ09_ {\x00\x7féß\u0131\u0130\u017f\u01f0\u1e9e\ufb01Σ\u0307日K𝄞"), max_size=5
) | st.text(max_size=4)
TURKISH = {
    "lower": str.maketrans({"I": "\u0131", "\u0130": "i"}),
    "upper": str.maketrans({"i": "\u0130", "\u0131": "I"}),
}


@given(st.sampled_from(["lower", "upper"]), TEXT, TEXT, TEXT)
def test_every_text_of_the_range_has_its_image_within_the_bounds(case, a, b, c):
    lo, text, hi = sorted([a, b, c])
    least, greatest = CASES[case].bounds(lo, hi)
    convert = str.lower if case == "lower" else str.upper
    images = [convert(text), convert(text.translate(TURKISH[case]))]
    if case == "upper":
        images += [convert(text.replace(f"{soft}\u0307", soft)) for soft in "ij"]
    for image in images:
        assert least <= image
        assert greatest is None or image <= greatest
