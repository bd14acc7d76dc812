"""Docstrings as pages: the project writes argument tables and code as indented blocks, which become lists and code.

engine      whose rules hold          becomes a definition list, for every line starts "name  text" at one column
frame = read(spark, "/data/trips")    becomes a code block, as does every other indented block
"""

from __future__ import annotations

import ast
import re
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["setup", "to_rst"]

_ENTRY = re.compile(r"(?P<names>\S+(?:, \S+)*) {2,}(?P<text>\S.*)")
#: Names that are too long to have their text on the same line.
_NAMES = re.compile(r"\w+(?:, \w+)+")


def to_rst(lines: list[str]) -> list[str]:
    """The lines of a docstring as reStructuredText: paragraph by paragraph, a table of names becomes a list."""
    out: list[str] = []
    for indented, block in _blocks(lines):
        out += _definitions(block) or (_code(block) if indented else block)
        out.append("")
    return out


def _blocks(lines: list[str]) -> list[tuple[bool, list[str]]]:
    """Paragraphs, and indented blocks with the empty lines inside them."""
    blocks: list[tuple[bool, list[str]]] = []
    gap = False
    for line in lines:
        if not line.strip():
            gap = True
            continue
        table = bool(blocks) and not gap and _ENTRY.fullmatch(blocks[-1][1][0]) is not None
        indented = line.startswith("    ") and not table
        if blocks and blocks[-1][0] == indented and (indented or not gap):
            blocks[-1][1].extend(["", line] if gap else [line])
        else:
            blocks.append((indented, [line]))
        gap = False
    return blocks


def _definitions(block: list[str]) -> list[str] | None:
    """The block as a definition list, when it is a table of names and texts."""
    margin = min(len(line) - len(line.lstrip()) for line in block if line.strip())
    out: list[str] = []
    column = None
    for line in (line[margin:] for line in block):
        entry = None if line.startswith(" ") else _ENTRY.fullmatch(line)
        if entry is not None:
            column = entry.start("text") if column is None else column
            if entry.start("text") != column or "  " in entry["text"]:  # a table of more columns than two
                return None
            names = ", ".join(f"``{name}``" for name in entry["names"].split(", "))
            out += [names, f"    {entry['text']}"]
        elif column is not None and _NAMES.fullmatch(line):
            out.append(", ".join(f"``{name}``" for name in line.split(", ")))
        elif column is not None and line[:column].strip() == "" and line.strip():
            out.append(f"    {line.strip()}")
        else:
            return None
    return out


def _code(block: list[str]) -> list[str]:
    try:
        ast.parse(textwrap.dedent("\n".join(block)))
    except SyntaxError:
        return [".. code-block:: text", "", *block]
    return [".. code-block:: python", "", *block]


def _process(app: Sphinx, what: str, name: str, obj: object, options: Any, lines: list[str]) -> None:
    del app, what, name, obj, options
    lines[:] = to_rst(lines)


def setup(app: Sphinx) -> None:
    """Have autodoc read every docstring so."""
    app.connect("autodoc-process-docstring", _process)
