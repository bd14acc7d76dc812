"""Hudi's read options: the rows that Hudi's own reader returns for them, or an error that names the option."""

from __future__ import annotations

import json

import pytest
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from evaluator.language.errors import UnsupportedError
from handler.spark import prune, read
from handler.spark.pruning.read_options import FROM_SESSION, read_options
from handler.spark.registration import register
from handler.spark.source.datasource import PruningSource
from index_store import TableError
from index_store.opened_table import open_table
from tests.handler.spark.real_tables import unpack
from tests.handler.spark.record_read_options import ANSWERS, CASES, TABLES, answer_of, filled, unpacked
from tests.sampling import share

RECORDED = json.loads(ANSWERS.read_text(encoding="utf-8"))
#: Options with which Hudi reads the rows of a snapshot, and that are refused: they ask for something else.
REFUSED = {
    "hoodie.datasource.read.begin.instanttime",
    "hoodie.datasource.read.end.instanttime",
    "hoodie.datasource.read.start.timestamp",
    "hoodie.datasource.query.incremental.format=cdc",
    "hoodie.datasource.query.type=incremental",
    "hoodie.datasource.view.type=read_optimized",
    "hoodie.datasource.merge.type=skip_merge",
    "hoodie.datasource.read.extract.partition.values.from.path",
    "timestampAsOf",
    "versionAsOf",
}
#: Options that the newest release takes and an older one refuses, and options with the same meaning.
ONLY_NEWER = {
    json.dumps({"as.of.instant": "{1:iso}"}): {"as.of.instant": "{1:millis}"},
    json.dumps({"hoodie.datasource.merge.type": "PAYLOAD_COMBINE"}): {},
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """(path, instants) of a table by its name."""
    folder, made = tmp_path_factory.mktemp("tables"), {}

    def table(name):
        if name not in made:
            path = unpacked(name, folder)
            made[name] = path, [one.requested for one in open_table(path, cache=None).table.timeline.writes]
        return made[name]

    return table


def rows_of(path, options):
    """The rows as ``format("sargo")`` reads them, in this process."""
    source = PruningSource({"path": str(path), **options})
    reader = source.reader(source.schema())
    batches = [batch for partition in reader.partitions() for batch in reader.read(partition)]
    rows = [row for batch in batches for row in batch.to_pylist()]
    return answer_of((row["_hoodie_record_key"], row["_hoodie_commit_time"]) for row in rows)


def rows_or_none(path, options):
    """None where the table's log files are not merged here, which is an error that says so."""
    try:
        return rows_of(path, options)
    except UnsupportedError as error:
        if "not merged here" not in str(error):
            raise
        return None


def is_refused(options):
    return any(name in REFUSED or f"{name}={value}" in REFUSED for name, value in options.items())


@pytest.mark.parametrize("name", share(TABLES, 2))
def test_rows_are_those_of_hudi_or_an_error_names_the_option(tables, name):
    path, instants = tables(name)
    answers = dict(zip(map(json.dumps, CASES), RECORDED[name], strict=True))
    cases = [options for options, settings in CASES if not settings]
    compared = 0
    for options in share(cases, 4, seed=name):
        given = {option: filled(value, instants) for option, value in options.items()}
        answer = answers[json.dumps((options, {}))]
        same = ONLY_NEWER.get(json.dumps(options))
        if same is not None and answer.startswith("refused"):  # by this release, and not by a newer one
            answer = answers[json.dumps((same, {}))]
        if is_refused(options) or answer.startswith("refused"):
            with pytest.raises(UnsupportedError) as refused:
                rows_of(path, given)
            assert any(option.lower() in str(refused.value) for option in options), refused.value
        elif answer.startswith("0 rows"):  # before the first commit: Hudi returns an empty table
            with pytest.raises(TableError, match="no commit is as old"):
                rows_of(path, given)
        elif (rows := rows_or_none(path, given)) is not None:
            assert rows == answer, given
            compared += 1
    assert compared > 2


def test_hudi_takes_settings_of_the_session_and_so_does_read(tables):
    """What it makes of each is recorded. A setting without "hoodie." or "spark.hoodie." is no option."""
    name = "1.2.0_flat_mor"
    by_case = {json.dumps(case): answer for case, answer in zip(CASES, RECORDED[name], strict=True)}
    of_options = {
        "snapshot": by_case[json.dumps(({}, {}))],
        "read_optimized": by_case[json.dumps(({"hoodie.datasource.query.type": "read_optimized"}, {}))],
    }
    assert of_options["snapshot"] != of_options["read_optimized"]
    for options, settings in CASES:
        taken = {option.removeprefix("spark."): value for option, value in settings.items()}
        if not settings or not set(taken) <= set(FROM_SESSION) or "schema" in str(taken):
            continue
        answer = by_case[json.dumps((options, settings))]
        if "skip_merge" in str(taken):
            assert answer not in of_options.values()
            with pytest.raises(UnsupportedError, match=r"setting hoodie\.datasource\.merge\.type='skip_merge'"):
                read_options(options, taken)
        else:
            assert of_options[read_options(options, taken).query] == answer, (options, settings)


@pytest.fixture
def setting(spark):
    """Sets a setting of the session, until the end of the test."""
    names = []

    def set_(name, value):
        names.append(name)
        spark.conf.set(name, value)

    yield set_
    for name in names:
        spark.conf.unset(name)


def test_read_prune_and_the_format_agree_with_hudi_in_a_session(spark, tables, setting):
    path, instants = tables("1.0.2_wide_mor")
    bases = RECORDED["1.0.2_wide_mor"][CASES.index(({"hoodie.datasource.query.type": "read_optimized"}, {}))]

    def rows(frame):
        return answer_of(frame.select("_hoodie_record_key", "_hoodie_commit_time").collect())

    register(spark)
    assert rows(read(spark, path, options={"Hoodie.Datasource.Query.Type": "read_optimized"})) == bases
    assert prune(spark, path, "TRUE", options={"AS.of.instant": instants[1]}).instant == instants[1]
    frame = spark.read.format("sargo").option("hoodie.datasource.QUERY.type", "read_optimized").load(str(path))
    assert rows(frame) == bases
    setting("hoodie.datasource.query.type", "read_optimized")
    assert rows(read(spark, path)) == bases
    with pytest.raises(Exception, match=r"setting hoodie.datasource.query.type=read_optimized.*give .option"):
        rows(spark.read.format("sargo").load(str(path)))
    plan = prune(spark, path, "TRUE")
    assert any("read-optimised" in reason.text for reason in plan.reasons)
    assert len(plan.kept) == sum(1 for one in plan.slices if one.base_file)
    explicit = prune(spark, path, "TRUE", options={"hoodie.datasource.query.type": "snapshot"})
    assert not any("read-optimised" in reason.text for reason in explicit.reasons)
    setting("spark.hoodie.datasource.query.type", "snapshot")
    with pytest.raises(UnsupportedError, match="given twice"):
        read(spark, path)


def test_read_and_prune_refuse_what_the_format_refuses(spark, tables):
    path, instants = tables("1.0.2_wide_mor")
    for call in (lambda options: read(spark, path, options=options), lambda o: prune(spark, path, "TRUE", options=o)):
        for name, value in [
            ("hoodie.datasource.query.type", "incremental"),
            ("hoodie.datasource.query.type", "READ_OPTIMIZED"),
            ("hoodie.datasource.read.begin.instanttime", instants[0]),
            ("hoodie.datasource.merge.type", "skip_merge"),
            ("hoodie.datasource.read.paths", "/elsewhere"),
            ("as.of.instant", "yesterday"),
            ("hoodie.datasource.query.tpye", "snapshot"),
            ("hoodie.datasource.read.of.another.release", "1"),
            ("hoodie.index.tpye", "BUCKET"),
        ]:
            with pytest.raises(UnsupportedError, match=name):
                call({name: value})
        with pytest.raises(TypeError, match="texts"):
            call({"hoodie.metadata.enable": True})
        with pytest.raises(TypeError, match="dict"):
            call("as.of.instant=20260101")
    with pytest.raises(UnsupportedError, match="as_of is given twice"):
        read(spark, path, as_of=instants[0], options={"as.of.instant": instants[1]})
    with pytest.raises(UnsupportedError, match="query is given twice"):
        read(spark, path, query="snapshot", options={"hoodie.datasource.query.type": "read_optimized"})


def test_columns_by_id_are_refused_where_a_column_was_renamed(tables, tmp_path):
    by_id = {"hoodie.schema.on.read.enable": "true"}
    assert PruningSource({"path": str(tables("1.2.0_grown_mor")[0]), **by_id}).schema().names
    path = str(unpack("1.2.0_readded_cow", tmp_path / "t"))
    with pytest.raises(UnsupportedError, match="renamed, or dropped and added again: e"):
        PruningSource({"path": path, **by_id}).schema()
    assert PruningSource({"path": path, "hoodie.schema.on.read.enable": "false"}).schema().names


# -- a schema of the user


def given_rows(path, schema):
    reader = PruningSource({"path": str(path)}).reader(schema)
    batches = [batch for partition in reader.partitions() for batch in reader.read(partition)]
    return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.nightly
def test_a_schema_of_some_columns_in_another_order(spark, tables):
    path, _ = tables("1.2.0_wide_cow")
    register(spark)
    whole = {row["id"]: row for row in spark.read.format("sargo").load(str(path)).collect()}
    frame = spark.read.format("sargo").schema("s string, id string").load(str(path))
    rows = frame.collect()
    assert frame.columns == ["s", "id"]
    assert len(rows) == len(whole) == 94
    assert all(row["s"] == whole[row["id"]]["s"] for row in rows)
    assert frame.where("s IS NULL").count() == sum(1 for row in whole.values() if row["s"] is None)
    with pytest.raises(Exception, match="column nope of the schema given is not in the table"):
        spark.read.format("sargo").schema("id string, nope int").load(str(path)).collect()
    spark.sql(f"CREATE TEMPORARY VIEW typed (id string, s int) USING sargo OPTIONS (path '{path}')")
    with pytest.raises(Exception, match="column s is declared int, and the table has string"):
        spark.sql("SELECT id FROM typed WHERE s = 1").collect()
    spark.sql("DROP VIEW typed")


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (StructField("nope", StringType()), "column nope of the schema given is not in the table"),
        (StructField("ID", StringType()), "did you mean id"),
        (StructField("id", IntegerType()), "declared int, and the table has string"),
        (StructField("id", StringType(), nullable=False), "declared NOT NULL"),
        (StructField("id", StructType([StructField("x", StringType())])), "declared struct<x:string>"),
    ],
    ids=str,
)
def test_a_schema_that_is_not_the_tables(tables, column, said):
    path, _ = tables("1.2.0_wide_cow")
    with pytest.raises(UnsupportedError, match=said):
        PruningSource({"path": str(path)}).reader(StructType([column]))
