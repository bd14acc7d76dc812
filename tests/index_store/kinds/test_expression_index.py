"""Expression indexes of real tables: sound for every stored row, and silent about every other expression."""

from __future__ import annotations

import datetime
import operator

import numpy as np
import pytest

from evaluator.binding.leaves import Lookup
from evaluator.language.types import STRING
from evaluator.statistics.columns import UNKNOWN_COUNT
from evaluator.statistics.distrust import Trust
from handler import open_table as open_for_filters
from handler import prune
from index_store.kinds.expressions.expression_index import make
from tests.index_store.kinds.expression_statistics import (
    FILTERS,
    MERGED,
    OLD,
    OLD_MERGED,
    PART,
    TABLES,
    every_function_of,
    kind_of,
    values_of,
)
from tests.index_store.rows import rows_of
from tests.plain_id import plain_id
from tests.sampling import share

COMPUTED = {
    "lower": str.lower,
    "upper": str.upper,
    "length": len,
    "trim": lambda text: text.strip(" "),
    "ltrim": lambda text: text.lstrip(" "),
    "rtrim": lambda text: text.rstrip(" "),
    "year": lambda day: day.year,
    "month": lambda day: day.month,
    "day": lambda day: day.day,
}


@pytest.mark.parametrize("name", TABLES)
def test_every_value_of_an_expression_is_within_its_bounds_and_every_null_is_counted(hudi_table, name):
    path = hudi_table(name)
    table, kind = kind_of(path)
    found = kind.expressions(every_function_of(table.schema))
    compared = 0
    for (function, column), statistics in found.items():
        if function not in COMPUTED:
            continue
        for i, one in enumerate(table.slices()):
            values = values_of(path, one, column)
            yielded = [COMPUTED[function](value) for value in values if value is not None]
            if statistics.lo_known[i]:
                assert all(statistics.lo[i] <= value for value in yielded), (function, i)
                compared += 1
            if statistics.hi_known[i]:
                assert all(statistics.hi[i] >= value for value in yielded), (function, i)
            assert statistics.null_count[i] in (UNKNOWN_COUNT, len(values) - len(yielded))
            assert statistics.row_count[i] == UNKNOWN_COUNT
            assert statistics.may_be_value[i]
    assert compared == {TABLES[0]: 8, PART: 31, MERGED: 18, OLD: 35, OLD_MERGED: 28}[name]


ABSENT = {"length": 99, "year": 1999}


@pytest.mark.parametrize(
    ("name", "expressions"),
    [
        (TABLES[0], [("", "id")]),
        (PART, [("", "id"), ("lower", "id"), ("lcase", "id"), ("upper", "p")]),
        (OLD, [("", "n"), ("lower", "n"), ("upper", "n"), ("trim", "n"), ("length", "n"), ("year", "dn")]),
        (FILTERS, [("", "n"), ("lower", "n"), ("upper", "n"), ("trim", "n"), ("length", "n"), ("year", "dn")]),
    ],
    ids=plain_id,
)
def test_every_value_is_held_by_the_filter_of_its_slice(hudi_table, name, expressions):
    path = hudi_table(name)
    table, kind = kind_of(path)
    slices = table.slices()
    asked = skipped = 0
    for function, column_name in expressions:
        column = table.schema.resolve(column_name)
        compute = COMPUTED.get({"lcase": "lower"}.get(function, function), str)
        held = [{compute(value) for value in values_of(path, one, column_name)} for one in slices]
        for value in set().union(*held):
            found = kind.might_contain(Lookup(column, (value,), function))
            if found is None:
                assert function in ("lower", "lcase", "upper")
                continue
            asked += 1
            skipped += int((~found).sum())
            assert all(found[i] for i, values in enumerate(held) if value in values), (function, value)
        absent = ABSENT.get(function, "no such key")
        assert not kind.might_contain(Lookup(column, (absent,), function)).any()
        assert not function or kind._in_filters(Lookup(column, (absent, ""), function), None) is None
        first = np.arange(len(slices)) == 0
        again = make(table, slices).might_contain(Lookup(column, (absent,), function), first)
        assert (again == ~first).all()
    assert kind._in_filters(Lookup(table.schema.resolve("s"), ("x",)), None) is None
    assert kind.might_contain(Lookup(table.schema.resolve("dt"), (2020,), "year")) is None
    assert (asked, skipped) == {TABLES[0]: (78, 234), PART: (104, 413), OLD: (51, 105), FILTERS: (51, 105)}[name]


