"""C6 on real tables: several index kinds answer one tree, under AND, OR and NOT, and no row is lost to any of them.

The truth of each condition is the row-level reference on the table's own rows. A kind that is made up in a test needs
nothing but itself and its registration: it is asked, intersected, explained and inspected like the others.
"""

from __future__ import annotations

import io
import random
from collections import Counter

import numpy as np
import pytest
from rich.console import Console

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.language.semantics import Semantics
from evaluator.language.types import INT
from evaluator.reference.row_oracle import value_of
from evaluator.statistics.columns import from_values
from handler import open_table, prune
from handler.inspection.table_report import report_table
from handler.sql.parsing import parse
from handler.views.explain import show_explanation
from handler.views.table import show_table
from index_store.kinds.base import Coverage, column_coverage, key_lookup_provider, required_key_lookups
from index_store.registered_kinds import REGISTERED_KINDS
from tests.handler.table_rows import rows_of
from tests.sampling import examples

SPARK = Semantics.named("spark", "UTC")
TREES = examples(23, at_night=60)
BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "4"}
#: Conditions by table, and the kinds that must have ruled out a slice for some of them.
TABLES = {
    "1.1.1_sec_cow": (
        (
            "id = 'k0003'",
            "id IN ('k0044', 'k0050', 'nope')",
            "s = 'banana-zz'",
            "s IN ('apple-001', 'Cherry-045')",
            "i = 7777",
            "i > 100",
            "dt = DATE'2020-03-01'",
            "s IS NULL",
            "dec < 3.5",
            "dt <=> DATE'2019-09-11'",
        ),
        {"column_stats", "secondary_index"},
    ),
    "1.1.1_main_cow": (
        (
            "id = 'k0031'",
            "id IN ('k0001', 'k0189', 'x')",
            "p = 'p1'",
            "p IN ('p0', 'p9')",
            "i = 390",
            "i BETWEEN 3 AND 99",
            "s LIKE 'gr%'",
            "s IS NULL",
            "f > 14.5",
            "year(dt) = 2019",
            "_hoodie_record_key = 'k0100'",
        ),
        {"column_stats", "record_index", "partition_values"},
    ),
    "1.2.0_bloom_cow": (
        (
            "id = 'k0031'",
            "id IN ('k0001', 'k0069', 'x')",
            "id = 'k0035x'",
            "p = 'p1'",
            "i = 390",
            "i < 3",
            "s IS NULL",
            "an IS NULL",
            "dt > DATE'2020-05-01'",
        ),
        {"column_stats", "bloom_filters", "partition_values"},
    ),
    "1.1.1_bucket_cow": (
        (
            "id = 'k0033'",
            "id IN ('k0001', 'k0045')",
            "id = 'nope'",
            "p = 'p0'",
            "i > 200",
            "i IS NULL",
            "s = 'apple-001'",
        ),
        {"column_stats", "bucket_index", "partition_values"},
    ),
    "proofs/1.1.1_expr_part_cow": (
        (
            "lower(s) = 'apple'",
            "length(s) > 4",
            "month(dt) = 1",
            "day(dt) IN (2, 4)",
            "year(dt) = 2020",
            "p = 'p1'",
            "id = 'k0101'",
            "lower(id) = 'k0202'",
            "i > 200",
            "s IS NULL",
            "trim(s) = 'Q302'",
            "dt < DATE'2019-01-01'",
        ),
        {"column_stats", "expression_index", "partition_values"},
    ),
    "proofs/1.0.2_expr_part_cow": (
        (
            "lower(n) = 'file'",
            "lower(s) LIKE 'p%'",
            "upper(n) = 'ZOO'",
            "month(dt) = 12",
            "year(dn) = 2019",
            "i = 101",
            "trim(n) IN ('pad', 'Zoo')",
            "length(n) = 1",
            "n = 'x'",
            "p = 'p0'",
            "day(dt) = 31",
            "id = 'K0301'",
        ),
        {"column_stats", "expression_index", "partition_values", "key_filters"},
    ),
    "proofs/1.1.1_fn_bloom_cow": (
        (
            "lower(n) = 'file'",
            "trim(n) = 'pad'",
            "n IN ('x', 'FILE')",
            "year(dn) = 2022",
            "i < 100",
            "dt IS NULL",
            "upper(n) <=> 'X'",
            "NOT n = 'x'",
            "length(n) IN (1, 3)",
        ),
        {"column_stats", "expression_index"},
    ),
}


