"""Finds the jars, the source of OwnScans and the files of ``hive_conf``, in a wheel and in a checkout."""

from __future__ import annotations

from pathlib import Path

from handler.version import VERSION

__all__ = ["CONFIGURATIONS", "JARS", "SPARKS", "MissingError", "configuration", "jar", "own_scans", "spark_jar"]

#: What each jar is for -> where Maven builds it in a checkout; in a wheel it has the same name.
JARS = {
    "Hive": "handler/java/target/sargo-hive.jar",
    "Spark 3.5": "handler/java/spark/target/3.5/sargo-spark-3.5_2.12.jar",
    "Spark 4": "handler/java/spark/target/4/sargo-spark-4_2.13.jar",
}
#: The first two numbers of a version of Spark -> its jar. ``SparkLine`` in each jar has the same versions.
SPARKS = {"3.5": "Spark 3.5", **dict.fromkeys(("4.0", "4.1", "4.2", "4.3"), "Spark 4")}
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


def jar(engine: str = "Hive") -> Path:
    """The jar for one of ``JARS``. Raises MissingError."""
    built = _ROOT / JARS[engine]
    for path in (_HERE / built.name, built):
        if path.is_file():
            return path
    if (_ROOT / "handler" / "java" / "pom.xml").is_file():
        raise MissingError(
            f"the jar for {engine} has not been built in this checkout: 'make jar' builds {built} (with a JDK and "
            "Maven)"
        )
    raise MissingError(
        f"this installation of sargo {VERSION} was built without the jar for {engine}: install the wheel that 'make "
        "dist' builds, or build the jar from the source archive (make jar, with a JDK and Maven)"
    )


def spark_jar(version: str) -> Path:
    """The jar for a version of Spark, such as ``3.5.5``. Raises MissingError, also where no jar is for that version."""
    engine = SPARKS.get(".".join(version.split(".")[:2]))
    if engine is None:
        raise MissingError(f"sargo {VERSION} has no jar for Spark {version:.20}, only for {', '.join(SPARKS)}")
    return jar(engine)


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
