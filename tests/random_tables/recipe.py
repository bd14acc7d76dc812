"""What a random table is: its release, options and commits, and the rows of each. A seed gives the same recipe always.

The columns are those of ``tests.tables.rows``, so that the predicates of the conformance suite, and the bytes that real
Hive makes of them, hold for every table. A recipe leaves some columns out, and draws how the values of each are spread:

    near       values grow with the row's number, so files have narrow ranges
    far        values of a row drawn at random: ranges overlap
    few        one of three values
    null       NULL throughout a file, or in most rows
    odd        the ends of the type, NaN, both zeros, long texts, dates before 1582
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.tables.releases import RELEASES
from tests.tables.rows import COLUMNS, ODD, PARTITIONS, day, row

__all__ = ["Commit", "Recipe"]

SPREADS = ("near", "near", "far", "few", "null", "odd")
#: Never left out: keys, the ordering field, partition values.
FIXED = frozenset({"id", "ts", "p", "dt"})
MAX_ROWS = 24
INDEXES = ("col", "part", "rli", "bloom")
#: Partition columns, and the key generator that makes paths of them.
LAYOUTS: tuple[tuple[str, dict[str, str]], ...] = (
    ("", {}),
    ("p", {}),
    ("p", {"datasource__write__hive_style_partitioning": "false"}),
    ("dt", {}),
    ("p,dt", {"datasource__write__keygenerator__class": "org.apache.hudi.keygen.ComplexKeyGenerator"}),
)
ONE_DAY = day("2021-06-01")


@dataclass(frozen=True)
class Commit:
    """``operation`` of Hudi's writer with these rows, and options of this commit."""

    operation: str
    rows: tuple[dict[str, Any], ...]
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Recipe:
    """``columns``: those that the table has; ``writer``: the arguments of ``tests.tables.writer.Writer``."""

    seed: int
    release: str
    columns: tuple[str, ...]
    writer: dict[str, Any]
    commits: tuple[Commit, ...]

    @classmethod
    def of(cls, seed: int, release: str = "") -> Recipe:
        rng = random.Random(f"table {seed}")
        drawn = rng.choice(sorted(RELEASES))
        release = release or drawn
        left_out = {"tn"} if RELEASES[release].table_version < 9 else set()
        left_out |= {name for name in COLUMNS if name not in FIXED and rng.random() < 0.2}
        is_mor = rng.random() < 0.5
        partition, options = rng.choice(LAYOUTS)
        indexes = tuple(name for name in INDEXES if rng.random() < {"col": 0.9}.get(name, 0.4))
        writer: dict[str, Any] = {"mor": is_mor, "partition": partition or None, "indexes": indexes, **options}
        if release == "1.2.0":  # its writer of rows does not know TINYINT
            writer["datasource__write__row__writer__enable"] = "false"
        if "bloom" in indexes:
            writer["metadata__index__bloom__filter__column__list"] = "id"
        columns = tuple(name for name in COLUMNS if name not in left_out)
        commits = tuple(_Commits(rng, is_mor, partition, release))
        return cls(seed, release, columns, writer, commits)


class _Commits:
    """Draws commits: which rows there are by now decides which can be changed."""

    def __init__(self, rng: random.Random, is_mor: bool, partition: str, release: str) -> None:
        self._rng = rng
        self._is_mor = is_mor
        self._partition = partition
        self._release = release
        self._spreads = {name: rng.choice(SPREADS) for name in COLUMNS if name not in FIXED}
        self._rows: dict[int, dict[str, Any]] = {}
        self._next = 0
        self._at = 0

    def __iter__(self) -> Iterator[Commit]:
        yield self._insert("insert")
        for _ in range(self._rng.randint(3, 6)):
            yield self._any()

    def _any(self) -> Commit:
        kinds = [
            "insert",
            "insert",
            "upsert",
            "upsert",
            "delete",
            "overwrite",
            "compact" if self._is_mor else "cluster",
        ]
        match self._rng.choice(kinds if len(self._rows) > 8 else ["insert"]):
            case "upsert":
                return self._upsert({})
            case "compact":
                return self._upsert({"compact__inline": "true", "compact__inline__max__delta__commits": "1"})
            case "delete":
                return self._delete()
            case "overwrite" if self._partition:
                return self._overwrite()
            case "cluster" if self._release != "0.15.0":  # 0.15.0 cannot update decimals that a clustering wrote
                options = {"clustering__inline": "true", "clustering__inline__max__commits": "1"}
                return self._insert("insert", {**options, "clustering__plan__strategy__sort__columns": "id"})
            case _:
                return self._insert(self._rng.choice(("insert", "bulk_insert")))

    def _insert(self, operation: str, options: dict[str, str] | None = None) -> Commit:
        numbers = range(self._next, self._next + self._rng.randint(6, MAX_ROWS))
        self._next = numbers.stop
        self._at += 1
        new = {n: self._row(n) for n in numbers}
        self._rows |= new
        return Commit(operation, tuple(new.values()), options or {})

    def _some(self) -> list[int]:
        return self._rng.sample(sorted(self._rows), self._rng.randint(1, max(1, len(self._rows) // 4)))

    def _upsert(self, options: dict[str, str]) -> Commit:
        self._at += 1
        changed = {n: {**self._row(n), "p": self._rows[n]["p"], "dt": self._rows[n]["dt"]} for n in self._some()}
        self._rows |= changed
        return Commit("upsert", tuple(changed.values()), options)

    def _delete(self) -> Commit:
        self._at += 1
        gone = {n: {**self._rows[n], "ts": self._at} for n in self._some()}
        for n in gone:
            del self._rows[n]
        return Commit("delete", tuple(gone.values()))

    def _overwrite(self) -> Commit:
        """New rows in place of all rows of some partitions."""
        commit = self._insert("insert_overwrite")
        names = self._partition.split(",")
        places = {tuple(one[name] for name in names) for one in commit.rows}
        new = {one["id"] for one in commit.rows}
        self._rows = {
            n: one
            for n, one in self._rows.items()
            if one["id"] in new or tuple(one[name] for name in names) not in places
        }
        return commit

    def _row(self, n: int) -> dict[str, Any]:
        rng = self._rng
        near, far = row(n, ts=self._at), row(rng.randrange(2_000), ts=self._at)
        few = row(rng.choice((3, 40, 77)))
        odd = {name: value for part in ODD.values() for name, value in part.items() if rng.random() < 0.2}
        found = {**near, "p": rng.choice(PARTITIONS), "dt": rng.choice((ONE_DAY, day("1999-12-31"), day("2024-02-29")))}
        for name, spread in self._spreads.items():
            match spread:
                case "far":
                    found[name] = far[name]
                case "few":
                    found[name] = few[name]
                case "null" if rng.random() < 0.7:
                    found[name] = None
                case "odd" if name in odd:
                    found[name] = odd[name]
        return {**found, "id": f"k{n:03d}", "ts": self._at}
