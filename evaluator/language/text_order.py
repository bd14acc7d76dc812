"""The order of texts by code point, which is also that of their UTF-8 bytes.

prefix     texts that start with it      successor
'abc'      'abc' .. below 'abd'          'abd'
'a\\ud7ff'  ...                           'a\\ue000': surrogates are no characters
''         all texts                     None
"""

from __future__ import annotations

__all__ = ["LAST_CHARACTER", "successor"]

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
