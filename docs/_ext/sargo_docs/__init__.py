"""The site's own directives: what they print comes from the code, so that it cannot fall behind it.

{public-api} sargo              the names of a module's ``__all__``, from their docstrings
{sidecar-settings}              the settings of ``sargo serve``, from their pydantic model
{jar-settings}                  the settings of Hive's jar, from its classes of settings
{picture} sargo explain ...     what the command prints on the demo's table, as SVG
{diagram} name.svg              a drawing of ``docs/diagrams`` that follows the page's theme
"""

from __future__ import annotations

from sphinx.application import Sphinx

from sargo_docs import diagrams, docstrings, pictures, project_files, public_api, settings_tables

__all__ = ["setup"]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives and the reader of docstrings."""
    for part in (diagrams, docstrings, pictures, project_files, public_api, settings_tables):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
