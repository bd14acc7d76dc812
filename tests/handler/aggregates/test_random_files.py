"""Random files of one table: what footers answer and what the scanned rows add are the aggregates of all rows.

The files differ as real ones do: several row groups, columns of an older type or in another unit, columns that are
missing, statistics that were left out, values that Parquet orders or readers rebase in their own way.
"""

from __future__ import annotations

import datetime
import json
import math
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from evaluator.language.errors import UnknownColumnError, UnsupportedError
from evaluator.language.semantics import Semantics
from handler import open_table, prune
from handler.aggregates import answers as answers_module
from handler.aggregates.aggregate import Aggregate
from handler.aggregates.file_values import ColumnValues, FileValues
from handler.aggregates.footer_facts import facts_of
from handler.aggregates.split import split_aggregates
from handler.sql.parsing import parse
from index_store.formats.parquet_footers import Footers
from tests.handler.aggregates.table_aggregates import TableRows, aggregate_of, ordinal
from tests.handler.plain_table import INSTANT, plain_table
from tests.sampling import examples

SPARK = Semantics.named("spark", "UTC")
UTC = datetime.timezone.utc


def nullable(kind):
    return ["null", kind]


def logical(base, name, **more):
    return nullable({"type": base, "logicalType": name, **more})


AVRO = {
    "id": "string",
    "i": nullable("long"),
    "dec": logical("bytes", "decimal", precision=12, scale=2),
    "wide": logical("bytes", "decimal", precision=30, scale=2),
    "dt": logical("int", "date"),
    "t": logical("long", "timestamp-micros"),
    "n": logical("long", "local-timestamp-micros"),
    "b": nullable("boolean"),
    "s": nullable("string"),
    "d": nullable("double"),
    "e": nullable("int"),
}
SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "r",
        "fields": [
            {"name": name, "type": kind, **({"default": None} if isinstance(kind, list) else {})}
            for name, kind in AVRO.items()
        ],
    }
)
#: The types in which a file may have a column.
TYPES = {
    "i": [pa.int64(), pa.int32(), pa.int16()],
    "dec": [pa.decimal128(12, 2), pa.decimal128(8, 1)],
    "wide": [pa.decimal128(30, 2)],
    "dt": [pa.date32()],
    "t": [pa.timestamp("us", "UTC"), pa.timestamp("ms", "UTC")],
    "n": [pa.timestamp("us")],
    "b": [pa.bool_()],
    "s": [pa.string()],
    "d": [pa.float64(), pa.float32()],
    "e": [pa.int32()],
}
SECONDS = st.one_of(st.integers(-3_000_000_000, 0), st.integers(0, 2_000_000_000), st.just(-2_208_988_800))
VALUES = {
    "i": st.integers(-300, 300) | st.sampled_from([32767, -32768]),
    "dec": st.integers(-999, 999).map(lambda n: Decimal(n) / 10),
    "wide": st.integers(-(10**27), 10**27).map(lambda n: Decimal((n < 0, tuple(map(int, str(abs(n)))), -2))),
    "dt": st.integers(500_000, 737_000).map(datetime.date.fromordinal)
    | st.integers(577_700, 577_800).map(datetime.date.fromordinal),
    "t": SECONDS.map(lambda n: datetime.datetime(1970, 1, 1, tzinfo=UTC) + datetime.timedelta(seconds=n)),
    "n": SECONDS.map(lambda n: datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=n, microseconds=7)),
    "b": st.booleans(),
    "s": st.sampled_from(["", "a", "b", "ä", "\U0001f600", "x" * 40, "y" * 5000]),
    "d": st.sampled_from([0.0, -0.0, math.nan, 1.5, -1.5, math.inf]),
    "e": st.integers(-5, 5),
}
AGGREGATES = [Aggregate("count"), *(Aggregate(f, name) for name in VALUES for f in ("count", "min", "max"))]
AGGREGATES += [Aggregate("sum", name) for name in ("i", "dec", "wide", "e") for _ in range(3)]
CONDITIONS = st.sampled_from(
    [
        *("TRUE", "i > 0", "i >= -300", "i IS NULL", "i IS NOT NULL", "dec < 10", "dt > DATE'1900-01-01'", "e = 1"),
        *("b", "s >= 'a'", "s IS NOT NULL", "t < TIMESTAMP'2000-01-01 00:00:00'", "d > 1", "i <> 5 OR e IS NULL"),
        *("n IS NOT NULL AND i < 400", "wide IS NOT NULL", "NOT (i = 7)", "FALSE"),
    ]
)


