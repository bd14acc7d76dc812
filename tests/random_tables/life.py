"""What happens to a table that lives through releases of Hudi: what its users, its operators and Sargo do to it.

A life is drawn step by step, because a step depends on what the ones before it left: instants, savepoints, columns. It
is kept as JSON between the releases, each of which has a process of its own. Writers upgrade the table when they first
write it, so a life goes through the releases in their order.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

__all__ = ["STEPS", "Life", "OwnIndex", "Step", "condition"]

#: Column -> type; the last one comes by ALTER TABLE.
COLUMNS = {
    "a": "int",
    "b": "string",
    "c": "decimal(10,2)",
    "d": "timestamp",
    "e": "double",
    "f": "date",
    "g": "bigint",
}
ADDED = "g"
PARTITIONS = ("p0", "p1", "p2")
SKETCHES = ("min_max", "bloom_filter(fpp=0.01)", "value_list(limit=20)", "secondary_index", "sum")
#: The columns that have sums.
SUMMED = ("a", "c", "g")
#: What an expression index of Hudi's computes of a column of this type; of the others, the year.
COMPUTED = {"int": "identity", "string": "lower", "bigint": "identity"}
#: A point in time that a step may name: one of so many latest commits.
RECENT = 3


@dataclass(frozen=True)
class OwnIndex:
    """An own index of Sargo's with this sketch; without a column, a refresh of all."""

    column: str = ""
    sketch: str = ""


@dataclass(frozen=True)
class Step:
    """``sql``: a statement of Hudi's, or ``own``."""

    kind: str
    sql: str = ""
    own: OwnIndex | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.sql or self.own}"


@dataclass
class Life:
    """A table and what was done to it.

    settings    of Hudi's writers
    columns     those that it has by now
    rows        so many keys were inserted: k0, k1, ...
    at          the ordering value of the last change
    is_ordered  values grow with the row's number, so that files have narrow ranges
    log         the steps so far, and why some failed
    """

    seed: int
    is_mor: bool
    is_partitioned: bool
    settings: dict[str, str]
    columns: list[str]
    rows: int = 0
    at: int = 0
    is_ordered: bool = False
    log: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, seed: int) -> Life:
        rng = random.Random(f"life {seed}")
        is_mor = rng.random() < 0.55
        settings = {
            "hoodie.metadata.index.column.stats.enable": "true",
            "hoodie.metadata.record.index.enable": rng.choice(("true", "false")),
            "hoodie.metadata.index.bloom.filter.enable": rng.choice(("true", "false", "false")),
            "hoodie.parquet.small.file.limit": rng.choice(("0", "0", "104857600")),
            "hoodie.compact.inline": rng.choice(("true", "false", "false")) if is_mor else "false",
            "hoodie.compact.inline.max.delta.commits": "3",
            "hoodie.clean.automatic": rng.choice(("true", "false")),
            "hoodie.clean.commits.retained": "2",
            "hoodie.keep.min.commits": "4",
            "hoodie.keep.max.commits": "6",
            "hoodie.embed.timeline.server": "false",
        }
        columns = [name for name in COLUMNS if name != ADDED]
        return cls(seed, is_mor, rng.random() < 0.5, settings, columns, is_ordered=rng.random() < 0.75)

    @classmethod
    def load(cls, seed: int, folder: Path) -> Life:
        """As the release before left it, or a new one."""
        file = folder / f"{seed}.json"
        return cls(**json.loads(file.read_text(encoding="utf-8"))) if file.exists() else cls.of(seed)

    def save(self, folder: Path) -> None:
        (folder / f"{self.seed}.json").write_text(json.dumps(asdict(self)), encoding="utf-8")

    def created(self, name: str, path: Path) -> str:
        columns = ", ".join(f"{column} {COLUMNS[column]}" for column in self.columns)
        kind = "mor" if self.is_mor else "cow"
        return (
            f"create table {name} (id string, ts bigint, {columns}{', p string' if self.is_partitioned else ''}) "
            f"using hudi options (primaryKey = 'id', preCombineField = 'ts', type = '{kind}') "
            f"{'partitioned by (p) ' if self.is_partitioned else ''}location '{path}'"
        )

    def step(self, rng: random.Random, release: str, table: str, commits: Sequence[str], saved: Sequence[str]) -> Step:
        """``commits``: instants, the latest first; ``saved``: those of savepoints."""
        self.at += 1
        if not self.rows:
            return Step("insert", self._insert(rng, table, 8))
        kind = rng.choice([*_STEPS, *_OFTEN])
        found = _STEPS[kind](_Drawn(self, rng, release, table, commits, saved))
        if isinstance(found, OwnIndex):
            return Step(kind, own=found)
        return Step(kind, found) if found else Step("insert", self._insert(rng, table, rng.randint(1, 6)))

    @property
    def names(self) -> list[str]:
        return ["id", "ts", *self.columns, *["p"] * self.is_partitioned]

    def key(self, rng: random.Random) -> str:
        """At times one that no row has."""
        return f"'k{rng.randint(0, self.rows + 1)}'"

    def value(self, rng: random.Random, column: str, number: int | None = None) -> str:
        """One that the row with this number may have, or any row."""
        if not self.is_ordered or rng.random() < 0.05:
            return value(rng, column)
        return value(rng, column, rng.randint(0, self.rows) if number is None else number)

    def row(self, rng: random.Random, number: int) -> str:
        values = [f"'k{number}'", str(self.at), *(self.value(rng, name, number) for name in self.columns)]
        return f"({', '.join(values + [repr(PARTITIONS[number % 3])] * self.is_partitioned)})"

    def _insert(self, rng: random.Random, table: str, many: int, how: str = "into") -> str:
        numbers = range(self.rows, self.rows + many)
        self.rows = numbers.stop
        rows = ", ".join(self.row(rng, number) for number in numbers)
        # Where a column was added comes after those of partitions, or before them. Hudi 0.15.0 takes no list.
        names = f" ({', '.join(self.names)})" if ADDED in self.columns else ""
        return f"insert {how} {table}{names} values {rows}"


