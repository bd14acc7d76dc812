"""Whether a jar is Sargo's for Hive: complete, of this version, for Java 8, and without a clashing Thrift."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from handler.doctor.findings import Finding
from handler.version import VERSION

__all__ = ["check_jar"]

_ENTRY = "io/sargo/hive/PruningInputFormat.class"
_CLASS_VERSION_OF_JAVA_8 = 52
_MAX_ENTRY_BYTES = 1 << 20
#: What ``zipfile`` raises for bytes that are no archive, or one of another kind: encrypted, of a later version, ...
_UNREADABLE = (OSError, zipfile.BadZipFile, struct.error, zlib.error, EOFError, ValueError, RuntimeError, LookupError)


def check_jar(path: Path) -> Iterator[Finding]:
    """Whether a jar is Sargo's for Hive, and of this version."""
    build = "build it anew: mvn -f handler/java package"
    try:
        with zipfile.ZipFile(path) as jar:
            names = jar.namelist()
            if _ENTRY not in names:
                yield Finding("jar", "failed", f"{path} does not hold {_ENTRY}", build)
                return
            major = struct.unpack("!4xHH", _start(jar, _ENTRY)[:8])[1]
            jar_version = _jar_version(jar)
    except _UNREADABLE as error:
        yield Finding("jar", "failed", f"{path} cannot be read: {str(error) or type(error).__name__}", build)
        return
    if jar_version is None:
        yield Finding("jar", "warning", "the jar does not tell its version", build)
    elif _base(jar_version) != _base(VERSION):
        yield Finding(
            "jar",
            "warning",
            f"the jar is of version {jar_version}, this is {VERSION}",
            "install the same version of both",
        )
    else:
        yield Finding("jar", "ok", f"version {jar_version}")
    if major > _CLASS_VERSION_OF_JAVA_8:
        yield Finding("jar", "failed", f"its classes need Java {major - 44}, Hive 3.1 runs on Java 8", build)
    if any(name.startswith("org/apache/thrift/") for name in names):
        yield Finding(
            "jar",
            "failed",
            "it brings a Thrift that clashes with Hive's",
            "use the shaded jar, in which Thrift has another name",
        )


def _jar_version(jar: zipfile.ZipFile) -> str | None:
    """The version in the manifest, or in the properties that Maven writes beside it."""
    for name in jar.namelist():
        key = (
            r"Implementation-Version:\s*(\S+)"
            if name == "META-INF/MANIFEST.MF"
            else (
                r"version=(\S+)" if re.fullmatch(r"META-INF/maven/io\.sargo[^/]*/[^/]+/pom\.properties", name) else None
            )
        )
        match = re.search(key, _start(jar, name).decode("utf-8", "replace")) if key else None
        if match:
            return match[1]
    return None


def _start(jar: zipfile.ZipFile, name: str) -> bytes:
    """The first bytes of an entry, which may inflate to far more."""
    with jar.open(name) as entry:
        return entry.read(_MAX_ENTRY_BYTES)


def _base(text: str) -> str:
    return re.split(r"[-+]", text)[0]
