"""Filters on partition columns of every key generator, against the rows that Hudi's own readers returned.

The tables are written by real Hudi, each read by the release that wrote it and by later ones
(``tests.tables.record_key_generators``, tests/data/keygen). A filter of Spark must keep every slice with a row that
Hudi's reader would return, a filter of Hive every slice with such a row in the files.
"""

from __future__ import annotations

import datetime
import shutil
from decimal import Decimal

import pytest
from pyarrow import parquet

from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind, Type
from evaluator.reference.row_oracle import value_of
from handler import open_table, prune
from handler.planning.plan import Plan
from handler.sql.parsing import parse_condition
from index_store.indexed_table import IndexedTable
from index_store.own.builders.local import build_locally
from index_store.own.definition import Definition, Entry
from index_store.own.maintenance.operations import create as create_sketches
from index_store.own.secondary.operations import create as create_secondary
from index_store.own.store.locations import folder_of
from index_store.snapshots import SnapshotCache
from tests.handler.key_generator_tables import READ, folder_of_release, rows_read
from tests.index_store.own.secondary.answers import by, local
from tests.sampling import share
from tests.tables.key_generators import COLUMNS, STORIES, rows_of

#: Tables of which Hudi takes values from the path that are known: no slice is kept without a row.
EXACT = (
    *("slash_text", "slash_mixed", "slash_mor", "slash_drop", "slash_extractor", "text", "text_hive", "text_slashed"),
    *("complex_hive", "custom_simple", "drop", "drop_date", "double", "date", "decimal_hive", "ordering_encoded"),
)
#: Tables whose files hold the partition columns, and whose filters the oracle knows by Hive's rules.
IN_FILES = [name for written, _, name in READ if written == "1.2.0" and "drop" not in name and name != "double"]
EPOCH = datetime.date(1970, 1, 1)
UTC = "UTC"


def value(text: str | None, kind: Type) -> object:
    """A text of the recorded rows in the value form of the evaluator."""
    if text is None:
        return None
    match kind.kind:
        case Kind.STRING:
            return text
        case Kind.DATE:
            return (datetime.date.fromisoformat(text) - EPOCH).days
        case Kind.BOOLEAN:
            return text == "true"
        case Kind.DECIMAL:
            return Decimal(text)
        case Kind.DOUBLE:
            return float(text)
        case Kind.TIMESTAMP | Kind.TIMESTAMP_LTZ:
            moment = datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc)
            return round(moment.timestamp() * 1_000_000)
        case _:
            return int(text)


def shown(stored: object) -> str | None:
    """A written value as the recorded rows have it."""
    match stored:
        case None:
            return None
        case bool():
            return str(stored).lower()
        case float():
            return repr(stored).replace("1e-07", "1.0E-7").replace("10000000000.0", "1.0E10")
        case datetime.datetime():
            return stored.replace(tzinfo=None).isoformat(" ")
        case _:
            return str(stored)


def literal(text: str, kind: Type) -> str:
    match kind.kind:
        case Kind.DATE:
            return f"DATE'{text}'"
        case Kind.TIMESTAMP | Kind.TIMESTAMP_LTZ:
            return f"TIMESTAMP'{text}'"
        case Kind.STRING:
            return "'" + text.replace("'", "''") + "'"
        case Kind.DOUBLE:
            return f"CAST({Decimal(text):f} AS DOUBLE)"
        case _:
            return text


def filters_on(name: str, kind: Type, texts: list[str]) -> list[str]:
    made = [f"{name} IS NULL", f"{name} IS NOT NULL"]
    for text in texts:
        one = literal(text, kind)
        operators = ("=",) if kind.kind is Kind.BOOLEAN else ("=", "<>", ">", "<=")
        made += [f"{name} {operator} {one}" for operator in operators]
        made += [f"NOT ({name} = {one})", f"{name} <=> {one}", f"{name} = {one} AND id >= 'k0'"]
        if kind.kind is Kind.STRING:
            made.append(f"{name} LIKE '{text[:3]}%'")
    if len(texts) > 1:
        made.append(f"{name} IN ({literal(texts[0], kind)}, {literal(texts[-1], kind)})")
    return made


def spark_type(text: str) -> Type:
    return Type.parse("timestamp with local time zone" if text == "timestamp" else text)


def slice_of_rows(path, table) -> dict[str, int]:
    """Which slice each record key is in."""
    found = {}
    for number, one in enumerate(table.table.slices()):
        for key in parquet.read_table(path / one.base_file, columns=["id"], partitioning=None)["id"].to_pylist():
            found[key] = number
    return found


def kept_of(plan: Plan) -> set[int]:
    return set(plan.kept_rows.tolist())


