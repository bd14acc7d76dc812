"""Our own sketches on real tables: no filter loses a row, with all sketches, each alone, and no other kind beside.

The tables are those of every form of Hudi's timeline (``tests/index_store/format_tables.py``) with Spark's answers, and
those of ``tests/data/hudi`` with the rows of their base files. Other kinds are switched off where it matters, so that
nothing but a sketch can skip.
"""

from __future__ import annotations

import io
import shutil

import pytest
from rich.console import Console

from evaluator.language.errors import SargoError
from evaluator.language.expression import column_names
from evaluator.language.literal_text import moment_text
from evaluator.language.semantics import Semantics
from evaluator.language.types import TIMESTAMP
from evaluator.reference.row_oracle import value_of
from handler import open_table, prune
from handler.inspection.table_report import report_table
from handler.planning.unknown_columns import unknown_columns
from handler.sql.parsing import parse
from handler.views.explain import show_explanation
from index_store.kinds.column_stats.column_stats import make as column_stats
from index_store.own.builders.expressions import EXPRESSION, ZONE, to_json
from index_store.own.builders.local import build_locally
from index_store.own.definition import Definition, Entry
from index_store.own.maintenance.operations import create
from index_store.own.provider.kind import make as own_sketches
from index_store.own.provider.merged_rows import make as own_merged_rows
from index_store.own.sketches import parse_sketch
from index_store.own.store.locations import folder_of
from index_store.table.table_options import ROWS, STORED
from tests.handler.planning.test_all_tables import TABLES, filters
from tests.handler.planning.test_format_tables import check, slices_at
from tests.handler.table_rows import rows_of
from tests.index_store.format_tables import FORMAT_TABLES, reads_of, unpack_format_table
from tests.sampling import examples, share

SPARK = Semantics.named("spark", "UTC")
SKETCHES = (
    "null_count",
    "nan_count",
    "min_max",
    "value_list(limit=20)",
    "prefix_set(limit=8)",
    "partition",
    "bloom_filter(fpp=0.01)",
)
#: One table of each way in which files and columns change.
SOME = (
    "1.2.0_evolved_cow",
    "1.2.0_widened_mor",
    "1.2.0_readded_cow",
    "0.15.0_archived_mor",
    "1.0.2_partial_mor",
    "0.15.0_pay_sum_mor",
)


def index(folder, sketches=SKETCHES, name="all"):
    """Sketch every column of a table that can have a sketch."""
    table = open_table(folder).table
    entries = tuple(
        Entry(column.name, text)
        for column in table.schema
        for text in sketches
        if not parse_sketch(text).why_not(column.type)
    )
    if not entries:
        pytest.skip("no column of the table can have these sketches")
    return create(folder_of(table, name), table, Definition(name, entries), build_locally)


@pytest.fixture
def only_own(monkeypatch):
    """No index kind but ours."""
    monkeypatch.setattr("index_store.indexed_table.REGISTERED_KINDS", (own_sketches, own_merged_rows))


@pytest.mark.parametrize("name", [*SOME, *share((name for name in FORMAT_TABLES if name not in SOME), 192)])
def test_no_filter_loses_a_file_group_to_all_sketches(tmp_path, only_own, name):
    folder = unpack_format_table(name, tmp_path / "t")
    change = index(folder)
    assert change.unread == 0
    table = open_table(folder)
    skipped = 0
    for read in reads_of(folder)[::4]:
        if "groups" in read and slices_at(table, read["as_of"])[0] is not None:
            lost, found, _ = check(table, read, one_in=6)
            assert lost == []
            skipped += found
    assert skipped > 0


@pytest.mark.parametrize(("name", "sketch"), share([(name, sketch) for name in SOME for sketch in SKETCHES], 57))
def test_no_filter_loses_a_file_group_to_one_sketch(tmp_path, only_own, name, sketch):
    folder = unpack_format_table(name, tmp_path / "t")
    index(folder, (sketch,))
    assert check(open_table(folder), reads_of(folder)[0], one_in=3)[0] == []


