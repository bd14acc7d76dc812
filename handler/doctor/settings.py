"""The settings without which Hive hands out no filter, read from hive-site.xml or from a running HiveServer2."""

from __future__ import annotations

import ipaddress
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from evaluator.language.errors import SargoError
from handler.doctor.findings import Finding, RunStatement

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
_SETTINGS = (*(key for key, *_ in _NEEDED), "sargo.enabled", "sargo.sidecar.address", "hive.execution.engine")


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
    if not configured:
        wrong += 1
        yield Finding(
            "settings",
            "failed",
            f"{where}: sargo.sidecar.address is not set",
            f"set sargo.sidecar.address={address or 'HOST:PORT'}",
        )
    elif address is not None and configured != address:
        yield Finding(
            "settings",
            "warning",
            f"{where}: Hive asks {configured}, not {address}",
            f"set sargo.sidecar.address={address}, or look at that one",
        )
    if configured and _is_loopback(configured.rpartition(":")[0]) and engine == "tez":
        yield Finding(
            "settings",
            "warning",
            f"{where}: splits are made on Tez's application masters, and {configured} is each machine's own",
            "listen on an address that they reach, or run a sidecar on every node",
        )
    if not wrong:
        yield Finding("settings", "ok", f"{where}: Hive hands out filters and asks {configured}")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
