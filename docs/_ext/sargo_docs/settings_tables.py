"""Tables of settings, read from what the programs themselves read.

``{sidecar-settings}`` takes the pydantic model of ``sargo serve``, ``{jar-settings}`` the calls and comments of the
jar's classes of settings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from pydantic import SecretStr
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from sargo_docs.java_settings import SETTINGS_JAVA, jar_settings

__all__ = ["JarSettings", "SidecarSettings", "setup"]


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


class JarSettings(SphinxDirective):
    """The settings of Hive's jar: key, default, meaning."""

    def run(self) -> list[nodes.Node]:
        for file in SETTINGS_JAVA:
            self.env.note_dependency(str(file))
        rows = [
            (f"`{key}`", default if default == "not set" else f"`{default}`", meaning)
            for key, default, meaning in jar_settings()
        ]
        return self.parse_text_to_nodes(_table(("Setting", "Default", "Meaning"), rows))


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("sidecar-settings", SidecarSettings)
    app.add_directive("jar-settings", JarSettings)
