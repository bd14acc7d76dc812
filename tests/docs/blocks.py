"""The code blocks of README and docs, and what a test does with each kind.

The info string of a block is its kind. A kind that is not in ``KINDS`` fails: no block is left out.

    python          runs; the blocks of a page share their names, from top to bottom
    python spark    runs too, with ``spark``, a session of Spark
    python syntax   compiles, and its imports are made: it needs a store or a cluster that is not here
    sh              every line runs beside the demo's playground, ends with 0 and prints (see ``COMMANDS``)
    sh syntax       every ``sargo`` line is parsed with its options, but not run
    text output     what the block before printed; "..." stands for anything
    text demo       what `make demo` prints, with "..." likewise
    text            a drawing or a form that nothing can check
    sql hive        Hive's own SQL parses it
    toml, xml, json are parsed
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import sqlglot
from sybil import Document, Example, Region, Sybil
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer

from handler.cli.main import main
from handler.version import VERSION

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
#: Directives of the site's generator, which the build of the site checks.
DIRECTIVES = {
    "diagram",
    "eval-rst",
    "figure",
    "grid",
    "include",
    "jar-settings",
    "literalinclude",
    "note",
    "picture",
    "public-api",
    "result-types",
    "sidecar-settings",
    "tab-item",
    "tab-set",
    "tip",
    "toctree",
    "warning",
}


@dataclass
class Page:
    """What the blocks of one page share: where they run, their names, what the last one printed."""

    folder: Path
    names: dict[str, Any] = field(default_factory=dict)
    printed: str = ""
    everything: str = ""

    def say(self, text: str) -> None:
        self.printed = text
        self.everything += text


def pages() -> list[Path]:
    """README, the other files at the root, and every page of the site."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def kind_of(example: Example) -> str:
    return str(example.region.lexemes["arguments"]).strip()


def examples(page: Path) -> list[Example]:
    """The blocks of a page from top to bottom, without the site's directives."""
    found = list(Sybil([_blocks]).parse(page).examples())
    return [one for one in found if not _is_directive(kind_of(one))]


def _blocks(document: Document) -> Iterator[Region]:
    for region in FencedCodeBlockLexer(".*", mapping={"language": "arguments", "source": "source"})(document):
        region.parsed = region.lexemes["source"]
        region.evaluator = _run
        yield region


def _is_directive(kind: str) -> bool:
    directive = re.fullmatch(r"\{([\w-]+)\}.*", kind)
    return directive is not None and directive[1] in DIRECTIVES


def _run(example: Example) -> None:
    kind = kind_of(example)
    assert kind in KINDS, f"nothing handles a block of kind {kind!r}: see tests/docs/blocks.py"
    KINDS[kind](textwrap.dedent(str(example.parsed)), example.namespace["page"], example)


# -- Python


def _python(source: str, page: Page, example: Example) -> None:
    code = compile("\n" * example.line + source, example.path, "exec")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, page.names)
    page.say(printed.getvalue())


def _python_on_spark(source: str, page: Page, example: Example) -> None:
    """Paths become whole ones: Spark's workers run in another folder."""
    _python(source.replace('"playground/', f'"{page.folder}/playground/'), page, example)


def _python_syntax(source: str, page: Page, example: Example) -> None:
    tree = ast.parse(source)
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    exec(compile(ast.Module(body=list(imports), type_ignores=[]), example.path, "exec"), {})


# -- shell


def _lines(source: str) -> list[str]:
    """Commands: lines, those that end in a backslash put together, without comments."""
    whole = source.replace("\\\n", " ")
    return [line.split("  #")[0].strip() for line in whole.splitlines() if line.strip() and not line.startswith("#")]


def _shell(source: str, page: Page, example: Example) -> None:
    printed = ""
    for line in _lines(source):
        handler = next((handler for start, handler in COMMANDS.items() if re.match(start, line)), None)
        assert handler is not None, f"nothing handles the command {line!r}: see tests/docs/blocks.py"
        printed += handler(line, page)
    page.say(printed)


def _sargo(line: str, page: Page) -> str:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", line], cwd=page.folder, env=environment, capture_output=True, text=True,
                          check=False, timeout=120)  # fmt: skip
    assert done.returncode == 0, f"{line}\n{done.stderr}"
    assert done.stdout, f"{line} prints nothing"
    return done.stdout


