"""Where Hive gives a predicate another meaning than Spark, and where the same meaning keeps other slices, and why."""

from __future__ import annotations

from collections.abc import Iterable

from tests.conformance.hive_truth import hive_rows


def other_meaning(sql: str, version: str) -> bool:
    """Whether some row of some table matches in this Hive and not in Spark, or the other way round, or Hive fails."""
    return sql in hive_rows()[version]


def _because(reason: str, texts: Iterable[str]) -> dict[str, str]:
    return dict.fromkeys(texts, reason)


#: Why real Hive means something else, found on the rows; what is not named here and differs fails a test.
OTHER_MEANINGS: dict[str, str] = {
    **_because(
        "Hive looks up doubles of a list by their bits: -0.0 is not in (0.0); and 0.0 alone is a decimal there",
        ["f in (0.0, 5.0)", "f in (0.0, 99.0)", "d in (-0.0, 99.0)"],
    ),
    **_because(
        "Hive 4 reads days before 1582-10-15 in files of other writers as Julian: 1582-10-04 is 1582-10-14",
        [
            "dt <= date '0001-01-03'",
            "dt <=> date '0001-01-03'",
            "dt = date '1582-10-04'",
            "dt in (date '0001-01-03', date '2020-01-14')",
            "date_format(dt, 'dd') = '04'",
            "dt > cast(t as date)",
        ],
    ),
    **_because(
        "Hive's square root of a negative number, of NaN and of infinity is NULL or NaN, which is not above 5",
        ["sqrt(d) > 5"],
    ),
    **_because("Hive's comparison of infinity with a constant beyond the type of the column is another", ["f > 1e39"]),
    **_because(
        "Hive compares text with a number as doubles, so that '1e1' is 10",
        ["s = 10", "s > 9", "s in (9, 10)", "s between 9 and 10"],
    ),
    **_because("Hive compares a boolean with text as numbers of which 'true' is none", ["b = 'true'"]),
    **_because(
        "Hive takes a decimal through decimal(38,18) on its way to a double; what does not fit is NULL",
        ["cast(big as double) > 1e20", "big < -1e30"],
    ),
    **_because(
        "Spark drops what a timestamp constant says below the microsecond",
        ["t >= timestamp '9999-12-31 23:59:59.999999999'"],
    ),
    **_because(
        "Hive rounds seconds before 1970 towards zero, and Spark down",
        ["unix_timestamp(t) < 0", "unix_timestamp(t) = 0"],
    ),
    **_because("Hive's text of the month after 9999-12 does not sort after 2021", ["add_months(dt, 1) > '2021-01-01'"]),
    **_because(
        "Spark's cast to varchar(n) is the whole text, and to char(n) the text without blanks added",
        ["cast(s as varchar(5)) = 'apple'", "cast(s as char(8)) = 'trail'"],
    ),
    **_because("Hive's greatest and least are NULL when one argument is", ["greatest(i, si) > 300"]),
    **_because(
        "Hive 3.1 finds no binary value in a list",
        [
            "bin in (cast('b000' as binary), cast('b010' as binary))",
            "bin not in (cast('b010' as binary), cast('b0101' as binary))",
            "bin in (cast('b001' as binary), cast('b0' as binary))",
        ],
    ),
    **_because(
        "Hive 3.1 reads a NULL struct of a Parquet file as a struct of NULLs", ["st.x is null and st is not null"]
    ),
}
#: What Hive 3.1 cannot read of files that Spark wrote: the rows of predicates on these columns are not known there.
HIVE_3_UNREAD = ("price", "t")

_CHANGED = "Hive's optimiser turns it into comparisons that say more"
_CALLED = "Hive asks a function of another meaning at the edges, of which less is known"
#: Predicates that match the same rows in Hive 4 and in Spark, but of which the evaluator understands one form better.
NOT_ALIKE: dict[str, str] = {
    **_because("Hudi's reader of base files shows an instant that Hive declares as a timestamp as NULL", ["t is null"]),
    **_because(
        _CHANGED,
        [
            "year(dt) = 2020 and month(dt) = 2",
            "case when i > 0 then s = 'm' when i < 0 then b else true end",
            "if(b, i, u) = 31",
        ],
    ),
    **_because(
        "Hive's shifts between zones are decided for timestamps without a zone only",
        [
            "from_utc_timestamp(t, 'Europe/Berlin') = timestamp '2020-03-29 03:30:00'",
            "to_utc_timestamp(t, 'Europe/Berlin') < timestamp '2020-01-01 05:00:00'",
        ],
    ),
    **_because(
        "Spark without ANSI mode reads a text that is no number as NULL",
        ["s < 10", "s <> 10"],
    ),
    **_because(
        "Hive's readers may show another field of a struct in a table with a timestamp",
        [
            "ST.X = 31",
            "not (st.x between 31 and 60)",
            "not (st.y between 'y031' and 'y1')",
            "st.x + 1 = 32",
            "st.x < 31",
            "st.x <= 3",
            "st.x <=> 3",
            "st.x = 31",
            "st.x = 31 and st.y = 'y031'",
            "st.x = 31 or id = 'k040' or t < timestamp '1600-01-01 00:00:00'",
            "st.x = an",
            "st.x > 31",
            "st.x > an",
            "st.x >= 60",
            "st.x between 3 and 31",
            "st.x in (3, 31)",
            "st.y < 'y031'",
            "st.y <= 'y003'",
            "st.y <=> 'y003'",
            "st.y = 'y031'",
            "st.y > 'y031'",
            "st.y >= 'y1'",
            "st.y between 'y003' and 'y031'",
            "st.y in ('y003', 'y031')",
            "st.y like 'y03%'",
        ],
    ),
    **_because("Hive's CHAR is padded with blanks", ["cast(s as char(8)) = 'trail'"]),
    **_because(_CALLED, ["trunc(dt, 'MM') = '2020-02-01'"]),
}

_RESOLVED = "Spark's analyser has resolved types and conditions that the text leaves open"
#: Predicates of which the session's own tree, with ANSI on or off, keeps other slices than the text.
SPARK_NOT_ALIKE: dict[str, str] = {
    **_because(
        _RESOLVED,
        [
            "l >= 9223372036854775808",
            "b = 'true'",
            "s in (9, 10)",
        ],
    ),
    **_because(
        "the analysed tree is not understood: a NaN in a list, and a rand() that has its seed",
        ["d in (8.0, cast('NaN' as double))", "i = 100 or rand() > 3.0"],
    ),
    **_because(
        "Spark converts the column, not the constants, or reads the constant in another type than the text's",
        ["i in ('100', '110')", "dt in ('2020-01-14', '2020-01-19')"],
    ),
}
