"""``make flame-graphs BASE=main``: draw where the hot paths spend their time, before and now."""

from __future__ import annotations

from pathlib import Path

import click

from tests.bench.__main__ import machine
from tests.bench.compare.checkouts import NoCommit, checked_out, commit_of
from tests.bench.compare.hot_paths import HOT_PATHS, IMPORTS
from tests.bench.compare.rounds import compared
from tests.bench.flames.drawing import flame_graph
from tests.bench.flames.page import Profile, file_of, page_of
from tests.bench.flames.stacks import recorded

_REPOSITORY = Path(__file__).resolve().parents[3]
_PAGE = _REPOSITORY / "docs/performance/index.md"
_OUT = _PAGE.parent


@click.command()
@click.option("--base", required=True, help="The commit before, by any name that git knows.")
@click.option("--seconds", default=6.0, show_default=True, help="How long a path is looked at in each checkout.")
@click.option("--only", default="", help="Only paths whose name holds this text; the page is left as it is.")
def main(base: str, seconds: float, only: str) -> None:
    """Draw flame graphs of the hot paths of two checkouts, and write docs/performance."""
    names = [name for name in HOT_PATHS if only in name and name != IMPORTS]  # the loop sees no other process
    try:
        commit = commit_of(_REPOSITORY, base)
    except NoCommit as error:
        raise click.UsageError(str(error)) from None
    _OUT.mkdir(exist_ok=True)
    profiles: list[Profile] = []
    with checked_out(_REPOSITORY, commit) as before:
        times = {one.name: one for one in compared(before, _REPOSITORY, names, seconds * len(names))}
        for name in names:
            drawn = {}
            for when, checkout in (("before", before), ("now", _REPOSITORY)):
                if when == "before" and (times[name].why or 0.9 <= times[name].ratio <= 1.1):
                    continue
                stacks = recorded(checkout, name, seconds)
                drawn[when] = file_of(name, when)
                (_OUT / drawn[when]).write_text(flame_graph(f"{name}: {when}", stacks), encoding="utf-8")
                click.echo(f"{drawn[when]}: {sum(stacks.values()):,} samples")
            profiles.append(Profile(times[name], drawn.get("before", ""), drawn["now"], times[name].why))
    if not only:
        _PAGE.write_text(page_of(profiles, machine(), commit[:12]), encoding="utf-8")


if __name__ == "__main__":
    main()
