"""The keys of an expression index's Bloom filter: a value of the function as the texts that a writer may have stored.

    length(n) = 5        5                       whole numbers in decimal digits
    trim(n) = 'a'        a                       text as it is
    lower(n) = 'file'    file, f\u0131le, ...   the images of a writer of another locale

The writer adds the text of each row's value to the filter of its file. An empty text is not looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from index_store.kinds.expression_functions import ExpressionFunction
from index_store.kinds.expressions.case_mappings import possible_images

__all__ = ["texts_of_bound", "texts_of_bounds", "texts_of_values"]

#: The functions of text as they are computed here, of ASCII alone where engines differ.
_COMPUTED: Mapping[str, Callable[[str], str | int]] = {
    "": str,
    "length": len,
    "trim": lambda text: text.strip(" "),
    "ltrim": lambda text: text.lstrip(" "),
    "rtrim": lambda text: text.rstrip(" "),
    "lower": str.lower,
    "upper": str.upper,
}


def texts_of_values(function: ExpressionFunction, values: Sequence[object]) -> list[bytes] | None:
    """Every text under which one of the values may stand in a filter; None when that is not certain."""
    found: list[bytes] = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int if function.result.kind.is_integer else str):
            return None
        text = str(value)
        texts = possible_images(text, function.letters) if function.letters else (text,)
        if not text or not texts:
            return None
        found += [one.encode("utf-8", "surrogatepass") for one in texts]
    return found


def texts_of_bound(function: ExpressionFunction, bound: object) -> list[bytes] | None:
    """Every text that a filter may hold for a value of the column; None when that is not certain."""
    compute = _COMPUTED.get(function.names[0])
    if compute is None or not isinstance(bound, str) or (function.letters and not bound.isascii()):
        return None
    return texts_of_values(function, [compute(bound)])


def texts_of_bounds(function: ExpressionFunction, values: Sequence[object]) -> list[bytes] | None:
    """The same for several values of the column; None when it is not certain for one of them."""
    found: list[bytes] = []
    for value in values:
        texts = texts_of_bound(function, value)
        if texts is None:
            return None
        found += texts
    return found
