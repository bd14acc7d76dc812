"""Tables of settings, read from what the programs themselves read.

``{sidecar-settings}`` takes the pydantic model of ``sargo serve``, ``{jar-settings}`` the calls and comments of the
jar's ``Settings.java``.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from pydantic import SecretStr
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

__all__ = ["JarSettings", "SidecarSettings", "jar_settings", "setup"]

REPOSITORY = Path(__file__).parents[3]
SETTINGS_JAVA = REPOSITORY / "handler/java/src/main/java/io/sargo/hive/Settings.java"

_CALL = re.compile(
    r"""(?P<field>\w+)\s*=\s*(?:Math\.max\(\s*\d+\s*,\s*)?conf\s*\.\s*get(?P<kind>\w+)\(
                       \s*"(?P<key>sargo\.[\w.]+)"\s*,\s*(?P<default>[^)]+?)\s*\)""",
    re.VERBOSE,
)
_FIELD = re.compile(
    r"/\*\*(?P<comment>(?:(?!\*/).)*)\*/\s*(?:private\s+)?final\s+\w+\s+(?P<names>[\w\s,]+);", re.DOTALL
)


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; a bar inside a cell would end it."""
    lines = [header, *rows]
    texts = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    texts.insert(1, "|" + "---|" * texts[0].count(" | ") + "---|")
    return "\n".join([*texts, ""])


class SidecarSettings(SphinxDirective):
    """The settings of the sidecar: key, default, meaning."""

    def run(self) -> list[nodes.Node]:
        from handler.sidecar.settings import Settings

        rows = [
            (f"`{name}`", _default(field.default), f"{field.description}.")
            for name, field in Settings.model_fields.items()
        ]
        return self.parse_text_to_nodes(_table(("Setting", "Default", "Meaning"), rows))


def _default(value: Any) -> str:
    if value is None or isinstance(value, SecretStr) or (isinstance(value, (tuple, Mapping)) and not value):
        return "not set"
    return f"`{json.dumps(str(value) if isinstance(value, Path) else value)}`"


def jar_settings() -> list[tuple[str, str, str]]:
    """Key, default and meaning of every setting that ``Settings.java`` reads. Raises ValueError without a comment."""
    source = SETTINGS_JAVA.read_text("utf-8")
    comments = {
        name.strip(): _plain(field["comment"])
        for field in _FIELD.finditer(source)
        for name in field["names"].split(",")
    }
    found = []
    for call in _CALL.finditer(source):
        if call["field"] not in comments:
            raise ValueError(f"{SETTINGS_JAVA.name}: {call['field']} ({call['key']}) has no comment of its own")
        found.append((call["key"], _java_default(call["default"]), comments[call["field"]]))
    missing = set(re.findall(r'conf\s*\.\s*get\w+\(\s*"(sargo\.[\w.]+)"', source)) - {key for key, _, _ in found}
    if missing or not found:
        raise ValueError(f"{SETTINGS_JAVA.name}: these keys are read in a form that is not understood: {missing}")
    return found


def _plain(comment: str) -> str:
    words = " ".join(re.sub(r"^\s*\*", "", comment, flags=re.MULTILINE).split())
    return re.sub(r"\{@(?:code|link) ([^}]+)\}", r"`\1`", words)


def _java_default(text: str) -> str:
    if text == '""':
        return "not set"
    if re.fullmatch(r"true|false", text):
        return text
    left, _, right = text.replace("_", "").partition("<<")
    value = ast.literal_eval(left.strip())
    return str(value << int(right)) if right else str(value)


class JarSettings(SphinxDirective):
    """The settings of Hive's jar: key, default, meaning."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(SETTINGS_JAVA))
        rows = [
            (f"`{key}`", default if default == "not set" else f"`{default}`", meaning)
            for key, default, meaning in jar_settings()
        ]
        return self.parse_text_to_nodes(_table(("Setting", "Default", "Meaning"), rows))


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("sidecar-settings", SidecarSettings)
    app.add_directive("jar-settings", JarSettings)
