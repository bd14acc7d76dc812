"""What a random table is: its release, options and commits, and the rows of each. A seed gives the same recipe always.

The columns are those of ``tests.tables.rows``, so that the predicates of the conformance suite, and the bytes that real
Hive makes of them, hold for every table. A recipe leaves some columns out, and draws how the values of each are spread:

    near       values grow with the row's number, so files have narrow ranges
    far        values of a row drawn at random: ranges overlap
    few        one of three values
    null       NULL throughout a file, or in most rows
    odd        the ends of the type, NaN, both zeros, long texts, dates before 1582

Versions of a row meet in every order: some updates and deletes have an older ordering value than the row that they
meet, some tables take the latest commit instead, and ``MERGE INTO`` updates single columns. Some tables of 1.0.2 and
1.2.0 get secondary indexes, several at once, before or after the commits that change rows.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.tables.releases import BY_INDEX, RELEASES
from tests.tables.rows import COLUMNS, ODD, PARTITIONS, day, row

__all__ = ["Commit", "Recipe"]

SPREADS = ("near", "near", "far", "few", "null", "odd")
#: Never left out: keys, the ordering field, partition values.
FIXED = frozenset({"id", "ts", "p", "dt"})
MAX_ROWS = 24
INDEXES = ("col", "part", "rli", "bloom")
#: What tables with change data capture write of each change, into files beside their slices.
LOGGED = ("OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER")
#: Columns that both releases take for a secondary index.
SECONDARY = ("s", "i", "l", "si", "w", "dt", "t")
#: Columns that ``MERGE INTO`` changes.
MERGED = ("s", "i", "l", "dt", "price")
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
    """``operation`` of Hudi's writer with these rows, and options of this commit.

    ``merge`` is a ``MERGE INTO`` of rows that have the key, the ordering field and some of the columns. ``indexed``:
    columns that get a secondary index after the commit.
    """

    operation: str
    rows: tuple[dict[str, Any], ...]
    options: dict[str, str] = field(default_factory=dict)
    indexed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """``columns``: those that the table has; ``writer``: the arguments of ``tests.tables.writer.Writer``."""

    seed: int
    release: str
    columns: tuple[str, ...]
    writer: dict[str, Any]
    commits: tuple[Commit, ...]

    @property
    def read_options(self) -> dict[str, str]:
        """Options with which Hudi reads the table in a way that the extension narrows."""
        return BY_INDEX if self.release == "0.15.0" and self.writer["mor"] else {}

    @classmethod
    def of(cls, seed: int, release: str = "") -> Recipe:
        rng = random.Random(f"table {seed}")
        drawn = rng.choice(sorted(RELEASES))
        release = release or drawn
        left_out = {"tn"} if RELEASES[release].table_version < 9 else set()
        left_out |= {name for name in COLUMNS if name not in FIXED and rng.random() < 0.2}
        is_mor = rng.random() < 0.6
        columns = tuple(name for name in COLUMNS if name not in left_out)
        indexed = _indexed(rng, release, columns)
        if indexed and is_mor and release == "1.0.2":  # its index does not read decimals in log files
            columns = tuple(name for name in columns if not COLUMNS[name].startswith("decimal"))
        partition, options = ("", {}) if indexed else rng.choice(LAYOUTS)  # 1.2.0 writes no secondary index of others
        likely = {"col": 0.9, "rli": 1.0 if indexed else 0.4}
        indexes = tuple(name for name in INDEXES if rng.random() < likely.get(name, 0.4))
        writer: dict[str, Any] = {"mor": is_mor, "partition": partition or None, "indexes": indexes, **options}
        if release == "1.2.0":  # its writer of rows does not know TINYINT
            writer["datasource__write__row__writer__enable"] = "false"
            if rng.random() < 0.25:
                writer["datasource__write__precombine__field"] = ""  # the latest commit counts
            if is_mor and rng.random() < 0.25:
                writer["logfile__data__block__format"] = "parquet"
        if "bloom" in indexes:
            writer["metadata__index__bloom__filter__column__list"] = "id"
        changes = random.Random(f"changes {seed}")  # of its own: the tables that are stored stay as they are
        if changes.random() < 0.2:
            writer["table__cdc__enabled"] = "true"
            writer["table__cdc__supplemental__logging__mode"] = changes.choice(LOGGED)
        return cls(seed, release, columns, writer, tuple(_Commits(rng, writer, columns, indexed, release)))


def _indexed(rng: random.Random, release: str, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that get secondary indexes, in the order of these."""
    able = [name for name in SECONDARY if name in columns]
    if release == "0.15.0" or not able or rng.random() < 0.5:
        return ()
    return tuple(rng.sample(able, rng.randint(1, min(3, len(able)))))