@pytest.mark.parametrize("name", share(TABLES, 76))
def test_no_filter_loses_a_row_of_a_base_file(unpack_copy, only_own, name):
    folder = unpack_copy(name)
    index(folder)
    table = open_table(folder, options={ROWS: STORED})
    rows = rows_of(folder, table.at().slices)
    schema, decided, skipped = table.table.schema, 0, 0
    for text in share(filters(), 80):
        expression = parse(text, "spark")
        has_its_columns = not any(unknown_columns(expression, (), schema, SPARK))
        plan = prune(table, expression, "spark", time_zone="UTC", strict=has_its_columns)
        try:
            for items, wrong in ((plan.skipped, True), (plan.fully_matched, False)):
                assert not any(
                    (value_of(expression, row, schema, SPARK) is True) is wrong
                    for item in items
                    for row in rows.get(item.file_id, ())
                ), text
        except (SargoError, ArithmeticError, ValueError, TypeError):
            continue  # no row form
        decided += 1
        skipped += len(plan.skipped)
    assert decided > examples(2, at_night=8)
    assert skipped > 0


#: What no bounds can answer: the condition, and the sketch that does.
NAMED = {
    "NOT IN": ("s NOT IN ({texts})", "value_list(limit=50)"),
    "a text anywhere": ("s LIKE '%x-q%'", "value_list(limit=50)"),
    "a gap between values": ("i = 391", "value_list(limit=50)"),
    "a decimal in a gap": ("dec = 71.02", "bloom_filter(fpp=0.01)"),
    "a moment in a gap": ("t = TIMESTAMP'{moment}'", "bloom_filter"),
    "a key out of many": ("id = 'k0031x'", "bloom_filter(fpp=0.01)"),
    "beginnings": ("s LIKE 'cz%' OR s LIKE 'C-%' OR s LIKE 'b%'", "prefix_set(limit=50)"),
}


@pytest.mark.parametrize("case", share(NAMED, 2))
def test_a_sketch_skips_what_the_tables_own_statistics_keep(main_cow_copy, monkeypatch, case):
    text, sketch = NAMED[case]
    monkeypatch.setattr("index_store.indexed_table.REGISTERED_KINDS", (column_stats, own_sketches))
    table = open_table(main_cow_copy)
    rows = rows_of(main_cow_copy, table.at().slices)
    one = next(iter(rows.values()))
    after_one = min(row["t"] for row in one if row["t"] is not None) + 1_000_001
    text = text.format(
        texts=", ".join(f"'{row['s']}'" for row in one if row["s"]), moment=moment_text(after_one, TIMESTAMP)
    )
    before = prune(table, text, "spark", time_zone="UTC", strict=True)
    index(main_cow_copy, (sketch,), "one")
    table = open_table(main_cow_copy)
    after = prune(table, text, "spark", time_zone="UTC", strict=True)
    assert {one.file_id for one in after.kept} < {one.file_id for one in before.kept}
    assert sum(leaf.only_by["own_index"] for leaf in after.leaves) > 0
    stream = io.StringIO()
    show_explanation(after, Console(file=stream, width=300))
    assert "own_index" in stream.getvalue()
    [column] = column_names(parse(text, "spark"))
    covered = next(one for one in report_table(table).coverage if one.kind == "own_index")
    assert covered.columns[column].usable > 10


def test_a_value_list_tells_that_a_file_is_matched_fully(main_cow_copy, only_own):
    index(main_cow_copy, ("value_list(limit=50)",))
    plan = prune(main_cow_copy, "s LIKE '%-0%'", "spark", time_zone="UTC", strict=True)
    rows = rows_of(main_cow_copy, plan.slices)
    full = {file_id for file_id, some in rows.items() if all("-0" in (row["s"] or "") for row in some)}
    assert {one.file_id for one in plan.fully_matched} == full
    assert 0 < len(full) < len(plan.kept) < len(plan.slices)


def test_a_list_too_long_for_filters_is_a_reason(main_cow_copy, only_own, monkeypatch):
    index(main_cow_copy, ("bloom_filter(fpp=0.01)",))
    few = prune(main_cow_copy, "id IN ('x', 'y', 'z')", "spark")
    assert (few.kept, few.reasons) == ((), ())
    monkeypatch.setattr("index_store.own.provider.kind.MAX_VALUES", 2)
    many = prune(main_cow_copy, "id IN ('x', 'y', 'z')", "spark", strict=True)
    assert len(many.kept) == len(many.slices)
    assert [one.text for one in many.reasons] == [
        "id IN ('x', 'y', 'z'): own_index is not used: 3 values are more than the 2 looked for in filters of files"
    ]


