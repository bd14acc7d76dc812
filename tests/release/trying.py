"""Clean environments: a wheel or a source archive is installed by pip, and tried from an empty folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from handler.shipped.artefacts import CONFIGURATIONS, SPARKS
from handler.version import VERSION

__all__ = ["PYTHONS", "Trial", "TrialError", "find_pythons", "try_artefact"]

PYTHONS = ("3.10", "3.11", "3.12", "3.13")
#: What the demo's table is asked for, with the extra that it needs. An extra without a line is installed, and its
#: packages are looked for.
_BY_EXTRA = {
    "sidecar": [
        ["serve", "--roots", "{folder}", "--print-config"],
        ["doctor", "--jar", "{folder}/aux/sargo-hive.jar"],
    ],
    "html": [["explain", "playground/main_cow", "--where", "i = 100", "--html", "plan.html"]],
}
_SCAN = "scanned = sargo.scan('playground/main_cow', \"i BETWEEN 400 AND 700 AND p = 'p1'\"); "
_PROGRAMS = {
    "": "plan = sargo.prune('playground/main_cow', \"i BETWEEN 400 AND 700 AND p = 'p1'\"); "
    "assert 0 < len(plan.kept) < len(plan.slices)",
    "polars": f"{_SCAN}assert scanned.scan_polars().collect().height == 11",
    "duckdb": f"{_SCAN}import duckdb; assert len(scanned.to_duckdb(duckdb.connect(), 't').fetchall()) == 11",
    "pandas": f"{_SCAN}assert len(scanned.to_pandas()) == 11",
    "spark": "assert sargo.spark.prune.__module__.startswith('handler.spark')",
}
_INSTALLED = """
import importlib.metadata as m, json
one = lambda d: sum(f.locate().stat().st_size for f in d.files or () if f.locate().is_file())
print(json.dumps({d.name: [d.version, one(d)] for d in m.distributions()}))
"""
_OWN_TOOLS = ("pip", "setuptools")


class TrialError(Exception):
    """Something did not work in a clean environment."""


@dataclass(frozen=True)
class Trial:
    """One environment: ``packages`` by name with version and bytes, and how long pip took."""

    python: str
    what: str
    extra: str
    seconds: float
    packages: dict[str, tuple[str, int]] = field(repr=False)

    @property
    def nbytes(self) -> int:
        return sum(size for _, size in self.packages.values())


def find_pythons() -> dict[str, Path]:
    """The interpreters that are here and can make an environment, by version: on the PATH, or installed by pyenv."""
    found = {}
    for version in PYTHONS:
        for candidate in _candidates(version):
            command = [candidate, "-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            except OSError:
                continue
            if done.stdout.strip() == version:
                found[version] = candidate
                break
    return found


def _candidates(version: str) -> Iterator[Path]:
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        yield Path(sys.base_exec_prefix) / "bin" / f"python{version}"
    on_path = shutil.which(f"python{version}")
    if on_path is not None:
        yield Path(on_path)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/python"))


def try_artefact(python: str, program: Path, artefact: Path, work: Path, *, extra: str = "", jar: bool = True) -> Trial:
    """Install it with an extra and try it; the environment is removed. Raises TrialError."""
    shutil.rmtree(work, ignore_errors=True)
    empty = work / "empty"
    empty.mkdir(parents=True)
    _run([program, "-m", "venv", work / "venv"], empty)
    binaries = work / "venv" / "bin"
    start = time.monotonic()
    asked = f"{artefact}[{extra}]" if extra else str(artefact)
    _run([binaries / "pip", "install", "--quiet", "--disable-pip-version-check", asked], empty)
    seconds = time.monotonic() - start
    _try_commands(binaries, empty, jar=jar)
    for words in (one for one in _BY_EXTRA.get(extra, ()) if jar or one[0] != "doctor"):
        _run([binaries / "sargo", *(word.replace("{folder}", str(empty)) for word in words)], empty)
    _run([binaries / "python", "-c", f"import sargo; {_PROGRAMS.get(extra, _PROGRAMS[''])}"], empty)
    listed = json.loads(_run([binaries / "python", "-c", _INSTALLED], empty))
    shutil.rmtree(work)
    packages = {name: (version, size) for name, (version, size) in listed.items() if name not in _OWN_TOOLS}
    return Trial(python, "wheel" if artefact.suffix == ".whl" else "sdist", extra, seconds, packages)


def _try_commands(binaries: Path, folder: Path, *, jar: bool) -> None:
    sargo = binaries / "sargo"
    demo = _run([sargo, "demo", "--keep", "playground"], folder)
    if "No filter lost a row." not in demo:
        raise TrialError(f"sargo demo says:\n{demo[-2000:]}")
    for words in ([sargo, "--version"], [binaries / "python", "-m", "sargo", "--version"]):
        if _run(words, folder) != f"sargo, version {VERSION}\n":
            raise TrialError(f"{words} does not say {VERSION}")
    for name in CONFIGURATIONS:
        _run([sargo, "conf", name], folder)
    if jar:
        for words in ([], *(["--spark", version] for version in SPARKS)):
            copy = folder / _run([sargo, "jar", *words, "--copy-to", "aux"], folder).strip()
            if copy.read_bytes()[:2] != b"PK":
                raise TrialError(f"{copy} is no jar")
        return
    if "without the jar for Hive" not in _run([sargo, "jar"], folder, code=4):
        raise TrialError("sargo jar does not say that it is missing")


def check_types(program: Path, artefact: Path, work: Path) -> None:
    """mypy, from this environment, finds the types of an installed wheel. Raises TrialError."""
    shutil.rmtree(work, ignore_errors=True)
    (work / "empty").mkdir(parents=True)
    _run([program, "-m", "venv", work / "venv"], work)
    _run([work / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", artefact], work)
    (work / "empty" / "program.py").write_text(
        "import sargo\nfrom sargo.spark import read\nreveal_type(sargo.prune('t', 'a = 1').kept)\nreveal_type(read)\n"
        "sargo.prune(1, 2, 3)\n"
    )
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-executable", work / "venv/bin/python"]
    said = _run([*mypy, "program.py"], work / "empty", code=1)
    if said.count("error:") < 3 or "FileSlice" not in said or "import-untyped" in said or 'is "Any"' in said:
        raise TrialError(f"mypy says:\n{said}")
    shutil.rmtree(work)


def _run(command: list[object], folder: Path, code: int = 0) -> str:
    """What a command prints, which has to end with this code."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SARGO_"))}
    environment["SARGO_CACHE"] = "off"
    words = [str(one) for one in command]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise TrialError(f"{' '.join(words)} ends with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    return done.stdout + done.stderr
