"""An expression index that is damaged, or of another expression than it seems, skips nothing and gives a reason."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from evaluator.binding.leaves import Lookup
from evaluator.language.types import DOUBLE, STRING, Kind, Type
from evaluator.statistics.columns import UNKNOWN_COUNT
from evaluator.statistics.distrust import Trust
from handler import open_table as open_for_filters
from handler import prune
from index_store import StatsError, TableError, open_table
from index_store.kinds.column_stats.column_stats import make as column_stats
from index_store.kinds.expression_functions import EXPRESSION_FUNCTIONS, IDENTITY, why_not_used
from index_store.table.file_slices import FileSlices
from tests.index_store.kinds.expression_statistics import FILTERS, OLD, PART, TABLES, every_function_of, kind_of
from tests.plain_id import plain_id


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, ""),
        ({"indexFunction": "hour"}, "time zone"),
        ({"indexFunction": "identity"}, "identity may depend"),
        ({"indexOptions": {"expr": "lower", "format": "x"}}, "options: format"),
        ({"indexOptions": {"expr": "upper"}}, "calls itself upper and lower"),
        ({"indexOptions": None}, ""),
        ({"indexType": "secondary_index"}, "type secondary_index"),
        ({"indexType": "bloom_filters"}, ""),
        ({"indexOptions": {"expr": "lower", "fpp": "1"}}, "options: fpp"),
        ({"sourceFields": ["s", "t"]}, "one column"),
        ({"sourceFields": ["d"]}, "type double"),
        ({"sourceFields": ["gone"]}, "type unknown"),
        ({"sourceFields": ["st.x"]}, "one column"),
        (
            {
                "indexType": "bloom_filters",
                "indexFunction": "identity",
                "indexOptions": {"expr": "identity", "fpp": "1"},
            },
            "",
        ),
    ],
    ids=plain_id,
)
def test_an_index_with_another_function_or_options_is_not_used(change, why):
    definition = {
        "indexType": "column_stats",
        "indexFunction": "lower",
        "indexOptions": {"expr": "lower"},
        "sourceFields": ["s"],
        **change,
    }
    found = why_not_used(definition, {"s": STRING, "d": DOUBLE, "st.x": STRING}.get)
    assert why in found
    assert bool(why) is bool(found)


def test_a_log_file_or_a_base_file_without_a_record_is_unknown(hudi_table):
    path = hudi_table(PART)
    table, _ = kind_of(path)
    whole = table.slices()
    first, second, *rest = whole.items
    changed = FileSlices(
        whole.instant,
        whole.source,
        (
            replace(first, log_files=(f"{first.partition}/.{first.file_id}_20261121083006703.log.1_0-1-1",)),
            replace(second, base_file=f"{second.partition}/other_0-1-1_20261121083006703.parquet"),
            *rest,
        ),
    )
    table, kind = kind_of(path, changed)
    columns = [table.schema.resolve("s"), table.schema.resolve("dt")]
    for statistics in kind.expressions(every_function_of(columns)).values():
        assert (statistics.trust[:2] == Trust.NO_RECORD).all()
        assert not (statistics.lo_known | statistics.hi_known)[:2].any()
        assert (statistics.null_count[:2] == UNKNOWN_COUNT).all()
    held = kind.might_contain(Lookup(table.schema.resolve("id"), ("no such key",)))
    assert held.tolist() == [True, True, *[False] * len(rest)]


def test_a_column_of_another_type_than_the_function_takes_is_not_answered(hudi_table):
    table, kind = kind_of(hudi_table(PART))
    for name, of in (("s", Type(Kind.BINARY)), ("dt", Type(Kind.TIMESTAMP_LTZ)), ("s", Type(Kind.VARCHAR, 9))):
        assert not kind.expressions(every_function_of([replace(table.schema.resolve(name), type=of)]))
    other = replace(table.schema.resolve("id"), type=Type(Kind.BIGINT))
    assert kind.might_contain(Lookup(other, (3,))) is None


def test_days_whose_calendar_is_not_known_have_no_parts(hudi_table, monkeypatch):
    path = hudi_table(PART)
    monkeypatch.setattr("index_store.kinds.expressions.expression_index.column_stats", lambda *_: None)
    table, kind = kind_of(path)
    found = kind.expressions(every_function_of([table.schema.resolve("dt"), table.schema.resolve("s")]))
    assert (found["month", "dt"].trust == Trust.ANCIENT).all()
    assert not found["month", "dt"].lo_known.any()
    assert found["length", "s"].lo_known.any()


FAULTS = {
    "corrupt": StatsError,
    "no files": StatsError,
    "definitions cut off": TableError,
    "no definition": None,
    "inflight": None,
    "not listed": None,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_cannot_be_read_is_a_reason_and_skips_nothing(hudi_copy, fault):
    path = hudi_copy(PART)
    properties, definitions = path / ".hoodie" / "hoodie.properties", path / ".hoodie" / ".index_defs" / "index.json"
    folder = path / ".hoodie" / "metadata" / "expr_index_da"
    match fault:
        case "corrupt":
            for file in folder.glob("*.hfile"):
                data = bytearray(file.read_bytes())
                data[100] ^= 0xFF
                file.write_bytes(data)
        case "no files":
            for file in folder.iterdir():
                file.unlink()
        case "definitions cut off":
            definitions.write_text(definitions.read_text()[:500])
        case "no definition":
            found = json.loads(definitions.read_text())
            del found["indexDefinitions"]["expr_index_da"]
            definitions.write_text(json.dumps(found))
        case "inflight":
            properties.write_text(
                properties.read_text().replace("partitions.inflight=", "partitions.inflight=expr_index_da")
            )
        case "not listed":
            properties.write_text(properties.read_text().replace("expr_index_da,", ""))
    table = open_for_filters(path)
    plan = prune(table, "day(dt) = 2", time_zone="UTC")
    assert len(plan.kept) == 5
    if FAULTS[fault] is None:
        assert not plan.reasons
        return
    assert any("expression_index cannot be read" in reason.text for reason in plan.reasons)
    with pytest.raises(FAULTS[fault]):
        prune(open_for_filters(path), "day(dt) = 2", time_zone="UTC", strict=True)
    if fault != "definitions cut off":
        assert len(prune(table, "length(s) > 6", time_zone="UTC").kept) == 0  # the other indexes still answer


def test_a_definition_that_names_another_column_has_no_bounds(hudi_copy):
    """index.json has no checksum, but each record of an index of bounds names its column."""
    path = hudi_copy(TABLES[0])
    definitions = path / ".hoodie/.index_defs/index.json"
    stored = json.loads(definitions.read_text())
    schema = open_table(path).schema
    tried = 0
    for body in stored["indexDefinitions"].values():
        if body["indexType"] == "column_stats" and body["indexFunction"] in EXPRESSION_FUNCTIONS:
            function, own = body["indexFunction"], body["sourceFields"]
            column = schema.resolve(own[0], case_sensitive=True)
            for other in schema:
                if other.type == column.type and other.name != column.name:
                    body["sourceFields"] = [other.name]
                    definitions.write_text(json.dumps(stored))
                    _, kind = kind_of(path)
                    assert kind._of(function, other, is_filter=False)
                    assert kind.expressions([(function, other)]) == {}
                    tried += 1
            body["sourceFields"] = own
    assert tried


@pytest.mark.parametrize("name", [FILTERS, OLD])
def test_filters_of_a_definition_that_names_another_column_are_not_used(hudi_copy, name):
    path = hudi_copy(name)
    definitions = path / ".hoodie/.index_defs/index.json"
    stored = json.loads(definitions.read_text())
    table = open_table(path)
    whole = column_stats(table, table.slices()).statistics(list(table.schema))
    tried = 0
    for body in stored["indexDefinitions"].values():
        function = {"identity": IDENTITY, **EXPRESSION_FUNCTIONS}.get(body["indexFunction"])
        if body["indexType"] != "bloom_filters" or function is None or function.over is not Kind.STRING:
            continue
        own = body["sourceFields"]
        if body["indexFunction"] == "identity":
            for other in table.schema:
                known = whole.get(other.name)
                if other.name in own or other.name[0] == "_" or known is None:  # _hoodie_record_key is id
                    continue
                if other.type == STRING and known.lo_known.all() and (known.trust == Trust.OK).all():
                    body["sourceFields"] = [other.name]
                    definitions.write_text(json.dumps(stored))
                    _, kind = kind_of(path)
                    with pytest.raises(StatsError, match="so it is of another one"):
                        kind.might_contain(Lookup(other, (np.array(known.lo)[0],), ""))
                    tried += 1
        body["sourceFields"] = own
    assert tried