def _write(line: str, page: Page) -> str:
    """A file beside the playground's table."""
    subprocess.run(["bash", "-c", line], cwd=page.folder, check=True, timeout=60)
    return ""


def _serve(line: str, page: Page) -> str:
    """The same settings, printed instead of served."""
    return _sargo(line if "--print-config" in line else f"{line} --print-config", page)


def _make(line: str, page: Page) -> str:
    """The targets are there; they are not made."""
    done = subprocess.run(["make", "-n", *shlex.split(line)[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{line}\n{done.stderr}"
    return ""


def _install(line: str, page: Page) -> str:
    """It is this project's wheel, or this project with extras that it has."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    words = shlex.split(line)[2:]
    assert len(words) == 1, line
    named = re.fullmatch(rf"(?:sargo|dist/sargo-{VERSION}-py3-none-any\.whl)(?:\[([\w,]+)\])?", words[0])
    assert named is not None, line
    assert set((named[1] or "").split(",")) - {""} <= set(project["optional-dependencies"]), line
    return ""


def _jar(line: str, page: Page) -> str:
    """The options are right; a checkout has a jar only after `make jar`."""
    _parse(main, "sargo", shlex.split(line)[1:])
    return ""


def _pre_commit(line: str, page: Page) -> str:
    """There is something to install."""
    assert (ROOT / ".pre-commit-config.yaml").exists()
    return ""


def _nothing(line: str, page: Page) -> str:
    """It is about the reader's own shell."""
    return ""


#: The start of a line (a pattern), and what a test does with it.
COMMANDS: dict[str, Callable[[str, Page], str]] = {
    r"sargo serve\b": _serve,
    r"sargo jar\b": _jar,
    r"(SARGO_CACHE=\S+ )?sargo\b": _sargo,
    r"echo .* > playground/": _write,
    r"make\b": _make,
    r"pip install\b": _install,
    r"export PATH=": _nothing,
    r"\.venv/bin/pre-commit install\b": _pre_commit,
}


def _shell_syntax(source: str, page: Page, example: Example) -> None:
    for line in _lines(source):
        program, *arguments = shlex.split(line)
        assert program == "sargo", f"only sargo's own commands can be parsed: {line}"
        _parse(main, "sargo", arguments)


def _parse(command: click.Command, name: str, arguments: list[str]) -> None:
    context = command.make_context(name, list(arguments))
    if isinstance(context.command, click.Group):
        inner, found, rest = context.command.resolve_command(context, [*context._protected_args, *context.args])
        assert found is not None
        _parse(found, str(inner), rest)


# -- text


def _text_output(source: str, page: Page, example: Example) -> None:
    """White space does not count: tables are aligned by what else is in them."""
    expected, printed = " ".join(source.split()), " ".join(page.printed.split())
    pattern = ".*".join(re.escape(part.strip()) for part in re.split(r"(?:^|(?<= ))\.\.\.(?= |$)", expected))
    assert re.fullmatch(pattern, printed), (
        f"{example.path}:{example.line} expects\n{source}\nbut this was printed\n{page.printed}"
    )


def _demo(source: str, page: Page, example: Example) -> None:
    page.say(_sargo("sargo demo", page))
    _text_output(f"...\n{source}", page, example)


def _text(source: str, page: Page, example: Example) -> None:
    assert source.strip()


def _hive_sql(source: str, page: Page, example: Example) -> None:
    assert sqlglot.parse(source, dialect="hive")


def _toml(source: str, page: Page, example: Example) -> None:
    assert tomllib.loads(source)


def _xml(source: str, page: Page, example: Example) -> None:
    ElementTree.fromstring(source)


def _json(source: str, page: Page, example: Example) -> None:
    json.loads(source)


KINDS: dict[str, Callable[[str, Page, Example], None]] = {
    "python": _python,
    "python spark": _python_on_spark,
    "python syntax": _python_syntax,
    "sh": _shell,
    "sh syntax": _shell_syntax,
    "text output": _text_output,
    "text demo": _demo,
    "text": _text,
    "sql hive": _hive_sql,
    "toml": _toml,
    "xml": _xml,
    "json": _json,
}
