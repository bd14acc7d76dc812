"""The sketches that an index may have, by name. A new one is one file in this folder and one line here.

    null_count   nan_count   min_max   value_list(limit=50)   prefix_set(limit=100, length=16)   partition
    bloom_filter(fpp=0.01)   bloom_filter(size=8KB)   sum

``base`` has the contract. Imports the evaluator only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from evaluator.language.errors import UnsupportedError
from index_store.own.sketches import bloom_filter, counts, min_max, partition, prefix_set, sums, value_list
from index_store.own.sketches.base import Sketch

__all__ = ["SKETCHES", "Sketch", "parse_sketch"]

#: Makes each sketch from its options. Raises ValueError for options that it does not have.
SKETCHES: Mapping[str, Callable[[Mapping[str, str]], Sketch]] = {
    "null_count": counts.make_null_count,
    "nan_count": counts.make_nan_count,
    "min_max": min_max.make,
    "value_list": value_list.make,
    "prefix_set": prefix_set.make,
    "partition": partition.make,
    "bloom_filter": bloom_filter.make,
    "sum": sums.make,
}

_TEXT = re.compile(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*")
_OPTION = re.compile(r"\s*(\w+)\s*=\s*([\w.+-]+)\s*")


def parse_sketch(text: str) -> Sketch:
    """Parse a sketch such as ``bloom_filter(fpp=0.01)``. Raises UnsupportedError, which says what is wrong."""
    match = _TEXT.fullmatch(text)
    if match is None or match[1].lower() not in SKETCHES:
        raise UnsupportedError(f"sketch {text!r} is not known: use one of {', '.join(SKETCHES)}")
    options: dict[str, str] = {}
    for part in filter(str.strip, (match[2] or "").split(",")):
        option = _OPTION.fullmatch(part)
        if option is None or option[1].lower() in options:
            raise UnsupportedError(f"{text}: an option is written name=value, once")
        options[option[1].lower()] = option[2]
    try:
        return SKETCHES[match[1].lower()](options)
    except ValueError as error:
        raise UnsupportedError(f"{text}: {error}") from error
