"""The file slices of a plan as columns for the map and the table of its page.

    ways         how slices end: kept, fully matched, or skipped by these conditions and index kinds
    categories   the colours: of kept, of fully matched, and of what decided most skips (by index, or by condition)
    totals       by partition, how many slices end in which way: of all slices
    slices       partition, file and way of each slice that is listed; of a very large table the kept ones first

Columns, not objects: a page of 100,000 slices stays small, and a browser reads it in a moment.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.language.outcome import TRUE
from evaluator.language.records import frozen
from handler.planning.plan import Plan
from handler.views.texts import shortened, visible
from index_store import FileSlice

__all__ = ["MAX_LISTED", "Category", "SliceData", "slice_data"]

#: Slices that a page lists one by one.
MAX_LISTED = 100_000
#: Conditions whose slices can be shown on the map, and colours for what decided.
MAX_MARKED, MAX_COLOURS = 32, 5
_MAX_TEXT = 120

KEPT, FULL = "kept", "fully matched"
#: What decided a slice of a plan that was combined with another one, or made in another process.
NOT_KNOWN = "an index that is not recorded"


@frozen
class Category:
    """A colour of the map: its class in the style, what it means, and the number of slices."""

    style: str
    label: str
    count: int


@frozen
class _Way:
    """A way in which slices end: ``index`` and ``condition`` say what decided, in words."""

    state: str
    index: str
    condition: str
    count: int


@frozen
class SliceData:
    """What the scripts of a page get, and its legend. ``listed``: how many of the slices it holds one by one."""

    document: dict[str, Any]
    legend: tuple[Category, ...]
    listed: int
    partitions: int


def slice_data(plan: Plan) -> SliceData:
    """The slices of a plan."""
    n = len(plan.slices)
    ways, way_of = _ways(plan)
    listed = _listed(plan, n)
    every = plan.slices.some(np.arange(n))
    names: dict[str, int] = {}
    partition_of = np.fromiter((names.setdefault(item.partition, len(names)) for item in every), np.int64, n)
    rank = np.empty(len(names), np.int64)
    by_name = sorted(names)
    rank[[names[name] for name in by_name]] = np.arange(len(names))
    partition_of = rank[partition_of] if n else partition_of
    order = listed[np.argsort(partition_of[listed], kind="stable")]
    items = every if len(order) == n and bool((order == np.arange(n)).all()) else [every[row] for row in order.tolist()]
    tails: dict[str, int] = {}
    by_index, by_condition = _categories(ways, lambda way: way.index), _categories(ways, lambda way: way.condition)
    document = {
        "partitions": [visible(name) or "no partition" for name in by_name],
        "totals": _totals(partition_of, way_of, len(ways)),
        "ways": [{"state": way.state, "index": way.index, "condition": way.condition} for way in ways],
        "categories": {
            "index": [[one.style, one.label, one.count] for one in by_index[0]],
            "condition": [[one.style, one.label, one.count] for one in by_condition[0]],
        },
        "category_of": {"index": by_index[1], "condition": by_condition[1]},
        "slices": {
            "partition": partition_of[order].tolist(),
            "way": way_of[order].tolist(),
            "id": [visible(item.file_id) for item in items],
            "tail": [tails.setdefault(_tail(item), len(tails)) for item in items],
            "tails": list(tails),
            "logs": [len(item.log_files) for item in items],
        },
        "marked": {str(leaf): bits for leaf, bits in (_marked(plan, order) if len(order) == n else ())},
        "slices_in_all": n,
    }
    return SliceData(document, tuple(by_index[0]), len(order), len(by_name))


def _listed(plan: Plan, n: int) -> npt.NDArray[np.int64]:
    if n <= MAX_LISTED:
        return np.arange(n)
    kept = plan.kept_rows[:MAX_LISTED]
    skipped = np.setdiff1d(np.arange(n), plan.kept_rows, assume_unique=True)[: MAX_LISTED - len(kept)]
    return np.sort(np.concatenate([kept, skipped]))


def _ways(plan: Plan) -> tuple[list[_Way], npt.NDArray[np.int64]]:
    """The ways, and ``(n,)`` the number of each slice's way."""
    n, explanation = len(plan.slices), plan.explanation
    full = np.flatnonzero(plan.outcomes == TRUE)
    ways = [_Way(KEPT, "", "", len(plan.kept_rows) - len(full)), _Way(FULL, "", "", len(full))]
    way_of = np.full(n, 2, np.int64)
    if explanation is None:
        skipped = n - len(plan.kept_rows)
        ways += [_Way("skipped", NOT_KNOWN, NOT_KNOWN, skipped)] if skipped else []
        way_of[plan.kept_rows], way_of[full] = 0, 1
        return ways, way_of
    found = explanation.deciders
    for decision, count in zip(found.decisions, found.counts, strict=True):
        texts = [explanation.leaves[leaf] for leaf in decision.conditions]
        conditions = " and ".join(f"NOT {one.text}" if one.negated else one.text for one in texts[:4])
        more = f" and {len(texts) - 4} more" if len(texts) > 4 else ""
        ways.append(
            _Way(
                "skipped", visible(" + ".join(decision.kinds)), visible(shortened(conditions, _MAX_TEXT) + more), count
            )
        )
    way_of = found.of_slice.astype(np.int64) + 2
    others = way_of < 2
    others[plan.kept_rows] = False
    if others.any():  # what this plan was combined with skips them
        way_of[others] = len(ways)
        ways.append(_Way("skipped", NOT_KNOWN, NOT_KNOWN, int(others.sum())))
    way_of[plan.kept_rows], way_of[full] = 0, 1
    counts = np.bincount(way_of, minlength=len(ways)).tolist()
    return [replace(way, count=count) for way, count in zip(ways, counts, strict=True)], way_of


