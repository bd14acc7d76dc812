"""No filter loses a row to a secondary index of our own, whatever columns, rows and engine; and it skips."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.binding.required_statistics import required_statistics_of
from evaluator.evaluation.evaluate import Evaluation, evaluate
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import HudiExpression
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.types import DATE, INT, STRING, TIMESTAMP, Kind
from evaluator.reference.row_oracle import value_of
from index_store.own.provider.own_indexes import OwnIndexes
from index_store.own.secondary.constraints import pieces_of_values, ranges_of_filter, required_leaves
from index_store.own.secondary.keys import NULL, encode_value
from index_store.own.secondary.kind import OwnSecondaryIndex
from index_store.own.secondary.operations import create
from index_store.own.store.folder import Folder
from index_store.own.store.locations import folder_of
from index_store.table.table import Table
from tests.evaluator.strategies import TYPES, Slice, filters, leaves, values_of
from tests.index_store.own.parquet_rows import awkward_files, one_unit, write_parquet
from tests.index_store.own.secondary.answers import by, local
from tests.index_store.own.secondary.small_table import add_keys, small_table
from tests.sampling import examples

#: CHAR is text in a Hudi table; the reference reads a column as the table declares it.
COLUMNS = [name for name, of in TYPES.items() if of.kind not in (Kind.CHAR, Kind.VARCHAR)]


@pytest.fixture(autouse=True)
def _a_disk_that_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("index_store.own.store.folder._force", lambda _: None)


def answered(table: Table, expression: HudiExpression, semantics: Semantics) -> Evaluation:
    """The answer of the kind alone."""
    bound = bind(expression, table.schema, semantics)
    slices = table.slices()
    kind = OwnSecondaryIndex(OwnIndexes(table, slices))
    needs = kind.requires(required_statistics_of(bound.leaves))
    return evaluate(bound, len(slices), [kind.provide(needs)] if needs else [])


@st.composite
def conditions(draw: st.DrawFn, keys: list[str]) -> HudiExpression:
    """Leaves of the key's columns joined by AND, most often; any filter over them and another column otherwise."""
    if draw(st.integers(0, 4)) == 0:
        return draw(filters([*keys, "i2"]))
    parts = draw(st.lists(leaves(keys), min_size=1, max_size=3))
    parts += [draw(filters([*keys, "i2"]))] if draw(st.integers(0, 3)) == 0 else []
    return ex.And(tuple(parts)) if len(parts) > 1 else parts[0]


def conditions_of(row: dict[str, Any], keys: list[str], draw: Callable[..., Any]) -> HudiExpression:
    """Conditions on each column of the key, of all forms, that the row's own values make TRUE under some engine."""
    found: list[HudiExpression] = []
    for name in keys:
        value, here = row[name], ex.Column(tuple(name.split(".")))
        if value is None:
            found.append(ex.IsNull(here))
            continue
        own = ex.Literal(value, TYPES[name])
        other = ex.Literal(draw(values_of(TYPES[name])), TYPES[name])
        forms = [
            ex.Compare("=", here, own),
            ex.Compare("<=>", here, own),
            ex.Compare(">=", here, own),
            ex.Compare("<=", here, own),
            ex.Compare("<", here, other),
            ex.Compare(">", here, other),
            ex.In(here, (own, other)),
            ex.In(here, (other, own)),
        ]
        if isinstance(value, str) and not {"%", "_", "\\"} & set(value):
            forms.append(ex.Like(here, value[:2] + "%"))
        found += [draw(st.sampled_from(forms)) for _ in range(draw(st.integers(0, 2)))]
    return ex.And(tuple(found)) if len(found) > 1 else found[0] if found else ex.IsNull(ex.Column(("i2",)))


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=examples(2, at_night=100))
@given(data=st.data())
def test_every_rows_value_is_in_the_outcome(engine: str, data: st.DataObject) -> None:
    keys = data.draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=3, unique=True))
    columns = sorted({*keys, "i2", *(["st.x", "st.s"] if any("." in one for one in keys) else [])})
    unit = data.draw(st.sampled_from(["us", "us", "ms", "ns"]))
    slices = [
        one_unit(one, columns, unit) for one in data.draw(st.lists(awkward_files(columns), min_size=1, max_size=4))
    ]
    folder = Path(tempfile.mkdtemp())
    try:
        table = small_table(folder / "t", slices, columns, unit)
        create(folder_of(table, "it"), table, by(*keys), local)
        rows = [row for one in slices for row in one.rows]
        for number in range(8):
            if number % 2 or not rows:
                expression = data.draw(conditions(keys))
            else:
                expression = conditions_of(data.draw(st.sampled_from(rows)), keys, data.draw)
            zone = data.draw(st.sampled_from(["UTC", "Europe/Berlin"]))
            check(table, slices, expression, Semantics.named(engine, zone))
    finally:
        shutil.rmtree(folder)


