"""The settings of Hive's jar, as two classes read them: key, default, and the comment of the field.

    /** Milliseconds within which the sidecar's answer must arrive. */
    final int timeoutMs;
    ...
    timeoutMs = Math.max(1, conf.getInt("sargo.sidecar.timeout.ms", 2000));

gives ``("sargo.sidecar.timeout.ms", "2000", "Milliseconds within which ...")``.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

__all__ = ["SETTINGS_JAVA", "jar_settings"]

REPOSITORY = Path(__file__).parents[3]
_SOURCES = REPOSITORY / "handler/java/src/main/java/io/sargo"
SETTINGS_JAVA = (_SOURCES / "client/Settings.java", _SOURCES / "hive/ListingSettings.java")

_CALL = re.compile(
    r"""(?P<field>\w+)\s*=\s*(?:Math\.max\(\s*\d+\s*,\s*|Address\.list\(\s*)?conf\s*\.\s*get(?P<kind>\w*)\(
                       \s*"(?P<key>sargo\.[\w.]+)"\s*,\s*(?P<default>[^)]+?)\s*\)""",
    re.VERBOSE,
)
_FIELD = re.compile(
    r"/\*\*(?P<comment>(?:(?!\*/).)*)\*/\s*(?:(?:private|public)\s+)?final\s+[\w<>]+\s+(?P<names>[\w\s,]+);", re.DOTALL
)


def jar_settings() -> list[tuple[str, str, str]]:
    """Key, default and meaning of every setting that the jar reads. Raises ValueError without a comment."""
    return [setting for file in SETTINGS_JAVA for setting in _settings_of(file)]


def _settings_of(file: Path) -> list[tuple[str, str, str]]:
    source = file.read_text("utf-8")
    comments = {
        name.strip(): _plain(field["comment"])
        for field in _FIELD.finditer(source)
        for name in field["names"].split(",")
    }
    found = []
    for call in _CALL.finditer(source):
        if call["field"] not in comments:
            raise ValueError(f"{file.name}: {call['field']} ({call['key']}) has no comment of its own")
        found.append((call["key"], _java_default(call["default"]), comments[call["field"]]))
    missing = set(re.findall(r'conf\s*\.\s*get\w*\(\s*"(sargo\.[\w.]+)"', source)) - {key for key, _, _ in found}
    if missing or not found:
        raise ValueError(f"{file.name}: these keys are read in a form that is not understood: {missing}")
    return found


def _plain(comment: str) -> str:
    words = " ".join(re.sub(r"^\s*\*", "", comment, flags=re.MULTILINE).split())
    return re.sub(r"\{@(?:code|link) ([^}]+)\}", r"`\1`", words)


def _java_default(text: str) -> str:
    if text == '""':
        return "not set"
    if re.fullmatch(r"true|false", text):
        return text
    left, _, right = text.replace("_", "").partition("<<")
    value = ast.literal_eval(left.strip())
    return str(value << int(right)) if right else str(value)
