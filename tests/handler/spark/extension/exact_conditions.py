"""Conditions whose values Catalyst's JSON leaves out or rounds, and what the sidecar reads of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evaluator.language.expression import And, HudiExpression, In
from handler.catalyst.document import read_document
from tests.handler.spark.extension.fake_sidecar import FakeSidecar

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["COLUMNS", "CONDITIONS", "NOT_SENT", "read_conditions"]

#: The columns that the conditions are about, as a SELECT list over a row.
COLUMNS = (
    "'a' s, 7 i, 7L l, timestamp '2025-01-01 00:00:00' t, date '2025-01-01' d, x'0a' b, "
    "cast(1.5 as decimal(10,2)) c, 1.5D f, float(1.5) g, true o, named_struct('x', 7) st"
)
_FEW = ", ".join(f"{i}" for i in range(1, 12))
#: What a condition's text must be read as, beside that its columns are not NULL.
CONDITIONS = {
    "t > TIMESTAMP '2025-01-01 00:00:00.123456'": "t > TIMESTAMP '2025-01-01 00:00:00.123456'",
    "t > TIMESTAMP '2025-03-30 01:30:00'": "t > TIMESTAMP '2025-03-30 01:30:00'",
    "t > TIMESTAMP '0001-01-01 00:00:00'": "t > TIMESTAMP '0001-01-01 00:00:00'",
    "t = TIMESTAMP '1582-10-10 00:00:00'": "t = TIMESTAMP '1582-10-10 00:00:00'",
    "d = DATE '2024-02-29'": "d = DATE '2024-02-29'",
    "d = DATE '1582-10-15'": "d = DATE '1582-10-15'",
    "d < DATE '9999-12-31'": "d < DATE '9999-12-31'",
    "b = X'00ff0a'": "b = X'00FF0A'",
    "b = X''": "b = X''",
    "s LIKE 'a/_%b%' ESCAPE '/'": "s LIKE 'a/_%b%'",
    "s LIKE 'a\\\\_%b%'": "s LIKE 'a\\_%b%'",
    "s LIKE ANY ('a%', '%b_c')": "(s LIKE 'a%' OR s LIKE '%b_c')",
    "s NOT LIKE ALL ('a%', '%b_c')": "NOT s LIKE '%b_c'",
    "s = 'a\"b\\\\\\\\c'": "s = 'a\"b\\\\c'",
    "s = '\U0001f600 \u00e4\u2028'": "s = '\U0001f600 \u00e4\u2028'",
    "s IN ('a','b','c','d','e','f','g','h','i','j','\"')": "s IN [" + ", ".join(f"'{c}'" for c in '"abcdefghij') + "]",
    f"i IN ({_FEW})": "i IN [1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9]",
    f"l IN ({_FEW}, 9223372036854775807)": "l IN [1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9, 9223372036854775807]",
    "c IN (1.00, 2.00, 3.00, 4.00, 5.00, 6.00, 7.00, 8.00, 9.00, 0.10, 99999999.99)": "c IN [0.10, 1.00, 2.00, 3.00, "
    "4.00, 5.00, 6.00, 7.00, 8.00, 9.00, 99999999.99]",
    "d IN ("
    + ", ".join(f"DATE '2025-01-{day:02}'" for day in range(1, 11))
    + ", DATE '0001-01-01')": "d IN [DATE '0001-01-01', "
    + ", ".join(f"DATE '2025-01-{day:02}'" for day in range(1, 11))
    + "]",
    "f IN (1.5D, 2.5D, 3.5D, 4.5D, 5.5D, 6.5D, 7.5D, 8.5D, 9.5D, 0.1D, double('NaN'))": "f IN [0.1, 1.5, 2.5, 3.5, "
    "4.5, 5.5, 6.5, 7.5, 8.5, 9.5, nan]",
    "f = double('NaN')": "f = nan",
    "f < double('Infinity')": "f < inf",
    "f = 0.1D": "f = 0.1",
    "g = float('0.1')": "g = 0.10000000149011612",
    "c = 1.50": "c = 1.50",
    "l = -9223372036854775808": "l = -9223372036854775808",
    "i BETWEEN 1 AND 3": "i >= 1 AND i <= 3",
    "nullif(s, 'x') = 'y'": "s = 'y'",
    "st.x = 3": "st.x = 3",
    "o": "o",
    "cast(s AS INT) = 3": "CAST(s AS int) = 3",
    "i % 2 = 1": "(i % 2) = 1",
    "upper(s) = 'A'": "upper(s) = 'A'",
    "date_add(d, 3) > DATE '2025-01-01'": "date_add(d, 3) > DATE '2025-01-01'",
}
#: Dates that java.sql.Date does not give back, in which Catalyst's JSON has them.
NOT_SENT = ("d > DATE '1582-10-04'", "d > DATE '-0044-03-15'", "d < DATE '10000-01-01'")


def read_conditions(frame: Callable[[], DataFrame], fake: FakeSidecar) -> dict[str, str]:
    """What the sidecar reads of each condition, its parts joined by AND; "" when it is not asked."""
    found = {}
    for condition in (*CONDITIONS, *NOT_SENT):
        before = len(fake.asked)
        jdf: Any = frame().where(condition)._jdf
        jdf.queryExecution().optimizedPlan()  # asks; a cast that fails needs no job
        read = [
            read_document(bytes(question.fields.filter), question.fields.time_zone) for question in fake.asked[before:]
        ]
        found[condition] = " AND ".join(map(_text, read))
    return found


def _text(expression: HudiExpression) -> str:
    if isinstance(expression, And):
        return " AND ".join(map(_text, expression.children))
    if isinstance(expression, In):
        return f"{expression.operand} IN [{', '.join(sorted(map(str, expression.members)))}]"
    return str(expression)
