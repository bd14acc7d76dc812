"""lower, upper and initcap over a range of text: the least and the greatest result, character by character.

Neither function keeps the order ('Z' < 'a', but 'z' > 'a'). After the common prefix of lo and hi, the next character of
a text lies between those of lo and hi, and each such character has an image. Where one character alone has the least
image, the walk goes on behind it:

    ====================  =====  ============  =================================================================
    range                 case   result        why
    ====================  =====  ============  =================================================================
    'banana' .. 'cherry'  lower  'bai' ..      only 'b' gives 'b'; after 'ba', U+0130 is possible and gives 'i'
    'Cherry' .. 'zebra'   lower  '[' ..        '[' lies between 'C' and 'z', with anything after it
    '7th' .. 'elder'      lower  .. U+0131     'Z' is possible, and 'I', which gives U+0131 in Turkish
    'cherry' .. 'date'    upper  .. 'Da'       after 'D', anything up to 'a' is possible, so also '`'
    ====================  =====  ============  =================================================================

ASCII letters have the same image in every locale, except for one letter in Turkish. The image of a character beyond
ASCII depends on the locale, the context and the version of Unicode: it is beyond ASCII, by an unknown amount, or it
starts with the letter listed here. A dot above (U+0307) is dropped after a j by upper case in Lithuanian, and after
an I by lower case in Turkish.

initcap writes letters in upper or lower case by what stands before them, so its results have no bounds. The texts that
it maps to one result are known all the same (``sources``).
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluator.language.records import record
from evaluator.language.text_order import LAST_CHARACTER, common_prefix_length, successor

__all__ = ["INITCAP", "LOWER", "UPPER", "LetterCase"]

_ASCII = "".join(map(chr, range(128)))
_TO_LOWER = dict(enumerate(_ASCII.lower()))
_BEYOND = "\x80"
_NONE = chr(LAST_CHARACTER)
#: Characters of a bound after the common prefix; a shorter bound is sound too.
_MAX_WALK = 64
#: The ranges of texts that have one image; each is compared with every file.
_MAX_SOURCES = 24
#: Letters after which a case mapping may drop a dot above, in Lithuanian or in Turkish.
_SOFT_DOTTED = frozenset(["i", "j", "I", "J"])


@record
class LetterCase:
    """One of the two case mappings.

    ascii           the images of the 128 ASCII characters
    locale_letter   the letter that Turkish maps to ``locale_image``
    to_ascii        characters beyond ASCII whose image starts with an ASCII letter, under some locale
    dropped         two characters; the second may have no image after the first
    folded          whether the letters of an image may be of either case
    """

    ascii: str
    locale_letter: str
    locale_image: str
    to_ascii: Mapping[int, str]
    dropped: str
    folded: bool = False

    def bounds(self, lo: str, hi: str | None) -> tuple[str, str | None]:
        """Bounds of the images of all texts from lo to hi; None is no upper bound."""
        return self._least(lo, hi), None if hi is None else self._greatest(lo, hi)

    def sources(self, image: str) -> list[tuple[str, str]]:
        """Ranges of the texts whose image starts with this text: from the first one on, and below the second one.

        They go by the first letters of the image, as many as make ``_MAX_SOURCES`` ranges. No range: no text has such
        an image.

            upper(x) starts with 'CH'    x is in 'CH' .. 'CI', 'Ch' .. 'Ci', 'cH' .. 'cI', 'ch' .. 'ci'
        """
        if self.folded:
            image = image.translate(_TO_LOWER)
        prefixes, ranges = [""], list[tuple[str, str]]()
        for char in image:
            letters = [chr(code) for code, mapped in enumerate(self.ascii) if mapped == char]
            if char >= _BEYOND or char == self.locale_image:
                break
            beyond = [chr(code) for code, letter in self.to_ascii.items() if letter == char]
            if len(prefixes) * (len(letters) + len(beyond)) + len(ranges) > _MAX_SOURCES:
                break
            for prefix in prefixes:
                skipped = [self.dropped[1]] if self.dropped and prefix[-1:] in _SOFT_DOTTED else []
                ranges += [_starting_with(prefix + one) for one in [*beyond, *skipped]]
            prefixes = [prefix + letter for prefix in prefixes for letter in letters]
        return [*ranges, *([("", _NONE)] if prefixes == [""] else [_starting_with(prefix) for prefix in prefixes])]

    def _common(self, lo: str, hi: str | None) -> tuple[int, str]:
        """The length of the common prefix that has one image, and that image."""
        if hi is None:
            return 0, ""
        prefix = lo[: common_prefix_length(lo, hi)].partition(self.locale_letter)[0]
        if not prefix.isascii():
            prefix = prefix[: next(i for i, char in enumerate(prefix) if char >= _BEYOND)]
        return len(prefix), prefix.translate(self.ascii)

    def _least(self, lo: str, hi: str | None) -> str:
        start, image = self._common(lo, hi)
        below_hi = hi is None  # the prefix is already less than that of hi
        for position in range(start, min(len(lo), start + _MAX_WALK)):
            char = lo[position]
            last = LAST_CHARACTER if below_hi or hi is None or position >= len(hi) else ord(hi[position])
            if self.dropped and lo[position - 1 : position] == self.dropped[0] and char <= self.dropped[1] <= chr(last):
                return image
            own, others = self._least_image(ord(char), ord(char)), self._least_image(ord(char) + 1, last)
            if char == self.locale_letter or char >= _BEYOND or others <= own:
                return image + min(own, others)
            image += own
            below_hi = below_hi or ord(char) < last
        return image

    def _least_image(self, first: int, last: int) -> str:
        """The least first letter of an image of the characters from first to last; of none, the last character."""
        if first > last:
            return _NONE
        least = min(self.ascii[first : last + 1]) if first < 128 else _BEYOND
        if last < 128:
            return least
        return min([least, *(letter for code, letter in self.to_ascii.items() if first <= code <= last)])

    def _greatest(self, lo: str, hi: str) -> str | None:
        start, image = self._common(lo, hi)
        above_lo = False  # the prefix is already greater than that of lo
        for position in range(start, len(hi)):
            char = hi[position]
            if char >= _BEYOND or position == start + _MAX_WALK:
                return successor(image)
            first = 0 if above_lo or position >= len(lo) else ord(lo[position])
            others = self.ascii[first : ord(char)]
            if first <= ord(self.locale_letter) <= ord(char):
                return successor(image + self.locale_image)
            own = self.ascii[ord(char)]
            if others and max(others) >= own:
                return successor(image + max(others))
            image += own
            above_lo = above_lo or position >= len(lo) or first < ord(char)
        return image


def _starting_with(prefix: str) -> tuple[str, str]:
    above = successor(prefix)
    assert above is not None  # it has a character before the last one
    return prefix, above


LOWER = LetterCase(
    _ASCII.lower(),
    "I",
    "\u0131",
    {0x00CC: "i", 0x00CD: "i", 0x0128: "i", 0x0130: "i", 0x212A: "k"},
    "I\u0307",
)
UPPER = LetterCase(
    _ASCII.upper(),
    "i",
    "\u0130",
    {
        0x00DF: "S",
        0x0131: "I",
        0x017F: "S",
        0x01F0: "J",
        0x1E96: "H",
        0x1E97: "T",
        0x1E98: "W",
        0x1E99: "Y",
        0x1E9A: "A",
        **dict.fromkeys(range(0xFB00, 0xFB05), "F"),
        0xFB05: "S",
        0xFB06: "S",
    },
    "j\u0307",
)
#: What a letter of the image was before it was made small, and large again at the beginning of a word.
INITCAP = LetterCase(
    _ASCII.lower(),
    "I",
    "\u0131",
    {**LOWER.to_ascii, **{code: letter.lower() for code, letter in UPPER.to_ascii.items()}, 0x1E9E: "s"},
    "I\u0307",
    folded=True,
)
