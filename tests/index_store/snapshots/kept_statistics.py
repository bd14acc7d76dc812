"""What expression indexes and own indexes say of a table: read whole, and from a snapshot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from evaluator.binding.leaves import Lookup
from evaluator.language.schema import Field, Schema
from evaluator.language.types import Kind
from evaluator.statistics.columns import ColumnStatistics
from handler import open_table
from handler.sql.parsing import parse
from index_store.kinds.expressions.expression_index import ExpressionIndex
from index_store.own.builders.expressions import EXPRESSION, ZONE, to_json
from index_store.own.builders.local import build_locally
from index_store.own.definition import Definition, Entry
from index_store.own.maintenance.operations import create, refresh
from index_store.own.provider.kind import OwnSketches
from index_store.own.provider.sketch_index import SketchIndex
from index_store.own.sketches import parse_sketch
from index_store.own.store.locations import folder_of
from index_store.snapshots import SnapshotCache
from index_store.storage.errors import TableError
from tests.index_store.kinds.expression_statistics import every_function_of
from tests.index_store.snapshots.test_rewinding import assert_same

__all__ = ["SKETCHES", "Said", "bring_up_to_date", "check", "columns_of", "compare", "refuse_to_read", "said", "sketch"]

SKETCHES = ("min_max", "null_count", "value_list(limit=20)", "prefix_set(limit=8)", "bloom_filter(fpp=0.01)")
#: What is looked up in every column that may have such a value.
VALUES = (5, 10**9, "banana-zz", "k0001", "no such text")
Answer = ColumnStatistics | None | list[bool]
Said = dict[tuple[str, str, str], Answer]


def said(path: Path, cache: SnapshotCache | None) -> Said:
    """All that the kinds say in a table opened anew, by kind, function and column, of the slices in their order."""
    opened = open_table(path, cache=cache)
    at = opened.at()
    place = {(one.partition, one.file_id): row for row, one in enumerate(at.slices)}
    order = np.array([place[group] for group in sorted(place)], np.intp)
    found: Said = {}
    for kind in (one.kind for one in at.cached):
        if isinstance(kind, ExpressionIndex):
            expressions = kind.expressions(every_function_of(opened.table.schema))
            found.update({(kind.name, *key): one for key, one in expressions.items()})
        elif isinstance(kind, OwnSketches):
            for column in columns_of(opened.table.schema):
                found[kind.name, "", column.name] = kind.statistics(column)
                found.update(looked_up(kind, column, order))
            for key in kind.expression_keys:
                found[kind.name, key, ""] = kind.expression_statistics(key)
    return {key: one.take(order) if isinstance(one, ColumnStatistics) else one for key, one in found.items()}


def columns_of(schema: Schema) -> list[Field]:
    """One column of each type, of those that Hudi does not add."""
    columns = [one for one in schema if one.type.kind is not Kind.OTHER and not one.name.startswith("_hoodie")]
    return list({one.type.kind: one for one in reversed(columns)}.values())


def looked_up(kind: OwnSketches, column: Field, order: npt.NDArray[np.intp]) -> Said:
    """For each value the slices that may have it, by the filters of a column."""
    of_text, every = column.type.kind.is_text, np.ones(len(order), np.bool_)
    found: Said = {}
    for value in (one for one in VALUES if isinstance(one, str) is of_text):
        mask = kind.might_contain(Lookup(column, (value,)), every)
        if isinstance(mask, np.ndarray):
            found[kind.name, repr(value), column.name] = mask[order].tolist()
    return found


def compare(path: Path, cache: SnapshotCache, *, is_kept: bool = True) -> Said:
    """Compare a table read whole with the snapshot that is made, and with the one that then is there."""
    whole = said(path, None)
    check(said(path, cache), whole)
    with pytest.MonkeyPatch.context() as patched:
        if is_kept:
            refuse_to_read(patched)
        check(said(path, cache), whole)
    return whole


def refuse_to_read(patched: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **_more: object) -> None:
        raise AssertionError("it is read again")

    patched.setattr(ExpressionIndex, "_build", refuse)
    patched.setattr(SketchIndex, "read", refuse)
    patched.setattr(SketchIndex, "read_expression", refuse)


def check(found: Said, expected: Said) -> None:
    assert found.keys() == expected.keys()
    for key, one in expected.items():
        other = found[key]
        if isinstance(one, ColumnStatistics) and isinstance(other, ColumnStatistics):
            assert_same(other, one)
        else:
            assert one == other, key


def sketch(path: Path, name: str = "all", sketches: tuple[str, ...] = SKETCHES) -> bool:
    """Build an index of all columns of a table that can have one of these sketches, and of two expressions."""
    table = open_table(path, cache=None).table
    try:
        schema = table.schema
    except TableError:  # its first commits wrote no row
        return False
    entries = [
        Entry(column.name, text)
        for column in columns_of(schema)
        for text in sketches
        if not parse_sketch(text).why_not(column.type)
    ]
    options = {ZONE: "UTC"}
    for text in ("lower(s)", "i + l"):
        if all(schema.resolve(column) is not None for column in ("s", "i", "l")):
            options[f"{EXPRESSION}{text}"] = to_json(parse(f"{text} = 1", "spark").left)
            entries.append(Entry(text, "min_max"))
    if entries:
        create(folder_of(table, name), table, Definition(name, tuple(entries), options=options), build_locally)
    return bool(entries)


def bring_up_to_date(path: Path, name: str = "all") -> None:
    table = open_table(path, cache=None).table
    refresh(folder_of(table, name), table, build_locally)