def check(table: Table, slices: list[Slice], expression: HudiExpression, semantics: Semantics) -> None:
    found = answered(table, expression, semantics)
    for part, got in zip(slices, found.outcomes.tolist(), strict=True):
        for row in part.rows:
            try:
                value = value_of(expression, row, table.schema, semantics)
            except UnsupportedError:
                continue
            assert got & outcome.of_value(value), f"{expression} is {value} on {row}, but {outcome.describe(got)}"


# -- what it skips


def column(name: str) -> ex.Column:
    return ex.Column(tuple(name.split(".")))


def literal(value: object, name: str) -> ex.Literal:
    return ex.Literal(value, TYPES[name])


def compare(op: str, name: str, value: object) -> HudiExpression:
    return ex.Compare(op, column(name), literal(value, name))


def both(*parts: HudiExpression) -> HudiExpression:
    return ex.And(parts)


ROWS = [
    [("sfo", 1, 10), ("sfo", 2, 20), (None, 3, 30)],
    [("sfo", 3, 10), ("oslo", 1, 20)],
    [("rome", 1, 10), ("oslo", None, 40), ("sf\x00", 7, 50)],
    [(None, None, None), ("zürich", 9, 15)],
]
SPARK = Semantics.named("spark", "UTC")

#: Filters over an index of (s, i, l), the slices that have a row for which each is TRUE, and the leaves of its match.
EXACT = {
    "one value": (compare("=", "s", "sfo"), [0, 1], None),
    "a value of one shard, no slice": (compare("=", "s", "bonn"), [], None),
    "NULL": (ex.IsNull(column("s")), [0, 3], None),
    "NULL-safe": (compare("<=>", "s", "oslo"), [1, 2], None),
    "several values": (ex.In(column("s"), (literal("rome", "s"), literal("zürich", "s"))), [2, 3], None),
    "two columns": (both(compare("=", "s", "sfo"), compare("=", "i", 1)), [0], (0, 1)),
    "together in no row": (both(compare("=", "s", "oslo"), compare("=", "i", 3)), [], (0, 1)),
    "three columns": (both(compare("=", "l", 10), compare("=", "i", 1), compare("=", "s", "rome")), [2], (0, 1, 2)),
    "values of two columns": (
        both(
            ex.In(column("s"), (literal("sfo", "s"), literal("rome", "s"))),
            ex.In(column("i"), (literal(1, "i"), literal(7, "i"))),
        ),
        [0, 2],
        (0, 1),
    ),
    "a range behind a value": (both(compare("=", "s", "sfo"), compare(">", "i", 2)), [1], (0, 1)),
    "a range of two ends": (both(compare(">=", "s", "p"), compare("<", "s", "sf")), [2], (0, 1)),
    "a prefix": (ex.Like(column("s"), "sf%"), [0, 1, 2], (0,)),
    "a prefix that ends in no slice": (ex.Like(column("s"), "osl_%"), [1, 2], (0,)),
    "NULL behind a value": (both(compare("=", "s", "oslo"), ex.IsNull(column("i"))), [2], (0, 1)),
    "a value behind NULL": (both(ex.IsNull(column("s")), compare("=", "i", 3)), [0], (0, 1)),
    "a value behind a range": (both(compare(">", "s", "p"), compare("=", "i", 3)), [0, 1, 2], None),
    "a value behind a range of two ends": (
        both(compare(">", "s", "p"), compare("<", "s", "t"), compare("=", "i", 3)),
        [0, 1, 2],
        (0, 1),
    ),
    "beside an OR": (both(compare("=", "s", "sfo"), ex.Or((compare("=", "i", 3), compare("=", "i", 9)))), [0, 1], None),
}


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Table:
    """Four slices with an index of (s, i, l)."""
    slices = [Slice(tuple(dict(zip("sil", row, strict=True)) for row in rows)) for rows in ROWS]
    return small_table(tmp_path_factory.mktemp("small") / "t", slices, ["s", "i", "l"])


