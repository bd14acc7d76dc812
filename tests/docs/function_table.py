"""The page docs/reference/functions.md, made of what the evaluator decides: ``python -m tests.docs.function_table``."""

from __future__ import annotations

import pathlib

from evaluator.functions import FUNCTIONS
from evaluator.functions.constant_dates import FUNCTIONS as DATES
from evaluator.functions.constant_moments import FUNCTIONS as MOMENTS
from evaluator.functions.constant_numbers import FUNCTIONS as NUMBERS
from evaluator.functions.constant_texts import CONCATENATED, TEXT_FUNCTIONS
from evaluator.functions.single_values import RESULTS
from evaluator.language.function_names import SYNONYMS

__all__ = ["PAGE", "page"]

PAGE = pathlib.Path(__file__).parents[2] / "docs/reference/functions.md"

#: Functions of which bounds of a column say nothing, and why.
UNDECIDABLE = {
    "hash, xxhash64": "a hash spreads neighbours over all results",
    "soundex, levenshtein": "the order of the results has nothing to do with that of the texts",
    "base64, unbase64, encode, decode": "the order of the digits is not that of the bytes",
    "regexp_extract": "any text of the range may hold the pattern",
    "get_json_object, from_json, parse_url": "the value stands anywhere in the text",
    "find_in_set": "the list may hold the text anywhere",
    "items of split(s, d) but the first": "they stand anywhere in the text, and may not exist",
    "functions of half-open ranges of doubles": "a bound may be missing because of NaN, which has no order in Hive",
    "size, array_contains, element_at, map values": "no statistics are kept of arrays and maps",
    "uuid, input_file_name, monotonically_increasing_id": "known only when the query runs",
    "i + 1 where the upper bound is not known": "the greatest integer wraps, or fails, by engine and setting",
    "CAST(bigint AS int) where a bound is not known": "values that do not fit wrap, by engine and setting",
    "a text compared with a number, CAST(s AS int)": "'10' is less than '9' as text. Files of one text are decided. "
    "In Hive 3 and 4, and in Spark without ANSI mode, so are files without a text that is a number, and `=` by how "
    "texts begin: `zip = 94105` skips '95' to '99'; so are lists and two bounds: `zip IN (94105, 94107)`, "
    "`zip BETWEEN 94105 AND 94107`. One bound is not: '9405' is more than 955, and lies between '940' and '955'",
}
#: Where errors of rows are described, from the folder of the page.
HIDDEN_ERRORS = f"../{'docs/guides/spark-extension.md'.removeprefix('docs/')}#errors-of-rows"
#: Function, values of a slice, and what is known of the results.
BEGINNING_ALIKE = (
    ("replace(s, 'user-', '')", "'user-0011' to 'user-0019'", "begins with '001'"),
    ("regexp_replace(s, '[-/]', '')", "'2020-01' to '2020-09'", "begins with '20200'"),
    ("translate(s, '-', '/')", "'2020-01' to '2020-09'", "begins with '2020/0'"),
    ("split_part(s, '-', 2), substr(s, 6)", "'user-0011' to 'user-0019'", "'0011' to '0019'"),
    ("lpad(n, 6, '0')", "99 to 1200", "'000099' to '001200'"),
    ("concat_ws('-', y, m)", "2020, and 3 to 5", "'2020-3' to '2020-5'"),
    ("make_date(y, m, 1)", "2020, and 3 to 5", "2020-03-01 to 2020-05-01"),
)


def page() -> str:
    """The whole page."""
    by_range = sorted({SYNONYMS.get(name, name) for name in FUNCTIONS} - {"branches"})
    of_constants = {name for table in (DATES, MOMENTS, NUMBERS, TEXT_FUNCTIONS) for name, _ in table}
    undecidable = {name for names in UNDECIDABLE for name in names.split(", ")}
    of_single_values = sorted(set(RESULTS) - set(FUNCTIONS))
    known = set(FUNCTIONS) | set(RESULTS)
    only_constants = sorted((of_constants | set(CONCATENATED)) - known - undecidable - {"cast"})
    lines = [
        "# Functions in filters",
        "",
        "What a filter's function of a column lets Sargo skip. A test compares this page with the code.",
        "",
        "## Decided from the range of a column",
        "",
        "CAST, IF and CASE are, too; `+` and `-` also move a date or a timestamp by an interval:",
        "`t + interval '1' hour`. The difference of two dates or timestamps is decided beside an interval:",
        "`current_timestamp() - t < interval '1' hour`.",
        "",
        _listed(by_range),
        "",
        "## Decided of single values",
        "",
        "Of a column they are decided where it has one value in a slice, as a partition column has, in Spark:",
        "`concat(year, '-', lpad(month, 2, '0')) >= '2020-03'`.",
        "",
        _listed(of_single_values),
        "",
        "So is `trim` of other characters. Where all texts of a slice begin alike, more of them are decided:",
        "",
        "| Function | Values in the slice | Decided |",
        "|---|---|---|",
        *(f"| `{function}` | {values} | {decided} |" for function, values, decided in BEGINNING_ALIKE),
        "",
        "## Texts read as dates and moments",
        "",
        "`CAST(s AS date)`, `s >= current_date() - 7`, `to_date(s, 'yyyyMMdd')`, `year(s)` and",
        "`datediff(current_date(), s)` are decided where all texts of a slice have the same year: in Hive 3 and 4, and",
        "in Spark without ANSI mode. There a text that is no date is NULL. In ANSI mode it is an error, which no",
        f"skipped file may hide, unless [the user wants it]({HIDDEN_ERRORS}). Between texts",
        "of two years a text like `20250-1-1` may lie. `CAST` knows the month and the last day, a pattern the month.",
        "Patterns are those of Spark that begin with `yyyy`, `MM` and `dd`.",
        "",
        "## Decided of constants only",
        "",
        "A filter may compare a column with them. Of a column they are not decided yet.",
        "",
        _listed(only_constants),
        "",
        "## Undecidable from ranges",
        "",
        "| Functions | Why |",
        "|---|---|",
        *(f"| {names} | {why} |" for names, why in UNDECIDABLE.items()),
        "",
        "Statistics of the results themselves, as an expression index or a sketch has them, help with many of them.",
        "",
    ]
    return "\n".join(lines)


def _listed(names: list[str]) -> str:
    """The names in lines of ten."""
    quoted = [f"`` {name} ``" if "`" in name else f"`{name}`" for name in names]
    return ",\n".join(", ".join(quoted[start : start + 10]) for start in range(0, len(quoted), 10))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
