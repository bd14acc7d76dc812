"""Hadoop's configuration files: the properties of ``core-site.xml`` and ``hdfs-site.xml``.

    HADOOP_CONF_DIR              the folder, else HADOOP_HOME/etc/hadoop; without either nothing is known
    hdfs-site.xml                overrides core-site.xml, but for a property that is marked ``<final>``
    ${name}, ${env.NAME}         replaced as Hadoop does, by a property or a variable of the environment
    xi:include                   not followed

A value that holds an unknown ``${name}`` is left out: it names nothing.
Source: org.apache.hadoop.conf.Configuration.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

__all__ = ["configuration_folder", "hadoop_properties"]

_FILES = ("core-site.xml", "hdfs-site.xml")
_MAX_BYTES = 4 << 20
_VARIABLE = re.compile(r"\$\{([^{}$\s]+)\}")
#: Hadoop replaces variables in values of variables so often.
_MAX_DEPTH = 20
_MAX_LENGTH = 1 << 16


def configuration_folder(environment: Mapping[str, str] | None = None) -> Path | None:
    """Where Hadoop's configuration files are expected, None where the environment does not say."""
    variables = os.environ if environment is None else environment
    if variables.get("HADOOP_CONF_DIR"):
        return Path(variables["HADOOP_CONF_DIR"])
    if variables.get("HADOOP_HOME"):
        return Path(variables["HADOOP_HOME"]) / "etc" / "hadoop"
    return None


def hadoop_properties(folder: Path | None, environment: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """The properties of a folder's files; a file that is not there has none. Raises ValueError for a broken one."""
    found: dict[str, str] = {}
    final: set[str] = set()
    for name in _FILES if folder is not None else ():
        assert folder is not None
        for key, value, is_final in _entries(folder / name):
            if key not in final:
                found[key] = value
                if is_final:
                    final.add(key)
    variables = os.environ if environment is None else environment
    replaced = {key: _replaced(value, found, variables) for key, value in found.items()}
    return {key: value for key, value in replaced.items() if value is not None}


def _entries(file: Path) -> list[tuple[str, str, bool]]:
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise ValueError(f"{file} has more than {_MAX_BYTES} bytes")
        data = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror}") from None
    if b"<!ENTITY" in data:
        raise ValueError(f"{file} defines entities, which are not read")
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise ValueError(f"{file} is no XML: {error}") from None
    found = []
    for one in root.iter("property"):
        name = (one.findtext("name") or "").strip()
        value = (one.findtext("value") or "").strip()
        if name:
            found.append((name, value, (one.findtext("final") or "").strip().lower() == "true"))
    return found


def _replaced(value: str, properties: Mapping[str, str], variables: Mapping[str, str]) -> str | None:
    """The value without variables, None when one of them is unknown or they never end."""
    for _ in range(_MAX_DEPTH):
        match = _VARIABLE.search(value)
        if match is None:
            return None if "${" in value else value
        name = match[1]
        if name.startswith("env."):
            given, _, otherwise = name[4:].partition("-") if "-" in name else (name[4:], "", "")
            new = variables.get(given.rstrip(":")) or otherwise or None
        else:
            new = properties.get(name)
        if new is None or len(value) > _MAX_LENGTH:
            return None
        value = f"{value[: match.start()]}{new}{value[match.end() :]}"
    return None
