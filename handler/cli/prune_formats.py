"""What ``sargo prune`` prints: the view for people, JSON, CSV, or the paths of the files to read.

--format table    counts, files and reasons, for people; the default
--format json     one JSON document (docs/reference/json.md)
--format csv      a row for each file slice: state, partition, file_id, base_file, log_files (one line each)
--format paths    a URI for each file to read, one a line; with -0 each ends in NUL (``xargs -0``)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from handler.cli.exit_codes import InputError
from handler.cli.output.consoles import print_json, stdout_console
from handler.cli.output.encodable_output import OutputError
from handler.cli.table_options import with_options

if TYPE_CHECKING:
    from handler.planning.plan import Plan

__all__ = ["FORMATS", "print_plan", "with_formats"]

FORMATS = ("table", "json", "csv", "paths")
_CSV_COLUMNS = ("state", "partition", "file_id", "base_file", "log_files")
#: Paths that are written together.
_AT_ONCE = 100_000


def with_formats(command: Any) -> Any:
    """Add the options that say in what form a plan is printed."""
    return with_options(
        click.option("--format", "form", type=click.Choice(FORMATS), help="How to print the answer. Default: table."),
        click.option("--paths", "as_paths", is_flag=True, help="Print the URI of each file to read: --format paths."),
        click.option("-0", "nul", is_flag=True, help="End each path with NUL instead of a line break (xargs -0)."),
    )(command)


def print_plan(plan: Plan, form: str | None, *, as_json: bool, as_paths: bool, nul: bool) -> None:
    """Print a plan in the form that the options say."""
    asked = {name for name, given in (("json", as_json), ("paths", as_paths), (form, form is not None)) if given}
    if len(asked) > 1:
        raise click.UsageError(f"give one of --json, --paths and --format, not {' and '.join(sorted(map(str, asked)))}")
    chosen = next(iter(asked), "table")
    if nul and chosen != "paths":
        raise click.UsageError("-0 goes with --paths")
    if chosen == "json":
        print_json(plan.to_dict())
    elif chosen == "paths":
        _print_paths(plan, "\0" if nul else "\n")
    elif chosen == "csv":
        _print_csv(plan)
    else:
        from handler.views.plan import show_plan

        show_plan(plan, stdout_console())


def _print_paths(plan: Plan, end: str) -> None:
    paths = plan.paths()
    for start in range(0, len(paths), _AT_ONCE):
        some = paths.slice(start, _AT_ONCE).to_pylist()
        broken = next((path for path in some if end in path), None)
        if broken is not None:
            raise InputError(f"{broken!r} holds a line break: use -0")
        _write(end.join(some) + end)


def _print_csv(plan: Plan) -> None:
    import csv
    import io

    def rows() -> Iterator[tuple[str, ...]]:
        matched = plan.matched_bits
        for number, (item, kept) in enumerate(zip(plan.slices, plan.kept_bits, strict=True)):
            state = "skipped" if not kept else "matched" if matched[number] else "kept"
            yield state, item.partition, item.file_id, item.base_file or "", "\n".join(item.log_files)

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_CSV_COLUMNS)
    writer.writerows(rows())
    _write(text.getvalue())


def _write(text: str) -> None:
    """UTF-8 whatever the locale says: another character would name another file."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
        sys.stdout.buffer.flush()
    except (OSError, ValueError) as error:
        raise OutputError(error) from error