@pytest.mark.parametrize(
    ("filter_text", "matches", "kept", "without"),
    [
        ("lower(n) = 'zoo'", lambda n: n.lower() == "zoo", 2, 5),
        ("lower(n) = 'no such text'", lambda _: False, 0, 5),
        ("lower(n) IN ('zoo', 'x')", lambda n: n.lower() in ("zoo", "x"), 4, 5),
        ("lower(n) LIKE 'zoo'", lambda n: n.lower() == "zoo", 2, 5),
        ("upper(n) = 'X'", lambda n: n == "x", 3, 5),
        ("trim(n) = 'pad'", lambda n: n.strip() == "pad", 3, 5),
        ("length(n) = 1", lambda n: len(n) == 1, 3, 5),
        ("length(n) IN (1, 77)", lambda n: len(n) == 1, 3, 5),
        ("NOT lower(n) = 'zoo'", lambda n: n.lower() != "zoo", 5, 5),
        ("NOT (NOT lower(n) = 'zoo' AND n IS NOT NULL)", lambda n: n.lower() == "zoo", 2, 5),
        ("lower(n) = 'zoo' OR length(n) = 1", lambda n: n.lower() == "zoo" or len(n) == 1, 4, 5),
        ("lower(n) = 'zoo' AND NOT length(n) = 1", lambda n: n.lower() == "zoo", 2, 5),
        ("lower(n) <=> 'zoo'", lambda n: n.lower() == "zoo", 2, 5),
    ],
    ids=plain_id,
)
@pytest.mark.parametrize("engine", ["spark", "hive"])
def test_filters_of_a_function_skip_what_bounds_cannot(
    hudi_table, hudi_copy, filter_text, matches, kept, without, engine
):
    whole = hudi_table(FILTERS)
    plan = prune(whole, filter_text, engine, time_zone="UTC", strict=True)
    assert (len(plan.slices), len(plan.kept)) == (5, kept)
    assert not any(matches(value) for one in plan.skipped for value in values_of(whole, one, "n"))
    path = hudi_copy(FILTERS)
    properties = path / ".hoodie" / "hoodie.properties"
    properties.write_text(
        "".join(line for line in properties.read_text().splitlines(keepends=True) if "metadata.partitions=" not in line)
        + "\nhoodie.table.metadata.partitions=column_stats,files\n"
    )
    assert len(prune(path, filter_text, engine, time_zone="UTC", strict=True).kept) == without


@pytest.mark.parametrize(
    ("filter_text", "column", "matches"),
    [
        ("month(dt) = 1", "dt", lambda day: day.month == 1),
        ("month(dt) IN (12, 11)", "dt", lambda d: d.month in (11, 12)),
        ("day(dt) = 2", "dt", lambda day: day.day == 2),
        ("NOT day(dt) = 3", "dt", lambda day: day.day != 3),
        ("year(dt) = 2030", "dt", lambda day: day.year == 2030),
        ("quarter(dt) = 4", "dt", lambda d: d.month > 9),
        ("length(s) = 4", "s", lambda s: len(s) == 4),
        ("length(s) > 4", "s", lambda s: len(s) > 4),
        ("length(s) = 0 OR month(dt) > 11", None, lambda s, dt: s == "" or (dt is not None and dt.month > 11)),
        ("trim(s) = 'Q302'", "s", lambda s: s.strip(" ") == "Q302"),
        ("trim(s) >= 'b'", "s", lambda s: s.strip(" ") >= "b"),
        ("lower(s) = 'apple'", "s", lambda s: s.lower() == "apple"),
        ("lower(s) LIKE 'a%'", "s", lambda s: s[:1] in "aA"),
        ("upper(s) LIKE 'Q%'", "s", lambda s: s.upper()[:1] == "Q"),
        ("lower(s) > 'd'", "s", lambda s: s.lower() > "d"),
        ("upper(id) = 'K0003'", "id", lambda key: key == "k0003"),
        ("id = 'k0003'", "id", lambda key: key == "k0003"),
        ("length(s) IS NULL", "s", None),
        ("date_format(dt, 'MM') = '02'", "dt", lambda d: d.month == 2),
        ("hour(t) = 3", "t", lambda t: t.hour == 3),
        ("substring(s, 1, 2) = 'Q3'", "s", lambda s: s[:2] == "Q3"),
    ],
    ids=plain_id,
)
@pytest.mark.parametrize("engine", ["spark", "hive"])
@pytest.mark.parametrize("name", share(TABLES, 3))
def test_no_slice_with_a_matching_row_is_skipped(hudi_table, name, engine, filter_text, column, matches):
    path = hudi_table(name)
    plan = prune(path, filter_text, engine=engine, time_zone="UTC")  # some of the tables lack a column
    assert all(reason.scope == "leaf" for reason in plan.reasons)
    kept = {one.file_id for one in plan.kept}
    for one in plan.slices:
        rows = [row for file in one.files for row in rows_of(path / file)]
        if column is None:
            found = any(row["s"] is not None and matches(row["s"], row["dt"]) for row in rows)
        elif matches is None:
            found = any(row[column] is None for row in rows)
        else:
            found = any(row.get(column) is not None and matches(row[column]) for row in rows)
        assert not found or one.file_id in kept


