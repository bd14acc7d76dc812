"""Tables of the corpus with expression indexes, and their statistics."""

from __future__ import annotations

from index_store import open_table
from index_store.kinds.expression_functions import EXPRESSION_FUNCTIONS
from index_store.kinds.expressions.expression_index import make
from tests.index_store.rows import rows_of

TABLES = (
    "1.1.1_expr_cow",
    "proofs/1.1.1_expr_part_cow",
    "proofs/1.1.1_expr_text_mor",
    "proofs/1.0.2_expr_part_cow",
    "proofs/1.0.2_expr_text_mor",
)
PART, MERGED, OLD, OLD_MERGED = TABLES[1:]
FILTERS = "proofs/1.1.1_fn_bloom_cow"


def kind_of(path, slices=None):
    table = open_table(path)
    return table, make(table, slices or table.slices())


def every_function_of(columns):
    names = [name for function in EXPRESSION_FUNCTIONS.values() for name in function.names]
    return [(name, column) for column in columns for name in names]


def values_of(path, one, column):
    return [row[column] for file in one.files for row in rows_of(path / file)]
