"""The order of texts by code point, which is also that of their UTF-8 bytes.

prefix     texts that start with it      successor
'abc'      'abc' .. below 'abd'          'abd'
'a\\ud7ff'  ...                           'a\\ue000': surrogates are no characters
''         all texts                     None
"""

from __future__ import annotations

__all__ = ["LAST_CHARACTER", "common_prefix_length", "successor"]

#: The code of the greatest character.
LAST_CHARACTER = 0x10FFFF


def successor(prefix: str) -> str | None:
    """The smallest text above every text with this prefix; None when there is none."""
    for end in range(len(prefix), 0, -1):
        code = ord(prefix[end - 1])
        if code < LAST_CHARACTER:
            following = 0xE000 if code == 0xD7FF else code + 1
            return prefix[: end - 1] + chr(following)
    return None


def common_prefix_length(a: str | bytes, b: str | bytes) -> int:
    """The number of characters, or bytes, with which both start. Every text between the two starts with them too."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