GRID = {
    "month(dt)": (0, 1, 2, 7, 12, 13),
    "day(dt)": (2, 3, 4),
    "year(dt)": (2018, 2019, 2023, 2030, 2031),
    "length(s)": (-1, 0, 3, 4, 6, 7),
    "trim(s)": ("''", "'Apple'", "'Q'", "'Q304'", "'z'"),
    "lower(s)": ("''", "'apple'", "'banana'", "'q302'", "'zebra'"),
    "upper(s)": ("'APPLE'", "'Q302'", "'0'"),
}
OPERATORS = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@pytest.mark.parametrize(("name", "operand"), share([(name, operand) for name in TABLES for operand in GRID], 9))
def test_skipped_slices_have_no_match_and_fully_matched_ones_nothing_else(hudi_table, name, operand):
    path = hudi_table(name)
    table = open_for_filters(path)
    function, column = operand[:-1].split("(")
    values = {
        one.file_id: [None if value is None else COMPUTED[function](value) for value in values_of(path, one, column)]
        for one in table.at().slices
    }
    skipped = 0
    for constant in GRID[operand]:
        plain = constant if isinstance(constant, int) else constant.strip("'")
        for sign, holds in OPERATORS.items():
            for negated in (False, True):
                text = f"NOT {operand} {sign} {constant}" if negated else f"{operand} {sign} {constant}"
                plan = prune(table, text, time_zone="UTC", strict=True)
                for one in plan.skipped:
                    assert not any(
                        value is not None and holds(value, plain) is not negated for value in values[one.file_id]
                    ), text
                for one in plan.fully_matched:
                    assert all(
                        value is not None and holds(value, plain) is not negated for value in values[one.file_id]
                    ), text
                skipped += len(plan.skipped)
    assert skipped > 0 or name != PART


@pytest.mark.parametrize(
    ("filter_text", "kept", "without"),
    [
        ("month(dt) = 1", 1, 2),
        ("day(dt) = 2", 1, 5),
        ("day(dt) = 4", 0, 5),
        ("NOT day(dt) = 3", 1, 5),
        ("length(s) > 6", 0, 4),
        ("length(s) = 0", 2, 4),
        ("trim(s) = 'Apple'", 3, 3),
        ("lower(s) = 'a'", 2, 3),
        ("month(dt) = 1 OR length(s) > 6", 1, 4),
    ],
    ids=plain_id,
)
def test_an_expression_index_skips_what_the_column_cannot(hudi_table, hudi_copy, filter_text, kept, without):
    plan = prune(hudi_table(PART), filter_text, time_zone="UTC", strict=True)
    assert len(plan.kept) == kept
    by_kind = [leaf.by_kind.get("expression_index", 0) for leaf in plan.leaves]
    assert sum(by_kind) > 0
    path = hudi_copy(PART)
    properties = path / ".hoodie" / "hoodie.properties"
    properties.write_text(
        "".join(line for line in properties.read_text().splitlines(keepends=True) if "metadata.partitions=" not in line)
        + "\nhoodie.table.metadata.partitions=column_stats,files\n"
    )
    assert len(prune(path, filter_text, time_zone="UTC", strict=True).kept) == without


def test_only_functions_that_all_engines_agree_on_are_offered(hudi_table):
    table, kind = kind_of(hudi_table(PART))
    found = kind.expressions(every_function_of(table.schema))
    assert set(found) == {
        ("lower", "s"),
        ("lcase", "s"),
        ("upper", "s"),
        ("ucase", "s"),
        ("length", "s"),
        ("trim", "s"),
        ("year", "dt"),
        ("month", "dt"),
        ("day", "dt"),
        ("dayofmonth", "dt"),
    }
    read = {one.name[len("expr_index_") :] for one in table.indexes() if one.read and one.name.startswith("expr")}
    assert read == {"lo", "up", "ln", "tr", "ye", "mo", "da", "bi", "bl", "bu"}
    assert set(kind.coverage(list(table.schema)).columns) == {
        "lower(s)",
        "upper(s)",
        "length(s)",
        "trim(s)",
        "year(dt)",
        "month(dt)",
        "day(dt)",
        "id",
        "lower(id)",
        "upper(p)",
    }