class _Commits:
    """Draws commits: which rows there are by now decides which can be changed."""

    def __init__(
        self,
        rng: random.Random,
        writer: Mapping[str, Any],
        columns: Sequence[str],
        indexed: tuple[str, ...],
        release: str,
    ) -> None:
        self._rng = rng
        self._is_mor = writer["mor"]
        self._partition = writer["partition"] or ""
        self._release = release
        self._columns = columns
        self._indexed = indexed
        self._spreads = {name: rng.choice(SPREADS) for name in COLUMNS if name not in FIXED}
        self._rows: dict[int, dict[str, Any]] = {}
        self._gone: dict[int, dict[str, Any]] = {}
        self._next = 0
        self._at = 0

    def __iter__(self) -> Iterator[Commit]:
        many = self._rng.randint(3, 6)
        indexed_after = self._rng.randrange(3)
        for number in range(many + 1):
            commit = self._any() if number else self._insert("insert")
            yield replace(commit, indexed=self._indexed) if number == indexed_after else commit

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
        if self._indexed:
            kinds += ["upsert", "upsert", "delete"]
        # Hudi cannot update a secondary index by such a statement; before 1.x it takes whole rows only.
        if self._is_mor and not self._indexed and self._release != "0.15.0":
            kinds += ["merge"]
        match self._rng.choice(kinds if len(self._rows) > 8 else ["insert"]):
            case "upsert":
                return self._upsert({})
            case "compact":
                return self._upsert({"compact__inline": "true", "compact__inline__max__delta__commits": "1"})
            case "delete":
                return self._delete()
            case "merge":
                return self._merge()
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

    def _some_of(self, rows: Mapping[int, object]) -> list[int]:
        return self._rng.sample(sorted(rows), self._rng.randint(1, max(1, len(rows) // 4)))

    def _upsert(self, options: dict[str, str]) -> Commit:
        """New versions of some rows, and at times of rows that were deleted."""
        self._at += 1
        revived = self._some_of(self._gone) if self._gone and self._rng.random() < 0.3 else []
        before = {n: self._gone.pop(n) for n in revived} | {n: self._rows[n] for n in self._some_of(self._rows)}
        changed = {
            n: {**self._changed(n), "p": one["p"], "dt": one["dt"], "ts": self._ts()} for n, one in before.items()
        }
        self._rows |= changed
        return Commit("upsert", tuple(changed.values()), options)

    def _changed(self, n: int) -> dict[str, Any]:
        """1.0.2 cannot append a NULL of an indexed column to a log file."""
        new = self._row(n)
        if self._is_mor and self._release == "1.0.2":
            new |= {name: row(n % 3)[name] for name in self._indexed if new[name] is None}
        return new

    def _ts(self) -> int:
        """The ordering value of a change: mostly the latest so far."""
        return self._at if self._rng.random() < 0.8 else max(0, self._at - 2)

    def _delete(self) -> Commit:
        self._at += 1
        gone = {n: {**self._rows.pop(n), "ts": self._ts()} for n in self._some_of(self._rows)}
        self._gone |= gone
        return Commit("delete", tuple(gone.values()))

    def _merge(self) -> Commit:
        """Other values of one or two columns in some rows."""
        self._at += 1
        able = [name for name in MERGED if name in self._columns and name not in self._partition.split(",")]
        names = self._rng.sample(able, self._rng.randint(1, 2)) if len(able) > 1 else able
        changed = {
            n: {"id": f"k{n:03d}", "ts": self._ts(), **{name: self._row(n)[name] for name in names}}
            for n in self._some_of(self._rows)
        }
        self._rows = {n: {**one, **changed.get(n, {})} for n, one in self._rows.items()}
        return Commit("merge", tuple(changed.values()))

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
