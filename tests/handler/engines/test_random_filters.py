"""Random filters: the rows of a scan are those of the whole table for which the row-by-row reference is TRUE."""

from __future__ import annotations

import math
import random

import pyarrow as pa
import pytest

from evaluator.language import expression as ex
from evaluator.language.errors import UnsupportedError
from evaluator.language.semantics import Semantics
from evaluator.language.types import DOUBLE
from evaluator.reference.row_oracle import value_of
from handler import open_table, prune
from handler.engines.conditions import to_duckdb_sql, to_polars
from handler.engines.row_filter import RowFilter, _column, _in_value_form
from handler.sql.parsing import parse
from index_store.table.table_schema import from_arrow
from tests.handler.engines.test_true_rows import rows
from tests.handler.spark.true_rows import counted
from tests.sampling import examples

ENGINES = ["spark", "hive", "hive3", "hive4", "spark-ansi"]
TABLES = (
    "1.1.1_main_cow",
    "1.1.1_nan_cow",
    "1.1.1_nested_cow",
    "1.1.1_evol_cow",
    "1.1.1_main_mor",
    "1.1.1_longstr_cow",
)
TEXTS = ["'a'", "'b%'", "''", "'2020-01-01'", "'5'", "'p1'", "'é'", "'s00201'"]
NUMBERS = ["0", "-1", "5", "100", "5.5", "-0.0", "1e2", "2.5D", "cast('NaN' as double)", "3000000000", "0.1", "NULL"]
MOMENTS = ["date '2020-06-15'", "timestamp '2020-06-15 12:00:00'", "'2020-06-15'", "'2020-06-15 12:00:00'", "NULL"]
OPS = ["=", "<>", "<", "<=", ">", ">=", "<=>"]


def constant(draw, kind):
    pool = {"s": TEXTS, "n": NUMBERS, "m": MOMENTS}
    near = "s" if kind.is_text else "m" if kind.is_timestamp or kind.value == "date" else "n"
    return draw.choice(pool[near] if draw.random() < 0.9 else pool[draw.choice("snm")])


def condition(draw, fields, depth=3):
    shape = draw.random()
    if depth and shape < 0.45:
        parts = [condition(draw, fields, depth - 1) for _ in range(draw.randint(2, 3))]
        return "(" + draw.choice([" AND ", " OR "]).join(parts) + ")"
    if depth and shape < 0.6:
        return f"NOT ({condition(draw, fields, depth - 1)})"
    field = draw.choice(fields)
    name = field.name
    match draw.randint(0, 5):
        case 0:
            return f"{name} IS {draw.choice(['', 'NOT '])}NULL"
        case 1:
            members = ", ".join(constant(draw, field.type.kind) for _ in range(draw.randint(1, 4)))
            return f"{name} {draw.choice(['', 'NOT '])}IN ({members})"
        case 2 if field.type.kind.is_text:
            return f"{name} LIKE {draw.choice(['%', 's%', 's0020%', '%1', 's_0201', 'p1'])!r}".replace('"', "'")
        case 3:
            return f"{name} BETWEEN {constant(draw, field.type.kind)} AND {constant(draw, field.type.kind)}"
        case _:
            return f"{name} {draw.choice(OPS)} {constant(draw, field.type.kind)}"


@pytest.fixture(scope="module")
def whole(unpack):
    """By table: it open, its columns, and all of its rows in the value form."""
    found = {}
    for name in TABLES:
        table = open_table(unpack(name))
        scan = prune(table, ex.Constant(True), time_zone="UTC").scan(by_name=True)
        read = scan.to_table().combine_chunks()
        batch = read.to_batches()[0]
        schema = from_arrow(scan.schema).schema
        fields = [one for one in schema if one.type.kind.value not in ("other", "binary")]
        columns = {one.name: _in_value_form(_column(batch, one.name)) for one in fields}
        found[name] = table, schema, fields, batch, columns
    return found