@st.composite
def columns_of_a_file(draw):
    """The columns of a file, and how it is written."""
    rows = draw(st.integers(0, 6))
    columns = {"id": pa.array([f"k{n}" for n in range(rows)], pa.string())}
    for name, strategy in VALUES.items():
        if draw(st.integers(0, 7)) == 0:
            continue  # an older file without the column
        kind = draw(st.sampled_from([TYPES[name][0], *TYPES[name]]))
        few = draw(st.sampled_from([st.none(), strategy, st.none() | strategy, st.just(draw(strategy))]))
        columns[name] = pa.array(draw(st.lists(few, min_size=rows, max_size=rows)), kind)
    statistics = draw(st.sampled_from([True, True, True, False, [name for name in columns if name != "i"]]))
    size = draw(st.sampled_from([1, 2, 10]))
    return pa.table(columns), {"row_group_size": size, "write_statistics": statistics}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return iter(lambda: tmp_path_factory.mktemp("files"), None)


def written(folder, files):
    """A table of these files, each written in its own way."""
    plain_table(folder, [("", rows) for rows, _ in files], schema=SCHEMA)
    for number, (rows, how) in enumerate(files):
        parquet.write_table(rows, folder / f"f{number:05d}_0-1-0_{INSTANT}.parquet", **how)
    return open_table(folder, cache=None)


@settings(
    max_examples=examples(35, at_night=2000),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    files=st.lists(columns_of_a_file(), min_size=1, max_size=4),
    condition=CONDITIONS,
    one=st.sampled_from(AGGREGATES),
    other=st.sampled_from(AGGREGATES),
)
def test_answered_and_scanned_slices_together_are_the_aggregate_of_all_rows(folders, files, condition, one, other):
    opened = written(next(folders), files)
    rows = TableRows(opened, opened.at().slices.instant)
    expression = parse(condition, "spark")
    plan = prune(opened, condition, "spark", time_zone="UTC")
    split = split_aggregates(plan, [one, other])
    assert len(split.answered) + len(split.scanned) == len(plan.kept)
    every = [row for item in plan.slices for row in rows.satisfying(item, expression, SPARK)]
    scanned = [row for found in split.scanned for row in rows.satisfying(found.item, expression, SPARK)]
    for place, aggregate in enumerate((one, other)):
        totals = [split.totals[place]] if split.answered else []
        if aggregate.column == "d" and aggregate.function != "count":  # NaN has no place in Python's order
            assert totals in ([], [None])
            continue
        event(f"{'answered' if split.answered else 'scanned'} {aggregate.function}")
        assert aggregate.total([*totals, of_rows(aggregate, scanned)]) == of_rows(aggregate, every)


def of_rows(one: Aggregate, rows):
    if one.column is None:
        return len(rows)
    return aggregate_of(one, [ordinal(row[one.column]) for row in rows if row[one.column] is not None])


EXACT = {
    "i": pa.array([5, None, -7], pa.int32()),
    "dec": pa.array([Decimal("1.5"), None, Decimal("-2.5")], pa.decimal128(8, 1)),
    "dt": pa.array([None, datetime.date(2020, 1, 2), datetime.date(2021, 1, 2)]),
    "t": pa.array([0, 1, None], pa.timestamp("ms", "UTC")),
    "b": pa.array([True, False, None]),
}


