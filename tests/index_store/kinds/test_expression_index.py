"""Expression indexes of real tables: sound for every stored row, and silent about every other expression."""

from __future__ import annotations

import json
import operator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.binding.leaves import Lookup
from evaluator.language.types import DOUBLE, STRING, Kind, Type
from evaluator.statistics.columns import UNKNOWN_COUNT
from evaluator.statistics.distrust import Trust
from handler import open_table as open_for_filters
from handler import prune
from index_store import StatsError, TableError, open_table
from index_store.kinds.column_stats.column_stats import make as column_stats
from index_store.kinds.expression_functions import EXPRESSION_FUNCTIONS, IDENTITY, why_not_used
from index_store.kinds.expressions.case_mappings import first_uncertain, possible_images, widen_letter_case
from index_store.kinds.expressions.expression_index import make
from index_store.kinds.expressions.expression_keys import texts_of_bound, texts_of_values
from index_store.table.file_slices import FileSlices
from tests.index_store.rows import rows_of
from tests.plain_id import plain_id
from tests.sampling import share

TABLES = (
    "1.1.1_expr_cow",
    "proofs/1.1.1_expr_part_cow",
    "proofs/1.1.1_expr_text_mor",
    "proofs/1.0.2_expr_part_cow",
    "proofs/1.0.2_expr_text_mor",
)
PART, MERGED, OLD, OLD_MERGED = TABLES[1:]
FILTERS = "proofs/1.1.1_fn_bloom_cow"
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


def kind_of(path, slices=None):
    table = open_table(path)
    return table, make(table, slices or table.slices())


def every_function_of(columns):
    names = [name for function in EXPRESSION_FUNCTIONS.values() for name in function.names]
    return [(name, column) for column in columns for name in names]


def values_of(path, one, column):
    return [row[column] for file in one.files for row in rows_of(path / file)]


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
        assert kind.might_contain(Lookup(column, (absent, ""), function)) is None
        first = np.arange(len(slices)) == 0
        again = make(table, slices).might_contain(Lookup(column, (absent,), function), first)
        assert (again == ~first).all()
    assert kind.might_contain(Lookup(table.schema.resolve("s"), ("x",))) is None
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
        "\n".join(line for line in properties.read_text().splitlines() if "metadata.partitions=" not in line)
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
@pytest.mark.parametrize("name", TABLES)
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


@pytest.mark.parametrize(("name", "operand"), share([(name, operand) for name in TABLES for operand in GRID], 3))
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
        ("trim(s) = 'Apple'", 3, 4),
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
        "\n".join(line for line in properties.read_text().splitlines() if "metadata.partitions=" not in line)
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


LOCALES = ("", "tr", "lt", "simple")


def _image(text, mapping, locale):
    """The image of a text under a locale, or where each character is mapped to one (``simple``)."""
    if locale == "simple":
        return "".join(image if len(image := getattr(char, mapping)()) == 1 else char for char in text)
    if locale == "lt" and mapping == "upper":
        text = text.replace("i\u0307", "i").replace("j\u0307", "j")
    special = {"lower": {"I": "\u0131", "\u0130": "i"}, "upper": {"i": "\u0130"}}[mapping] if locale == "tr" else {}
    return "".join(special.get(char, getattr(char, mapping)()) for char in text)


LOCALE = st.sampled_from(LOCALES)
LETTERS = st.text("aBfFhIiJjkKlLsStTzZ0 \u0130\u0131\u212a\u00e9\u00c9\u00df\u017f\u0307\ufb01\ufb03\ufb06", max_size=6)


@pytest.mark.parametrize("mapping", ["lower", "upper"])
@given(texts=st.lists(LETTERS, min_size=1, max_size=4), writer=LOCALE, reader=LOCALE)
def test_bounds_of_letters_hold_for_a_reader_of_another_locale(mapping, texts, writer, reader):
    written = [_image(text, mapping, writer) for text in texts]
    lows, highs, bounded = widen_letter_case(
        np.array([min(written)], object), np.array([max(written)], object), first_uncertain(mapping)
    )
    for text in texts:
        image = _image(text, mapping, reader)
        assert lows[0] <= image
        assert not bounded[0] or image <= highs[0]


