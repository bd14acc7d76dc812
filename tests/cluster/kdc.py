"""A Kerberos server of Debian's krb5-kdc on the loopback, with one keytab for every daemon and keytabs for clients."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

from tests.cluster.cluster import JDK_JAVA_OPTIONS
from tests.hive.server import free_port

REALM = "TEST.ORG"


class Kdc:
    """``home``: an empty folder. ``life``: seconds of a client's ticket."""

    def __init__(self, home: Path, life: int) -> None:
        self.home = home
        self.port = free_port()
        self.keytab = home / "daemons.keytab"
        self.process: subprocess.Popen[bytes] | None = None
        (home / "krb5.conf").write_text(
            f"[libdefaults]\n default_realm = {REALM}\n dns_lookup_kdc = false\n dns_lookup_realm = false\n"
            " dns_canonicalize_hostname = false\n rdns = false\n udp_preference_limit = 1\n"
            f"[realms]\n {REALM} = {{\n  kdc = localhost:{self.port}\n }}\n[domain_realm]\n localhost = {REALM}\n"
        )
        (home / "kdc.conf").write_text(
            f"[kdcdefaults]\n kdc_listen = 127.0.0.1:{self.port}\n kdc_tcp_listen = 127.0.0.1:{self.port}\n"
            f"[realms]\n {REALM} = {{\n  database_name = {home}/principal\n  key_stash_file = {home}/stash\n"
            f"  acl_file = {home}/acl\n  max_life = {life}s\n  supported_enctypes = aes256-cts:normal\n }}\n"
        )
        self.environment = {
            "KRB5_CONFIG": f"{home}/krb5.conf",
            "KRB5_KDC_PROFILE": f"{home}/kdc.conf",
            "KRB5CCNAME": f"FILE:{home}/no_ticket",
            "JDK_JAVA_OPTIONS": f"{JDK_JAVA_OPTIONS} -Djava.security.krb5.conf={home}/krb5.conf "
            "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
        }

    @property
    def daemon(self) -> str:
        """The principal of every daemon: of the user who runs them."""
        return f"{os.environ.get('USER') or 'root'}/localhost@{REALM}"

    def settings(self) -> dict[str, str]:
        """What HDFS and YARN need in their configuration to want Kerberos."""
        found = {
            "hadoop.security.authentication": "kerberos",
            "hadoop.security.authorization": "true",
            "dfs.block.access.token.enable": "true",
            "dfs.web.authentication.kerberos.principal": f"HTTP/localhost@{REALM}",
            "dfs.web.authentication.kerberos.keytab": str(self.keytab),
            # Else a DataNode wants ports below 1024, or HTTPS everywhere.
            "ignore.secure.ports.for.testing": "true",
        }
        for name in ("dfs.namenode", "dfs.datanode"):
            found |= {f"{name}.kerberos.principal": self.daemon, f"{name}.keytab.file": str(self.keytab)}
        for name in ("yarn.resourcemanager", "yarn.nodemanager"):
            found |= {f"{name}.principal": self.daemon, f"{name}.keytab": str(self.keytab)}
        return found

    def login(self, cache: Path) -> str:
        """A ticket of the daemons' principal; the value of KRB5CCNAME that finds it."""
        name = f"FILE:{cache}"
        self._run("kinit", "-c", name, "-k", "-t", str(self.keytab), self.daemon)
        return name

    @staticmethod
    def is_there() -> bool:
        """Whether Debian's packages krb5-kdc, krb5-admin-server and krb5-user are installed."""
        return all(shutil.which(name) for name in ("krb5kdc", "kdb5_util", "kadmin.local", "kinit"))

    def start(self) -> None:
        self._run("kdb5_util", "create", "-r", REALM, "-s", "-P", "test")
        for principal in (self.daemon, "HTTP/localhost"):
            self.add(principal, self.keytab)
        self.process = subprocess.Popen(["krb5kdc", "-n", "-r", REALM], env=self._variables())
        until = time.monotonic() + 20
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise RuntimeError("krb5kdc did not start")

    def add(self, principal: str, keytab: Path) -> None:
        """A principal with a random key, which goes into the keytab."""
        self._run("kadmin.local", "-r", REALM, "-q", f"addprinc -randkey {principal}")
        self._run("kadmin.local", "-r", REALM, "-q", f"ktadd -k {keytab} {principal}")

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(20)

    def _variables(self) -> dict[str, str]:
        return {**os.environ, **self.environment}

    def _run(self, *command: str) -> None:
        done = subprocess.run(command, env=self._variables(), capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