@pytest.mark.parametrize("name", EXACT)
def test_the_footer_answers_a_column_of_a_type_with_exact_bounds(folders, name):
    opened = written(next(folders), [(pa.table({"id": ["a", "b", "c"], **EXACT}), {"row_group_size": 2})])
    split = split_aggregates(
        prune(opened, "TRUE", "spark"), [Aggregate(function, name) for function in ("count", "min", "max")]
    )
    rows = TableRows(opened, None)
    assert [len(split.answered), split.reasons] == [1, ()]
    assert split.totals == tuple(rows.aggregate(split.answered[0].item, one) for one in split.aggregates)


#: A file of ids and one other column, an aggregate of that column, and a part of the reason why it is scanned.
SCANNED = {
    "two zeros": (pa.array([0.0, -0.0]), {}, "min(d)", "min(d): footers have no exact answer for the type double"),
    "NaN": (pa.array([1.0, math.nan]), {}, "max(d)", "max(d): footers have no exact answer"),
    "a float of a double": (pa.array([1.5, 2.5], pa.float32()), {}, "count(d)", "d is float in the file and double"),
    "text": (pa.array(["a", "b"]), {}, "max(s)", "of type string are not exact"),
    "several values": (pa.array([1, 2]), {}, "sum(i)", "several values of column i"),
    "a date of another calendar": (pa.array([datetime.date(1500, 1, 1)] * 2), {}, "min(dt)", "no exact bounds"),
    "a moment before 1900": (
        pa.array([datetime.datetime(1899, 12, 31, tzinfo=UTC)] * 2, pa.timestamp("us", "UTC")),
        {},
        "min(t)",
        "no exact bounds",
    ),
    "nanoseconds": (pa.array([1, 2], pa.timestamp("ns", "UTC")), {"version": "2.6"}, "min(t)", "@nanos in the file"),
    "no statistics": (pa.array([1, 2]), {"write_statistics": False}, "min(i)", "no statistics of column i"),
    "a sum of long decimals": (
        pa.array([Decimal("1.00")] * 2, pa.decimal128(30, 2)),
        {},
        "sum(wide)",
        "no exact answer for the type decimal(30,2)",
    ),
    "another type": (pa.array(["1", "2"]), {}, "count(i)", "i is string in the file and bigint in the table"),
    "other letters": (pa.array([1, 2]), {"letters": True}, "count(i)", "a name of other letters"),
    "a column of Hudi's": (
        pa.array(["f", "f"]),
        {},
        "min(_hoodie_file_name)",
        "_hoodie_file_name of type string are not exact",
    ),
    "a sum beyond 64 bits": (pa.array([2**62, 2**62]), {}, "sum(i)", "beyond the type of the result"),
}


@pytest.mark.parametrize("case", SCANNED)
def test_a_slice_is_scanned_for_a_reason(folders, case):
    values, how, text, reason = SCANNED[case]
    aggregate = Aggregate.parse(text)
    name = aggregate.column.upper() if how.get("letters") else aggregate.column
    how = {key: value for key, value in how.items() if key != "letters"}
    opened = written(next(folders), [(pa.table({"id": ["a", "b"], name: values}), how)])
    split = split_aggregates(prune(opened, "TRUE", "spark"), [aggregate])
    assert split.answered == ()
    assert split.totals == ()
    assert reason in split.scanned[0].reason
    assert reason in str(split)


class OtherFooter:
    """A footer that says something else of the file than the real one."""

    def __init__(self, footer, **said):
        self._footer, self._said = footer, said

    def __getattr__(self, name):
        return self._said[name] if name in self._said else getattr(self._footer, name)


MR = "parquet-mr version 1.{} (build abc)"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"created_by": MR.format("10.1")}, None),
        ({"created_by": MR.format("13.1")}, None),
        ({"created_by": MR.format("8.1")}, "not known to be exact"),  # decimals in unsigned order
        ({"created_by": "impala version 4.0"}, "not known to be exact"),
        ({"created_by": None}, "not known to be exact"),
        ({"num_rows": 3}, "contradicts itself"),
    ],
    ids=str,
)
def test_a_footer_counts_by_its_writer_and_when_it_agrees_with_itself(folders, said, reason):
    opened = written(next(folders), [(pa.table({"id": ["a", "b"], "i": pa.array([3, 5], pa.int64())}), {})])
    values, item = FileValues(opened.table, None), opened.at().slices[0]
    footer = OtherFooter(Footers(opened.table.storage).read(item.base_file), **said)
    found = values.read(facts_of(footer, ["i"]), item, [values.schema.resolve("i")])
    assert reason in found if reason else found == (2, {"i": ColumnValues(0, (3, 5))})


