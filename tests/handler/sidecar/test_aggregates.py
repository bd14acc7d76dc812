"""The call aggregate(): values over real tables are those of their rows, and doubts answer nothing."""

import asyncio
import zlib
from types import SimpleNamespace

import pytest

from evaluator.language.types import INT, STRING, TIMESTAMP, TIMESTAMP_LTZ, decimal_type
from handler import open_table, prune
from handler.aggregates import answers
from handler.aggregates.aggregate import Aggregate
from handler.aggregates.split import split_aggregates
from handler.indexes.operations import IndexWork
from handler.sidecar.aggregates import Aggregates, read_aggregate_request, spark_type
from handler.sidecar.decisions.planning_process import PlanningFailed
from handler.sidecar.idl import PROTOCOL_VERSION, AggregateRequest, Refused
from handler.sidecar.roots.allowed_roots import AllowedRoots
from handler.sidecar.sargo_thrift.ttypes import Refused as RefusedMessage
from handler.sidecar.settings import Settings
from handler.sql.parsing import parse
from tests.handler.aggregates.counted_footers import counted
from tests.handler.aggregates.table_aggregates import TableRows
from tests.handler.aggregates.test_real_tables import SPARK
from tests.handler.catalyst.documents import document
from tests.handler.sidecar.conftest import SECRET
from tests.handler.sidecar.test_spark_filter import CONDITIONS, I_IS_100, files

ASKED = (
    "count(*)",
    "count(`s`)",
    "count(`i`)",
    "min(`i`)",
    "max(`i`)",
    "max(`l`)",
    "min(`dt`)",
    "max(`t`)",
    "min(`p`)",
)
EVERYTHING = document()


def aggregate_request(table, filter_, names, asked=ASKED, **given):
    fields = {
        "protocol_version": PROTOCOL_VERSION,
        "table": str(table),
        "filter": filter_,
        "engine": "spark-ansi",
        "time_zone": "UTC",
        "names": "\n".join(names).encode(),
        "name_count": len(names),
        "merges_rows": True,
        "aggregates": "\n".join(asked).encode(),
    }
    return AggregateRequest(**(fields | given))


def answered_names(names, reply):
    return {name for i, name in enumerate(names) if reply.answered and reply.answered[i >> 3] & (1 << (i & 7))}


def texts(values):
    return ["" if value is None else f"={int(value) if isinstance(value, bool) else value}" for value in values]


@pytest.mark.parametrize("name", ["1.1.1_main_cow", "1.1.1_main_mor", "1.0.2_main_cow", "0.15.0_main_cow"])
def test_values_are_those_of_the_rows_of_the_answered_files(sidecar, unpack, name):
    table = unpack(name)
    opened, listed = open_table(table), files(table)
    rows = TableRows(opened, None)
    by_name = {item.base_file: item for item in opened.at().slices}
    filters = {"TRUE": EVERYTHING} | {text: document(one) for text, one in CONDITIONS.items()}
    many = 0
    with sidecar(roots=[str(table)], request_seconds=30).client() as client:
        for text, sent in filters.items():
            reply = client.aggregate(aggregate_request(table, sent, listed))
            items = [by_name[one] for one in answered_names(listed, reply)]
            plan = prune(opened, text, "spark-ansi", time_zone="UTC")
            split = split_aggregates(plan, [Aggregate.parse(one) for one in ASKED])
            assert set(items) == {one.item for one in split.answered}, text
            assert (reply.answered_count, reply.name_count) == (len(items), len(listed))
            assert reply.digest == zlib.crc32("\n".join(listed).encode())
            many += len(items)
            if not items:
                assert (reply.answered, reply.values, reply.types) == (b"", None, None)
                assert reply.reasons
                continue
            asked = [Aggregate.parse(one) for one in ASKED]
            assert reply.values == texts(one.total(rows.aggregate(item, one) for item in items) for one in asked), text
            assert reply.types == ["bigint"] * 3 + ["int", "int", "bigint", "date", "timestamp", "string"]
            for item in items:
                assert len(rows.satisfying(item, parse(text, "spark"), SPARK)) == rows.count(item)
    assert many >= 15


def test_questions_about_the_same_files_read_their_footers_once(sidecar, unpack, monkeypatch):
    paths = counted(monkeypatch)
    table = unpack("1.1.1_main_cow")
    listed = files(table)
    with sidecar(roots=[str(table)], request_seconds=30).client() as client:
        first = client.aggregate(aggregate_request(table, EVERYTHING, listed, ("min(`i`)", "max(`l`)")))
        assert sorted(paths) == sorted(listed)
        half = client.aggregate(aggregate_request(table, EVERYTHING, listed[::2], ("max(`i`)",)))
        again = client.aggregate(aggregate_request(table, EVERYTHING, listed, ("max(`l`)", "count(*)")))
    assert len(paths) == len(listed) == first.answered_count == again.answered_count
    assert half.answered_count == len(listed[::2])
    assert again.values[0] == first.values[1]