@pytest.mark.parametrize("mapping", ["lower", "upper"])
@given(text=LETTERS, writer=LOCALE, reader=LOCALE)
def test_what_a_writer_of_another_locale_made_is_among_the_images(mapping, text, writer, reader):
    found = possible_images(_image(text, mapping, reader), mapping)
    assert not found or _image(text, mapping, writer) in found


@pytest.mark.parametrize(
    ("text", "mapping", "expected"),
    [
        ("zoo", "lower", {"zoo"}),
        ("file", "lower", {"file", "f\u0131le", "fi\u0307le", "f\u0130le"}),
        ("stra\u00dfe", "lower", set()),
        ("k1", "lower", {"k1", "\u212a1"}),
        ("", "upper", {""}),
        ("SS", "upper", {"SS", "\u017fS", "S\u017f", "\u017f\u017f", "\u00df", "\u1e9e"}),
        ("i" * 5, "lower", set()),
    ],
    ids=plain_id,
)
def test_a_text_stands_for_every_image_that_a_writer_may_have_made(text, mapping, expected):
    assert set(possible_images(text, mapping)) == expected


@pytest.mark.parametrize(
    ("lo", "hi", "expected"),
    [
        ("banana", "elder", ("bai", "f")),
        ("abc", "dead", ("abc", "dead")),
        ("zebra", "zoo", ("i", None)),
        ("", "\u00e9t\u00e9", ("", None)),
        ("cherry-1", "fig-9", ("chei", "g")),
    ],
)
def test_bounds_of_lower_are_kept_up_to_the_first_letter_that_may_differ(lo, hi, expected):
    lows, highs, bounded = widen_letter_case(np.array([lo], object), np.array([hi], object), "i")
    assert (lows[0], highs[0] if bounded[0] else None) == expected


@given(texts=st.lists(st.tuples(LETTERS, LETTERS), max_size=5))
def test_bounds_of_many_are_widened_as_each_by_itself(texts):
    lo, hi = (np.array([pair[side] for pair in texts], object) for side in (0, 1))
    whole = widen_letter_case(lo, hi, "i")
    for row in range(len(texts)):
        alone = widen_letter_case(lo[row : row + 1], hi[row : row + 1], "i")
        assert [part[0] for part in alone] == [part[row] for part in whole]


@pytest.mark.parametrize(
    ("function", "values", "texts"),
    [
        (EXPRESSION_FUNCTIONS["length"], (5, -1), [b"5", b"-1"]),
        (EXPRESSION_FUNCTIONS["length"], ("5",), None),
        (EXPRESSION_FUNCTIONS["length"], (True,), None),
        (EXPRESSION_FUNCTIONS["trim"], ("\u00e9",), [b"\xc3\xa9"]),
        (EXPRESSION_FUNCTIONS["trim"], ("a", 5), None),
        (IDENTITY, ("",), None),
        (EXPRESSION_FUNCTIONS["lower"], ("k",), [b"k", b"\xe2\x84\xaa"]),
        (EXPRESSION_FUNCTIONS["lower"], ("\u00e9",), None),
    ],
)
def test_a_value_is_looked_up_only_under_texts_that_are_certain(function, values, texts):
    assert texts_of_values(function, values) == texts


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


@pytest.mark.parametrize(
    ("function", "bound", "texts"),
    [
        ("length", "abc", [b"3"]),
        ("trim", " a ", [b"a"]),
        ("lower", "ABC", [b"abc"]),
        ("upper", "\u00e9", None),
        ("year", 17_000, None),
        ("trim", " ", None),
    ],
)
def test_a_bound_has_the_texts_that_a_writer_may_have_made_of_it(function, bound, texts):
    assert texts_of_bound(EXPRESSION_FUNCTIONS[function], bound) == texts
