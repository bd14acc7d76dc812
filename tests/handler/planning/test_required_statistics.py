"""What a filter reads: each condition asks its own questions, and an index that has no answer to them is not touched.

Counted on real tables: which partitions of the metadata table and which base files a filter opens, its first time.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from evaluator.binding.bind import bind
from evaluator.binding.leaves import Lookup
from evaluator.binding.required_statistics import RequiredStatistics, required_statistics_of
from evaluator.evaluation.evaluate import StatisticsProvider
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, INT, STRING
from handler import open_table, prune
from handler.sql.parsing import parse
from index_store.kinds.column_stats.column_stats import read_columns
from index_store.storage.storage import Storage
from tests.plain_id import plain_id

SPARK = Semantics.named("spark", "UTC")
SCHEMA = Schema([Field("i", INT), Field("j", INT), Field("s", STRING), Field("dt", DATE)])
INTEGER, OTHER, S, DT = SCHEMA
METADATA, DATA = ".hoodie/metadata/", ".parquet"


def asked(filter_text, schema=SCHEMA):
    return required_statistics_of(bind(parse(filter_text, "spark"), schema, SPARK).leaves)


@pytest.mark.parametrize(
    ("filter_text", "needs"),
    [
        ("i > 5", RequiredStatistics(bounds=(INTEGER,))),
        ("i = 5", RequiredStatistics(bounds=(INTEGER,), keys=(Lookup(INTEGER, (5,)),))),
        ("i IN (5, 7)", RequiredStatistics(bounds=(INTEGER,), keys=(Lookup(INTEGER, (5, 7)),))),
        ("i IS NULL", RequiredStatistics(nulls=(INTEGER,))),
        ("i IS NOT NULL AND i > 5", RequiredStatistics(bounds=(INTEGER,))),
        ("i IS NULL OR s LIKE 'a%'", RequiredStatistics(bounds=(S,), nulls=(INTEGER,))),
        ("i < j", RequiredStatistics(bounds=(INTEGER, OTHER))),
        ("i + j > 5", RequiredStatistics(bounds=(OTHER, INTEGER), functions=(("+(i int, j int) int", INTEGER),))),
        ("i + j > i", RequiredStatistics(bounds=(OTHER, INTEGER))),
        ("year(dt) > 2020", RequiredStatistics(bounds=(DT,), functions=(("year", DT), ("year(dt date) int", DT)))),
        (
            "lower(s) LIKE 'a%'",
            RequiredStatistics(bounds=(S,), functions=(("lower", S), ("lower(s string) string", S))),
        ),
        ("lower(s) IS NULL", RequiredStatistics(nulls=(S,), functions=(("lower", S), ("lower(s string) string", S)))),
        ("i > 5 OR NOT i < 3 OR i > 9", RequiredStatistics(bounds=(INTEGER,))),
        ("rand() > 0.5", RequiredStatistics()),
        ("nowhere = 5", RequiredStatistics()),
        ("1 = 1", RequiredStatistics()),
    ],
    ids=plain_id,
)
def test_a_filter_asks_for_what_its_conditions_can_use(filter_text, needs):
    found = asked(filter_text)
    assert found == needs
    assert bool(found) is (needs != RequiredStatistics())
    assert {column.name for column in found.columns} == {column.name for column in (*needs.bounds, *needs.nulls)}


def test_questions_come_apart_one_by_one():
    whole = asked("i = 5 AND s IS NULL AND year(dt) = 2020")
    assert list(whole.parts()) == [
        RequiredStatistics(bounds=(INTEGER,)),
        RequiredStatistics(bounds=(DT,)),
        RequiredStatistics(nulls=(S,)),
        RequiredStatistics(functions=(("year", DT),)),
        RequiredStatistics(functions=(("year(dt date) int", DT),)),
        *(RequiredStatistics(keys=(one,)) for one in whole.keys),
    ]


@pytest.fixture
def opened(monkeypatch):
    """The files that are opened, by partition of the metadata table, and ``data`` for base files."""
    found = defaultdict(set)

    def counting(method):
        def counted(self, path, *more):
            place = self.absolute(path)
            if METADATA in place and not place.endswith((".deltacommit", ".commit")):
                found[place.partition(METADATA)[2].partition("/")[0]].add(place)
            elif place.endswith(DATA):
                found["data"].add(place)
            return method(self, path, *more)

        return counted

    for name in ("_read", "_stream"):
        monkeypatch.setattr(Storage, name, counting(getattr(Storage, name)))
    return found


#: The expression indexes of s that tell something of s itself.
OF_S = {"expr_index_lo", "expr_index_up", "expr_index_ln", "expr_index_tr"}
PART, MAIN, SEC, BLOOM = "proofs/1.1.1_expr_part_cow", "1.1.1_main_cow", "1.1.1_sec_cow", "1.2.0_bloom_cow"


@pytest.mark.parametrize(
    ("name", "filter_text", "read"),
    [
        # A base file's footer proves that it has nothing but NULL in s (hudi#18755).
        (PART, "lower(s) = 'apple'", {"column_stats", "expr_index_lo", "data"}),
        (PART, "year(dt) = 2020", {"column_stats", "expr_index_ye"}),
        (PART, "year(dt) = 2020 AND day(dt) = 2", {"column_stats", "expr_index_ye", "expr_index_da"}),
        (PART, "quarter(dt) = 2", {"column_stats"}),
        (PART, "hour(t) = 2", {"column_stats", "data"}),
        (PART, "s = 'apple'", {"column_stats", "data", *OF_S}),
        (PART, "s >= 'apple'", {"column_stats", "data"}),
        (PART, "s IS NULL", {"column_stats", "data"}),
        (PART, "p = 'p1'", {"column_stats"}),
        (PART, "rand() > 0.5", set()),
        (MAIN, "s = 'x'", {"column_stats"}),
        (MAIN, "i BETWEEN 3 AND 5", {"column_stats"}),
        (MAIN, "id > 'k0001'", {"column_stats"}),
        (MAIN, "id IS NULL", {"column_stats"}),
        (MAIN, "NOT id = 'k0001'", {"column_stats"}),
        (MAIN, "id = 'k0031'", {"column_stats", "record_index", "data"}),
        (SEC, "s = 'banana-zz'", {"column_stats", "record_index", "secondary_index_si_s"}),
        (SEC, "s >= 'banana-zz'", {"column_stats"}),
        (SEC, "s IS NULL", {"column_stats"}),
        (SEC, "dec = 3.5", {"column_stats"}),
        (BLOOM, "id = 'k0031'", {"column_stats", "bloom_filters", "data"}),
        (BLOOM, "id >= 'k0031'", {"column_stats"}),
        (BLOOM, "id IS NULL", {"column_stats"}),
        (BLOOM, "s = 'k0031'", {"column_stats"}),
    ],
    ids=plain_id,
)
def test_only_what_a_filter_needs_is_read(unpack, opened, name, filter_text, read):
    table = open_table(unpack(name))
    table.at()
    opened.clear()
    prune(table, filter_text, time_zone="UTC", strict=True)
    assert set(opened) == read
    opened.clear()
    prune(table, filter_text, time_zone="UTC", strict=True)
    assert set(opened) <= {"secondary_index_si_s"}  # keys are looked up again, statistics are not


def test_an_index_of_keys_is_asked_for_the_slices_that_the_ones_before_it_leave(unpack, opened):
    table = open_table(unpack(BLOOM))
    assert len(table.at().slices) == 12
    opened.clear()
    assert len(prune(table, "id = 'k0031' AND i IS NOT NULL", time_zone="UTC", strict=True).kept) == 1
    # bloom_filters leave one file, whose footer is read; two footers tell once for a table which column is the key
    assert 1 <= len(opened["data"]) <= 3
    opened.clear()
    assert len(prune(table, "id = 'k0035' AND i IS NOT NULL", time_zone="UTC", strict=True).kept) == 1
    assert len(opened["data"]) <= 1
    opened.clear()
    prune(table, "id = 'no such key' OR NOT (NOT id = 'k0032' AND NOT id = 'k0033')", time_zone="UTC", strict=True)
    assert len(opened["data"]) <= 2


@pytest.mark.parametrize(
    ("name", "filter_text"),
    [
        (PART, "lower(s) = 'apple'"),
        (PART, "day(dt) = 2 AND month(dt) = 1"),
        (SEC, "s = 'banana-zz'"),
        (MAIN, "id = 'k0031' AND _hoodie_record_key > 'k0001'"),
    ],
    ids=plain_id,
)
def test_statistics_that_several_kinds_need_are_read_once(unpack, monkeypatch, name, filter_text):
    read = []

    def counting(layers, columns):
        read.extend(column.name for column in columns)
        return read_columns(layers, columns)

    monkeypatch.setattr("index_store.kinds.column_stats.column_stats.read_columns", counting)
    prune(open_table(unpack(name)), filter_text, time_zone="UTC", strict=True)
    assert len(read) == len(set(read)) > 0


def test_a_source_only_looks_up_keys_that_its_kind_needs(main_cow):
    table = open_table(main_cow)
    by_name = {known.kind.name: known for known in table.at().cached}
    key = next(column for column in table.table.schema if column.name == "id")
    other = next(column for column in table.table.schema if column.name == "s")
    every = np.ones(len(table.at().slices), np.bool_)

    def fail(error):
        raise error

    source = by_name["record_index"].provide(
        RequiredStatistics(keys=(Lookup(key, ("k0001",)), Lookup(other, ("x",)))), fail
    )
    assert isinstance(source, StatisticsProvider)
    assert source.might_contain(Lookup(key, ("k0001",)), every).sum() == 1
    assert source.might_contain(Lookup(other, ("x",)), every) is None
    assert source.might_contain(Lookup(key, ("k0001",), "lower"), every) is None
    assert (
        by_name["record_index"].provide(RequiredStatistics(keys=(Lookup(other, ("x",)),)), fail).might_contain is None
    )
    assert by_name["column_stats"].provide(RequiredStatistics(keys=(Lookup(key, ("k0001",)),)), fail).statistics == {}