def value(rng: random.Random, column: str, near: int | None = None) -> str:
    """A constant of the column's type; with ``near``, a row's number, one that few other rows have."""
    kind = COLUMNS[column]
    if rng.random() < 0.12:
        return f"cast(null as {kind})"
    low, high = (0, 100) if near is None else (near % 99, near % 99 + 2)
    percent = rng.randint(low, high)
    a_day = f"2026-{1 + percent * 11 // 100:02d}-{rng.randint(1, 28):02d}"
    match kind:
        case "string":
            text = rng.choice(("apple", f"x{percent}", "42", "", "z" * 40) if near is None else (f"x{percent:02d}",))
            return f"cast('{text}' as string)"
        case "decimal(10,2)":
            return f"cast({percent * 50 + rng.randint(-1000, -950)}e-2 as {kind})"
        case "double":
            return f"cast({percent * 5 / 4 - 25} as {kind})"
        case "timestamp":
            return f"timestamp '{a_day} 10:00:00'"
        case "date":
            return f"date '{a_day}'"
        case _:
            return f"cast({percent * 4 + rng.randint(-50, -47)} as {kind})"


def condition(rng: random.Random, life: Life) -> str:
    column = rng.choice([*life.columns, "id"])
    if column == "id":
        return rng.choice((f"id = {life.key(rng)}", f"id in ({life.key(rng)}, {life.key(rng)})"))
    one, other = life.value(rng, column), life.value(rng, column)
    forms = [
        f"{column} = {one}",
        f"{column} > {one}",
        f"{column} <= {one}",
        f"{column} is null",
        f"not ({column} = {one})",
        f"{column} in ({one}, {other})",
        f"{column} > {one} or {column} is null",
        f"{column} between {one} and {other}",
    ]
    match COLUMNS[column]:
        case "string":
            forms += [f"lower({column}) = {one}", f"{column} like 'x1%'"]
        case "timestamp" | "date":
            forms += [f"year({column}) = 2026", f"to_date({column}) > date '2026-09-01'"]
    if life.is_partitioned:
        forms.append(f"{column} = {one} and p = '{rng.choice(PARTITIONS)}'")
    return rng.choice(forms)


