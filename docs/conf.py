"""How the site is built: ``make docs``, strict, without the network."""

from __future__ import annotations

import sys
from pathlib import Path

from handler.version import VERSION

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "Sargo"
author = "The Sargo authors"
project_copyright = "The Sargo authors. Apache License 2.0"
release = version = VERSION

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sargo_docs",
]
exclude_patterns = ["_ext"]

# -- Markdown

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 3

# -- strictness: a reference that leads nowhere is an error

nitpicky = True
#: Types in signatures that are no public names: they have no page to lead to.
nitpick_ignore_regex = [("py:class", ".*"), ("py:data", ".*"), ("py:obj", r"(?!handler|index_store|evaluator|sarg).*")]

# -- Python API

autodoc_member_order = "bysource"
autodoc_class_signature = "separated"  # who uses a plan does not make one
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

# -- pages

smartquotes = False  # two dashes begin an option

html_theme = "furo"
html_title = "Sargo"
html_static_path = ["_static"]
html_css_files = ["sargo.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6e75", "color-brand-content": "#0b6e75"},
    "dark_css_variables": {"color-brand-primary": "#4fc3cb", "color-brand-content": "#4fc3cb"},
}
pygments_style = "friendly"
pygments_dark_style = "monokai"
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"
