"""Files at the root of the repository as pages of the site: the same text, with links that lead to pages.

Each has a page that is empty but for a comment. On GitHub the links of these files lead to files; in the site a link to
``docs/limits.md`` leads to the page, and a link to a source file becomes its text.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath

from sphinx.application import Sphinx

__all__ = ["PAGES", "setup"]

REPOSITORY = Path(__file__).parents[3]
#: The page of each file.
PAGES = {
    "ARCHITECTURE.md": "internals/architecture",
    "CONTRIBUTING.md": "internals/contributing",
    "CHANGELOG.md": "changelog",
    "SECURITY.md": "security",
}
_FILES = {page: file for file, page in PAGES.items()}
_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<path>[^()#:\s]+)(?P<anchor>#[^()\s]*)?\)")


def _read(app: Sphinx, page: str, source: list[str]) -> None:
    file = _FILES.get(page)
    if file is not None:
        app.env.note_dependency(str(REPOSITORY / file), docname=page)
        source[0] = (REPOSITORY / file).read_text("utf-8")
    folder = PurePosixPath() if file is not None else PurePosixPath("docs", page).parent

    def lead(link: re.Match[str]) -> str:
        path, anchor = normpath(folder / link["path"]), link["anchor"] or ""
        if path in PAGES:
            return f"[{link['text']}](/{PAGES[path]}.md{anchor})"
        if file is None:
            return link[0]
        return f"[{link['text']}](/{path.removeprefix('docs/')}{anchor})" if path.startswith("docs/") else link["text"]

    source[0] = _LINK.sub(lead, source[0])


def setup(app: Sphinx) -> None:
    """Rewrite pages as they are read."""
    app.connect("source-read", _read)
