"""docs/reference/functions.md lists the functions that the code decides."""

from __future__ import annotations

from evaluator.functions import FUNCTIONS
from tests.docs.function_table import PAGE, UNDECIDABLE, page


def test_the_page_of_functions_is_that_of_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.docs.function_table"


def test_no_function_is_said_to_be_undecidable_that_is_decided() -> None:
    named = {name for names in UNDECIDABLE for name in names.split(", ")}
    assert not named & set(FUNCTIONS)
