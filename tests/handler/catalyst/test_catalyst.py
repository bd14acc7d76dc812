"""Catalyst's trees of Spark 3.5.5, 4.1.4 and 4.3.0, recorded as JSON, as conditions of Sargo. No Spark runs here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language.expression import Opaque, Unknown, to_text, walk
from evaluator.language.outcome import FALSE, NULL, TRUE, describe
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import INT
from evaluator.statistics.columns import from_values
from handler.catalyst.translation import MAX_NODES, condition_of
from handler.catalyst.tree import missing_parts
from tests.handler.spark.catalyst_cases import ANSI_MEANINGS, MEANINGS, NEWER_MEANINGS, OLDER_MEANINGS, ZONE

NEWER = ("4.1.4", "4.3.0")
VERSIONS = ("3.5.5", *NEWER)
RECORDED = {
    version: json.loads((Path(__file__).parents[1] / "spark/data" / f"catalyst_{version}.json").read_text("utf-8"))
    for version in VERSIONS
}


def recorded(version, text, ansi=False):
    """The nodes of a condition, and the values that they leave out."""
    recording = RECORDED[version]["ansi false"][text] | (RECORDED[version]["ansi true"].get(text, {}) if ansi else {})
    return recording["nodes"], {int(index): value for index, value in recording["exact"].items()}


def meaning(version, text, ansi=False):
    return to_text(condition_of(*recorded(version, text, ansi), ZONE))


@pytest.mark.parametrize("text", MEANINGS)
def test_all_versions_mean_the_same_with_ansi_and_without(text):
    assert {meaning(version, text) for version in NEWER} == {MEANINGS[text]}
    assert meaning("3.5.5", text) == OLDER_MEANINGS.get(text, MEANINGS[text])
    with_ansi = {meaning(version, text, ansi=True) for version in VERSIONS}
    assert with_ansi == {ANSI_MEANINGS.get(text, MEANINGS[text]), ANSI_MEANINGS.get(text, meaning("3.5.5", text))}


OF_A_ZONE = (
    "hour(t) = 3",
    "year(t) = 2020",
    "month(t) IN (1, 2)",
    "to_date(t) = DATE'2020-01-01'",
    "CAST(t AS DATE) = DATE'2020-01-01'",
    "date_trunc('month', t) = TIMESTAMP'2020-01-01 00:00:00'",
    "date_format(t, 'yyyy-MM') = '2020-01'",
    "unix_timestamp(t) > 1500000000",
    "t > '2020-1-1 10:00:00'",
    "t > dt",
    "tn > t",
    "t + INTERVAL 1 DAY > t",
)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("text", OF_A_ZONE)
def test_what_was_analysed_in_another_time_zone_is_unknown(version, text):
    """A view keeps the zone in which it was made, and a frame that of its time; the session has another one by now."""
    there = condition_of(*recorded(version, text), "Asia/Kolkata")
    assert "is in another time zone" in to_text(there)
    assert "?" not in meaning(version, text)


@pytest.mark.parametrize("text", ["s = 5", "i / 2 = 1", "i = NULL", "CAST(i AS STRING) = '3'", "md5(s) = 'x'"])
def test_a_time_zone_does_not_count_where_nothing_depends_on_it(text):
    assert to_text(condition_of(*recorded("3.5.5", text), "Asia/Kolkata")) == meaning("3.5.5", text)


@pytest.mark.parametrize(("analysed", "session"), [("Etc/UTC", "UTC"), ("GMT+8", "+08:00"), ("Etc/GMT+5", "-05:00")])
def test_a_time_zone_has_many_names(analysed, session):
    nodes, exact = recorded("3.5.5", "hour(t) = 3")
    nodes = [{**node, "timeZoneId": analysed} if "timeZoneId" in node else node for node in nodes]
    assert to_text(condition_of(nodes, exact, session)) == "hour(t) = 3"
    assert "another time zone" in to_text(condition_of(nodes, exact, "+09:00"))


def test_intervals_that_nobody_computed_are_compared():
    first, second = (
        {"class": "Literal", "num-children": 0, "value": str(days * 86_400_000_000), "dataType": "interval day"}
        for days in (1, 2)
    )
    compared = {"class": "GreaterThan", "num-children": 2, "left": 0, "right": 1}
    assert to_text(condition_of([compared, first, second], {}, ZONE)) == "INTERVAL '1' DAY > INTERVAL '2' DAY"


@pytest.mark.parametrize("text", NEWER_MEANINGS)
def test_what_only_spark_4_knows(text):
    assert {meaning(version, text) for version in NEWER} == {NEWER_MEANINGS[text]}
    assert text not in RECORDED["3.5.5"]["ansi false"]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_condition_is_recorded_and_every_record_has_a_meaning(version):
    expected = {*MEANINGS, *(NEWER_MEANINGS if version in NEWER else ())}
    assert set(RECORDED[version]["ansi false"]) == expected
    assert set(RECORDED[version]["ansi true"]) <= expected


@pytest.mark.parametrize("version", VERSIONS)
def test_the_escape_character_counts(version):
    like = condition_of(*recorded(version, "s LIKE 'a/%%' ESCAPE '/'"))
    assert (like.pattern, like.escape) == ("a/%%", "/")


@pytest.mark.parametrize("version", NEWER)
@pytest.mark.parametrize(
    "text",
    [
        "s LIKE 'a%'",
        "t > TIMESTAMP'2020-11-01 01:30:00'",
        "bin = X'00FF61'",
        "s LIKE ANY ('a%', 'b%')",
        "i BETWEEN nullif(l, 3) AND nullif(l, 9)",
        "i BETWEEN 1 AND 3 AND l BETWEEN 4 AND 5",
    ],
)
def test_what_the_json_leaves_out_is_unknown_when_nobody_tells_it(text, version):
    nodes, exact = recorded(version, text)
    assert set(missing_parts(nodes)) == set(exact)
    condition = condition_of(nodes, {}, ZONE)
    assert any(isinstance(node, Unknown | Opaque) for node in walk(condition))


#: Conditions with a part that has no influence: the text that a NULL pattern is compared with, the type of a NULL, the
#: pattern of unix_timestamp over a timestamp.
PARTS_THAT_DO_NOT_MATTER = {
    "startswith(s, NULL)",
    "s NOT LIKE ANY ('a%', NULL)",
    "nullif(i, 3) = 2",
    "i BETWEEN nullif(l, 3) AND nullif(l, 9)",
    "unix_timestamp(t) > 1500000000",
    "unix_timestamp() > l",
}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_class_that_is_not_known_is_unknown_wherever_it_stands(version):
    for text in RECORDED[version]["ansi false"].keys() - PARTS_THAT_DO_NOT_MATTER:
        nodes, exact = recorded(version, text)
        for place, node in enumerate(nodes):
            strange = {key: value for key, value in node.items() if key not in ("class", "replacement")}
            changed = [*nodes[:place], {"class": "Strange", **strange}, *nodes[place + 1 :]]
            condition = condition_of(changed, exact, ZONE)
            assert any(isinstance(part, Unknown | Opaque) for part in walk(condition)), (text, place)


def leaf(class_name, /, **fields):
    return {"class": f"org.apache.spark.sql.catalyst.expressions.{class_name}", "num-children": 0, **fields}


def node(class_name, /, *children, **fields):
    return [
        {**leaf(class_name, **fields), "num-children": len(children)},
        *(item for child in children for item in child),
    ]


COLUMN = [leaf("AttributeReference", name="i", dataType="integer", nullable=True)]


def number(value):
    return [leaf("Literal", value=str(value), dataType="integer")]


def outcomes_of(condition, *slices):
    """The outcome of a condition on i for each slice (lo, hi, nulls, rows)."""
    los, his, nulls, rows = zip(*slices, strict=True)
    bound = bind(condition, Schema([Field("i", INT)]), Semantics.named("spark-legacy", "UTC"))
    source = StatisticsProvider("test", {"i": from_values(INT, los, his, nulls, rows)})
    return [describe(outcome) for outcome in evaluate(bound, len(slices), [source]).outcomes.tolist()]


ROWS = ((5, 5, 0, 1), (7, 9, 0, 2), (None, None, 2, 2), (3, 5, 1, 4))


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (node("In", COLUMN), [{"F", "N"}] * 4),
        (node("Not", node("In", COLUMN)), [{"T", "N"}] * 4),
        (
            node(
                "EqualNullSafe", node("EqualTo", COLUMN, number(5)), [leaf("Literal", value="true", dataType="boolean")]
            ),
            [{"T"}, {"F"}, {"F"}, {"T", "F", "N"}],
        ),  # the N is one too many, and harmless
        (node("IsNull", node("EqualTo", COLUMN, number(5))), [{"F"}, {"F"}, {"T"}, {"T", "F"}]),
        (
            node(
                "EqualTo", [leaf("Literal", value="false", dataType="boolean")], node("GreaterThan", COLUMN, number(5))
            ),
            [{"T"}, {"F"}, {"N"}, {"T", "N"}],
        ),
        (
            node(
                "LessThan", [leaf("Literal", value="false", dataType="boolean")], node("GreaterThan", COLUMN, number(5))
            ),
            [{"F"}, {"T"}, {"N"}, {"F", "N"}],
        ),
    ],
    ids=["IN ()", "NOT IN ()", "(i = 5) <=> TRUE", "(i = 5) IS NULL", "FALSE = (i > 5)", "FALSE < (i > 5)"],
)
def test_conditions_as_values_have_the_outcome_of_their_rows(tree, expected):
    outcomes = outcomes_of(condition_of(tree), *ROWS)
    assert outcomes == [
        describe(sum({"T": TRUE, "F": FALSE, "N": NULL}[letter] for letter in letters)) for letters in expected
    ]


def test_the_optimisers_long_lists_are_lists():
    tree = node("InSet", COLUMN, hset=None)
    assert to_text(condition_of(tree, {0: [("integer", 3), ("integer", 9), ("integer", None)]})) == "i IN (3, 9, NULL)"
    dates = node("InSet", [leaf("AttributeReference", name="dt", dataType="date")], hset=None)
    assert to_text(condition_of(dates, {0: [("date", 18262)]})) == "dt IN (DATE '2020-01-01')"
    assert isinstance(condition_of(tree), Unknown)


def test_a_tree_ten_thousand_levels_deep():
    tree = [leaf("Not") | {"num-children": 1} for _ in range(10_001)] + node("IsNull", COLUMN)
    assert outcomes_of(condition_of(tree), *ROWS[:3]) == outcomes_of(
        condition_of(node("Not", node("IsNull", COLUMN))), *ROWS[:3]
    )


def test_values_that_double_at_every_level_end_as_unknown():
    tree = node("EqualTo", COLUMN, number(5))
    for _ in range(40):
        tree = node("EqualTo", tree, [leaf("AttributeReference", name="b", dataType="boolean")])
    condition = condition_of(tree)
    assert sum(1 for _ in walk(condition)) < 3 * MAX_NODES


@pytest.mark.parametrize("nodes", [[], COLUMN + COLUMN, node("Not", COLUMN)[:1]])
def test_what_is_no_tree_is_an_error(nodes):
    with pytest.raises(ValueError, match="tree"):
        condition_of(nodes)
