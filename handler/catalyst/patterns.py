"""Catalyst's tests of a pattern: LIKE, ILIKE, LIKE ANY and ALL, StartsWith and its kin, RLIKE."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evaluator.language.construction import any_case_like
from evaluator.language.expression import And, Constant, HudiExpression, Like, Literal, Node, Not, Or, Unknown
from evaluator.language.like import escape_text
from evaluator.language.regular_expression import matches
from evaluator.language.types import Kind, Type
from handler.catalyst.node_forms import operand_form
from handler.catalyst.tree import CatalystNode

__all__ = ["PATTERNS"]


def _like(node: CatalystNode, children: list[Node]) -> HudiExpression:
    escape = node.exact
    if not isinstance(escape, str) or len(escape) != 1:
        return Unknown("LIKE with an escape character that is not told is not decided")
    return _like_pattern(children, lambda text: text, escape)


def _ilike(node: CatalystNode, children: list[Node]) -> HudiExpression:
    escape = node.exact
    if not isinstance(escape, str) or len(escape) != 1:
        return Unknown("ILIKE with an escape character that is not told is not decided")
    match children:
        case [value, Literal(value=str(text), type=Type(kind=Kind.STRING))]:
            return any_case_like(operand_form(value), text, escape)
        case _:
            return _like_pattern(children, lambda text: text)


def _like_pattern(children: list[Node], pattern_of: Callable[[str], str], escape: str = "\\") -> HudiExpression:
    """``value LIKE pattern_of(text)`` of the children [value, text]."""
    match children:
        case [value, Literal(value=str(text), type=Type(kind=Kind.STRING))]:
            return Like(operand_form(value), pattern_of(text), escape)
        case [_, Literal(value=None)]:
            return Constant(None)
        case _:
            return Unknown("a pattern that is not a constant is not decided")


def _affix(before: str, after: str) -> Callable[[CatalystNode, list[Node]], HudiExpression]:
    def build(_: CatalystNode, children: list[Node]) -> HudiExpression:
        return _like_pattern(children, lambda text: before + escape_text(text) + after)

    return build


def _like_patterns(
    connector: type[And] | type[Or], negation: type[Not] | None
) -> Callable[[CatalystNode, list[Node]], HudiExpression]:
    """LIKE ANY is an Or, LIKE ALL an And, each NOT form of negated tests. ``exact`` has the patterns, None for NULL."""

    def build(node: CatalystNode, children: list[Node]) -> HudiExpression:
        if not isinstance(node.exact, Sequence) or not node.exact:
            return Unknown("LIKE with patterns that are not told is not decided")
        tests = [Constant(None) if text is None else Like(operand_form(children[0]), str(text)) for text in node.exact]
        return connector(tuple(tests if negation is None else map(negation, tests)))

    return build


def _rlike(_: CatalystNode, children: list[Node]) -> HudiExpression:
    match children:
        case [value, Literal(value=str(pattern))]:
            return matches(operand_form(value), pattern)
        case [_, Literal(value=None)]:
            return Constant(None)
        case _:
            return Unknown("a regular expression that is not a constant is not decided")


#: How the tests are translated, by class: from the node and its translated children.
PATTERNS: Mapping[str, Callable[[CatalystNode, list[Node]], HudiExpression]] = {
    "Like": _like,
    "ILike": _ilike,
    "LikeAny": _like_patterns(Or, None),
    "LikeAll": _like_patterns(And, None),
    "NotLikeAny": _like_patterns(Or, Not),
    "NotLikeAll": _like_patterns(And, Not),
    "StartsWith": _affix("", "%"),
    "EndsWith": _affix("%", ""),
    "Contains": _affix("%", "%"),
    "RLike": _rlike,
}
