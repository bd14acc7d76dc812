"""Why a condition has its outcome in a slice: the statistics of each index kind, and the rule applied to them.

    i > 100 in a slice with lo = 5 and hi = 40

    kind          column  rule               statistic  value    trust  outcome
    column_stats  i       i > v needs hi > v  hi = 40    v = 100  used   {false}

The text of a rule comes from the rule table itself (``explain.rule_texts``). Outcomes are those of the evaluation that
pruned; nothing is decided a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY

import numpy as np

from evaluator.binding.leaves import BoundLeaf, Comparison, Fixed, NullTest, Test, expression_of
from evaluator.binding.operands import BoundFunction
from evaluator.evaluation.evaluate import Evaluation, StatisticsProvider, interval_at
from evaluator.explain.rule_texts import RuleTexts, interval_of, operand_text, rule_texts
from evaluator.language.interval import Interval
from evaluator.language.outcome import TRUE, describe
from evaluator.language.records import record
from evaluator.language.value_texts import ordinal_text
from evaluator.statistics.columns import ColumnStatistics
from evaluator.statistics.distrust import Trust, reason

__all__ = ["USED", "Decision", "decisions", "undecided_functions"]

USED = "used"
_FILES_SHOWN = 4


@record
class Decision:
    """The outcome of one condition in one slice by one index kind, and why.

    kind       the index kind; "filter" where the filter alone decides, "none" where no index knows the column
    column     the columns that the condition reads
    rule       what makes the condition possible (or, where it is surely true, what would make it false)
    statistic  the statistics of the slice that the rule names
    value      the constants of the condition, in the column's type
    trust      "used", or why the statistic is missing or distrusted
    outcome    the values that the condition may take, by this kind alone
    """

    kind: str
    column: str
    rule: str
    _: KW_ONLY
    statistic: str
    value: str
    trust: str
    outcome: str

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "kind": self.kind,
            "column": self.column,
            "rule": self.rule,
            "statistic": self.statistic,
            "value": self.value,
            "trust": self.trust,
            "outcome": self.outcome,
        }


def decisions(
    evaluation: Evaluation,
    sources: Sequence[StatisticsProvider],
    leaf: int,
    index: int,
) -> tuple[Decision, ...]:
    """The decisions on leaf number ``leaf`` in slice number ``index``, one per index kind."""
    return tuple(_decisions(evaluation.bound.leaves[leaf], evaluation, sources, leaf, index))


def _decisions(
    leaf: BoundLeaf,
    evaluation: Evaluation,
    sources: Sequence[StatisticsProvider],
    number: int,
    index: int,
) -> Iterator[Decision]:
    answer = evaluation.leaves[number]
    total = int(answer.outcomes[index])
    columns = ", ".join(leaf.columns)
    if leaf.reason is not None or isinstance(leaf.test, Fixed):
        yield Decision(
            "filter",
            columns,
            "the same in every slice",
            statistic="",
            value="",
            trust=leaf.reason or USED,
            outcome=describe(total),
        )
        return
    texts, expression = rule_texts(leaf.test), expression_of(leaf.test)
    is_explained = False
    for source in sources:
        known = {name: source.statistics[name] for name in leaf.columns if name in source.statistics}
        outcomes = answer.by_provider.get(source.name)
        own_outcome = None if outcomes is None else int(outcomes[index])
        if known:
            is_explained = True
            shown = total if own_outcome is None else own_outcome
            intervals = {name: interval_at(statistics, index) for name, statistics in known.items()}
            yield Decision(
                source.name,
                columns,
                texts.rule(shown, no_value=_no_value(leaf.test, intervals)),
                statistic=_statistic(texts, shown, known, index),
                value=texts.constants,
                trust=_trust(leaf.test, known, intervals, index),
                outcome=describe(shown),
            )
        elif own_outcome is not None and expression is not None and expression in source.expressions:
            is_explained = True
            function_statistics = source.expressions[expression]
            yield Decision(
                source.name,
                f"{expression[0]}({expression[1]})",
                texts.rule(own_outcome, no_value=False),
                statistic=_ends(function_statistics, index),
                value=texts.constants,
                trust=_not_used(function_statistics, index) or USED,
                outcome=describe(own_outcome),
            )
        elif own_outcome is not None and leaf.lookup is not None:
            is_explained = True
            presence = "may be in the slice" if own_outcome & TRUE else "is in no file of the slice"
            looked_up, function = leaf.lookup.column.name, leaf.lookup.function
            yield Decision(
                source.name,
                f"{function}({looked_up})" if function else looked_up,
                f"{texts.test} needs a row with that key",
                statistic=f"the key {presence}",
                value=texts.constants,
                trust=USED,
                outcome=describe(own_outcome),
            )
    if not is_explained:
        yield Decision(
            "none",
            columns,
            texts.rule(total, no_value=False),
            statistic="",
            value=texts.constants,
            trust=f"no statistics of column {columns}",
            outcome=describe(total),
        )


def _statistic(texts: RuleTexts, outcome: int, known: Mapping[str, ColumnStatistics], index: int) -> str:
    """The statistics that the rule names; by part where the slice was decided by its parts."""
    [first, *others] = known.values()
    files = [] if others or first.parts is None else np.flatnonzero(first.parts.slice_of == index).tolist()
    if len(files) < 2 or first.parts is None:
        return texts.statistics(outcome, known, index)
    by_file = dict.fromkeys(known, first.parts.statistics)
    shown = [texts.statistics(outcome, by_file, file) for file in files[:_FILES_SHOWN]]
    more = [f"{len(files) - _FILES_SHOWN} more files"] if len(files) > _FILES_SHOWN else []
    return "; ".join(dict.fromkeys(shown + more))


def _ends(known: ColumnStatistics, index: int) -> str:
    """The known bounds of an expression."""
    ends = (("lo", known.lo, known.lo_known), ("hi", known.hi, known.hi_known))
    return ", ".join(
        f"{name} = {ordinal_text(bound[index], known.type)}" for name, bound, is_known in ends if is_known[index]
    )


def _not_used(known: ColumnStatistics, index: int) -> str:
    trust = Trust(int(known.trust[index]))
    return reason(trust) if trust else ""


def _trust(test: Test, known: Mapping[str, ColumnStatistics], intervals: Mapping[str, Interval], index: int) -> str:
    """Why a statistic is missing or distrusted, or does not decide a function; else "used"."""
    causes = {name: Trust(int(statistics.trust[index])) for name, statistics in known.items()}
    causes_known = [(name, reason(trust)) for name, trust in causes.items() if trust]
    if causes_known:
        return "; ".join(why if len(known) == 1 else f"{name}: {why}" for name, why in causes_known)
    functions = undecided_functions(test, intervals)
    return "; ".join(f"{function} is not decided on these bounds" for function in functions) or USED


def undecided_functions(test: Test, intervals: Mapping[str, Interval]) -> tuple[str, ...]:
    """The functions of a test that have no bounds though those of all columns are known."""
    operands = (
        [test.left, test.right] if isinstance(test, Comparison) else [] if isinstance(test, Fixed) else [test.operand]
    )
    functions = [operand for operand in operands if isinstance(operand, BoundFunction)]
    if not all(interval.is_bounded for interval in intervals.values()):
        return ()
    results = ((function, interval_of(function, intervals, ordinal=True)) for function in functions)
    return tuple(
        operand_text(function)
        for function, interval in results
        if interval.value and interval.lo is None and interval.hi is None
    )


def _no_value(test: Test, intervals: Mapping[str, Interval]) -> bool:
    """Whether a comparison has no value to compare: the column is all NULL."""
    return not isinstance(test, NullTest) and any(not interval.value for interval in intervals.values())
