"""A table's rows as slices of one row each: bounds are exact, so only rules, conversions and functions are on trial."""

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language.outcome import FALSE, NULL, TRUE, describe
from evaluator.language.types import Kind
from evaluator.statistics.columns import from_values
from tests.handler.table_rows import rows_of

BITS = {"T": TRUE, "F": FALSE, "N": NULL}


def one_row_slices(folder, table, ids):
    """A source of statistics with one slice for each id."""
    rows = {row["id"]: row for found in rows_of(folder, table.at().slices).values() for row in found}
    ordered = [rows[key] for key in ids]
    statistics = {}
    for field in table.table.schema:
        if field.type.kind is not Kind.OTHER:
            values = [row.get(field.name) for row in ordered]
            statistics[field.name] = from_values(
                field.type, values, values, [int(v is None) for v in values], [1] * len(values)
            )
    return StatisticsProvider("rows", statistics)


def contradictions(expression, answers, schema, source, semantics):
    """(row number, what the engine says, outcome) wherever the outcome does not hold what the engine says."""
    bound = bind(expression, schema, semantics)
    outcomes = evaluate(bound, len(answers), [source]).outcomes.tolist()
    return [
        (number, said, describe(outcome))
        for number, (said, outcome) in enumerate(zip(answers, outcomes, strict=True))
        if not outcome & BITS[said]
    ]