def test_sums_come_from_an_own_index(sidecar, unpack):
    """Of those that know the file; an index that is made later is used."""
    table = unpack("1.1.1_main_cow")
    listed, asked = files(table), ("sum(`i`)", "sum(`l`)", "sum(`dec`)", "sum(`d`)")
    opened = open_table(table)
    rows = TableRows(opened, None)
    expected = [
        one.total(rows.aggregate(item, one) for item in opened.at().slices) for one in map(Aggregate.parse, asked[:3])
    ]
    with sidecar(roots=[str(table)], request_seconds=30, refresh_seconds=0).client() as client:
        before = client.aggregate(aggregate_request(table, EVERYTHING, listed, asked[:3]))
        assert (before.answered_count, before.values) == (0, None)
        assert any("no own index has their sum" in reason for reason in before.reasons)
        IndexWork(str(table)).create(["i", "l", "dec"], ["sum"], name="totals")
        reply = client.aggregate(aggregate_request(table, EVERYTHING, listed, asked[:3]))
        assert (reply.answered_count, reply.values) == (len(listed), texts(expected))
        assert reply.types == ["bigint", "bigint", "decimal(20,2)"]
        of_doubles = client.aggregate(aggregate_request(table, EVERYTHING, listed, asked))
        assert (of_doubles.answered_count, of_doubles.reasons) == (
            0,
            ["sum(d): footers have no exact answer for the type double"],
        )


def test_a_list_with_other_files_of_a_slice_answers_nothing_of_it(sidecar, unpack):
    """The client reads log files that the view does not know; and one that lists no log file still has those rows."""
    table = unpack("1.1.1_main_mor")
    slices = list(open_table(table).at().slices)
    lone = next(item for item in slices if item.base_file and not item.log_files)
    merged = next(item for item in slices if item.base_file and item.log_files)
    log = merged.log_files[0]
    of_lone = log.replace(merged.file_id, lone.file_id).replace(merged.partition, lone.partition)
    with sidecar(roots=[str(table)]).client() as client:

        def asked(*names, **given):
            return answered_names(
                names, client.aggregate(aggregate_request(table, EVERYTHING, names, ["count(*)"], **given))
            )

        assert asked(lone.base_file) == {lone.base_file}
        assert asked(lone.base_file, of_lone) == set()
        assert asked(lone.base_file, "p=1/what.is.this") == set()
        assert asked(*merged.files) == set()
        assert asked(merged.base_file) == set()
        assert asked(merged.base_file, query_type="read_optimized") == set()
        assert asked(lone.base_file, query_type="read_optimized") == {lone.base_file}
        assert asked(lone.base_file, lone.base_file.replace(lone.file_id, "f" * 36)) == {lone.base_file}


def test_a_file_of_another_version_of_its_slice_is_read(sidecar, main_cow, names):
    other = [name.replace(".parquet", "1.parquet") for name in names]
    with sidecar(roots=[str(main_cow)]).client() as client:
        assert client.aggregate(aggregate_request(main_cow, EVERYTHING, names)).answered_count == len(names)
        assert client.aggregate(aggregate_request(main_cow, EVERYTHING, other)).answered_count == 0


@pytest.mark.parametrize(
    ("sent", "given", "why"),
    [
        (b"i = 100", {}, "cannot be read"),
        (I_IS_100, {"time_zone": "Nowhere/Land"}, "time zone"),
        (EVERYTHING, {"time_zone": None}, "time zone"),
        (EVERYTHING, {"engine": "spark-try"}, "errors of rows"),
        (EVERYTHING, {"aggregates": b"max(`d`)"}, "no exact answer for the type double"),
        (EVERYTHING, {"aggregates": b"max(`s`)"}, "bounds of column s of type string are not exact"),
        (EVERYTHING, {"aggregates": b"max(`nobody`)"}, "nobody"),
        (EVERYTHING, {"aggregates": b"count(*)\nmax(`bin`)"}, "binary"),
    ],
)
def test_doubts_answer_nothing_and_say_why(sidecar, main_cow, names, sent, given, why):
    with sidecar(roots=[str(main_cow)]).client() as client:
        reply = client.aggregate(aggregate_request(main_cow, sent, names, **given))
        assert (reply.answered, reply.answered_count, reply.values) == (b"", 0, None)
        assert any(why in reason for reason in reply.reasons), reply.reasons
        assert client.aggregate(aggregate_request(main_cow, EVERYTHING, names)).answered_count == len(names)


