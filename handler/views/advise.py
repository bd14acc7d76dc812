"""``sargo advise``: the advice for people; ``advise_report`` has it as plain values for JSON."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from handler.advise.ranking import Advice, Candidate
from handler.advise.reasons import USELESS
from handler.advise.what_if import WhatIf
from handler.views.advise_report import commands_of
from handler.views.texts import bar, count_text, longest_word, of_text, shortened, size_text
from index_store.own.advice.selectivity_score import SelectivityScore

__all__ = ["show_advice"]

#: More rows than these are counted, not listed; --json lists them all.
MAX_CANDIDATES, MAX_FILTERS, MAX_LEFT = 15, 20, 5
#: Columns of a terminal that shows every measure of a sketch; characters of a name that is not broken in two.
_WIDE, _MAX_NAME = 100, 32
#: Longer filters are cut.
MAX_TEXT = 200


def show_advice(advice: Advice, nothing: str, layout: WhatIf | None, console: Console) -> None:
    """Print the filters, the candidates, the commands to run, and the effect of a simulated layout."""
    _show_head(advice, layout, console)
    by_workload = advice.workload is not None
    useful = [
        one for one in advice.candidates if (one.skipped > 0 if by_workload else not one.existing and _tells_apart(one))
    ]
    if nothing:
        console.print(Text(f"\n{nothing[:1].upper()}{nothing[1:]}", style="bold yellow"))
    elif advice.candidates:
        _show_candidates(advice, useful, console)
    done = [one for one in advice.candidates if one.existing]
    if done:
        names = [f"{one.entry.sketch} of {one.entry.on} ({one.existing})" for one in done[:4]]
        console.print(
            Text.assemble(
                ("\nNothing gained  ", "bold"),
                f"what the table has does as much: "
                f"{'; '.join(names)}{f' and {len(done) - 4} more' if len(done) > 4 else ''}",
            )
        )
    useless = [one for one in advice.candidates if not by_workload and not one.existing and not _tells_apart(one)]
    if useless and not nothing:
        names = [f"{one.entry.sketch} of {one.entry.on}" for one in useless[:4]]
        more = f" and {len(useless) - 4} more" if len(useless) > 4 else ""
        console.print(
            Text.assemble(("\nOf no use  ", "bold"), f"what they know may be in every file: {'; '.join(names)}{more}")
        )
    _show_proposal(advice, console)
    if layout is not None:
        _show_layout(layout, advice, console)


def _show_head(advice: Advice, layout: WhatIf | None, console: Console) -> None:
    sample, summary = advice.sample, advice.summary
    lines = Table.grid(padding=(0, 2))
    lines.add_row(Text("table", style="dim"), Text(f"{advice.table}, as of {advice.instant or 'no commit'}"))
    inexact = "" if layout is None or layout.exact else " and the what-if"
    how = (
        f"all of them: what follows is exact, but for seconds{inexact}"
        if advice.complete
        else (f"of {advice.slices}: what follows is an estimate from these")
    )
    lines.add_row(
        Text("sample", style="dim"),
        Text(f"{sample.files} files, {size_text(sample.bytes)}, of {count_text(sample.slices, 'file slice')}, {how}"),
    )
    for path, why in list(sample.failed.items())[:1]:
        text = f"{count_text(len(sample.failed), 'file')}, such as {path}: {why}"
        lines.add_row(Text("not read", style="dim"), Text(text))
    workload = advice.workload
    if workload is not None:
        asked = f"{count_text(len(workload.filters), 'filter')}, asked {count_text(summary.asked, 'time')}"
        notes = [f"{count_text(workload.others, 'line')} of other tables"] if workload.others else []
        notes += [f"{workload.left_out} lines hold rarer filters, which are left out"] if workload.left_out else []
        lines.add_row(Text("workload", style="dim"), Text("; ".join([asked, *notes])))
        for one in workload.unread_lines[:3]:
            lines.add_row("", Text(f"line {one.line} is left out: {one.why}", style="magenta"))
        if workload.unread > 3:
            lines.add_row("", Text(f"{workload.unread} lines are left out in all (--json names more)", style="magenta"))
        for why, count in list(summary.unbound.items())[:2]:
            lines.add_row("", Text(f"{count_text(count, 'filter')} not of this table: {why}", style="magenta"))
        if advice.unseen:
            keeps = "keeps" if advice.unseen == 1 else "keep"
            text = f"{count_text(advice.unseen, 'filter')} {keeps} none of the files that were looked at"
            lines.add_row("", Text(f"{text}: take more with --sample", style="magenta"))
        whole = advice.slices * summary.asked
        lines.add_row(
            Text("skipped now", style="dim"),
            Text.assemble(
                bar(round(whole - summary.kept), whole, "green"),
                f"  {of_text(round(whole - summary.kept), whole, 'file slice')}, over all filters; "
                f"{summary.kept:,.0f} are read",
            ),
        )
    console.print(lines)


def _show_candidates(advice: Advice, useful: Sequence[Candidate], console: Console) -> None:
    by_workload = advice.workload is not None
    title = (
        "What an index of one sketch would add, best per byte first"
        if by_workload
        else ("How well each sketch would tell file slices apart, best first")
    )
    console.print(Text(f"\n{title}", style="bold"))
    shown = useful[:MAX_CANDIDATES]
    is_wide = console.width >= _WIDE
    rows = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    rows.add_column("of", overflow="fold", min_width=min(_MAX_NAME, longest_word(one.entry.on for one in shown)))
    rows.add_column("sketch", min_width=longest_word(one.entry.sketch for one in shown))
    if by_workload:
        rows.add_column("skips", justify="right", no_wrap=True)
        rows.add_column("filters", justify="right")
        rows.add_column("per KB", justify="right")
    rows.add_column("score", justify="right", no_wrap=True)
    rows.add_column("size", justify="right", no_wrap=True)
    if is_wide:
        rows.add_column("= leaves", justify="right", no_wrap=True)
        rows.add_column("build", justify="right", no_wrap=True)
    for one in shown:
        cells = [Text(one.entry.on), Text(one.entry.sketch)]
        if by_workload:
            cells += [
                Text(f"{one.skipped:,.0f}", style="green"),
                Text(str(one.filters)),
                Text(_number(1000 * one.per_byte)),
            ]
        cells += [
            Text(one.score.text if one.score else "·"),
            Text(size_text(one.size)),
        ]
        if is_wide:
            cells += [
                Text(_left_text(one.score)),
                Text(f"{_seconds(one.seconds)}{'' if one.from_footers else ', rows'}", style="dim"),
            ]
        rows.add_row(*cells)
    console.print(rows)
    if len(useful) > MAX_CANDIDATES:
        console.print(Text(f"  … and {len(useful) - MAX_CANDIDATES} more (--json lists them all)", style="dim"))
    more = (
        "; = leaves: file slices that an equality with a value of the table leaves on average; build: in threads of "
        "this process, measured on some files"
    )
    narrow = f"; a terminal of {_WIDE} columns, or --json, shows what they leave and cost"
    console.print(Text(f"score: 0 useless, 100 ideal{more if is_wide else narrow}", style="dim"))


def _tells_apart(one: Candidate) -> bool:
    return one.score is not None and one.score.score >= USELESS


def _left_text(score: SelectivityScore | None) -> str:
    return "·" if score is None else f"{_number(score.left)} of {score.slices:,}"


def _show_proposal(advice: Advice, console: Console) -> None:
    proposal = advice.proposal
    if not proposal.entries:
        return
    whole = sum(one.skipped for one in proposal.entries)
    console.print(
        Text.assemble(
            ("\nTogether  ", "bold"),
            f"{count_text(len(proposal.entries), 'sketch', 'sketches')} skip {whole:,.0f} of the "
            f"{advice.summary.kept:,.0f} file slices that are read now, in an index of {size_text(proposal.size)}, "
            "built in "
            f"about {_seconds(proposal.seconds)}",
        )
    )
    for command in commands_of(advice):
        console.print(Text(f"  {command}", style="green"), soft_wrap=True)
    left = sorted(
        (one for one in proposal.remaining if one.after), key=lambda one: -one.filter.count * (one.after or 0)
    )
    if left:
        console.print(Text("\nStill read most", style="bold"))
        rows = Table.grid(padding=(0, 2))
        for one in left[:MAX_LEFT]:
            times = "" if one.filter.count == 1 else f", asked {one.filter.count} times"
            rows.add_row(
                "",
                Text(f"{_number(one.after or 0)} of {one.now:,}{times}", style="yellow"),
                Text(shortened(one.filter.text, MAX_TEXT)),
            )
        console.print(rows)


def _seconds(spent: float) -> str:
    return f"{spent:.2g} s" if spent < 10 else f"{spent:.0f} s" if spent < 120 else f"{spent / 60:.0f} min"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _show_layout(layout: WhatIf, advice: Advice, console: Console) -> None:
    console.print(
        Text.assemble(
            ("\nWhat if  ", "bold"),
            layout.arrangement,
            (
                f"  ({layout.rows} rows cut into {count_text(layout.pieces, 'file')} of equal rows"
                f"{', within their partitions' if layout.partitioned else ''})",
                "dim",
            ),
        )
    )
    if layout.filters:
        rows = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        rows.add_column("filter", overflow="fold")
        for name in ("asked", "kept now", "by bounds", "after"):
            rows.add_column(name, justify="right", no_wrap=True)
        changed = sorted(
            (one for one in layout.filters if abs(one.after - one.before) > 0.5),
            key=lambda one: -one.count * abs(one.after - one.before),
        )
        for one in changed[:MAX_FILTERS]:
            rows.add_row(
                Text(shortened(one.text, MAX_TEXT)),
                str(one.count),
                f"{one.now:,}",
                _number(one.before),
                Text(_number(one.after), style="green" if one.after < one.before else "yellow"),
            )
        if changed:
            console.print(rows)
        rest = [f"{len(changed) - MAX_FILTERS} more"] if len(changed) > MAX_FILTERS else []
        same = len(layout.filters) - len(changed)
        rest += [f"{count_text(same, 'filter')} for which nothing changes"] if same else []
        if rest:
            console.print(Text(f"  … and {', '.join(rest)} (--json lists them all)", style="dim"))
        change = "nothing gained: it" if layout.after >= layout.before else "it"
        console.print(
            Text(
                f"Over all filters {change} would keep {layout.after:,.0f} file slices by bounds instead of "
                f"{layout.before:,.0f}, of {advice.slices * advice.summary.asked:,}."
            )
        )
    for column in layout.columns:
        console.print(
            Text(
                f"bounds of {column.name}: score {column.before.text} before, {column.after.text} after; an "
                f"equality leaves {_left_text(column.before)} before, {_number(column.after.left)} after"
            )
        )
    if not layout.exact:
        console.print(
            Text(
                "From a sample of rows: of columns that are not sorted by, ranges may come out wider than "
                "they will be.",
                style="dim",
            )
        )
    if layout.left_out:
        path, why = next(iter(layout.left_out.items()))
        console.print(
            Text(f"{count_text(len(layout.left_out), 'file')} left out, such as {path}: {why}", style="magenta")
        )
