"""Whether Hudi's jars on Hive's class path are complete and of one version, by their names.

Hive needs either the bundle or these four thin jars, of one version. Two versions of one class are a matter of luck.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from evaluator.language.errors import SargoError
from handler.doctor.findings import Finding
from index_store.opened_table import open_table

__all__ = ["BUNDLE", "THIN", "TRIED", "check_hudi", "check_reader"]

BUNDLE = "hudi-hadoop-mr-bundle"
THIN = ("hudi-common", "hudi-hadoop-common", "hudi-hadoop-mr", "hudi-io")
#: The version with which the tests run real Hive 4.0.1 and 3.1.3: the thin jars.
TRIED = "1.0.2"
#: Tables of this version are read from this release of Hudi on (``HoodieTableVersion.NINE``).
_NEW_TABLES, _READS_THEM = 9, (1, 1)
_NAME = re.compile(r"(hudi-[a-z0-9.-]*?[a-z](?:_2\.1[0-9])?)-(\d[0-9A-Za-z.-]*?)(?:-shaded)?\.jar")


def check_hudi(paths: Iterable[Path]) -> Iterator[Finding]:
    """The findings for these jars, and all jars in these folders. Raises SargoError for a path that is not there."""
    places = list(paths)
    versions = _versions(places)
    needed = {name: found for name, found in versions.items() if name == BUNDLE or name in THIN}
    where = ", ".join(map(str, places))
    if not needed:
        others = f", only {', '.join(sorted(versions))}" if versions else ""
        yield Finding("hudi", "failed", f"no jar of Hudi for Hive in {where}{others}", f"add {BUNDLE}-{TRIED}.jar")
        return
    for name, found in sorted(needed.items()):
        if len(found) > 1:
            yield Finding("hudi", "failed", f"{name} is there as {' and '.join(sorted(found))}", "leave one of them")
    thin = [name for name in THIN if name in needed]
    missing = [name for name in THIN if name not in needed]
    if BUNDLE in needed and thin:
        yield Finding("hudi", "warning", f"{BUNDLE} holds {', '.join(thin)} too", "leave one of the two")
    elif thin and missing:
        yield Finding("hudi", "failed", f"{', '.join(thin)} without {', '.join(missing)}", "add them, of one version")
    of_all = sorted(set().union(*needed.values()))
    if len(of_all) > 1:
        if all(len(found) == 1 for found in needed.values()):
            yield Finding("hudi", "failed", f"jars of Hudi {' and '.join(of_all)} are mixed", "take all of one version")
        return
    what = f"{BUNDLE} {of_all[0]}" if BUNDLE in needed else f"Hudi's jars {of_all[0]}"
    if of_all[0] == TRIED and BUNDLE not in needed:
        yield Finding("hudi", "ok", f"{what}, as in Sargo's tests with Hive")
    else:
        yield Finding("hudi", "ok", f"{what}; Sargo's tests run Hive with the thin jars of {TRIED}")


def check_reader(table: str, paths: Iterable[Path]) -> Iterator[Finding]:
    """Whether Hudi's reader for Hive is new enough for a table. ``paths``: as for ``check_hudi``; none: not known."""
    try:
        version = open_table(table).table.version
    except SargoError:
        return  # another check says so
    if version < _NEW_TABLES:
        return
    readers = {
        number for name, found in _versions(paths).items() if name in (BUNDLE, "hudi-hadoop-mr") for number in found
    }
    remedy = "see 'Tables of version 9' in the Hive chapter of the documentation"
    if not readers:
        text = f"{table} has version {version}, which Hudi's readers for Hive up to {TRIED} do not read"
        yield Finding("hudi", "warning", text, remedy)
    elif any(tuple(map(int, re.findall(r"\d+", number)[:2])) < _READS_THEM for number in readers):
        text = f"{table} has version {version}, which Hudi's reader {', '.join(sorted(readers))} does not read"
        yield Finding("hudi", "failed", text, remedy)


def _versions(places: Iterable[Path]) -> dict[str, set[str]]:
    """The versions of each of Hudi's jars."""
    versions: dict[str, set[str]] = {}
    for name in _names(places):
        match = _NAME.fullmatch(name)
        if match:
            versions.setdefault(match[1], set()).add(match[2])
    return versions


def _names(places: Iterable[Path]) -> Iterator[str]:
    for place in places:
        try:
            yield from (one.name for one in place.iterdir()) if place.is_dir() else [place.resolve(strict=True).name]
        except OSError as error:
            raise SargoError(f"--hive-lib {place}: {error.strerror or error}") from error