def check(path, opened, name, types, rows, engine) -> list[tuple[str, int, int]]:
    """No row is lost; how many slices each filter kept, and how many have a row."""
    slices, kept_counts = slice_of_rows(path, opened), []
    kinds = {column: spark_type(text) for column, text in types.items()}
    schema = Schema([Field("id", Type.parse("string")), *(Field(column, kind) for column, kind in kinds.items())])
    typed = {
        key: {"id": key, **{column: value(one[column], kind) for column, kind in kinds.items()}}
        for key, one in rows.items()
    }
    semantics = Semantics.named(engine, UTC)
    for column, kind in kinds.items():
        stored = [str(row[list(COLUMNS).index(column)]) for row in rows_of(STORIES[name])]
        texts = sorted({one[column] for one in rows.values() if one[column]})[:4]
        if kind.kind is Kind.STRING:
            texts += [text for text in sorted(set(stored)) if text not in (*texts, "None", "")][:3]
        filters = filters_on(column, kind, texts)
        if kind.kind is Kind.STRING and all(text.isdigit() for text in texts):
            filters += [f"{column} {operator} {texts[0]}L" for operator in ("=", "<>", ">", "<=")]
        for text in filters:
            expression = parse_condition(text, engine).expression
            plan = prune(opened, text, engine=engine, time_zone=UTC)
            true = {slices[key] for key, row in typed.items() if value_of(expression, row, schema, semantics) is True}
            assert true <= kept_of(plan), (text, plan.reasons)
            kept_counts.append((text, len(plan.kept), len(true)))
    return kept_counts


@pytest.mark.parametrize(("written", "reader", "name"), share(READ, 24))
def test_spark_keeps_every_row_that_hudis_reader_returns(written, reader, name):
    types, rows = rows_read(written, reader, name)
    path = folder_of_release(written) / name
    counts = check(path, open_table(path, cache=None), name, types, rows, "spark")
    if written == "1.2.0" and name in EXACT:
        assert [text for text, kept, needed in counts if kept > needed] == []


@pytest.mark.parametrize("name", share(IN_FILES, 20))
def test_hive_keeps_every_row_of_the_files(name):
    path = folder_of_release("1.2.0") / name
    stored = {row[0]: dict(zip(COLUMNS, map(shown, row), strict=True)) for row in rows_of(STORIES[name])}
    types = {column: COLUMNS[column] for column in STORIES[name].names}
    check(path, open_table(path, cache=None), name, types, stored, "hive")


@pytest.mark.parametrize(
    "name", share(["slash_text", "text_hive", "times_day", "custom_two", "complex_hive", "ordering_encoded"], 3)
)
def test_own_indexes_keep_every_row_that_hudis_reader_returns(tmp_path, name):
    types, rows = rows_read("1.2.0", "1.2.0", name)
    path = tmp_path / name
    shutil.copytree(folder_of_release("1.2.0") / name, path)
    table = open_table(path, cache=None).table
    sketches = ("min_max", "value_list(limit=20)", "bloom_filter")
    entries = tuple(Entry(column, sketch) for column in STORIES[name].names for sketch in sketches)
    create_sketches(folder_of(table, "all"), table, Definition("all", entries), build_locally)
    create_secondary(folder_of(table, "it"), table, by(*STORIES[name].names), local)
    check(path, open_table(path, cache=None), name, types, rows, "spark")


@pytest.mark.parametrize("name", ["slash_text", "text_hive", "custom_two"])
def test_snapshots_keep_every_row_that_hudis_reader_returns(tmp_path, name):
    types, rows = rows_read("1.2.0", "1.2.0", name)
    path, cache = folder_of_release("1.2.0") / name, SnapshotCache(tmp_path / "cache", min_slices=0)
    first = check(path, open_table(path, cache=cache), name, types, rows, "spark")
    assert list((tmp_path / "cache").rglob("*.arrays"))
    assert check(path, open_table(path, cache=cache), name, types, rows, "spark") == first
    assert check(path, open_table(path, cache=None), name, types, rows, "spark") == first


def test_the_values_of_files_would_lose_rows(monkeypatch):
    monkeypatch.setattr(IndexedTable, "columns_read_from_paths", lambda *_: {})
    types, rows = rows_read("1.2.0", "1.2.0", "slash_text")
    path = folder_of_release("1.2.0") / "slash_text"
    with pytest.raises(AssertionError, match="1999/02/28"):
        check(path, open_table(path, cache=None), "slash_text", types, rows, "spark")


def test_a_condition_that_is_not_known_to_hold_for_what_readers_take_from_a_path_says_why():
    path = folder_of_release("0.15.0") / "times_day"
    plan = prune(path, "l > 5 AND l < '6'", time_zone=UTC)
    assert len(plan.kept) == len(plan.slices)
    assert any("shows column l as text" in str(reason) for reason in plan.reasons)
    assert any("Hudi's readers take the column's value" in one.sentence for one in plan.why_not_more)
