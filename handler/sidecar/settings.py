"""The sidecar's settings: one schema for the file, the environment and the command line.

    sargo serve --config sidecar.toml --port 10950      SARGO_SIDECAR_PORT=10950     port = 10950

The command line overrides the environment, the environment the file, and the file the defaults below. A key that is not
in the schema is an error, so that a misspelt setting is noticed.
"""

from __future__ import annotations

import ipaddress
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, InitSettingsSource, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings.exceptions import SettingsError as SettingsSourceError

from evaluator.language.errors import SargoError, UnsupportedError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib
from index_store.table.table_options import check_table_options

__all__ = ["Settings", "SettingsError", "load_settings", "print_settings"]

MEBIBYTE = 1 << 20
#: The prefix of the names of environment variables.
PREFIX = "SARGO_SIDECAR_"


class SettingsError(SargoError):
    """The settings cannot be used. ``why`` names the setting and its fault."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Settings(BaseSettings):
    """Every setting with its default; ``--help`` and ``--print-config`` print the descriptions."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True, hide_input_in_errors=True)

    roots: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Folders below which tables may be read: absolute paths or URIs. At least one"
    )
    aliases: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Other names of clusters and buckets: hdfs://nn1:8020=hdfs://lake. Hadoop's files tell most"
    )
    host: str = Field("127.0.0.1", description="Address to listen on. Under Tez the application masters must reach it")
    port: int = Field(10950, ge=0, le=65535, description="Port of the Thrift service; 0 = any that is free")
    metrics_host: str = Field("127.0.0.1", description="Address of /metrics and /healthz")
    metrics_port: int = Field(10951, ge=-1, le=65535, description="Port of /metrics and /healthz; -1 = none")
    page: bool = Field(
        True, description="Show the page for people at / of that port: behind the secret if there is one"
    )
    secret: SecretStr | None = Field(None, description="Shared secret that every prune and explain must carry")
    secret_file: Path | None = Field(None, description="File that holds the shared secret instead")
    tls_certificate: Path | None = Field(None, description="Certificate chain (PEM); turns TLS on")
    tls_key: Path | None = Field(None, description="Private key (PEM) of the certificate")
    tls_client_ca: Path | None = Field(None, description="Certificate authorities (PEM) that clients must be known to")
    allow_anonymous: bool = Field(
        False, description="Listen beyond the loopback without secret and client certificates all the same"
    )

    max_frame_bytes: int = Field(64 * MEBIBYTE, ge=1024, le=1 << 30, description="Largest request")
    max_names: int = Field(2_000_000, ge=1, description="Most file names in a request")
    max_names_bytes: int = Field(256 * MEBIBYTE, ge=1, description="Largest list of names, not compressed")
    max_filter_bytes: int = Field(MEBIBYTE, ge=1, description="Largest filter (Base64): some 20,000 conditions")
    max_evaluations: int = Field(
        500_000_000, ge=1, description="Most parts of a filter times file slices, about a byte each; more skip nothing"
    )
    max_filter_nodes: int = Field(
        100_000, ge=512, le=250_000, description="Most parts of a filter when what it repeats is written out"
    )
    max_connections: int = Field(
        512, ge=1, description="Most open connections; at most half of them are of peers that have not shown the secret"
    )
    max_requests: int = Field(64, ge=1, description="Most requests that are answered at once; more are refused")
    max_bytes_in_flight: int = Field(512 * MEBIBYTE, ge=1024, description="Most bytes of requests held at once")
    request_seconds: float = Field(
        1.5, gt=0, description="Answer 'skip nothing' when an answer takes longer; below the clients' time-out"
    )
    read_seconds: float = Field(10, gt=0, description="A request that has begun must have arrived by then")
    first_call_seconds: float = Field(
        5, gt=0, description="A new connection must have shown the secret by then, or made a call where there is none"
    )
    idle_seconds: float = Field(300, gt=0, description="Close a connection that asks nothing for so long")
    drain_seconds: float = Field(10, ge=0, description="How long running requests may take after SIGTERM")

    workers: int = Field(
        16,
        ge=2,
        le=256,
        description="Threads that open tables, read indexes and evaluate filters; at most six for one table",
    )
    planning_seconds: float = Field(
        10, gt=0, description="CPU seconds for one expensive filter, in a process of low priority"
    )
    planning_bytes: int = Field(
        2048 * MEBIBYTE, ge=512 * MEBIBYTE, description="Memory of the process that evaluates expensive filters"
    )
    cache_bytes: int = Field(2048 * MEBIBYTE, ge=0, description="Memory for open tables; the least used are closed")
    refresh_seconds: float = Field(1.0, ge=0, description="How long an open table's timeline is not looked at again")
    refresh_wait_seconds: float = Field(
        0.25, ge=0, description="Answer from the timeline as it was when reading a new one takes longer"
    )
    look_seconds: float = Field(
        3.0, gt=0, description="Give up a look at a table's timeline after so long; the next one starts anew"
    )
    retry_seconds: float = Field(
        10, ge=0, description="How long a table that could not be opened is left alone; a second when that may pass"
    )
    keep_view_seconds: float = Field(
        300,
        ge=0,
        description="How long a table is answered for from an earlier state while it cannot be read; 0 = not at all",
    )
    tables: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Tables that are opened at the start: until then /healthz says 'starting'"
    )
    tables_seconds: float = Field(60, gt=0, description="How long /healthz says 'starting' for these tables at most")

    shadow: bool = Field(False, description="Compute and report, but let every file be read")
    audit_rate: float = Field(0.0, ge=0, le=1, description="Share of answers that are audited: skipped files are read")
    audit_files: int = Field(2, ge=1, description="How many skipped files an audit reads")
    audit_rows: int = Field(100_000, ge=1, description="Most rows that an audit holds against the filter")
    reports: int = Field(1000, ge=0, description="How many reports are kept for explain()")
    log_level: str = Field("info", pattern="^(debug|info|warning|error)$", description="Least level of the log")
    log_values: bool = Field(False, description="Write filters, which hold values, into the log")
    filter_log: Path | None = Field(
        None, description="File to which every answered filter is appended as JSON, with the values that it holds"
    )
    filter_log_bytes: int = Field(64 * MEBIBYTE, ge=4096, description="Size at which that file is begun anew")
    filter_log_older: int = Field(4, ge=1, le=1000, description="How many full files of it are kept beside it")

    storage_options: Mapping[str, str] = Field({}, description="For roots that are not local: region, endpoint, ...")
    kerberos_principal: str = Field(
        "", description="Kerberos: who reads hdfs:// and viewfs://, without Java; else a ticket of this user's cache"
    )
    kerberos_keytab: Path | None = Field(
        None, description="File with the keys of kerberos_principal: tickets are got with it, and renewed"
    )
    table_options: Mapping[str, Mapping[str, str]] = Field(
        {}, description="By table: what only its catalog entry says, such as hoodie.index.type"
    )

    @field_validator("roots", "aliases", "tables", mode="before")
    @classmethod
    def _split_roots(cls, given: Any) -> Any:
        """The environment and the command line write a list as JSON or with commas."""
        if not isinstance(given, str):
            return given
        text = given.strip()
        return json.loads(text) if text.startswith("[") else [part.strip() for part in text.split(",") if part.strip()]

    @field_validator("table_options")
    @classmethod
    def _check_table_options(cls, given: Mapping[str, Mapping[str, str]]) -> Mapping[str, Mapping[str, str]]:
        """A misspelt option would be ignored without a word."""
        for options in given.values():
            try:
                check_table_options(options)
            except UnsupportedError as error:
                raise ValueError(str(error)) from None
        return given

    @model_validator(mode="after")
    def _fit_together(self) -> Settings:
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ValueError("tls_certificate and tls_key belong together")
        if self.tls_client_ca is not None and self.tls_certificate is None:
            raise ValueError("tls_client_ca needs tls_certificate and tls_key")
        if self.kerberos_keytab is not None and not self.kerberos_principal:
            raise ValueError("kerberos_keytab needs kerberos_principal")
        if self.secret is not None and self.secret_file is not None:
            raise ValueError("secret and secret_file: give one of them")
        if self.secret is not None and not self.secret.get_secret_value():
            raise ValueError("secret is empty")
        known = self.secret or self.secret_file or self.tls_client_ca
        if not (_is_loopback(self.host) or known or self.allow_anonymous):
            raise ValueError(
                f"host {self.host} can be reached from outside: set secret, secret_file or tls_client_ca, "
                "or allow_anonymous"
            )
        return self

    def options_of(self, location: str) -> dict[str, str]:
        """The options of the file system of a table or root; those of Kerberos are for HDFS."""
        found = dict(self.storage_options)
        if self.kerberos_principal and location.startswith(("hdfs:", "viewfs:")):
            found["kerberos_principal"] = self.kerberos_principal
            if self.kerberos_keytab is not None:
                found["kerberos_keytab"] = str(self.kerberos_keytab)
        return found

    def shared_secret(self) -> bytes | None:
        """The secret's bytes. Raises SettingsError when the file cannot be read or is empty."""
        if self.secret is not None:
            return self.secret.get_secret_value().encode()
        if self.secret_file is None:
            return None
        try:
            secret = self.secret_file.read_bytes().strip()
        except OSError as error:
            raise SettingsError(f"secret_file {self.secret_file}: {error.strerror}") from error
        if not secret:
            raise SettingsError(f"secret_file {self.secret_file} is empty")
        return secret