@pytest.fixture(scope="module", params=[2, 2_000_000], ids=["several shards", "one shard"])
def indexed(small, request, tmp_path_factory) -> Table:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("index_store.own.secondary.shards.ENTRIES_PER_SHARD", request.param)
        path = tmp_path_factory.mktemp("index") / "it"
        create(Folder.at(path), small, by("s", "i", "l"), local)
    return Table(small.storage, {"sargo.index.paths": str(path)})


@pytest.mark.parametrize("case", EXACT)
def test_a_filter_of_the_key_keeps_exactly_the_slices_with_a_row(case: str, indexed: Table) -> None:
    expression, kept, leaves_of_match = EXACT[case]
    found = answered(indexed, expression, SPARK)
    true = [
        number
        for number, rows in enumerate(ROWS)
        if any(value_of(expression, dict(zip("sil", row, strict=True)), indexed.schema, SPARK) for row in rows)
    ]
    assert set(kept) >= set(true)
    assert kept == true or case.startswith(("beside an OR", "a value behind a range"))
    assert found.kept_rows.tolist() == kept
    assert (found.matches["own_secondary_index"].leaves if found.matches else None) == leaves_of_match


@pytest.mark.parametrize(
    ("expression", "required"),
    [
        (compare("=", "i", 1), (0,)),
        (both(compare("=", "i", 1), compare("=", "s", "a"), both(compare("=", "l", 1))), (0, 1, 2)),
        (ex.Or((compare("=", "i", 1), compare("=", "s", "a"))), ()),
        (ex.Not(compare("=", "i", 1)), ()),
        (both(ex.Not(both(compare("=", "i", 1))), compare("=", "s", "a")), (1,)),
        (both(ex.Or((compare("=", "i", 1), compare("=", "i", 2))), compare("=", "s", "a")), (2,)),
    ],
)
def test_only_leaves_that_every_row_needs_count(expression: HudiExpression, required: tuple[int, ...], small) -> None:
    assert required_leaves(bind(expression, small.schema, SPARK)) == required


def test_a_slice_whose_files_are_others_is_read(small, indexed, tmp_path) -> None:
    """Hybrid scan: the index knows a file group by exactly the files of which it has its entries."""
    folder = Path(shutil.copytree(small.path, tmp_path / "t"))
    old = next(folder.glob("g2_*.parquet"))
    old.rename(folder / old.name.replace("_0-1-0_", "_0-2-0_"))
    table = Table(small.storage.at(folder), indexed.options)
    assert answered(table, compare("=", "s", "bonn"), SPARK).kept_rows.tolist() == [2]
    assert answered(table, EXACT["together in no row"][0], SPARK).kept_rows.tolist() == [2]
    kind = OwnSecondaryIndex(OwnIndexes(table, table.slices()))
    assert kind.coverage([table.schema.resolve("s", case_sensitive=True)]).columns["s"].usable == 3


def test_a_filter_that_would_read_too_many_blocks_is_not_matched(indexed, monkeypatch) -> None:
    monkeypatch.setattr("index_store.own.secondary.secondary_index.MAX_BLOCKS", 0)
    found = answered(indexed, EXACT["two columns"][0], SPARK)
    assert not found.matches
    assert found.kept_rows.tolist() == [0, 1]


def test_a_column_of_another_type_by_now_tells_nothing(tmp_path) -> None:
    """The table's column is wider than that of an older file: keys of both are the same for integers only."""
    slices = [Slice(({"s": "a", "i": 1},)), Slice(({"s": "b", "i": 2},))]
    table = small_table(tmp_path / "t", slices, ["s", "i"])
    create(folder_of(table, "it"), table, by("i", "s"), local)
    kind = OwnSecondaryIndex(OwnIndexes(table, table.slices()))
    [index] = kind.indexes
    for of, usable in (("bigint", 2), ("int", 2), ("double", 0), ("string", 0), ("smallint", 0), ("decimal(10,0)", 0)):
        index.columns = (Field("i", type(INT).parse(of)), index.columns[1])
        index._usable.clear()
        assert int(index.usable(1).sum()) == usable, of
    assert index.columns[1].type == STRING


def test_no_index_no_answer(small) -> None:
    kind = OwnSecondaryIndex(OwnIndexes(small, small.slices()))
    assert not kind.requires(required_statistics_of(bind(compare("=", "s", "sfo"), small.schema, SPARK).leaves))
    assert kind.coverage(list(small.schema)).columns == {}