@dataclass(frozen=True)
class _Drawn:
    """What a step is drawn of. Its methods give a statement, or "" where the step cannot be."""

    life: Life
    rng: random.Random
    release: str
    table: str
    commits: Sequence[str]
    saved: Sequence[str]

    @property
    def column(self) -> str:
        return self.rng.choice(self.life.columns)

    def insert(self) -> str:
        return ""

    def insert_overwrite(self) -> str:
        return self.life._insert(self.rng, self.table, 3, "overwrite") if self.rng.random() < 0.3 else ""

    def update(self) -> str:
        column, keys = self.column, ", ".join(self.life.key(self.rng) for _ in range(3))
        changed = f"{column} = {self.life.value(self.rng, column)}, ts = {self.life.at}"
        return f"update {self.table} set {changed} where id in ({keys})"

    def delete(self) -> str:
        column, key = self.column, self.life.key(self.rng)
        which = self.rng.choice((f"id = {key}", f"{column} = {self.life.value(self.rng, column)}"))
        return f"delete from {self.table} where {which}"

    def merge(self) -> str:
        """Update a row or insert it."""
        row = self.life.row(self.rng, self.rng.randint(0, self.life.rows + 2))
        source = f"select * from values {row} as v ({', '.join(self.life.names)})"
        return (
            f"merge into {self.table} t using ({source}) s on t.id = s.id "
            "when matched then update set * when not matched then insert *"
        )

    def merge_one_column(self) -> str:
        column = self.column
        source = (
            f"{self.life.key(self.rng)} id, cast({self.life.at} as bigint) ts, {self.life.value(self.rng, column)} v"
        )
        return (
            f"merge into {self.table} t using (select {source}) s on t.id = s.id "
            f"when matched then update set {column} = s.v, ts = s.ts"
        )

    def add_column(self) -> str:
        if ADDED in self.life.columns or self.release == "0.15.0":
            return ""
        return f"alter table {self.table} add columns ({ADDED} {COLUMNS[ADDED]})"

    def drop_partition(self) -> str:
        if not self.life.is_partitioned:
            return ""
        return f"alter table {self.table} drop partition (p = '{self.rng.choice(PARTITIONS)}')"

    def truncate(self) -> str:
        return f"truncate table {self.table}" if self.rng.random() < 0.2 else ""

    def clustering(self) -> str:
        op = "" if self.release == "0.15.0" else "op => 'scheduleAndExecute', "
        return f"call run_clustering(table => '{self.table}', {op}order => '{self.column}')"

    def compaction(self) -> str:
        if not self.life.is_mor:
            return ""
        op = self.rng.choice(("schedule", "scheduleAndExecute", "run", "execute"))
        return f"call run_compaction(op => '{op}', table => '{self.table}')"

    def cleaning(self) -> str:
        return f"call run_clean(table => '{self.table}', retain_commits => 1)"

    def archiving(self) -> str:
        return (
            f"call archive_commits(table => '{self.table}', min_commits => 3, max_commits => 4, retain_commits => 1, "
            "enable_metadata => true)"
        )

    def savepoint(self) -> str:
        recent = self.commits[:RECENT]
        return f"call create_savepoint('{self.table}', '{self.rng.choice(recent)}')" if recent else ""

    def restore(self) -> str:
        if not self.saved:
            return self.savepoint()
        return f"call rollback_to_savepoint('{self.table}', '{self.rng.choice(self.saved)}')"

    def hudi_index(self) -> str:
        column = self.column
        computed = COMPUTED.get(COLUMNS[column], "year")
        of_kind = {
            "i": f"({column})",
            "x": f"using column_stats({column}) options(expr = '{computed}')",
            "y": f"using bloom_filters({column}) options(expr = 'identity')",
        }
        if self.release == "0.15.0":
            return ""
        kind = self.rng.choice("ixy")
        return f"create index {kind}_{column} on {self.table} {of_kind[kind]}"

    def drop_hudi_index(self) -> str:
        if self.release == "0.15.0":
            return ""
        return f"drop index {self.rng.choice('ixy')}_{self.column} on {self.table}"

    def own_index(self) -> OwnIndex:
        sketch = self.rng.choice(SKETCHES)
        summed = [name for name in self.life.columns if name in SUMMED]
        return OwnIndex(self.rng.choice(summed) if sketch == "sum" else self.column, sketch)

    def refresh(self) -> OwnIndex:
        return OwnIndex()


_OFTEN = ("insert", "insert", "update", "delete")
_STEPS: dict[str, Callable[[_Drawn], str | OwnIndex]] = {
    name: step for name, step in vars(_Drawn).items() if not name.startswith("_") and callable(step)
}
#: The kinds of steps.
STEPS = frozenset(_STEPS)