def load_settings(file: Path | None, given: Mapping[str, Any]) -> Settings:
    """Settings of a TOML file, the environment and what was given. Raises SettingsError that names the setting."""
    try:
        content = {} if file is None else tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}") from error
    except RecursionError as error:
        raise SettingsError(f"{file}: its values are nested too deeply") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file}: {error}") from error

    class Loaded(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            del dotenv_settings, file_secret_settings
            return init_settings, env_settings, InitSettingsSource(settings_cls, init_kwargs=dict(content))

    known = {PREFIX + name.upper() for name in Settings.model_fields}
    misspelt = sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)
    if misspelt:
        raise SettingsError(f"{misspelt[0]} is not a setting")
    try:
        return Settings.model_construct(**dict(Loaded(**given)))
    except ValidationError as error:
        raise SettingsError("; ".join(_words(item) for item in error.errors())) from error
    except SettingsSourceError as error:
        raise SettingsError(str(error)) from error


def _words(error: Any) -> str:
    where = ".".join(map(str, error["loc"]))
    why = error["msg"].removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        return f"{where} is not a setting"
    return f"{where}: {why}" if where else why


def print_settings(settings: Settings) -> str:
    """The settings as a TOML file with comments. Secrets are not printed, nor are values of ``storage_options``."""
    lines = []
    for name, field in Settings.model_fields.items():
        lines.append(f"# {field.description}.")
        value = getattr(settings, name)
        match value:
            case SecretStr():
                lines.append(f"# {name} is set")
            case None:
                lines.append(f"# {name} is not set")
            case Mapping():
                lines += _table_lines(name, value)
            case _:
                lines.append(f"{name} = {json.dumps(str(value) if isinstance(value, Path) else value)}")
        lines.append("")
    return "\n".join(lines)


def _table_lines(name: str, table: Mapping[str, Any]) -> list[str]:
    if not table:
        return [f"# [{name}]"]
    if name == "storage_options":
        return [f"# [{name}]", *(f"# {key} is set" for key in table)]
    lines = []
    for key, options in table.items():
        lines += [f"[{name}.{json.dumps(key)}]", *(f"{json.dumps(k)} = {json.dumps(v)}" for k, v in options.items())]
    return lines


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
