"""``--copy-to DIR``: copies files that the installation carries. A file there is replaced whole, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from handler.cli.exit_codes import NO_SPACE, InputError

__all__ = ["copy_to"]


def copy_to(folder: str, paths: Sequence[Path]) -> list[Path]:
    """The copies. The folder is made where it is missing. Raises InputError when it cannot be written."""
    if not folder or "\0" in folder:
        raise InputError("--copy-to needs the name of a folder")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        return [_copied(path, Path(folder) / path.name) for path in paths]
    except OSError as error:
        if error.errno in NO_SPACE:
            raise
        raise InputError(f"cannot write --copy-to {folder}: {error.strerror or error}") from error


def _copied(path: Path, target: Path) -> Path:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as output, path.open("rb") as source:
            shutil.copyfileobj(source, output)
        os.chmod(name, 0o644)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return target
