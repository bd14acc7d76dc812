"""The nodes of a physical plan that ran on Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["KEYS", "SCALAR", "all_nodes", "name_of", "nodes"]

#: What the names of subqueries begin with: scalar ones, and those of the keys of joins.
SCALAR, KEYS = ("subquery", "scalar-subquery"), ("dynamicpruning",)


def name_of(node: Any) -> str:
    """The name of a node's class."""
    return str(node.getClass().getSimpleName())


def nodes(plan: Any, subqueries: tuple[str, ...] = (), exchanges: set[int] | None = None) -> Iterator[Any]:
    """The nodes of a plan, of its finished stages and cached frames, and of subqueries whose names begin so.

    ``exchanges``: those that were seen, by their numbers. What reused ones are of is then looked at, too, once.
    """
    name = name_of(plan)
    if name == "AdaptiveSparkPlanExec":
        yield from nodes(plan.executedPlan(), subqueries, exchanges)
    elif name.endswith("QueryStageExec"):
        yield from nodes(plan.plan(), subqueries, exchanges)
    elif name == "InMemoryTableScanExec":
        yield from nodes(plan.relation().cachedPlan(), subqueries, exchanges)
    elif name == "ReusedExchangeExec" and exchanges is not None:
        yield from nodes(plan.child(), subqueries, exchanges)
    elif name != "ReusedSubqueryExec" and not (exchanges is not None and plan.id() in exchanges):
        if exchanges is not None and name.endswith("ExchangeExec"):
            exchanges.add(plan.id())
        yield plan
        below, others = plan.children(), plan.subqueries()
        for i in range(below.size()):
            yield from nodes(below.apply(i), subqueries, exchanges)
        for i in range(others.size() if subqueries else 0):
            if others.apply(i).name().startswith(subqueries):
                yield from nodes(others.apply(i), subqueries, exchanges)


def all_nodes(plan: Any) -> Iterator[Any]:
    """The nodes that ran, with all subqueries. An exchange that is used twice ran once."""
    return nodes(plan, (*SCALAR, *KEYS), set())
