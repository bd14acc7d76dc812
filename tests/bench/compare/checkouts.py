"""The files of a commit in a folder of their own. Nothing is changed in the repository."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["NoCommit", "checked_out", "commit_of"]


class NoCommit(Exception):  # noqa: N818 - a state of the repository
    """The commit is not in the repository."""


def commit_of(repository: Path, name: str) -> str:
    """The commit that is called so. Raises NoCommit, which says when the clone is shallow."""
    try:
        return _git(repository, "rev-parse", "--quiet", "--verify", f"{name}^{{commit}}").decode().strip()
    except subprocess.CalledProcessError:
        shallow = _git(repository, "rev-parse", "--is-shallow-repository").strip() == b"true"
        why = ": the clone is shallow, fetch more of its history" if shallow else ""
        raise NoCommit(f"there is no commit {name}{why}") from None


@contextmanager
def checked_out(repository: Path, commit: str) -> Iterator[Path]:
    """A folder with the files of the commit, which is deleted at the end."""
    with TemporaryDirectory(prefix="sargo-base-") as folder:
        place = Path(folder).resolve()
        with tarfile.open(fileobj=io.BytesIO(_git(repository, "archive", "--format=tar", commit))) as files:
            files.extractall(place, filter="data")
        yield place


def _git(repository: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(repository), *arguments], check=True, capture_output=True).stdout