def test_a_column_of_which_the_table_has_no_statistics_is_skipped_by(unpack_copy, no_footers):
    """No metadata table at all: nothing but our own index knows anything of the column."""
    folder = unpack_copy("1.1.1_main_cow")
    properties = folder / ".hoodie/hoodie.properties"
    properties.write_text(
        "".join(
            line
            for line in properties.read_text().splitlines(keepends=True)
            if "hoodie.table.metadata.partitions" not in line
        )
    )
    assert len(prune(folder, "i > 1740", "spark", time_zone="UTC", strict=True).skipped) == 0
    index(folder, ("min_max",))
    plan = prune(folder, "i > 1740", "spark", time_zone="UTC", strict=True)
    rows = rows_of(folder, plan.slices)
    assert {one.file_id for one in plan.kept} == {
        file_id for file_id, some in rows.items() if any((row["i"] or 0) > 1740 for row in some)
    }


def test_files_that_came_after_the_index_are_read(unpack_copy, only_own, tmp_path):
    """Hybrid scan: an index that knows some of the files keeps the others."""
    folder = unpack_copy("1.1.1_main_cow")
    index(folder)
    table = open_table(folder)
    assert len(prune(table, "i > 99999", "spark", time_zone="UTC", strict=True).kept) == 0
    new = table.at().slices[0].base_file
    renamed = new.replace("-0_", "-9_", 1)
    shutil.rmtree(folder / ".hoodie/metadata")
    (folder / new).rename(folder / renamed)
    kept = prune(folder, "i > 99999", "spark", time_zone="UTC").kept
    assert [one.base_file for one in kept] == [renamed]


def test_an_index_that_cannot_be_read_skips_nothing_and_says_so(unpack_copy, only_own):
    folder = unpack_copy("1.1.1_main_cow")
    index(folder, ("min_max",))
    for path in (folder / ".sargo").rglob("*.parquet"):
        path.write_bytes(path.read_bytes()[:-9] + b"damaged!!")
    plan = prune(folder, "i > 99999", "spark", time_zone="UTC")
    assert len(plan.kept) == len(plan.slices)
    assert any("own_index cannot be read" in reason.text for reason in plan.reasons)


def test_an_index_that_cannot_be_read_takes_nothing_from_the_others(unpack_copy, only_own):
    folder = unpack_copy("1.1.1_main_cow")
    index(folder, ("min_max",))
    whole = prune(folder, "i > 99999", "spark", time_zone="UTC")
    index(folder, ("null_count",), "broken")
    for path in (folder / ".sargo/broken/versions").iterdir():
        path.write_bytes(b"{}")
    plan = prune(folder, "i > 99999", "spark", time_zone="UTC")
    assert len(plan.kept) == len(whole.kept) < len(plan.slices)
    assert any("own_index cannot be read" in reason.text and "broken" in reason.text for reason in plan.reasons)
    assert any("broken" in failure for failure in report_table(open_table(folder)).failures)
    with pytest.raises(SargoError, match="broken"):
        prune(folder, "i > 99999", "spark", time_zone="UTC", strict=True)


#: Expressions of the demo's table, and conditions on them of which the columns' own bounds decide less.
EXPRESSIONS = {
    "lower(s)": ("lower(s) = 'cherry-070'", "LCASE(S) LIKE 'zz%'"),
    "dec * 1.1": ("1.1 * dec > 200", "dec * 1.1 BETWEEN 1 AND 1.05"),
    "to_date(t)": ("to_date(t) = DATE'2019-07-01'", "CAST(t AS DATE) IS NULL"),
    "i % 1000": ("i % 1000 = 999", "i % 1000 > 800"),
    "substr(s, 1, 3)": ("substr(s, 1, 3) IN ('app', 'zzz')", "substring(s, 1, 3) = 'Che'"),
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_bounds_of_an_expression_skip_and_lose_no_row(main_cow_copy, only_own, text):
    operand = parse(f"({text}) IS NULL", "spark").operand
    table = open_table(main_cow_copy).table
    definition = Definition(
        "it", (Entry(text, "min_max"),), options={f"{EXPRESSION}{text}": to_json(operand), ZONE: "UTC"}
    )
    assert create(folder_of(table, "it"), table, definition, build_locally).unread == 0
    opened = open_table(main_cow_copy)
    rows = rows_of(main_cow_copy, opened.at().slices)
    skipped = []
    for condition in EXPRESSIONS[text]:
        for engine in ("spark", "hive"):
            plan = prune(opened, condition, engine, time_zone="UTC", strict=True)
            expression, semantics = parse(condition, engine), Semantics.named(engine, "UTC")
            for item in plan.skipped:
                assert not any(value_of(expression, row, table.schema, semantics) for row in rows[item.file_id])
            skipped.append(len(plan.skipped))
    assert sum(skipped) > 0
    if text == "to_date(t)":
        assert len(prune(opened, EXPRESSIONS[text][0], "spark", time_zone="Asia/Tokyo", strict=True).skipped) == 0
