"""``make dist``: build twice, compare, install everywhere, try, report. It stops at the first thing that fails."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from handler.version import VERSION
from tests.release.building import ROOT, BuildError, build
from tests.release.release_notes import release_notes
from tests.release.report import report
from tests.release.trying import PYTHONS, TrialError, check_types, find_pythons, try_artefact

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
#: Extras for those who work on Sargo itself: nothing of the wheel uses them.
DEVELOPMENT = {"bench", "browser", "dev", "docs", "tpch"}


def extras() -> list[str]:
    """The extras for users."""
    return sorted(set(PROJECT["optional-dependencies"]) - DEVELOPMENT)


def main() -> int:
    """Build and try; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.release", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="Where the artefacts go. Default: dist.")
    parser.add_argument("--quick", action="store_true", help="One Python, no extras.")
    parser.add_argument("--without-jar", action="store_true", help="Build the wheel without the jars.")
    parser.add_argument("--extra", action="append", help="Only this extra; may be repeated.")
    arguments = parser.parse_args()
    if not arguments.without_jar and shutil.which("mvn") is None:
        print("Maven (mvn) and a JDK build the jars. --without-jar leaves them out of the wheel.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="sargo-dist-") as folder:
        try:
            return _make(arguments, Path(folder))
        except (BuildError, TrialError) as error:
            print(f"FAILED: {error}", file=sys.stderr)
            return 1


def _make(arguments: argparse.Namespace, work: Path) -> int:
    with_jar = not arguments.without_jar
    _say(f"Building sargo {VERSION} twice, " + ("with the jars" if with_jar else "WITHOUT the jars"))
    artefacts = build(work, arguments.out, with_jar=with_jar)
    pythons = find_pythons()
    mine = f"{sys.version_info[0]}.{sys.version_info[1]}"
    chosen = {mine: pythons[mine]} if arguments.quick else pythons
    trials = []
    for version, program in chosen.items():
        _say(f"Python {version}: the wheel without extras")
        trials.append(try_artefact(version, program, artefacts.wheel, work / "trial", jar=with_jar))
    if not arguments.quick:
        for extra in arguments.extra or extras():
            _say(f"Python {mine}: the wheel with [{extra}]")
            trials.append(try_artefact(mine, pythons[mine], artefacts.wheel, work / "trial", extra=extra, jar=with_jar))
    _say(f"Python {mine}: the source archive, which is built without the jars; the types of the wheel")
    trials.append(try_artefact(mine, pythons[mine], artefacts.sdist, work / "trial", jar=False))
    check_types(pythons[mine], artefacts.wheel, work / "trial")
    text = report(artefacts, trials, [one for one in PYTHONS if one not in pythons])
    (arguments.out / "REPORT.txt").write_text(text, encoding="utf-8")
    notes = release_notes((ROOT / "CHANGELOG.md").read_text("utf-8"), VERSION)
    (arguments.out / "release-notes.txt").write_text(notes, encoding="utf-8")
    print(text)
    return 0


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
