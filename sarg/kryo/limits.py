"""Bounds on the size of a filter. The bytes are not trusted: every count in them is checked before it is used.

====================  =============  ================================================================
limit                 value          protects against
====================  =============  ================================================================
MAX_INPUT             16 MiB         a value larger than any job configuration holds
MAX_BASE64            24 MiB         its Base64 text, with white space
MAX_OBJECTS           800,000        lists with a false length, streams of tiny objects
MAX_OBJECT_DEPTH      40,000         nesting of Java objects (four for each nested expression)
MAX_EXPRESSION_DEPTH  10,000         nesting of expressions
MAX_NODES             250,000        back-references: a shared subtree counts once for each reference, in the typed tree
                                     and again in its translation
MAX_TOTAL_OBJECTS     1,600,000      input that fails late under every profile
MAX_STRING            1 Mi chars     one string
MAX_SLOW_CHARACTERS   1 Mi chars     all strings together that are not ASCII
MAX_CLASS_NAME        1,000 chars    a class name
MAX_TYPE_DEPTH        100            array<array<...>>
MAX_TYPE_TEXT         1 Mi chars     all type names of a filter together, written out
MAX_VALUE_DEPTH       32             lists in lists in a constant
====================  =============  ================================================================

``Limits`` lowers the two that decide what decoding costs, for a caller that has less to spend.
"""

from __future__ import annotations

from evaluator.language.records import frozen

MAX_INPUT = 16 * 1024 * 1024
MAX_BASE64 = 24 * 1024 * 1024
MAX_OBJECTS = 800_000
MAX_OBJECT_DEPTH = 40_000
MAX_EXPRESSION_DEPTH = 10_000
MAX_NODES = 250_000
MAX_TOTAL_OBJECTS = 1_600_000
MAX_STRING = 1024 * 1024
MAX_SLOW_CHARACTERS = 1024 * 1024
MAX_CLASS_NAME = 1_000
MAX_TYPE_DEPTH = 100
MAX_TYPE_TEXT = 1024 * 1024
MAX_VALUE_DEPTH = 32

#: A text counts as one node for each so many characters, so that references to a long shared text are not free.
CHARACTERS_PER_NODE = 256


@frozen
class Limits:
    """What one decoding may cost.

    nodes     of the filter when every shared subtree is written out (``MAX_NODES``)
    objects   read under all profiles together (``MAX_TOTAL_OBJECTS``)
    """

    nodes: int = MAX_NODES
    objects: int = MAX_TOTAL_OBJECTS


#: The limits of a caller that gives none.
DEFAULT_LIMITS = Limits()
