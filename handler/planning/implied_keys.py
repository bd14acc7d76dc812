"""The record keys that a filter implies: with a key of several columns, values for each of them give the key.

    id = 'a' AND n IN (1, 2)    also means    _hoodie_record_key IN ('id:a,n:1', 'id:a,n:2')

Every row with these values has one of these keys (``CompositeKey``), so the filter with the added condition is TRUE on
the same rows, and the indexes of record keys, which have no statistics of ``id`` and ``n``, can answer it. The added
condition may be FALSE where the filter is NULL, so nothing is added below a NOT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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

#: The largest number of keys that is added for one AND.
MAX_KEYS = 1_000


def with_record_keys(
    expression: HudiExpression,
    key: CompositeKey,
    schema: Schema,
    semantics: Semantics,
    is_certain: Callable[[], bool] = lambda: True,
) -> HudiExpression:
    """The filter, with record keys added to each AND that restricts all columns of the key to values.

    ``is_certain`` is asked before keys are added: whether the key is of these columns.
    """

    def combine(node: Node, values: list[HudiExpression]) -> HudiExpression:
        match node:
            case Or():
                return Or(tuple(values))
            case And():
                keys = _keys(list(_conjuncts(node)), key, schema, semantics)
                return And((*values, _is_one_of(keys))) if keys and is_certain() else And(tuple(values))
        assert isinstance(node, HudiExpression)
        return node

    if not isinstance(expression, (And, Or)):
        return expression
    return fold(expression, combine, _children)


def _children(node: Node) -> tuple[Node, ...]:
    """The children of an AND or OR; an AND inside an AND is merged with it."""
    return tuple(_conjuncts(node)) if isinstance(node, And) else node.children if isinstance(node, Or) else ()


def _conjuncts(node: And) -> Iterator[HudiExpression]:
    stack: list[HudiExpression] = [node]
    while stack:
        conjunct = stack.pop()
        if isinstance(conjunct, And):
            stack.extend(reversed(conjunct.children))
        else:
            yield conjunct


def _keys(conjuncts: list[HudiExpression], key: CompositeKey, schema: Schema, semantics: Semantics) -> list[str]:
    """The keys of the rows on which all conjuncts are TRUE; none unless they restrict every key column."""
    restricted: dict[str, Lookup] = {}
    for conjunct in conjuncts:
        if isinstance(conjunct, (Compare, In)):
            for lookup in (leaf.lookup for leaf in bind(conjunct, schema, semantics).leaves):
                if lookup is not None and not lookup.function:
                    name = lookup.column.name
                    if name not in restricted or len(lookup.values) < len(restricted[name].values):
                        restricted[name] = lookup
    return _key_texts(restricted, key)


def _key_texts(restricted: Mapping[str, Lookup], key: CompositeKey) -> list[str]:
    if any(name not in restricted for name in key.fields):
        return []
    lookups = [restricted[name] for name in key.fields]
    if prod(len(lookup.values) for lookup in lookups) > MAX_KEYS:
        return []
    return key.texts([lookup.column for lookup in lookups], [lookup.values for lookup in lookups]) or []


def _is_one_of(keys: list[str]) -> HudiExpression:
    column, members = Column((RECORD_KEY,)), tuple(Literal(text, STRING) for text in keys)
    return Compare("=", column, members[0]) if len(members) == 1 else In(column, members)