@pytest.mark.parametrize("seed", range(examples(7, at_night=2000)))
def test_scans_keep_the_rows_for_which_the_filter_is_true(whole, seed):
    draw = random.Random(seed)
    table, schema, fields, batch, columns = whole[draw.choice(TABLES)]
    engine = draw.choice(ENGINES)
    zone = draw.choice(["UTC", "UTC", "Europe/Paris", "America/New_York"])
    text = condition(draw, fields)
    semantics = Semantics.named(engine, zone)
    try:
        plan = prune(table, text, engine, time_zone=zone)
    except UnsupportedError:
        return
    refused = None
    try:
        found = plan.to_table(by_name=True)
    except UnsupportedError as error:
        refused = error
    keep = []
    for place in range(batch.num_rows):
        row = {name: values[place] for name, values in columns.items()}
        try:
            keep.append(value_of(plan.expression, row, schema, semantics) is True)
        except UnsupportedError:
            return  # the reference does not decide this filter on some row
    if engine.startswith("hive") and "BETWEEN" in str(refused):
        return  # Hive's BETWEEN is one test, which the reference takes for two
    assert refused is None, (text, refused)
    expected = pa.Table.from_batches([batch.filter(pa.array(keep))])
    names = expected.column_names
    assert counted(found, names) == counted(expected, names), text
    if draw.random() < 0.3:
        through = draw.choice(["dataset", "polars", "duckdb", "tasks"])
        assert counted(rows(plan.scan(by_name=True), through), names) == counted(expected, names), (through, text)
    try:
        arrow, polars, sql = (
            form()
            for form in (
                plan.residual().to_pyarrow,
                plan.residual().to_polars,
                lambda: plan.residual().to_sql("duckdb"),
            )
        )
    except UnsupportedError:
        return
    pl, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    kept = pa.Table.from_batches([batch]).select([one.name for one in fields if "." not in one.name])
    right = counted(expected.select(kept.column_names), kept.column_names)
    if len(plan.kept) == len(plan.slices):
        assert counted(kept.filter(arrow), kept.column_names) == right
        assert counted(pl.from_arrow(kept).filter(polars).to_arrow(), kept.column_names) == right, text
        con = duckdb.connect()
        con.execute("SET TimeZone = 'UTC'")
        assert counted(con.from_arrow(kept).filter(sql).to_arrow_table(), kept.column_names) == right, (text, sql)


def test_the_sample_has_filters_of_every_way(whole):
    """Exact, mixed and row-by-row filters are all drawn."""
    ways = set()
    for seed in range(300):
        draw = random.Random(seed)
        _, _, fields, batch, _ = whole[draw.choice(TABLES)]
        engine = draw.choice(ENGINES)
        draw.choice(["UTC", "UTC", "Europe/Paris", "America/New_York"])
        row_filter = RowFilter(parse(condition(draw, fields), engine), batch.schema, Semantics.named(engine, "UTC"))
        try:
            test, rest = row_filter._split
        except UnsupportedError:
            continue
        ways.add((rest is None, type(test).__name__ == "Always"))
    assert ways >= {(True, False), (False, True), (False, False)}


def test_nan_is_greatest_in_every_form():
    schema = pa.schema([("x", pa.float64())])
    batch = pa.record_batch([pa.array([math.nan, 1.0, None, -0.0, math.inf])], schema)
    columns = from_arrow(schema).schema
    semantics, x = Semantics.named("spark", "UTC"), ex.Column(("x",))
    for op in ("=", "!=", "<", "<=", ">", ">="):
        for value in (1.0, math.nan, 0.0, math.inf):
            for negated in (False, True):
                plain = ex.Compare(op, x, ex.Literal(value, DOUBLE))
                expression = ex.Not(plain) if negated else plain
                values = batch.column(0).to_pylist()
                keep = [value_of(expression, {"x": one}, columns, semantics) is True for one in values]
                right = batch.filter(pa.array(keep)).to_pydict()
                row_filter = RowFilter(expression, schema, semantics)
                assert repr(row_filter.apply(batch).to_pydict()) == repr(right), expression
                assert row_filter.exact is not None
                frame = pytest.importorskip("polars").from_arrow(batch).filter(to_polars(row_filter.exact))
                assert repr(frame.to_arrow().to_pydict()) == repr(right), expression
                con = pytest.importorskip("duckdb").connect()
                con.from_arrow(pa.Table.from_batches([batch])).create("stored")  # DuckDB 1 loses NaN in Arrow's tables
                kept = con.table("stored").filter(to_duckdb_sql(row_filter.exact)).to_arrow_table()
                assert repr(kept.to_pydict()) == repr(right), expression


def test_hives_between_is_not_taken_for_two_comparisons(whole):
    table, *_ = whole["1.1.1_main_cow"]
    text = "NOT (i BETWEEN 5 AND 'x')"
    with pytest.raises(UnsupportedError, match="BETWEEN"):
        prune(table, text, "hive", time_zone="UTC").scan(["id"]).to_table()
    left = prune(table, text, "hive", time_zone="UTC").residual()
    assert not left.is_complete
    with pytest.raises(UnsupportedError, match=r"does not decide this filter as hive does: (BETWEEN|i <= 'x')"):
        left.to_pyarrow()