def _categories(ways: Sequence[_Way], label_of: Any) -> tuple[list[Category], list[int]]:
    """The colours by what decided, those of most slices first, and for each way the number of its colour."""
    counts: Counter[str] = Counter()
    for way in ways[2:]:
        counts[label_of(way)] += way.count
    named = [label for label, _ in counts.most_common(MAX_COLOURS)]
    if len(counts) == MAX_COLOURS + 1:
        named = [label for label, _ in counts.most_common()]
    categories = [Category("k-kept", "kept, rows to check", ways[0].count)]
    if len(ways) > 1:
        categories.append(Category("k-full", "kept, every row matches", ways[1].count))
    first = len(categories)
    categories += [Category(f"k-d{place}", f"skipped by {label}", counts[label]) for place, label in enumerate(named)]
    rest = counts.total() - sum(counts[label] for label in named)
    if rest:
        categories.append(Category(f"k-d{MAX_COLOURS}", "skipped by others", rest))
    places = {label: first + place for place, label in enumerate(named)}
    numbers = [0, 1][: len(ways)] + [places.get(label_of(way), len(categories) - 1) for way in ways[2:]]
    return categories, numbers


def _totals(partition_of: npt.NDArray[np.int64], way_of: npt.NDArray[np.int64], ways: int) -> list[list[int]]:
    """``[partition, way, number of slices]``, by partition."""
    keys, counts = np.unique(partition_of * ways + way_of, return_counts=True)
    return [[key // ways, key % ways, count] for key, count in zip(keys.tolist(), counts.tolist(), strict=True)]


def _tail(item: FileSlice) -> str:
    """The name of the base file after the file id; the whole name after a slash where it does not begin with it."""
    if not item.base_file:
        return ""
    name, file_id = visible(item.base_file.rpartition("/")[2]), visible(item.file_id)
    return name[len(file_id) :] if name.startswith(file_id) and len(name) > len(file_id) else f"/{name}"


def _marked(plan: Plan, order: npt.NDArray[np.int64]) -> list[tuple[int, str]]:
    """For the first conditions, the listed slices that each rules out, as bits in Base64."""
    explanation = plan.explanation
    if explanation is None:
        return []
    sought = explanation.bound.program.sought_values()
    chosen = [leaf for leaf, report in enumerate(explanation.leaves) if report.skipped][:MAX_MARKED]
    return [
        (leaf, _bits((explanation.evaluation.leaves[leaf].outcomes[order] & sought[leaf].bit) == 0)) for leaf in chosen
    ]


def _bits(mask: npt.NDArray[np.bool_]) -> str:
    return base64.b64encode(np.packbits(mask, bitorder="little").tobytes()).decode("ascii")