def tree(rng, leaves, depth=3):
    """A random condition over the leaves."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(leaves)
    if rng.random() < 0.25:
        return f"NOT ({tree(rng, leaves, depth - 1)})"
    parts = [tree(rng, leaves, depth - 1) for _ in range(rng.choice((2, 2, 3)))]
    operator = rng.choice((" AND ", " OR "))
    return f"({operator.join(parts)})"


@pytest.mark.parametrize("name", TABLES)
def test_no_tree_over_several_kinds_loses_a_row(unpack, name):
    leaves, expected = TABLES[name]
    folder = unpack(name)
    table = open_table(folder, BUCKETS if "bucket" in name else None)
    rows = rows_of(folder, table.at().slices)
    assert sum(map(len, rows.values())) > 30
    schema, rng = table.table.schema, random.Random(7)
    alone: Counter[str] = Counter()
    skipped = 0
    for text in (*leaves, *(tree(rng, leaves) for _ in range(TREES))):
        expression = parse(text, "spark")
        plan = prune(table, expression, "spark", time_zone="UTC", strict=True)
        for items, wrong in ((plan.skipped, True), (plan.fully_matched, False)):
            for item in items:
                assert not any(
                    (value_of(expression, row, schema, SPARK) is True) is wrong for row in rows[item.file_id]
                ), (text, item.file_id)
        skipped += len(plan.skipped)
        for leaf in plan.leaves:
            assert all(0 <= leaf.only_by[kind] <= leaf.by_kind[kind] <= leaf.slices for kind in leaf.by_kind)
            assert sum(leaf.only_by.values()) <= leaf.skipped
            alone.update({kind: count for kind, count in leaf.only_by.items() if count})
    assert set(alone) >= expected, alone
    assert skipped > TREES


def test_each_kind_is_intersected_with_the_others_in_its_leaf_and_nowhere_else(unpack):
    table = open_table(unpack("1.2.0_bloom_cow"))

    def kept(text):
        return {one.file_id for one in prune(table, text, time_zone="UTC", strict=True).kept}

    by_key, by_range = kept("id = 'k0031'"), kept("i < 3")
    assert len(by_key) == 1
    assert kept("id = 'k0031' AND i < 3") <= by_key & by_range
    assert kept("id = 'k0031' OR i < 3") == by_key | by_range
    assert kept("NOT (NOT id = 'k0031' AND NOT i < 3)") == by_key | by_range
    assert len(kept("NOT id = 'k0031'")) == 12


class EvenKeys:
    """A made-up kind of keys: those that end with an even digit are in some of the slices only."""

    name = "even_keys"

    def __init__(self, slices, has_even):
        self.slices, self.has_even = slices, has_even
        self.asked = []

    def requires(self, asked):
        return required_key_lookups(asked, lambda column: column.name == "id")

    def provide(self, required):
        self.asked.append(required)
        return key_lookup_provider(self.name, self.might_contain)

    def might_contain(self, column, values, candidates):
        del column, candidates
        return self.has_even | np.bool_(any(int(value[-1]) % 2 for value in values))

    def coverage(self, columns):
        del columns
        return Coverage(self.name, self.slices.instant, len(self.slices))


class TextLengths:
    """A made-up kind of bounds: it knows what ``length(s)`` yields."""

    name = "text_lengths"

    def __init__(self, slices, known):
        self.slices, self.known = slices, known

    def requires(self, asked):
        return RequiredStatistics(
            functions=tuple(one for one in asked.functions if (one[0], one[1].name) == ("length", "s"))
        )

    def provide(self, required):
        assert [name for name, _ in required.functions] == ["length"]
        return StatisticsProvider(self.name, {}, None, {("length", "s"): self.known})

    def coverage(self, columns):
        del columns
        return Coverage(self.name, self.slices.instant, len(self.slices), {"length(s)": column_coverage(self.known)})


@pytest.fixture
def registered(monkeypatch):
    """Registers kinds beside the real ones, by how they are made."""

    def register(*made):
        monkeypatch.setattr("index_store.indexed_table.REGISTERED_KINDS", (*REGISTERED_KINDS, *made))

    return register


def test_a_new_kind_is_one_class_and_its_registration(main_cow, registered):
    found = []

    def make(table, slices):
        del table
        found.append(EvenKeys(slices, np.arange(len(slices)) % 2 == 0))
        return found[-1]

    keys = tuple(f"k{number:04d}" for number in range(0, 180, 22))
    text = f"id >= 'k0010' AND id IN {keys} OR i < -99999"
    before = prune(main_cow, text, time_zone="UTC", strict=True)
    registered(make)
    table = open_table(main_cow)
    plan = prune(table, text, time_zone="UTC", strict=True)
    [kind] = found
    assert [needs.keys[0].values for needs in kind.asked] == [keys]
    assert not any(needs.bounds or needs.nulls or needs.functions for needs in kind.asked)
    places = {item.file_id: place for place, item in enumerate(plan.slices)}
    assert {one.file_id for one in plan.kept} == {
        one.file_id for one in before.kept if kind.has_even[places[one.file_id]]
    }
    leaf = next(leaf for leaf in plan.leaves if "IN" in leaf.text)
    assert leaf.by_kind["even_keys"] > 0
    prune(table, "id > 'k0030' AND s = 'x' AND id IS NULL", time_zone="UTC", strict=True)
    assert len(kind.asked) == 1
    stream = io.StringIO()
    show_explanation(plan, Console(file=stream, width=300))
    assert f"even_keys {leaf.by_kind['even_keys']} ({leaf.only_by['even_keys']} only by it)" in stream.getvalue()
    assert leaf.to_dict()["only_by"]["even_keys"] == leaf.only_by["even_keys"]
    report = report_table(table)
    assert "even_keys" in {covered.kind for covered in report.coverage}
    show_table(report, Console(file=stream, width=300))
    assert "Coverage of even_keys" in stream.getvalue()


def test_a_new_kind_of_bounds_is_asked_for_its_very_expression_only(main_cow, registered):
    def make(table, slices):
        del table
        n = len(slices)
        return TextLengths(slices, from_values(INT, [3] * n, [9] * (n - 1) + [99], [0] * n, [None] * n))

    registered(make)
    table = open_table(main_cow)
    plan = prune(table, "length(s) > 50 OR NOT (i IS NULL OR i < 9999)", time_zone="UTC", strict=True)
    assert plan.kept == plan.slices.items[-1:]
    assert plan.leaves[0].by_kind["text_lengths"] == len(plan.slices) - 1
    for text in ("length(id) > 50", "s > 'x'", "lower(s) = 'x'", "length(s) IS NOT NULL AND i > 5"):
        prune(table, text, time_zone="UTC", strict=True)
    report = report_table(table)
    assert next(covered for covered in report.coverage if covered.kind == "text_lengths").columns["length(s)"].usable