IDS = pa.table({"id": ["a", "b"], "i": pa.array([3, 3], pa.int64())})


def test_no_file_of_a_bootstrapped_table_is_answered(folders):
    folder = next(folders)
    written(folder, [(IDS, {})])
    with (folder / ".hoodie" / "hoodie.properties").open("a") as file:
        file.write("hoodie.bootstrap.base.path=/elsewhere\n")
    split = split_aggregates(prune(open_table(folder, cache=None), "TRUE"), [Aggregate("count")])
    assert split.reasons == (("the table was bootstrapped", 1),)


def test_no_file_of_changes_is_answered(folders):
    changes = json.loads(SCHEMA)
    changes["fields"].append({"name": "_hoodie_operation", "type": ["null", "string"], "default": None})
    rows = IDS.append_column("_hoodie_operation", pa.array(["I", "D"]))
    opened = open_table(plain_table(next(folders), [("", rows)], schema=json.dumps(changes)), cache=None)
    split = split_aggregates(prune(opened, "TRUE"), [Aggregate("count")])
    assert split.reasons == (("the rows of the table are changes, which may be deletions", 1),)


def test_more_footers_than_the_limit_are_not_read(folders, monkeypatch):
    opened = written(next(folders), [(IDS, {})] * 3)
    plan = prune(opened, "TRUE")
    asked = [Aggregate("count"), Aggregate("sum", "i")]
    assert split_aggregates(plan, asked).totals == (6, 18)
    monkeypatch.setattr(answers_module, "MAX_FOOTERS", 2)
    split = split_aggregates(plan, asked)
    assert split.totals == (4, 12)
    assert split.reasons == (("the limit of 2 footers, 10 seconds, 32 MiB is reached", 1),)


def test_a_file_that_cannot_be_read_is_scanned(folders):
    folder = next(folders)
    opened = written(folder, [(IDS, {}), (IDS, {})])
    broken = opened.at().slices[0].base_file
    (folder / broken).write_bytes(b"no Parquet file")
    split = split_aggregates(prune(opened, "TRUE"), [Aggregate("count")])
    assert split.totals == (2,)
    assert [(one.item.base_file, one.reason) for one in split.scanned] == [
        (broken, "the footer of the base file cannot be read")
    ]


def test_a_split_is_shown_and_given_as_plain_values(folders):
    opened = written(next(folders), [(IDS, {}), (IDS.set_column(1, "i", pa.array([1, 9], pa.int64())), {})])
    split = split_aggregates(prune(opened, "TRUE"), [Aggregate.parse(text) for text in ("COUNT(*)", "sum(`I`)")])
    assert str(split).splitlines()[1:] == [
        "  count(*): 2 by footers",
        "  sum(i): 6 by footers",
        "  1 scanned: the file holds several values of column i, and no own index has their sum",
    ]
    assert "1 file slices answered by footers, 1 scanned, 0 skipped" in repr(split)
    shown = json.loads(json.dumps(split.to_dict()))
    assert shown["counts"] == {"slices": 2, "answered": 1, "scanned": 1, "skipped": 0}
    assert (shown["aggregates"], shown["values"]) == (["count(*)", "sum(i)"], ["2", "6"])


@pytest.mark.parametrize("text", ["avg(i)", "count(DISTINCT i)", "min(*)", "sum(i + 1)", "min(st.x)", "count()", ""])
def test_other_aggregates_are_refused_by_name(text):
    with pytest.raises(UnsupportedError, match="is none of count"):
        Aggregate.parse(text)


def test_a_column_that_the_table_does_not_have_is_an_error(folders):
    plan = prune(written(next(folders), [(IDS, {})]), "TRUE")
    with pytest.raises(UnknownColumnError, match="did you mean dec"):
        split_aggregates(plan, [Aggregate("min", "decs")])
