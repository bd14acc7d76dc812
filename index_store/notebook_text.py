"""What a notebook shows of an opened table: a few facts and its columns, without scripts, styles and libraries."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["facts_html"]

#: Columns that are shown.
MAX_COLUMNS = 200


def facts_html(title: str, facts: Sequence[tuple[str, str]], columns: Sequence[tuple[str, str]]) -> str:
    """A table of names and values, and one of columns and their types."""
    rows = "".join(f"<tr><th>{_shown(name)}</th><td>{_shown(value)}</td></tr>" for name, value in facts if value)
    shown = "".join(f"<tr><td>{_shown(name)}</td><td>{_shown(kind)}</td></tr>" for name, kind in columns[:MAX_COLUMNS])
    more = f"<p>… and {len(columns) - MAX_COLUMNS} more</p>" if len(columns) > MAX_COLUMNS else ""
    return (
        f"<div><p><strong>{_shown(title)}</strong></p><table><tbody>{rows}</tbody></table>"
        f"<details><summary>{len(columns)} columns</summary><table><tbody>{shown}</tbody></table>{more}</details></div>"
    )


def _shown(text: str) -> str:
    """The text, escaped for HTML; what cannot be seen is an escape."""
    from html import escape  # few programs show a table

    return escape("".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text))
