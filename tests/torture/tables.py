"""The tables that are damaged: small, real, and different in what decides how a listing is read.

    0.15.0_archived_mor       version 6, log files that are appended to, an archived timeline
    0.15.0_replaced_mor       version 6, clustering, overwriting and a deleted partition
    1.0.2_archived_mor        version 8, an archived timeline with its history, HFiles with checksums
    1.2.0_partcols_cow        version 9, partition columns that stand in the path only
    1.2.0_expr_cow            version 9, no partitions, expression indexes
    1.2.0_secondary_cow       version 9, no partitions, secondary and record indexes

Each comes with what Spark found by a full scan: the file groups with a match, by filter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluator.language.expression import HudiExpression
from handler.sql import parse
from tests.conformance.stored_truth import truth_of
from tests.torture.memory_storage import unpacked

__all__ = ["TABLES", "Query", "Subject", "subject"]

TABLES = (
    "0.15.0_archived_mor",
    "0.15.0_replaced_mor",
    "1.0.2_archived_mor",
    "1.2.0_partcols_cow",
    "1.2.0_expr_cow",
    "1.2.0_secondary_cow",
)
_DATA = Path(__file__).parent.parent / "data"
_ENGINE = "spark"


@dataclass(frozen=True, slots=True)
class Query:
    """A filter as of an instant (None: the latest), and the ids of the file groups with a matching row.

    ``full``: those of them in which every row matches; None where that is not known.
    """

    text: str
    filter: HudiExpression
    as_of: str | None
    matching: frozenset[str]
    full: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """A table in memory, and the queries that are planned on it."""

    name: str
    files: Mapping[str, bytes]
    queries: Sequence[Query]


def subject(name: str, queries: int = 8) -> Subject:
    """The table of this name with about so many queries, spread over the columns."""
    packed = _DATA / "hudi" / "format" / f"{name}.tar.xz"
    if packed.exists():
        files = unpacked(packed)
        return Subject(name, files, _format_queries(files, queries))
    packed = _DATA / "conformance" / f"{name}.tar.xz"
    if packed.exists():
        return Subject(name, unpacked(packed), _spread(_conformance_queries(name), queries))
    release, _, rest = name.partition("_")
    oracle = _DATA / "hudi" / f"oracle_{rest}_{release}.json"
    filters = json.loads(oracle.read_text())["filters"] if oracle.exists() else []
    found = [
        Query(one["filter"], parse(one["filter"], _ENGINE), None, frozenset(one["files_true_ids"])) for one in filters
    ]
    return Subject(name, unpacked(_DATA / "hudi" / f"{name}.zip"), _spread(found, queries))


def _spread(found: Sequence[Query], queries: int) -> list[Query]:
    """Some queries, evenly over all of them; those that match some file groups and not all of them are preferred."""
    most = max((len(one.matching) for one in found), default=0)
    good = [one for one in found if 0 < len(one.matching) < max(most, 2)] or list(found)
    return [good[number * len(good) // queries] for number in range(min(queries, len(good)))]


def _format_queries(files: Mapping[str, bytes], queries: int) -> list[Query]:
    latest, *older = json.loads(files["_oracle.json"])["reads"]
    found: list[Query] = []
    for read, number in [(latest, queries), *((read, 1) for read in older[-1:] if "groups" in read)]:
        groups = [(file_id, rows) for _, file_id, rows in read["groups"]]
        here = []
        for text, rows in read["filters"].items():
            counts = {groups[int(place)][0]: count for place, count in rows.items()}
            full = frozenset(file_id for file_id, whole in groups if counts.get(file_id) == whole)
            here.append(Query(text, parse(text, _ENGINE), read["as_of"], frozenset(counts), full))
        found += _spread(here, number)
    return found


def _conformance_queries(name: str) -> list[Query]:
    truth = truth_of(name)
    found = []
    for text in truth.predicates:
        rows = truth.numbers(text, "legacy")
        if rows is not None:
            found.append(Query(text, parse(text, _ENGINE), None, frozenset(truth.groups_of(rows))))
    return found
