"""The residual of a filter is SQL that real Hive 4.0.1 and 3.1.3 compile.

The filters are those of the conformance suite, as text and in the bytes of that Hive. Hive's own Driver compiles
``SELECT * FROM t WHERE`` and the residual text, without a server.
"""

from __future__ import annotations

import contextlib

import pytest

import sarg
from evaluator.language import expression as ex
from evaluator.language.sql_text import to_sql
from handler.sql import SqlError, parse
from tests.conformance.hive_filters import VERSIONS, compiled, stored
from tests.sampling import share

pytestmark = pytest.mark.hive
#: Hive 3.1.3 compiles a BETWEEN of binary constants, and not the two comparisons that it stands for.
NOT_COMPILED = {"(NOT (bin >= CAST('b010' AS binary) AND bin <= CAST('b0101' AS binary)))"}


def residual_texts(version: str) -> list[str]:
    """The texts of all filters that Hive compiles and that are understood as a whole."""
    engine = "hive" + version[0]
    texts: dict[str, None] = {}
    for sql, answer in stored()["filters"][version].items():
        if "error" in answer:
            continue
        read: list[ex.HudiExpression] = [sarg.decode(answer["filter"])] if "filter" in answer else []
        with contextlib.suppress(SqlError):  # Hive reads some forms that the SQL front end refuses
            read.append(parse(sql, engine))  # type: ignore[arg-type]
        texts |= dict.fromkeys(to_sql(expression, engine) for expression in read)
    return [text for text in texts if "?(" not in text]


@pytest.mark.parametrize(
    "version", [pytest.param(one, marks=() if one == "4.0.1" else pytest.mark.hive_full) for one in VERSIONS]
)
def test_hive_compiles_every_residual(version: str) -> None:
    texts = residual_texts(version)
    assert len(texts) > 900
    found = compiled(VERSIONS[version], share(texts, 115))
    refused = {text for text, answer in found.items() if "error" in answer}
    assert refused <= (NOT_COMPILED if version == "3.1.3" else set())
