"""The settings without which Hive hands out no filter, read from hive-site.xml or from a running HiveServer2."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from evaluator.language.errors import SargoError
from handler.doctor.findings import Finding, RunStatement
from handler.sidecar.client.addresses import is_loopback

__all__ = ["check_settings", "hive_settings", "site_settings"]

_HIVE_INPUT_FORMAT = "org.apache.hadoop.hive.ql.io.HiveInputFormat"

#: Setting, required value, default (None: it differs by version), and the consequence of another value.
_NEEDED = (
    ("hive.optimize.ppd", "true", "true", "Hive pushes no filter down"),
    ("hive.optimize.ppd.storage", "true", "true", "Hive pushes no filter down to table scans"),
    ("hive.optimize.index.filter", "true", None, "tables that were not made with STORED BY get no filter"),
    (
        "hive.input.format",
        _HIVE_INPUT_FORMAT,
        "org.apache.hadoop.hive.ql.io.CombineHiveInputFormat",
        "under MapReduce Hive lists files itself and asks nobody",
    ),
    ("hoodie.file.group.reader.enabled", "false", "true", "Hudi 1.0's reader fails in Hive"),
)
_JARS = "hive.aux.jars.path"
_WHITELIST = "hive.security.authorization.sqlstd.confwhitelist"
_AUTHORIZED, _MANAGER = "hive.security.authorization.enabled", "hive.security.authorization.manager"
_SETTINGS = (
    *(key for key, *_ in _NEEDED),
    "sargo.enabled",
    "sargo.sidecar.address",
    "hive.execution.engine",
    _JARS,
    _AUTHORIZED,
    _MANAGER,
    _WHITELIST,
    f"{_WHITELIST}.append",
)


def site_settings(paths: Iterable[Path]) -> dict[str, str]:
    """Properties of hive-site.xml files; a later file overrides. Raises SargoError when one cannot be read."""
    settings: dict[str, str] = {}
    for path in paths:
        try:
            root = ElementTree.parse(path).getroot()
        except (OSError, ElementTree.ParseError, ValueError, LookupError) as error:  # an encoding that is not known
            raise SargoError(f"{path}: {error}") from error
        for entry in root.iter("property"):
            name = (entry.findtext("name") or "").strip()
            if name:
                settings[name] = (entry.findtext("value") or "").strip()
    return settings


def hive_settings(ask: RunStatement) -> dict[str, str]:
    """The settings of a session of HiveServer2."""
    settings = {}
    for name in _SETTINGS:
        for row in ask(f"SET {name}"):
            key, equals, value = str(row[0]).partition("=")
            if equals and key.strip() == name:
                settings[name] = value.strip()
    return settings


def check_settings(settings: Mapping[str, str], where: str, *, address: str | None = None) -> Iterator[Finding]:
    """Whether Hive hands out filters and knows the sidecar. ``address``: of the sidecar that is checked."""
    wrong = 0
    engine = settings.get("hive.execution.engine", "mr").lower()
    for key, wanted, default, consequence in _NEEDED:
        value = settings.get(key, default)
        if key == "hive.input.format" and engine == "tez":
            continue
        if value is None:
            yield Finding(
                "settings",
                "warning",
                f"{where}: {key} is not set, and off by default in Hive 3.1: {consequence}",
                f"set {key}={wanted}",
            )
        elif value.lower() != wanted.lower():
            wrong += 1
            yield Finding("settings", "failed", f"{where}: {key} is {value}: {consequence}", f"set {key}={wanted}")
    if settings.get("sargo.enabled", "true").lower() != "true":
        wrong += 1
        yield Finding("settings", "failed", f"{where}: sargo.enabled is off", "set sargo.enabled=true")
    configured = settings.get("sargo.sidecar.address", "")
    addresses = [part.strip() for part in configured.split(",")]
    if not configured:
        wrong += 1
        yield Finding(
            "settings",
            "failed",
            f"{where}: sargo.sidecar.address is not set",
            f"set sargo.sidecar.address={address or 'HOST:PORT'}",
        )
    elif address is not None and address not in (configured, *addresses):
        yield Finding(
            "settings",
            "warning",
            f"{where}: Hive asks {configured}, not {address}",
            f"set sargo.sidecar.address={address}, or look at that one",
        )
    if any(is_loopback(one) for one in addresses) and engine == "tez":
        yield Finding(
            "settings",
            "warning",
            f"{where}: splits are made on Tez's application masters, and {configured} is each machine's own",
            "listen on an address that they reach, or run a sidecar on every node",
        )
    if not _names_the_jar(settings.get(_JARS, "")):
        yield Finding(
            "settings",
            "warning",
            f"{where}: {_JARS} names no jar of Sargo: on a class path of HiveServer2 alone, tasks and application "
            "masters fail with 'Failed to load plan'",
            f"set {_JARS} to the jar in hive-site.xml: it serves HiveServer2, application masters and tasks",
        )
    if not _may_be_set("sargo.enabled", settings):
        yield Finding(
            "settings",
            "warning",
            f"{where}: authorization refuses SET sargo.enabled=false in a session",
            rf"set {_WHITELIST}.append=sargo\..* (several patterns are joined by |)",
        )
    if not wrong:
        yield Finding("settings", "ok", f"{where}: Hive hands out filters and asks {configured}")


def _names_the_jar(paths: str) -> bool:
    """Whether a list of jars and folders has one that is Sargo's by its name, or a folder, which may hold it."""
    return any(
        "sargo" in path.rpartition("/")[2].lower() or not path.lower().endswith(".jar")
        for path in (part.strip().rstrip("/") for part in paths.split(","))
        if path
    )


def _may_be_set(name: str, settings: Mapping[str, str]) -> bool:
    """Whether a session may set this: SQL-standard authorization and Ranger allow what their white list matches."""
    manager = settings.get(_MANAGER, "")
    if settings.get(_AUTHORIZED, "false").lower() != "true" or not re.search("SQLStd|Ranger|Sentry", manager):
        return True
    for key in (_WHITELIST, f"{_WHITELIST}.append"):
        try:
            if any(re.fullmatch(pattern, name) for pattern in settings.get(key, "").split("|") if pattern):
                return True
        except re.error:
            continue
    return False
