"""Jars of the local Maven repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

__all__ = ["SPARK_TESTS", "fetched", "place"]

#: The tests of the Spark that writes the tables: the SQL and the queries of TPC-DS that Spark tests itself with.
SPARK_TESTS = ("org.apache.spark", "spark-sql_2.12", "3.5.5", "tests")


def place(group: str, name: str, version: str, classifier: str = "") -> Path:
    """Where Maven puts a jar."""
    file = "-".join(filter(None, (name, version, classifier)))
    return Path.home().joinpath(".m2", "repository", *group.split("."), name, version, f"{file}.jar")


def fetched(group: str, name: str, version: str, classifier: str = "") -> Path:
    """A jar, downloaded unless it is there."""
    jar = place(group, name, version, classifier)
    if not jar.exists():
        artifact = ":".join([group, name, version, *(["jar", classifier] if classifier else [])])
        command = ["mvn", "-q", "-B", "dependency:get", "-Dtransitive=false", f"-Dartifact={artifact}"]
        subprocess.run(command, check=True)
    return jar
