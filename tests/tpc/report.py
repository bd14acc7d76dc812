"""The table of one run: the slices that each way keeps, by scan and table, with totals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.tpc.measure import Answer

_HEAD = ("table", "layout", "scan", "slices", "matching", "bounds", "Hudi", "Sargo")


@dataclass
class Totals:
    """Sums over the answers for which Hudi gave one."""

    slices: int = 0
    matching: int = 0
    bounds: int = 0
    hudi: int = 0
    sargo: int = 0
    answers: int = 0

    def add(self, answer: Answer) -> None:
        if answer.hudi is not None:
            self.slices += len(answer.table.groups)
            self.matching += len(answer.ideal)
            self.bounds += len(answer.bounds)
            self.hudi += len(answer.hudi)
            self.sargo += len(answer.sargo)
            self.answers += 1

    def cells(self) -> list[str]:
        return [f"{number:,}" for number in (self.slices, self.matching, self.bounds, self.hudi, self.sargo)]


def report(answers: Iterable[Answer]) -> str:
    """A row for each scan with the parameters of the qualification run, then the totals over all parameters."""
    rows: list[Sequence[str]] = [_HEAD]
    totals: dict[str, Totals] = {}
    first, every, rest = Totals(), Totals(), 0
    for answer in answers:
        layout = answer.table.layout
        every.add(answer)
        rest += answer.hudi is None
        totals.setdefault(layout.name, Totals()).add(answer)
        if answer.question.seed == 0:
            first.add(answer)
            rows.append([layout.name, layout.kind, answer.question.scan.label, *_cells(answer)])
    rows.append(["all", "", f"{first.answers} scans", *first.cells()])
    rows.append([])
    rows.append(["with all parameters", *_HEAD[1:]])
    rows += [[name, "", f"{total.answers} conditions", *total.cells()] for name, total in totals.items()]
    rows.append(["all", "", f"{every.answers} conditions", *every.cells()])
    lines = list(_aligned(rows))
    if rest:
        lines.append(f"Not in the totals: {rest} conditions that Hudi's skipping did not answer.")
    return "\n".join(lines)


def _cells(answer: Answer) -> list[str]:
    counts = [answer.table.groups, answer.ideal, answer.bounds, answer.hudi, answer.sargo]
    return ["-" if kept is None else str(len(kept)) for kept in counts]


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[place]) for row in rows if row) for place in range(len(_HEAD))]
    for row in rows:
        cells = [
            text.ljust(width) if place < 3 else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=False))
        ]
        yield "  ".join(cells).rstrip()