def test_a_condition_that_is_not_understood_holds_on_no_file_for_certain(sidecar, main_cow, names):
    """It is not left out of the filter, as a client may leave one out for skipping."""
    strange = ([{"class": "org.example.Strange", "num-children": 0}], {})
    with sidecar(roots=[str(main_cow)]).client() as client:
        reply = client.aggregate(aggregate_request(main_cow, document(strange), names))
        assert reply.answered_count == 0
        both = document(strange, CONDITIONS["l <= 200000000000"])
        assert client.aggregate(aggregate_request(main_cow, both, names)).answered_count == 0


def test_a_sidecar_in_shadow_mode_answers_nothing(sidecar, main_cow, names):
    with sidecar(roots=[str(main_cow)], shadow=True).client() as client:
        reply = client.aggregate(aggregate_request(main_cow, EVERYTHING, names))
        assert (reply.answered, reply.reasons) == (b"", ["the sidecar is in shadow mode"])


def test_more_files_than_footers_are_read_of_are_read(sidecar, main_cow, names, monkeypatch):
    monkeypatch.setattr(answers, "MAX_FOOTERS", 3)
    with sidecar(roots=[str(main_cow)]).client() as client:
        reply = client.aggregate(aggregate_request(main_cow, EVERYTHING, names))
    assert answered_names(names, reply) == set(names[:3])
    assert reply.reasons == ["the footers of the first 3 files are read"]


@pytest.mark.parametrize(
    ("evolves", "table_type", "version", "looks"),
    [
        (False, "COPY_ON_WRITE", 6, 1),
        (False, "MERGE_ON_READ", 8, 1),
        (False, "MERGE_ON_READ", 6, 2),
        (True, "COPY_ON_WRITE", 9, 2),
    ],
)
def test_where_a_later_commit_may_change_what_is_known_the_table_is_looked_at_anew(
    tmp_path, evolves, table_type, version, looks
):
    """A log file may have been appended to, and a name may have become another column's."""
    seen = []

    class Looked:
        def now(self):
            return 7.0

        async def view(self, _location, _as_of, newer_than=None):
            seen.append(newer_than)
            return SimpleNamespace(evolves_by_id=evolves, table_type=table_type, version=version), None

        async def decide(self, *_):
            raise PlanningFailed("enough")

    settings = Settings()
    question = read_aggregate_request(
        aggregate_request(tmp_path / "t", EVERYTHING, ["a"]), settings, AllowedRoots([str(tmp_path)])
    )
    with pytest.raises(PlanningFailed):
        asyncio.run(Aggregates(settings, Looked()).answer(question))
    assert seen == [None, 7.0][:looks]


def test_the_secret_comes_first(guarded, main_cow, names):
    with guarded().client() as client:
        for secret in (None, "wrong"):
            with pytest.raises(RefusedMessage) as refused:
                client.aggregate(aggregate_request(main_cow, EVERYTHING, names, secret=secret))
            assert refused.value.code == "secret"
        assert client.aggregate(aggregate_request(main_cow, EVERYTHING, names, secret=SECRET)).answered_count


@pytest.mark.parametrize(
    ("given", "code", "why"),
    [
        ({"aggregates": b""}, "request", "lines of count"),
        ({"aggregates": b"avg(`i`)"}, "request", "lines of count"),
        ({"aggregates": b"count(*)\n"}, "request", "lines of count"),
        ({"aggregates": b"\xff"}, "request", "lines of count"),
        ({"aggregates": b"count(*), max(`i`)"}, "request", "lines of count"),
        ({"aggregates": b"\n".join([b"count(*)"] * 33)}, "request", "up to 32"),
        ({"aggregates": b"count(`" + b"x" * (16 << 10) + b"`)"}, "limit", "16384 bytes"),
        ({"aggregates": None}, "request", "aggregates is missing"),
        ({"engine": "hive4"}, "request", "only engines of Spark"),
        ({"table": "/etc"}, "table", "roots"),
        ({"name_count": None}, "request", "name_count is missing"),
        ({"query_type": "incremental", "instant": "20200101000000000"}, "request", "incremental"),
    ],
)
def test_what_is_no_question_is_refused(tmp_path, given, code, why):
    request = aggregate_request(given.pop("table", tmp_path / "t"), EVERYTHING, ["a"], **given)
    with pytest.raises(Refused, match=why) as refused:
        read_aggregate_request(request, Settings(), AllowedRoots([str(tmp_path)]))
    assert refused.value.code == code


def test_types_have_the_names_of_spark():
    names = {STRING: "string", TIMESTAMP: "timestamp_ntz", TIMESTAMP_LTZ: "timestamp", INT: "int"}
    assert {of: spark_type(of) for of in names} == names
    assert spark_type(decimal_type(10, 2)) == "decimal(10,2)"
