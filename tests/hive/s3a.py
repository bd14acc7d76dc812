"""Hive on S3: Hadoop's client of it, the settings for a small S3 of the tests, and a server that has both."""

from __future__ import annotations

from pathlib import Path

from tests.hive.server import HIVE_4, LOCAL, STACKS, Server, maven, site
from tests.s3.store import Store

__all__ = ["ServerOnS3", "environment_for", "hadoop_settings", "jars"]


def jars() -> list[Path]:
    """Hadoop's client of S3, and what it needs."""
    libraries = STACKS / "s3a" / "target" / "lib"
    if not libraries.exists():
        maven(libraries.parent.parent)
    return sorted(libraries.glob("*.jar"))


def hadoop_settings(store: Store) -> dict[str, str]:
    """For Hadoop's client."""
    return {
        "fs.s3a.endpoint": store.options["endpoint"],
        "fs.s3a.endpoint.region": store.options["region"],
        "fs.s3a.access.key": store.options["access_key"],
        "fs.s3a.secret.key": store.options["secret_key"],
        "fs.s3a.path.style.access": "true",
        "fs.s3a.connection.ssl.enabled": "false",
    }


def environment_for(store: Store) -> dict[str, str]:
    """For clients that look there, such as the sidecar's."""
    return {
        "AWS_ENDPOINT_URL": store.options["endpoint"],
        "AWS_ACCESS_KEY_ID": store.options["access_key"],
        "AWS_SECRET_ACCESS_KEY": store.options["secret_key"],
        "AWS_REGION": store.options["region"],
    }


class ServerOnS3(Server):
    """HiveServer2 4.0.1 that reads ``s3a://``."""

    def __init__(self, home: Path, settings: dict[str, str], store: Store) -> None:
        super().__init__(HIVE_4, home, settings)
        self.store = store
        self.environment = environment_for(store)  # Hive hides secrets of its settings from Tez

    def class_path(self) -> list[Path]:
        return [*super().class_path(), *jars()]

    def core_site(self) -> Path:
        file = self.home / "core-site.xml"
        file.write_text(site(LOCAL / "core-site.xml", **hadoop_settings(self.store)))
        return file
