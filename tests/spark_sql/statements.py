"""The statements of Spark's own SQL tests, from the jar of its tests."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.tables.maven import SPARK_TESTS, fetched

__all__ = ["Script", "is_query", "scripts"]

_HOME = "sql-tests/inputs/"
#: Folder -> the settings that its files are for.
_SETTINGS = {
    "ansi": {"spark.sql.ansi.enabled": "true"},
    "timestampNTZ": {"spark.sql.timestampType": "TIMESTAMP_NTZ"},
}
_QUERY = re.compile(r"(select|with|values|table|from)\b|\(", re.IGNORECASE)


@dataclass(frozen=True)
class Script:
    """The statements of a file, and the settings of the session that it is for."""

    name: str
    settings: Mapping[str, str]
    statements: tuple[str, ...]


def scripts() -> Iterator[Script]:
    """Those of all files, by name, such as ``subquery/in-subquery/in-joins.sql``."""
    with zipfile.ZipFile(fetched(*SPARK_TESTS)) as archive:
        texts = {name.removeprefix(_HOME): name for name in archive.namelist() if name.startswith(_HOME)}
        texts = {name: archive.read(path).decode("utf-8") for name, path in texts.items() if name.endswith(".sql")}
    for name, text in sorted(texts.items()):
        lines = [line.strip() for line in text.splitlines()]
        parts = [texts[line.split()[1]] for line in lines if line.startswith("--IMPORT ")]
        settings = dict(
            pair.strip().split("=", 1) for line in lines if line.startswith("--SET ") for pair in line[6:].split(",")
        )
        settings = {**_SETTINGS.get(name.partition("/")[0], {}), **settings}
        yield Script(name, settings, tuple(found for part in [*parts, text] for found in _statements(part)))


def is_query(statement: str) -> bool:
    """Whether a statement has rows, and changes nothing."""
    head = _QUERY.match(statement)
    return head is not None and re.search(r"\binsert\s+(into|overwrite)\b", statement, re.IGNORECASE) is None


def _statements(text: str) -> Iterator[str]:
    """Split at the semicolons that no backslash precedes, without the lines that are comments."""
    code = "\n".join(line for line in text.splitlines() if not line.strip().startswith("--"))
    for part in re.split(r"(?<!\\);", code):
        statement = part.replace("\\;", ";").strip()
        if statement:
            yield statement
