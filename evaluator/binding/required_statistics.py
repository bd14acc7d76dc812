"""Required statistics: the questions that the leaves of a filter ask of the index kinds.

    leaf                 bounds   nulls   functions      keys
    i > 5                i
    city = 'oslo'        city                            city in ('oslo')
    city IS NULL                  city
    lower(s) = 'x'       s                lower of s     lower(s) in ('x')
    a + b < 5            a, b             a + b
    a + b < c            a, b, c
    a leaf not decided

Index kinds read nothing else: ``i > 5`` opens no bloom filter, ``year(ts) = 2020`` no index of ``day(ts)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evaluator.binding.leaves import BoundLeaf, Comparison, Fixed, Lookup, NullTest, expression_keys
from evaluator.binding.operands import BoundColumn, columns_of
from evaluator.language.records import record
from evaluator.language.schema import Field

__all__ = ["RequiredStatistics", "required_statistics_of"]


@record
class RequiredStatistics:
    """Questions about the values of a table: all that a filter asks, or those that an index kind would read for.

    bounds      columns of which lower and upper bounds help, and whether they are NULL
    nulls       columns of which only that helps
    functions   functions of which bounds help: ``("lower", s)``; of any expression, its form with a column of it
    keys        values of a column, or of a function of it, that may be looked up
    """

    bounds: tuple[Field, ...] = ()
    nulls: tuple[Field, ...] = ()
    functions: tuple[tuple[str, Field], ...] = ()
    keys: tuple[Lookup, ...] = ()

    @property
    def columns(self) -> tuple[Field, ...]:
        """The columns of which something is asked, each once."""
        return self.bounds + self.nulls

    def __bool__(self) -> bool:
        return bool(self.bounds or self.nulls or self.functions or self.keys)

    def parts(self) -> Iterator[RequiredStatistics]:
        """Each question by itself."""
        yield from (RequiredStatistics(bounds=(column,)) for column in self.bounds)
        yield from (RequiredStatistics(nulls=(column,)) for column in self.nulls)
        yield from (RequiredStatistics(functions=(function,)) for function in self.functions)
        yield from (RequiredStatistics(keys=(lookup,)) for lookup in self.keys)


def required_statistics_of(leaves: Iterable[BoundLeaf]) -> RequiredStatistics:
    """Everything that would help to decide some leaf, each question once."""
    bounds: dict[str, Field] = {}
    nulls: dict[str, Field] = {}
    functions: dict[tuple[str, str], Field] = {}
    keys: list[Lookup] = []
    for leaf in leaves:
        test = leaf.test
        if isinstance(test, Fixed):
            continue
        operand = test.left if isinstance(test, Comparison) else test.operand
        columns = nulls if isinstance(test, NullTest) else bounds
        if type(operand) is BoundColumn:
            columns[operand.field.name] = operand.field
        else:
            columns.update(columns_of(operand))
            for function in expression_keys(test):
                functions[function] = columns[function[1]]
        if isinstance(test, Comparison):
            bounds.update(columns_of(test.right))
        if leaf.lookup is not None:
            keys.append(leaf.lookup)
    return RequiredStatistics(
        tuple(bounds.values()),
        tuple(column for name, column in nulls.items() if name not in bounds),
        tuple((name, column) for (name, _), column in functions.items()),
        tuple(keys),
    )
