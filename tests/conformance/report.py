"""The table that `make conformance` prints: file groups kept by each path, the ideal, and predicates that lose rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.conformance.hive_truth import hive_keys
from tests.conformance.meanings import other_meaning
from tests.conformance.paths import Kept
from tests.conformance.stored_truth import TABLES, Truth, truth_of

BySpark = Callable[[str, str, str], frozenset[str]]


@dataclass(kw_only=True)
class Line:
    """Sums over the predicates of a table: file groups kept, and predicates for which a group with a match is skipped.

    `shared` counts those predicates on which all paths answer and mean the same; only these are summed, so that the
    sums can be compared. `failed`: predicates on which Hudi's data skipping ends the query with an error.
    """

    table: str
    predicates: int = 0
    groups: int = 0
    shared: int = 0
    ideal: int = 0
    text: int = 0
    spark: int = 0
    hive: int = 0
    hudi: int | None = None
    wrong: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("text", "spark", "hive", "hudi"), 0))
    failed: int = 0

    def row(self) -> str:
        sums = [self.groups * self.shared, self.ideal, self.text, self.spark, self.hive]
        hudi = "-" if self.hudi is None else f"{self.hudi}"
        lost = "-" if self.hudi is None else f"{self.wrong['hudi']}+{self.failed}"
        return (
            f"{self.table:22}{self.predicates:6}{self.shared:8}"
            + "".join(f"{n:8}" for n in sums)
            + f"{hudi:>8}"
            + "".join(f"{self.wrong[name]:7}" for name in ("text", "spark", "hive"))
            + f"{lost:>8}"
        )


HEAD = (
    f"{'':36}file groups, over the predicates shared by all{'':10}predicates that lose a row\n"
    f"{'table':22}{'preds':>6}{'shared':>8}{'all':>8}{'ideal':>8}{'(b)text':>8}{'(b)Spk':>8}{'(c)Hive':>8}"
    f"{'(d)Hudi':>8}{'text':>7}{'Spark':>7}{'Hive':>7}{'Hudi':>8}"
)


def line_of(name: str, kept: Kept, by_spark: BySpark | None, all_groups: int) -> Line:
    truth = truth_of(name)
    has_hudi = all("hudi" in answers for answers in truth.predicates.values())
    line = Line(table=name, predicates=len(truth.predicates), groups=all_groups, hudi=0 if has_hudi else None)
    for sql in truth.predicates:
        numbers = truth.numbers(sql, "legacy")
        ideal = truth.groups_of(numbers or ())
        text, hive, hudi = kept.text(name, sql), kept.hive(name, sql, "4.0.1"), truth.kept_by_hudi(sql)
        spark = by_spark(name, sql, "legacy") if by_spark else text
        line.wrong["text"] += bool(ideal - text)
        line.wrong["spark"] += bool(ideal - spark)
        line.wrong["hive"] += bool(hive is not None and _of_hive(truth, sql) - hive)
        line.failed += truth.hudi_fails(sql)
        if hudi is not None:
            line.wrong["hudi"] += bool(ideal - hudi)
        if hive is None or other_meaning(sql, "4.0.1") or (has_hudi and hudi is None):
            continue
        line.shared += 1
        line.ideal += len(ideal)
        line.text += len(text)
        line.spark += len(spark)
        line.hive += len(hive)
        if line.hudi is not None and hudi is not None:
            line.hudi += len(hudi)
    return line


def _of_hive(truth: Truth, sql: str) -> set[str]:
    return {truth.group_of_key(key) for key in hive_keys(truth, sql, "4.0.1") or ()}


def report(kept: Kept, by_spark: BySpark | None, groups: dict[str, int]) -> str:
    lines = [line_of(name, kept, by_spark, groups[name]) for name in TABLES]
    return "\n".join([HEAD, *(line.row() for line in lines)])
