"""All results of an evaluation as plain values: two evaluations agree when these are equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.evaluation.evaluate import Evaluation, StatisticsProvider
from evaluator.explain.ordering import SortKey, order_slices, why_unordered
from evaluator.language.schema import Schema
from handler.planning.explanation import Explanation

__all__ = ["all_answers"]


def all_answers(
    bound: BoundExpression,
    evaluation: Evaluation,
    sources: Sequence[StatisticsProvider],
    rows: npt.NDArray[np.int64],
    schema: Schema,
) -> dict[str, Any]:
    """The kept rows first, then outcomes, residuals, reasons and orders; those of ``rows`` also by row."""
    result: dict[str, Any] = {"kept_rows": evaluation.kept_rows.tolist()}
    result["fully_matched_rows"] = evaluation.fully_matched_rows.tolist()
    result["outcomes_at"] = evaluation.outcomes_at(rows).tolist()
    result["leaf_at"] = [evaluation.leaf_at(leaf, rows).tolist() for leaf in range(len(bound.leaves))]
    result["keep"], result["fully_matched"] = evaluation.keep.tolist(), evaluation.fully_matched.tolist()
    result["outcomes"] = evaluation.outcomes.tolist()
    result["leaves"] = [leaf.outcomes.tolist() for leaf in evaluation.leaves]
    result["by_provider"] = [
        {name: outcomes.tolist() for name, outcomes in leaf.by_provider.items()} for leaf in evaluation.leaves
    ]
    explanation = Explanation(evaluation, sources, evaluation.n)
    residuals = explanation.residuals(evaluation.kept_rows)
    result["residuals"] = (residuals.expressions, residuals.group_of.tolist())
    result["reports"] = [report.to_dict() for report in explanation.leaves]
    result["obstacles"] = [obstacle.to_dict() for obstacle in explanation.pruning_blockers]
    result["reasons"] = [[leaf.to_dict() for leaf in explanation.file_leaves(row)] for row in rows[:3].tolist()]
    for name in {name for leaf in bound.leaves for name in leaf.columns}:
        column = schema.resolve(name, case_sensitive=True)
        if column is not None and why_unordered(column, bound.semantics) is None:
            known = [source.statistics[name] for source in sources if name in source.statistics]
            order = order_slices(SortKey(column, True, "last"), known, evaluation.kept_rows)
            result["order", name] = (
                order.slices.tolist(),
                order.ranks.tolist(),
                [order.best_value(place) for place in range(len(order.slices))],
            )
    return result
