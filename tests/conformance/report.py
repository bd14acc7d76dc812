"""The table that `make conformance` prints: file groups kept by each path, the ideal, and predicates that lose rows.

The last lines are sums over the tables that have answers of Hudi's data skipping, and their ratios to the ideal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.conformance.hive_truth import hive_keys
from tests.conformance.meanings import other_meaning
from tests.conformance.paths import Kept
from tests.conformance.stored_truth import TABLES, Truth, truth_of

BySpark = Callable[[str, str, str], frozenset[str]]
PATHS = ("text", "own", "spark", "hive", "hudi")
SUMMED = ("predicates", "shared", "groups", "ideal", *PATHS, "failed")


@dataclass(kw_only=True)
class Line:
    """Sums over the predicates of a table: file groups kept, and predicates for which a group with a match is skipped.

    `shared` counts those predicates on which all paths answer and mean the same; only these are summed, so that the
    sums can be compared. `failed`: predicates on which Hudi's data skipping ends the query with an error. `own`: by
    text, with own indexes beside those of the table.
    """

    table: str
    predicates: int = 0
    shared: int = 0
    groups: int = 0
    ideal: int = 0
    text: int = 0
    own: int = 0
    spark: int = 0
    hive: int = 0
    hudi: int | None = None
    wrong: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PATHS, 0))
    failed: int = 0

    def row(self) -> str:
        sums = [self.groups, self.ideal, self.text, self.own, self.spark, self.hive]
        hudi = "-" if self.hudi is None else f"{self.hudi}"
        lost = "-" if self.hudi is None else f"{self.wrong['hudi']}+{self.failed}"
        return (
            f"{self.table:22}{self.predicates:6}{self.shared:8}"
            + "".join(f"{n:8}" for n in sums)
            + f"{hudi:>8}"
            + "".join(f"{self.wrong[name]:7}" for name in PATHS[:-1])
            + f"{lost:>8}"
        )

    def ratios(self) -> str:
        """Sums of file groups kept, as multiples of the ideal."""
        kept = [self.text, self.own, self.spark, self.hive, self.hudi or 0]
        return f"{'kept : ideal':52}" + "".join(f"{n / max(1, self.ideal):8.2f}" for n in kept)


HEAD = (
    f"{'':36}file groups, over the predicates shared by all{'':18}predicates that lose a row\n"
    f"{'table':22}{'preds':>6}{'shared':>8}{'all':>8}{'ideal':>8}{'(b)text':>8}{'and own':>8}{'(b)Spk':>8}"
    f"{'(c)Hive':>8}{'(d)Hudi':>8}{'text':>7}{'own':>7}{'Spark':>7}{'Hive':>7}{'Hudi':>8}"
)


def line_of(name: str, kept: Kept, with_own: Kept, by_spark: BySpark | None, all_groups: int) -> Line:
    truth = truth_of(name)
    has_hudi = all("hudi" in answers for answers in truth.predicates.values())
    line = Line(table=name, predicates=len(truth.predicates), hudi=0 if has_hudi else None)
    for sql in truth.predicates:
        numbers = truth.numbers(sql, "legacy")
        ideal = truth.groups_of(numbers or ())
        text, hive, hudi = kept.text(name, sql), kept.hive(name, sql, "4.0.1"), truth.kept_by_hudi(sql)
        own = with_own.text(name, sql)
        spark = by_spark(name, sql, "legacy") if by_spark else text
        line.wrong["text"] += bool(ideal - text)
        line.wrong["own"] += bool(ideal - own)
        line.wrong["spark"] += bool(ideal - spark)
        line.wrong["hive"] += bool(hive is not None and _of_hive(truth, sql) - hive)
        line.failed += truth.hudi_fails(sql)
        if hudi is not None:
            line.wrong["hudi"] += bool(ideal - hudi)
        if hive is None or other_meaning(sql, "4.0.1") or (has_hudi and hudi is None):
            continue
        line.shared += 1
        line.groups += all_groups
        line.ideal += len(ideal)
        line.text += len(text)
        line.own += len(own)
        line.spark += len(spark)
        line.hive += len(hive)
        if line.hudi is not None and hudi is not None:
            line.hudi += len(hudi)
    return line


def _of_hive(truth: Truth, sql: str) -> set[str]:
    return {truth.group_of_key(key) for key in hive_keys(truth, sql, "4.0.1") or ()}


def total(lines: Sequence[Line]) -> Line:
    """Sums over the tables that Hudi answers for."""
    asked = [line for line in lines if line.hudi is not None]
    sums = {name: sum(getattr(line, name) for line in asked) for name in SUMMED}
    wrong = {path: sum(line.wrong[path] for line in asked) for path in PATHS}
    return Line(table=f"these {len(asked)} tables", wrong=wrong, **sums)


def report(kept: Kept, with_own: Kept, by_spark: BySpark | None, groups: dict[str, int]) -> str:
    """``kept``: without own indexes, ``with_own``: with these. ``groups``: how many file groups each table has."""
    lines = [line_of(name, kept, with_own, by_spark, groups[name]) for name in TABLES]
    whole = total(lines)
    return "\n".join([HEAD, *(line.row() for line in lines), whole.row(), whole.ratios()])