def test_other_columns_are_none_of_its_business(indexed) -> None:
    found = answered(indexed, ex.Compare("=", column("_hoodie_record_key"), ex.Literal("x", STRING)), SPARK)
    assert found.kept_rows.tolist() == [0, 1, 2, 3]
    assert np.flatnonzero(answered(indexed, compare("=", "i", 9), SPARK).keep).tolist() == [3], "bounds of any column"


ZEROS = [({"d": -0.0, "i": 1},), ({"d": 0.0, "i": 1},), ({"d": float("nan"), "i": 1},), ({"d": 1.0, "i": 1},)]


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_may_take_the_two_zeros_and_nan_as_they_like(engine: str, tmp_path: Path) -> None:
    slices = [Slice(rows) for rows in ZEROS]
    table = small_table(tmp_path / "t", slices, ["d", "i"])
    create(folder_of(table, "it"), table, by("d", "i"), local)
    for op in ("<", "<=", ">", ">=", "=", "<=>"):
        for zero in (0.0, -0.0):
            for beside in (compare(">=", "d", -5.0), compare("<=", "d", 5.0), compare("=", "i", 1)):
                check(table, slices, both(compare(op, "d", zero), beside), Semantics.named(engine, "UTC"))


DAY, MICROS = -141_427, -2_208_988_800_000_000  # 1582-10-15 and 1900-01-01


@pytest.mark.parametrize(("name", "cutoff"), [("dt", DAY), ("ts", MICROS)])
def test_ancient_days_and_moments_may_be_read_as_others(name: str, cutoff: int) -> None:
    """A reader may shift what lies before the cutoff by days: no value there is looked for, and no range ends there."""
    schema = Schema([Field("dt", DATE), Field("ts", TIMESTAMP)])
    [column] = [one for one in schema if one.name == name]
    modern, old = cutoff * 99 // 100, cutoff * 101 // 100

    def ranges(*parts: HudiExpression) -> object:
        found = ranges_of_filter(bind(both(*parts), schema, SPARK), [column])
        return None if found is None else found.ranges

    assert pieces_of_values([modern], column) == (encode_value(modern, column.type),)
    assert pieces_of_values([modern, old], column) is None
    assert pieces_of_values([cutoff], column) is None
    end = encode_value(modern, column.type)
    first = NULL[:-1] + b"\x01"
    for lo in (old, cutoff):
        [(begin, _)] = ranges(compare(">=", name, lo), compare("<", name, modern))
        assert begin == first
        assert ranges(compare("<=", name, lo), compare("<=", name, lo)) is None
    assert ranges(compare(">=", name, modern), compare("<=", name, modern))[0][0] == end


def test_finer_moments_than_microseconds_tell_nothing(tmp_path: Path) -> None:
    slices = [Slice(({"ts": 5, "i": 1},)), Slice(({"ts": 7, "i": 2},))]
    for unit, usable in (("us", 2), ("ns", 0)):
        table = small_table(tmp_path / unit, slices, ["ts", "i"], unit)
        create(folder_of(table, "it"), table, by("ts"), local)
        [index] = OwnSecondaryIndex(OwnIndexes(table, table.slices())).indexes
        assert int(index.usable(1).sum()) == usable


def test_a_file_without_the_column_has_null_only_if_readers_see_that(tmp_path: Path, monkeypatch) -> None:
    table = small_table(tmp_path / "t", [Slice(({"s": "a", "i": 1},)), Slice(({"s": "b", "i": 2},))], ["s", "i"])
    path = next((tmp_path / "t").glob("g1_*.parquet"))
    write_parquet(path, [{"i": 2}], ["i"], "us", 3)
    add_keys(path, ["k"])
    create(folder_of(table, "it"), table, by("s"), local)
    value, null = compare("=", "s", "zz"), both(ex.IsNull(column("s")), ex.Not(ex.IsNull(column("i"))))
    assert answered(table, value, SPARK).kept_rows.tolist() == []
    assert answered(table, null, SPARK).kept_rows.tolist() == [1]
    monkeypatch.setattr("index_store.own.provider.own_indexes.reads_as_null", lambda *_: False)
    assert answered(table, value, SPARK).kept_rows.tolist() == [1]
    assert answered(table, null, SPARK).kept_rows.tolist() == [1]
