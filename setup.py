"""What pyproject.toml cannot say: the wheel has files from outside of the packages, and archives are reproducible.

A wheel carries ``hive_conf`` and the jars for Hive and Spark in ``handler/shipped``. ``make dist`` builds the jars
first. A wheel is built without a jar where there is none, with a warning: ``sargo jar`` of that installation says how
to get one.

With SOURCE_DATE_EPOCH set, the same sources give the same bytes: setuptools sees to the wheel, this file to the sdist.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import tarfile
import time
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).parent
JAVA = ROOT / "handler" / "java"
#: What each jar is for -> where Maven builds it.
JARS = {
    "Hive": JAVA / "target" / "sargo-hive.jar",
    "Spark 3.5": JAVA / "spark" / "target" / "3.5" / "sargo-spark-3.5_2.12.jar",
    "Spark 4": JAVA / "spark" / "target" / "4" / "sargo-spark-4_2.13.jar",
}


class BuildWithFiles(build_py):
    """Copies the jars and ``hive_conf`` beside ``handler/shipped/artefacts.py``."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        folder = Path(self.build_lib) / "handler" / "shipped"
        shutil.rmtree(folder / "hive_conf", ignore_errors=True)
        shutil.copytree(ROOT / "hive_conf", folder / "hive_conf")
        for engine, jar in JARS.items():
            (folder / jar.name).unlink(missing_ok=True)
            if jar.is_file():
                shutil.copy2(jar, folder / jar.name)
            else:
                sys.stderr.write(
                    f"\nwarning: this wheel carries no jar for {engine}: {jar.relative_to(ROOT)} is not built.\n"
                    "         'make dist' builds all; 'make jar' builds the jars alone (with a JDK and Maven).\n\n"
                )


class ReproducibleArchive(sdist):
    """Writes members in the order of their names, with one time, one owner and two modes."""

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, owner=None, group=None):  # type: ignore[no-untyped-def] # noqa: A002
        if format != "gztar":
            return super().make_archive(base_name, format, root_dir, base_dir, owner, group)
        moment = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
        top = Path(root_dir or ".")
        name = f"{base_name}.tar.gz"
        with (
            open(name, "wb") as file,
            gzip.GzipFile("", "wb", 9, file, mtime=moment) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for path in sorted((top / base_dir).rglob("*")):
                member = archive.gettarinfo(path, path.relative_to(top).as_posix())
                member.mtime, member.uid, member.gid, member.uname, member.gname = moment, 0, 0, "", ""
                member.mode = 0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644
                if path.is_file():
                    with path.open("rb") as content:
                        archive.addfile(member, content)
                else:
                    archive.addfile(member)
        return name


setup(cmdclass={"build_py": BuildWithFiles, "sdist": ReproducibleArchive})
