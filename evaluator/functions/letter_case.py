"""lower and upper over a range of text: the least and the greatest result, character by character.

The order is not kept ('Z' < 'a', but 'z' > 'a'). Where all texts of [lo, hi] share a prefix, the next character lies
between those of lo and hi, and each has an image; the least image may belong to one character only, and then that one
is followed:

    ====================  =====  ============  =================================================================
    range                 case   result        why
    ====================  =====  ============  =================================================================
    'banana' .. 'cherry'  lower  'bai' ..      only 'b' gives 'b'; behind 'ba' U+0130 may come, which gives 'i'
    'Cherry' .. 'zebra'   lower  '[' ..        '[' lies between 'C' and 'z', with anything after it
    '7th' .. 'elder'      lower  .. U+0131     'Z' may come, and 'I', which is U+0131 in Turkish
    'cherry' .. 'date'    upper  .. 'Da'       after 'D' anything up to 'a', and so '`'
    ====================  =====  ============  =================================================================

ASCII is mapped as everywhere, but for one letter that Turkish maps to another one. What is beyond ASCII depends on the
locale, the context and the version of Unicode: it stays beyond ASCII or becomes text that starts with the letter listed
here, and how far beyond is not known. Lithuanian drops a dot above (U+0307) behind a j in upper case: what follows
moves up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["LOWER", "UPPER", "LetterCase", "successor"]

_ASCII = "".join(map(chr, range(128)))
_BEYOND = "\x80"
_LAST = 0x10FFFF
_NONE = chr(_LAST)
#: How many characters are followed behind the common prefix; a shorter bound is as sound.
LONGEST_WALK = 64


def successor(prefix: str) -> str | None:
    """The smallest text above every text with this prefix; None when there is none."""
    for end in range(len(prefix), 0, -1):
        code = ord(prefix[end - 1])
        if code < _LAST:
            following = 0xE000 if code == 0xD7FF else code + 1
            return prefix[: end - 1] + chr(following)
    return None


@dataclass(frozen=True, slots=True)
class LetterCase:
    """One of the two mappings.

    ascii           the images of the 128 ASCII characters
    locale_letter   the letter that Turkish maps to ``locale_image``
    to_ascii        characters beyond ASCII whose image starts with an ASCII letter, under some locale
    dropped         two characters of which the second may have no image behind the first
    """

    ascii: str
    locale_letter: str
    locale_image: str
    to_ascii: Mapping[int, str]
    dropped: str

    def bounds(self, lo: str, hi: str | None) -> tuple[str, str | None]:
        """Bounds of the images of all texts from lo to hi; None is no upper bound."""
        return self._least(lo, hi), None if hi is None else self._greatest(lo, hi)

    def _common(self, lo: str, hi: str | None) -> tuple[int, str]:
        """How long the common prefix is that has one image, and that image."""
        if hi is None:
            return 0, ""
        length = next((i for i, (x, y) in enumerate(zip(lo, hi, strict=False)) if x != y), min(len(lo), len(hi)))
        prefix = lo[:length].partition(self.locale_letter)[0]
        if not prefix.isascii():
            prefix = prefix[: next(i for i, char in enumerate(prefix) if char >= _BEYOND)]
        return len(prefix), prefix.translate(self.ascii)

    def _least(self, lo: str, hi: str | None) -> str:
        start, found = self._common(lo, hi)
        below_hi = hi is None  # whether the prefix is already less than that of hi
        for place in range(start, min(len(lo), start + LONGEST_WALK)):
            char = lo[place]
            last = _LAST if below_hi or hi is None or place >= len(hi) else ord(hi[place])
            if self.dropped and lo[place - 1 : place] == self.dropped[0] and char <= self.dropped[1] <= chr(last):
                return found
            own, others = self._least_image(ord(char), ord(char)), self._least_image(ord(char) + 1, last)
            if char == self.locale_letter or char >= _BEYOND or others <= own:
                return found + min(own, others)
            found += own
            below_hi = below_hi or ord(char) < last
        return found

    def _least_image(self, first: int, last: int) -> str:
        """The least start of an image of the characters from first to last; without any, a character above all."""
        if first > last:
            return _NONE
        least = min(self.ascii[first : last + 1]) if first < 128 else _BEYOND
        if last < 128:
            return least
        return min([least, *(letter for code, letter in self.to_ascii.items() if first <= code <= last)])

    def _greatest(self, lo: str, hi: str) -> str | None:
        start, found = self._common(lo, hi)
        above_lo = False  # whether the prefix is already greater than that of lo
        for place in range(start, len(hi)):
            char = hi[place]
            if char >= _BEYOND or place == start + LONGEST_WALK:
                return successor(found)
            first = 0 if above_lo or place >= len(lo) else ord(lo[place])
            others = self.ascii[first : ord(char)]
            if first <= ord(self.locale_letter) <= ord(char):
                return successor(found + self.locale_image)
            own = self.ascii[ord(char)]
            if others and max(others) >= own:
                return successor(found + max(others))
            found += own
            above_lo = above_lo or place >= len(lo) or first < ord(char)
        return found


LOWER = LetterCase(_ASCII.lower(), "I", "\u0131", {0x00CC: "i", 0x00CD: "i", 0x0128: "i", 0x0130: "i", 0x212A: "k"}, "")
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
