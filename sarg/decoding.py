"""From the bytes or the Base64 of a filter to its typed tree and its ``HudiExpression``: what ``sarg`` offers.

    bytes  ──►  ``kryo``: object graph  ──►  ``hive_tree``: typed tree  ──►  ``translation``: HudiExpression

Every failure is a ``DecodeError``. A filter whose translation would grow beyond its limits is a ``TooLargeError``.
"""

from __future__ import annotations

import contextlib
from functools import partial

from evaluator.language.expanded_size import expanded_size
from evaluator.language.expression import HudiExpression
from evaluator.language.records import frozen
from sarg.hive_tree.build import TOP_NODE, build_tree
from sarg.hive_tree.exprnode import ExprNode
from sarg.hive_tree.searchargument import TOP_ARGUMENT, SearchArgument, build_argument
from sarg.kryo.envelope import to_bytes
from sarg.kryo.errors import DecodeError, TooLargeError
from sarg.kryo.limits import DEFAULT_LIMITS, Limits
from sarg.kryo.profiles import EXPRESSION_PROFILES, SEARCH_ARGUMENT_PROFILES, read_with_profiles
from sarg.translation.demote import demote
from sarg.translation.translate import translate

__all__ = ["MAX_GROWTH", "Decoded", "decode", "decode_detailed", "decode_exprnode"]

_ARGUMENT_CLASS = b"org.apache.hadoop.hive.ql.io.sarg.ExpressionTre"
#: The translation of a filter may have so many times its nodes: ``x BETWEEN a AND b`` becomes ``x >= a AND x <= b``.
MAX_GROWTH = 4
#: The class name is within these first bytes of a SearchArgument, unless its first tree is null.
_HEAD_BYTES = 128


@frozen
class Decoded:
    """A decoded filter. Exactly one of ``exprnode`` and ``search_argument`` is set. ``profile`` names the writer."""

    profile: str
    exprnode: ExprNode | None
    search_argument: SearchArgument | None
    expression: HudiExpression


def decode(data: str | bytes) -> HudiExpression:
    """The filter as HudiExpression. Raises DecodeError."""
    return decode_detailed(data).expression


def decode_exprnode(data: str | bytes) -> ExprNode:
    """The typed Hive tree. Raises DecodeError, also for a SearchArgument, which has no such tree."""
    _, tree = read_with_profiles(to_bytes(data), EXPRESSION_PROFILES, TOP_NODE, build_tree)
    return tree


def decode_detailed(data: str | bytes, limits: Limits = DEFAULT_LIMITS) -> Decoded:
    """The filter with its tree and the profile that read it. Raises DecodeError; beyond ``limits``, TooLargeError."""
    kryo_bytes = to_bytes(data)
    if _ARGUMENT_CLASS in kryo_bytes[:_HEAD_BYTES]:
        with contextlib.suppress(DecodeError):
            return _decode_argument(kryo_bytes, limits)
    try:
        profile, tree = read_with_profiles(
            kryo_bytes, EXPRESSION_PROFILES, TOP_NODE, partial(build_tree, max_nodes=limits.nodes), limits.objects
        )
    except DecodeError:
        if _ARGUMENT_CLASS not in kryo_bytes:
            raise
        return _decode_argument(kryo_bytes, limits)
    return Decoded(profile.name, tree, None, _within(translate(tree), limits))


def _decode_argument(kryo_bytes: bytes, limits: Limits) -> Decoded:
    profile, argument = read_with_profiles(
        kryo_bytes,
        SEARCH_ARGUMENT_PROFILES,
        TOP_ARGUMENT,
        partial(build_argument, max_nodes=limits.nodes),
        limits.objects,
    )
    return Decoded(profile.name, None, argument, _within(demote(argument), limits))


def _within(expression: HudiExpression, limits: Limits) -> HudiExpression:
    """The translation, if a walk over it ends. A translation may contain one operand several times."""
    if expanded_size(expression) > MAX_GROWTH * limits.nodes:
        raise TooLargeError(0, f"the translated filter expands to more than {MAX_GROWTH * limits.nodes} nodes")
    return expression
