"""The option ``--html FILE``: the output of a command as one HTML page. Its libraries come with the extra ``html``."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from handler.cli.exit_codes import InputError
from handler.cli.extras import needs_extra
from handler.cli.output.consoles import print_text

__all__ = ["html_option", "write_page"]


def _named(context: click.Context, parameter: click.Parameter, given: str | None) -> str | None:
    if given is not None and not given.strip():
        raise click.BadParameter("it is empty", param=parameter)
    if given is not None:  # before anything is read
        with needs_extra(f"{context.info_name} --html", "html"):
            for name in ("jinja2", "itables"):
                if find_spec(name) is None:
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return given


html_option: Callable[[Any], Any] = click.option(
    "--html",
    "html_file",
    metavar="FILE|-",
    default=None,
    callback=_named,
    help="Write one HTML page, to open in a browser; it needs no network. With the extra 'html'.",
)


def write_page(html: str, file: str, *, with_json: bool = False) -> None:
    """Write a page to a file and say so, or write it to stdout for ``-``; ``with_json``: a document follows on stdout.

    Raises InputError for a file that cannot be written.
    """
    if file == "-":
        print_text(html)
        return
    path = Path(file)
    try:
        path.write_text(html, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"cannot write --html {file}: {error.strerror or error}") from error
    if not with_json:
        print_text(f"wrote {file}: open it in a browser")