def test_what_is_stored_of_lower_is_widened_and_what_is_stored_of_trim_is_not(hudi_table):
    table, kind = kind_of(hudi_table(PART))
    found = kind.expressions(every_function_of([table.schema.resolve("s")]))
    lower, trim = found["lower", "s"], found["trim", "s"]
    assert sorted(lower.lo[lower.lo_known]) == ["", "", "ai", "i"]  # of 'apple' and 'q300'
    assert not lower.hi_known.any()
    assert sorted(trim.lo[trim.lo_known]) == ["", "", "Apple", "Q300"]
    assert "Q306" in trim.hi[trim.hi_known]


def test_bounds_of_log_files_widen_those_of_the_base_and_log_files_of_deletions_have_none(hudi_table, hudi_copy):
    path = hudi_table(MERGED)
    table, kind = kind_of(path)
    found = kind.expressions(every_function_of([table.schema.resolve("s")]))["length", "s"]
    logs = np.array([bool(one.log_files) for one in table.slices()])
    assert (logs.sum(), (~logs).sum()) == (3, 1)
    assert found.lo_known.sum() == 3
    assert found.trust[~found.lo_known].tolist() == [Trust.NO_RECORD]
    updated = next(i for i, one in enumerate(table.slices()) if "LOGGED " in values_of(path, one, "s"))
    assert found.hi[updated] == 8
    nulled = next(i for i, one in enumerate(table.slices()) if None in values_of(path, one, "s"))
    assert (found.lo[nulled], found.hi[nulled], found.null_count[nulled]) == (2, 4, 2)
    copy = hudi_copy(MERGED)
    properties = copy / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text().replace("EVENT_TIME_ORDERING", "CUSTOM"))
    table, kind = kind_of(copy)
    custom = kind.expressions(every_function_of([table.schema.resolve("s")]))["length", "s"]
    assert (custom.lo_known == ~logs).all()
    assert (custom.trust[logs] == Trust.CUSTOM_MERGE).all()


def test_explain_names_the_expression_and_the_key_that_a_filter_does_not_hold(hudi_table):
    plan = prune(hudi_table(FILTERS), "lower(n) = 'zoo' AND i >= 0", time_zone="UTC", strict=True)
    place = plan.slices.items.index(plan.skipped[0])
    [leaf] = [leaf for leaf in plan.explanation.file_leaves(place) if leaf.text == "lower(n) = 'zoo'"]
    [said] = [one for one in leaf.decisions if one.kind == "expression_index"]
    assert (said.column, said.statistic, said.outcome) == (
        "lower(n)",
        "the key is in no file of the slice",
        "{false, null}",
    )
    [report] = [report for report in plan.leaves if report.text == "lower(n) = 'zoo'"]
    assert report.only_by["expression_index"] == len(plan.skipped) == 3


def to_value(value):
    return (value - datetime.date(1970, 1, 1)).days if isinstance(value, datetime.date) else value


@pytest.mark.parametrize("name", [TABLES[0], PART, MERGED, OLD, OLD_MERGED, FILTERS])
def test_a_value_of_the_column_is_looked_up_in_the_indexes_of_its_functions(hudi_table, name):
    """And the letters of one case in an index of the other one."""
    path = hudi_table(name)
    table, kind = kind_of(path)
    slices = table.slices()
    indexed = {one.column for one in kind._used}
    ruled_out = 0
    for column_name in indexed:
        column = table.schema.resolve(column_name)
        held = [[value for value in values_of(path, one, column_name) if value is not None] for one in slices]
        for function in ["", "lower", "upper"] if column.type == STRING else [""]:
            compute = COMPUTED.get(function, lambda value: value)
            images = [{to_value(compute(value)) for value in values} for values in held]
            for value in set().union(*images):
                found = kind.might_contain(Lookup(column, (value, value), function))
                if found is not None:
                    ruled_out += int((~found).sum())
                    assert all(found[i] for i, some in enumerate(images) if value in some), (
                        column_name,
                        function,
                        value,
                    )
    assert ruled_out > 0
