"""The flags of ``sargo serve``, from the source of the sidecar's settings.

``handler/sidecar/settings.py`` has one schema for file, environment and command line, a pydantic model. Its source is
read, not imported: ``sargo serve --help`` needs neither pydantic nor the rest of the extra.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.resources import files

import click

__all__ = ["setting_flags"]

#: Flags of a second name.
_OTHER_NAMES = {"--tables": ("--warm",)}


def setting_flags() -> list[click.Parameter]:
    """A flag for every setting but secrets, which a list of processes would show, and tables of values."""
    flags: list[click.Parameter] = []
    for name, kind, description in _fields():
        flag = f"--{name.replace('_', '-')}"
        if kind == "bool":
            flags.append(click.Option([f"{flag}/--no-{flag[2:]}"], default=None, help=f"{description}."))
        elif "SecretStr" not in kind and not kind.startswith("Mapping"):
            shown = "TEXT,..." if kind.startswith("Annotated[tuple") else name.rpartition("_")[2].upper()
            names = [flag, *_OTHER_NAMES.get(flag, ())]
            flags.append(click.Option(names, metavar=shown, help=f"{description}."))
    return flags


def _fields() -> Iterator[tuple[str, str, str]]:
    """Name, type and description of each field of the model ``Settings``."""
    source = (files("handler.sidecar") / "settings.py").read_text("utf-8")
    model = next(one for one in ast.parse(source).body if isinstance(one, ast.ClassDef) and one.name == "Settings")
    for field in model.body:
        match field:
            case ast.AnnAssign(target=ast.Name(name), annotation=kind, value=ast.Call(keywords=keywords)):
                described = {one.arg: one.value for one in keywords}
                yield name, ast.unparse(kind), ast.literal_eval(described["description"])
