"""A mistake in a call of ``prune`` raises an error that says what to pass. It never reads a whole table in silence."""

import datetime
import pathlib

import numpy as np
import pyarrow.compute as pc
import pytest

import index_store
from evaluator.language.errors import UnsupportedError
from evaluator.language.expression import And, Column, Compare, In, Like, Literal, Not
from evaluator.language.types import INT
from handler import open_table, prune
from handler.sql import SqlError
from sarg import DecodeError

COLUMN, FIVE = Column(("i",)), Literal(5, INT)


@pytest.fixture(scope="module")
def table(main_cow):
    return open_table(main_cow)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("given", "says"),
    [
        (None, "'TRUE'"),
        (42, "SQL text"),
        (1.5, "SQL text"),
        (True, "'TRUE'"),
        (False, "'FALSE'"),
        (pc.field("i") > 5, "pyarrow"),
        (np.array(["i = 5"]), "numpy"),
        (np.int64(5), "numpy"),
        (["i = 5", "l = 5"], "AND"),
        (("i = 5",), "AND"),
        ({"i": 5}, "SQL text"),
        (bytearray(b"\x01"), "bytes"),
        (memoryview(b"\x01"), "bytes"),
        (pathlib.Path("filter.sql"), "SQL text"),
        (object(), "SQL text"),
        (prune, "SQL text"),
        (COLUMN, "compare it"),
        (FIVE, "compare it"),
        (Compare("=", "i", 5), "Column"),
        (Compare("=", COLUMN, 5), "Literal"),
        (Compare("=", COLUMN, None), "None"),
        (And((Compare("=", COLUMN, FIVE), "l = 5")), "a part of the expression is str"),
        (And(None), "And"),
        (Compare("=", Column("i"), FIVE), "a tuple of names"),
        (Compare("=", Column(["i"]), FIVE), "a tuple of names"),
        (Compare("=", Column(()), FIVE), "a tuple of names"),
        (Compare("=", COLUMN, Literal(5, "int")), "such as INT"),
        (Compare("==", COLUMN, FIVE), "its operator is one of"),
        (Compare("like", COLUMN, FIVE), "its operator is one of"),
        (Like(COLUMN, None), "texts"),
        (Not("i = 5"), "str"),
        (In(COLUMN, (5, 6)), "int"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_filter_is_a_type_error(table, given, says, strict):
    with pytest.raises(TypeError) as raised:
        prune(table, given, strict=strict)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    "given",
    ["", " \t\n", "-- nothing", ";", "i =", "i = 5; l = 5", "SELECT * FROM t", "5", "\x00 =", "i = '\ud800'"],
)
def test_text_that_is_no_condition_is_an_sql_error(table, given):
    with pytest.raises(SqlError):
        prune(table, given)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (b"", "empty"),
        (b"i = 5", "SQL text is given as str"),
        (b"\x01\x02\x03", "at byte"),
        (b"\xff\xfe", "at byte"),
        ("AQEA" + "A" * 60, "at byte"),
    ],
)
def test_bytes_that_are_no_hive_filter_are_a_decode_error(table, given, says):
    with pytest.raises(DecodeError, match=says):
        prune(table, given)


@pytest.mark.parametrize("given", [None, 42, b"/data/trips", ["/data/trips"], object()])
def test_what_is_no_table_is_a_type_error(given):
    with pytest.raises(TypeError, match="a path, a URI or what open_table gave"):
        prune(given, "i = 5")


def test_a_table_of_index_store_is_a_type_error(main_cow):
    with pytest.raises(TypeError, match="open_table"):
        prune(index_store.open_table(main_cow), "i = 5")


def test_an_empty_path_is_a_value_error():
    with pytest.raises(ValueError, match=r"\.hoodie"):
        prune("", "i = 5")


@pytest.mark.parametrize(
    ("named", "error", "says"),
    [
        ({"engine": "postgres"}, ValueError, "spark-ansi"),
        ({"engine": "sparkansi"}, ValueError, "did you mean spark-ansi?"),
        ({"engine": "Hive"}, ValueError, "did you mean hive"),
        ({"engine": ""}, ValueError, "spark"),
        ({"engine": 5}, ValueError, "spark"),
        ({"as_of": 20261101}, TypeError, "text"),
        ({"as_of": datetime.datetime(2026, 11, 1)}, TypeError, "datetime"),
        ({"as_of": "yesterday"}, index_store.TableError, "yesterday"),
        ({"as_of": ""}, ValueError, "empty"),
        ({"strict": "yes"}, TypeError, "True or False"),
        ({"strict": None}, TypeError, "True or False"),
        ({"time_zone": 5}, TypeError, "text"),
        ({"time_zone": datetime.timedelta(0)}, TypeError, "text"),
        ({"time_zone": "Mars/Olympus"}, UnsupportedError, "Mars/Olympus"),
        ({"time_zone": "../../etc/passwd"}, UnsupportedError, "passwd"),
        ({"time_zone": ""}, ValueError, "empty"),
    ],
    ids=str,
)
def test_an_argument_of_the_session_that_is_none(table, named, error, says):
    with pytest.raises(error, match=says):
        prune(table, "i = 5", **named)


def test_the_filter_is_read_before_the_table_is_opened(tmp_path):
    with pytest.raises(SqlError):
        prune(tmp_path / "no table", "i =")
    with pytest.raises(index_store.TableError):
        prune(tmp_path / "no table", "i = 5")


@pytest.mark.parametrize(
    "given", ["/data/trips", "s3://lake/trips", "./trips", "../x/trips", "~/trips", pathlib.Path("trips"), "opened"]
)
def test_a_table_in_place_of_the_filter_is_a_type_error(main_cow, given):
    given = open_table(main_cow) if given == "opened" else given
    with pytest.raises(TypeError, match=r"the table comes first: prune\(table, filter\)"):
        prune("i = 5", given)


@pytest.mark.parametrize("text", ["/* all */ i = 5", "  /* / */ -i < 5", ".5 < i", "~i < 5", "i/2 = 5"])
def test_no_condition_is_taken_for_a_path(main_cow, text):
    assert prune(main_cow, text).expression


def test_a_session_belongs_to_handler_spark():
    session = type("SparkSession", (), {"__module__": "pyspark.sql.session"})()
    with pytest.raises(TypeError, match=r"handler\.spark\.prune\(spark, table, condition\) takes a session"):
        prune(session, "/data/trips")
