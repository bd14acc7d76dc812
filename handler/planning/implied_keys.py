"""What a filter says of the record key without naming it: a key of several columns, each of which is pinned down.

    id = 'a' AND n IN (1, 2)    also means    _hoodie_record_key IN ('id:a,n:1', 'id:a,n:2')

Every row with those values has one of those keys (``CompositeKey``), so the condition is TRUE on the same rows with the
keys put beside it; and the indexes of record keys, which know nothing of ``id`` and ``n``, can answer. It may be FALSE
where the filter was NULL, so nothing below a NOT is touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from evaluator.binding.bind import bind
from evaluator.binding.leaves import Lookup
from evaluator.language.expression import And, Column, Compare, HudiExpression, In, Literal, Node, Or, fold
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import STRING
from index_store.kinds.record_keys.record_keys import CompositeKey
from index_store.table.table_schema import RECORD_KEY

__all__ = ["MAX_KEYS", "with_record_keys"]

#: The most keys that one condition is turned into.
MAX_KEYS = 1_000


def with_record_keys(
    expression: HudiExpression, key: CompositeKey, schema: Schema, semantics: Semantics
) -> HudiExpression:
    """The filter, with record keys beside each AND that pins down all columns of the key."""

    def combine(node: Node, values: list[HudiExpression]) -> HudiExpression:
        match node:
            case Or():
                return Or(tuple(values))
            case And():
                keys = _keys(list(_conjuncts(node)), key, schema, semantics)
                return And((*values, _is_one_of(keys))) if keys else And(tuple(values))
        assert isinstance(node, HudiExpression)
        return node

    if not isinstance(expression, (And, Or)):
        return expression
    return fold(expression, combine, _below)


def _below(node: Node) -> tuple[Node, ...]:
    """The parts of an AND or OR; an AND inside an AND is one with it."""
    return tuple(_conjuncts(node)) if isinstance(node, And) else node.children if isinstance(node, Or) else ()


def _conjuncts(node: And) -> Iterator[HudiExpression]:
    stack: list[HudiExpression] = [node]
    while stack:
        one = stack.pop()
        if isinstance(one, And):
            stack.extend(reversed(one.children))
        else:
            yield one


def _keys(conjuncts: list[HudiExpression], key: CompositeKey, schema: Schema, semantics: Semantics) -> list[str]:
    """The keys that rows can have on which all conjuncts are TRUE; none when that is not certain."""
    pinned: dict[str, Lookup] = {}
    for conjunct in conjuncts:
        if isinstance(conjunct, (Compare, In)):
            for lookup in (leaf.lookup for leaf in bind(conjunct, schema, semantics).leaves):
                if lookup is not None and not lookup.function:
                    name = lookup.column.name
                    if name not in pinned or len(lookup.values) < len(pinned[name].values):
                        pinned[name] = lookup
    return _texts(pinned, key)


def _texts(pinned: Mapping[str, Lookup], key: CompositeKey) -> list[str]:
    if any(name not in pinned for name in key.fields):
        return []
    chosen = [pinned[name] for name in key.fields]
    if prod(len(lookup.values) for lookup in chosen) > MAX_KEYS:
        return []
    return key.texts([lookup.column for lookup in chosen], [lookup.values for lookup in chosen]) or []


def _is_one_of(keys: list[str]) -> HudiExpression:
    column, members = Column((RECORD_KEY,)), tuple(Literal(text, STRING) for text in keys)
    return Compare("=", column, members[0]) if len(members) == 1 else In(column, members)
