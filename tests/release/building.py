"""The jars, the wheel and the source archive, each built twice from clean copies of the sources, and compared."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

from handler.shipped.artefacts import JARS
from handler.version import VERSION

__all__ = ["Artefacts", "BuildError", "build"]

ROOT = Path(__file__).parents[2]
#: The arguments of Maven that build all of them.
_BUILDS = (
    ["-f", "handler/java/pom.xml"],
    ["-f", "handler/java/spark/pom.xml"],
    ["-f", "handler/java/spark/pom.xml", "-P", "spark4"],
)
_BACKEND = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"


class BuildError(Exception):
    """A build failed, or two builds of the same sources differ."""


@dataclass(frozen=True)
class Artefacts:
    """What is released. ``jars`` is empty where they were left out."""

    wheel: Path
    sdist: Path
    jars: list[Path]


def build(work: Path, out: Path, *, with_jar: bool) -> Artefacts:
    """Build twice: the wheel from the sources and from the source archive, in other folders. Raises BuildError."""
    epoch = _run(["git", "log", "-1", "--format=%ct"], ROOT).strip()
    first, second = work / "first", work / "second"
    for folder in (first, second):
        _copy_sources(folder)
    sdist, same_sdist = (_backend("build_sdist", one, work / f"out-{one.name}", epoch) for one in (first, second))
    _compare("source archives", sdist, same_sdist)
    with tarfile.open(sdist) as archive:
        archive.extractall(work / "third", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    third = work / "third" / f"sargo-{VERSION}"
    if with_jar:
        for folder in (first, third):
            _build_jars(folder, epoch)
        for jar in JARS.values():
            _compare("jars", first / jar, third / jar)
    wheel, same_wheel = (_backend("build_wheel", one, work / f"out-{one.name}", epoch) for one in (first, third))
    _compare("wheels", wheel, same_wheel)
    out.mkdir(parents=True, exist_ok=True)
    for old in [*out.glob("sargo-*.whl"), *out.glob("sargo-*.tar.gz"), *out.glob("sargo-*.jar")]:
        old.unlink()
    jars = [Path(shutil.copy2(first / jar, out)) for jar in JARS.values()] if with_jar else []
    return Artefacts(Path(shutil.copy2(wheel, out)), Path(shutil.copy2(sdist, out)), jars)


def _copy_sources(folder: Path) -> None:
    """Every file that git knows or would add, with the modes that git gives it."""
    listed = _run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT)
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_file() and not name.startswith("tests/"):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            target.chmod(0o755 if os.access(source, os.X_OK) else 0o644)


def _build_jars(folder: Path, epoch: str) -> None:
    maven = ["mvn", "-B", "-ntp", "-q", "-Dmaven.test.skip", f"-Dproject.build.outputTimestamp={epoch}"]
    for build_of_jar in _BUILDS:
        _run([*maven, *build_of_jar, "package"], folder)


def _backend(hook: str, folder: Path, out: Path, epoch: str) -> Path:
    out.mkdir(exist_ok=True)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch, "PYTHONPATH": ""}
    said = _run([sys.executable, "-c", _BACKEND, hook, str(out)], folder, environment)
    return out / said.splitlines()[-1]


def _compare(what: str, one: Path, other: Path) -> None:
    if one.read_bytes() != other.read_bytes():
        raise BuildError(f"two {what} of the same sources differ: {one} and {other}")


def _run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        raise BuildError(f"{command[0]}: {error.strerror}") from error
    if done.returncode:
        raise BuildError(f"{' '.join(command)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout
