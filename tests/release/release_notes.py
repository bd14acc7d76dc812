"""The notes of a release: the part of CHANGELOG.md about the version of ``handler/version.py``, or the unreleased."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from handler.version import VERSION

__all__ = ["release_notes"]

ROOT = Path(__file__).parents[2]


def release_notes(changelog: str, version: str) -> str:
    """The notes in Markdown. Raises ValueError when there is no part of the version, and none that is unreleased."""
    parts = dict(re.findall(r"^## \[?([\w.]+)\]?[^\n]*\n(.*?)(?=^## |\Z)", changelog, re.DOTALL | re.MULTILINE))
    body = parts.get(version, parts.get("Unreleased"))
    if body is None or not body.strip():
        raise ValueError(f"CHANGELOG.md has no part '## {version}' and none '## Unreleased'")
    return f"# Sargo {version}\n\n{body.strip()}\n"


if __name__ == "__main__":
    sys.stdout.write(release_notes((ROOT / "CHANGELOG.md").read_text("utf-8"), VERSION))
