"""``{diagram} name.svg``: a drawing of ``docs/diagrams``, put into the page so that its colours follow the theme.

The drawings use Furo's colour variables with a fallback: the same file is readable as an image elsewhere.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

__all__ = ["Diagram", "setup"]


class Diagram(SphinxDirective):
    """Inline one SVG file; the dependency is noted, so that a changed drawing is drawn again."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.srcdir) / "diagrams" / self.arguments[0]
        self.env.note_dependency(str(path))
        drawing = re.sub(r"<\?xml[^>]*\?>|<!--.*?-->", "", path.read_text("utf-8"), flags=re.DOTALL)
        return [nodes.raw("", f'<div class="sargo-diagram">{drawing}</div>', format="html")]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("diagram", Diagram)
