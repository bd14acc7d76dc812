"""``render_page``: a self-contained HTML page from a template, with its style, scripts and data, and its policy.

    page = render_page("explain.html.j2", title="...", scripts=("explain.js",), data={...}, plan=...)
    page.html      the whole page
    page.policy    its Content-Security-Policy, which the page also holds; for the header of an answer over HTTP

What keeps foreign values (filters, names of columns, partitions and files) from becoming code:

    place                     rule
    ------------------------  --------------------------------------------------------------------------------------
    text and attributes       Jinja2 escapes every value; characters that cannot be seen are written as escapes
    data for scripts          JSON in which ``<``, ``>`` and ``&`` are escapes, in an element that is not executed
    scripts of the page       put values into the page as text (``textContent``), never as HTML
    whatever gets past these  the policy runs only scripts and styles of the hashes that it names, and loads nothing
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evaluator.language.records import frozen
from handler.views.texts import count_text, minute_text, shortened, size_text, visible

__all__ = ["Page", "json_for_scripts", "render", "render_page"]

#: The scripts of the table library, and how the page calls what they export.
_LIBRARY_EXPORTS = re.compile(r"\bexport\s*\{([^}]*)\}\s*;?")


@frozen
class Page:
    """A page, and the Content-Security-Policy that it states."""

    html: str
    policy: str


def render_page(
    template: str,
    *,
    title: str,
    scripts: Sequence[str] = (),
    data: object = None,
    with_tables: bool = False,
    connects: bool = False,
    **values: Any,
) -> Page:
    """A page made of a template that extends ``base.html.j2``.

    scripts       files of ``assets/`` that run on it, as one module
    data          plain values for its scripts (``JSON.parse(document.getElementById("data").textContent)``)
    with_tables   whether scripts use the table library, which they know as ``DataTable``
    connects      whether its scripts may ask the server that the page comes from
    values        what the template shows
    """
    style = _asset("sargo.css")
    if with_tables:
        style = _library()[1] + "\n" + style
    parts = [f"{{\n{_asset(name)}\n}}" for name in scripts]  # in a block: names of the library stay apart
    script = "\n".join([_library()[0], *parts] if with_tables else parts)
    rules = ["default-src 'none'", f"style-src {_hash(style)}", "img-src data:"]
    if script:
        rules.append(f"script-src {_hash(script)}")
    if connects:
        rules.append("connect-src 'self'")
    policy = "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])
    html = (
        _environment()
        .get_template(template)
        .render(
            title=title,
            policy=policy,
            style=Markup(style),
            script=Markup(script),
            data=None if data is None else Markup(json_for_scripts(data)),
            **values,
        )
    )
    return Page(html, policy)


def render(template: str, **values: Any) -> str:
    """A piece of HTML of a template of its own, for notebooks."""
    return _environment().get_template(template).render(**values)


def json_for_scripts(document: object) -> str:
    """JSON in ASCII that can end no element and begin no comment of HTML."""
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"), default=str)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


@cache
def _asset(name: str) -> str:
    """A style or script of the package, as it stands in the page: a parser of HTML reads line ends as LF."""
    text = (files("handler.pages") / "assets" / name).read_text("utf-8").replace("\r\n", "\n")
    return _checked(text, name)


@cache
def _library() -> tuple[str, str]:
    """Script and style of DataTables, from the wheel of itables; the script defines ``DataTable`` in the module."""
    found = find_spec("itables")  # its files alone are needed: importing it would load pandas
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("No module named 'itables'", name="itables")
    folder = Path(found.submodule_search_locations[0]) / "html"
    script = (folder / "dt_bundle.js").read_text("utf-8").replace("\r\n", "\n")
    style = (folder / "dt_bundle.css").read_text("utf-8").replace("\r\n", "\n")
    exported = _LIBRARY_EXPORTS.search(script)
    names = dict(re.findall(r"([\w$]+)\s+as\s+([\w$]+)", exported[1])) if exported else {}
    jquery = next((local for local, name in names.items() if name == "jQuery"), None)
    if exported is None or jquery is None:
        raise ImportError("this version of itables ships its tables in another form", name="itables")
    # In texts and patterns of the library; a parser of HTML would take them for its own.
    script = re.sub(r"<(?=!--|/?script)", r"\\x3C", script, flags=re.IGNORECASE)
    exported = _LIBRARY_EXPORTS.search(script) or exported
    script = script[: exported.start()] + f"const DataTable = {jquery}.fn.dataTable;" + script[exported.end() :]
    return _checked(script, "itables"), _checked(style, "itables")


def _checked(text: str, name: str) -> str:
    """The text, without white space around it. Raises ValueError for one at which its element would end early."""
    folded = text.lower()
    if "</script" in folded or "<script" in folded or "<!--" in folded or re.search(r"</style\s*>", folded):
        raise ValueError(f"{name} holds the end of an element: it cannot stand in a page")
    return text.strip()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("handler.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters.update(
        count=_count, size=size_text, shortened=shortened, minute=minute_text, number=_number, percent=_percent
    )
    return environment


def _shown(value: object) -> object:
    """Texts with what cannot be seen as escapes; ``Markup`` is the page's own."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _count(number: int, noun: str, plural: str = "") -> str:
    """``1 file``, ``100,000 files``."""
    return count_text(number, noun, plural).replace(str(number), f"{number:,}", 1)


def _number(value: float) -> str:
    """Thousands apart: ``9,812``; a share of one with three digits."""
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 100 else f"{value:.3g}"


def _percent(part: float, whole: float) -> str:
    """A share that is 0 % or 100 % only when it is exactly that."""
    if not whole or not part:
        return "0 %"
    share = 100 * part / whole
    return (
        "100 %"
        if part == whole
        else f"{min(max(share, 0.1), 99.9):.1f} %"
        if share < 1 or share > 99
        else f"{share:.0f} %"
    )
