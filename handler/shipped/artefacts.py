"""Finds the jar for Hive, the source of OwnScans and the files of ``hive_conf``, in a wheel and in a checkout."""

from __future__ import annotations

from pathlib import Path

from handler.version import VERSION

__all__ = ["CONFIGURATIONS", "JAR", "MissingError", "configuration", "jar", "own_scans"]

#: The name of the jar, in a wheel and where Maven builds it.
JAR = "sargo-hive.jar"
_HERE = Path(__file__).parent
#: The root of the checkout, if this is one.
_ROOT = _HERE.parents[1]


#: What ``sargo conf`` takes -> the files of ``hive_conf``, in the order in which they are printed.
CONFIGURATIONS = {
    "hive4": ("hive-site-4.xml",),
    "hive3": ("hive-site-3.1.xml",),
    "sidecar": ("sidecar.toml",),
    "systemd": ("sargo-sidecar.service",),
    "prometheus": ("prometheus.yml", "sargo-alerts.yml"),
    "grafana": ("grafana-dashboard.json",),
    "native-table": ("native_table.sql",),
    "native-table-undo": ("native_table_undo.sql",),
    "stored-by": ("stored_by.sql",),
    "turn-off": ("turn_off.sql",),
    "container": ("Containerfile",),
}


class MissingError(Exception):
    """This installation does not carry the file; the message says what to do."""


def jar() -> Path:
    """The jar for Hive. Raises MissingError."""
    built = _ROOT / "handler" / "java" / "target" / JAR
    for path in (_HERE / JAR, built):
        if path.is_file():
            return path
    if (_ROOT / "handler" / "java" / "pom.xml").is_file():
        raise MissingError(
            f"the jar for Hive has not been built in this checkout: 'make jar' builds {built} (with a JDK and Maven)"
        )
    raise MissingError(
        f"this installation of sargo {VERSION} was built without the jar for Hive: install the wheel that 'make dist' "
        "builds, or build the jar from the source archive (make jar, with a JDK and Maven)"
    )


def own_scans() -> Path:
    """The source of the rule that ``sargo.spark.register`` compiles into Spark's optimizer. Raises MissingError."""
    return _present(_HERE.parent / "spark" / "source" / "OwnScans.java")


def configuration(name: str) -> list[Path]:
    """The files of one entry of ``CONFIGURATIONS``. Raises MissingError."""
    packed = _HERE / "hive_conf"
    folder = packed if packed.is_dir() else _ROOT / "hive_conf"
    return [_present(folder / file) for file in CONFIGURATIONS[name]]


def _present(path: Path) -> Path:
    if not path.is_file():
        raise MissingError(f"this installation lacks {path}: install sargo {VERSION} again")
    return path
