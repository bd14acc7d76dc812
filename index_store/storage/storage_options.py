"""Options of a store beside its path: region, endpoint, keys, role, under the names of pyarrow, Hadoop and the AWS CLI.

    option           also as                                                  environment
    region           fs.s3a.endpoint.region, aws_region                       AWS_REGION, AWS_DEFAULT_REGION
    endpoint         fs.s3a.endpoint, endpoint_override, aws_endpoint_url     AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL
    access_key ...   fs.s3a.access.key, aws_access_key_id                     AWS_ACCESS_KEY_ID, or what the SDK finds

Names are compared without case, dots and dashes read as underscores. An option that a store does not know is refused:
a typing error must not look like wrong credentials. Source: pyarrow.fs, Hadoop's ``core-default.xml``, the AWS CLI.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields

__all__ = [
    "COMMON",
    "Access",
    "AzureOptions",
    "GcsOptions",
    "HdfsOptions",
    "S3Options",
    "is_option",
    "read_options",
    "split_common",
]

#: Options of every file system: how long it is waited for (``index_store.storage.retries.Patience``).
COMMON = ("tries", "deadline")

_SYNONYMS: Mapping[str, Mapping[str, str]] = {
    "s3": {
        "endpoint_override": "endpoint",
        "endpoint_url": "endpoint",
        "aws_endpoint_url": "endpoint",
        "aws_endpoint": "endpoint",
        "aws_region": "region",
        "aws_default_region": "region",
        "endpoint_region": "region",
        "access_key_id": "access_key",
        "aws_access_key_id": "access_key",
        "key": "access_key",
        "secret_access_key": "secret_key",
        "aws_secret_access_key": "secret_key",
        "secret": "secret_key",
        "aws_session_token": "session_token",
        "token": "session_token",
        "anon": "anonymous",
        "role": "role_arn",
        "assumed_role_arn": "role_arn",
        "assumed_role_session_name": "session_name",
        "skip_signature": "anonymous",
        "aws_skip_signature": "anonymous",
        "connection_ssl_enabled": "ssl",
        "path_style_access": "path_style",
        "connection_timeout": "request_timeout",
        "connection_establish_timeout": "connect_timeout",
    },
    "gs": {
        "endpoint_override": "endpoint",
        "endpoint_url": "endpoint",
        "token": "access_token",
        "anon": "anonymous",
        "project": "project_id",
        "impersonate": "service_account",
        "target_service_account": "service_account",
    },
    "abfs": {
        "account": "account_name",
        "key": "account_key",
        "sas": "sas_token",
        "endpoint_override": "endpoint",
        "endpoint_url": "endpoint",
    },
    "hdfs": {"kerb_ticket": "kerberos_ticket", "ticket": "kerberos_ticket"},
}
_PREFIXES = ("fs_s3a_", "fs_s3n_", "fs_s3_", "fs_gs_", "fs_azure_", "google_")
_FROM_ENVIRONMENT: Mapping[str, tuple[tuple[str, str], ...]] = {
    "s3": (
        ("endpoint", "AWS_ENDPOINT_URL_S3"),
        ("endpoint", "AWS_ENDPOINT_URL"),
        ("region", "AWS_REGION"),
        ("region", "AWS_DEFAULT_REGION"),
        ("anonymous", "AWS_SKIP_SIGNATURE"),
    ),
    "gs": (("endpoint", "STORAGE_EMULATOR_HOST"), ("endpoint", "CLOUD_STORAGE_EMULATOR_ENDPOINT")),
    "abfs": (
        ("account_name", "AZURE_STORAGE_ACCOUNT_NAME"),
        ("account_name", "AZURE_STORAGE_ACCOUNT"),
        ("account_key", "AZURE_STORAGE_ACCOUNT_KEY"),
        ("account_key", "AZURE_STORAGE_KEY"),
        ("sas_token", "AZURE_STORAGE_SAS_TOKEN"),
        ("endpoint", "AZURE_STORAGE_ENDPOINT"),
    ),
    "hdfs": (),
}
_TRUE, _FALSE = frozenset({"true", "1", "yes", "on"}), frozenset({"false", "0", "no", "off"})


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class S3Options:
    """S3 and compatible stores. The SDK looks up keys that are not given."""

    region: str = ""
    endpoint: str = ""
    scheme: str = ""
    anonymous: bool = False
    access_key: str = ""
    secret_key: str = ""
    session_token: str = ""
    role_arn: str = ""
    session_name: str = ""
    external_id: str = ""
    ssl: bool = True
    path_style: bool = True
    connect_timeout: float = 5.0
    request_timeout: float = 30.0


@dataclass(frozen=True, slots=True, repr=False)
class GcsOptions:
    """Google Cloud Storage. Without a token, application default credentials count."""

    endpoint: str = ""
    scheme: str = ""
    anonymous: bool = False
    access_token: str = ""
    service_account: str = ""
    project_id: str = ""


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class AzureOptions:
    """Azure Blob Storage and Data Lake. Without key and token, Azure's default credential counts."""

    account_name: str = ""
    account_key: str = ""
    sas_token: str = ""
    tenant_id: str = ""
    client_id: str = ""
    client_secret: str = ""
    endpoint: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class HdfsOptions:
    """HDFS through Hadoop's own client, which reads its configuration files itself."""

    user: str = ""
    kerberos_ticket: str = ""


Access = S3Options | GcsOptions | AzureOptions | HdfsOptions
_KINDS: Mapping[str, type[Access]] = {"s3": S3Options, "gs": GcsOptions, "abfs": AzureOptions, "hdfs": HdfsOptions}


def split_common(options: Mapping[str, str]) -> tuple[dict[str, float], dict[str, str]]:
    """The options of ``COMMON`` as numbers, and the others. Raises ValueError."""
    common: dict[str, float] = {}
    others: dict[str, str] = {}
    for name, value in options.items():
        if name.lower() in COMMON:
            common[name.lower()] = _number(name, str(value))
            if common[name.lower()] <= 0:
                raise ValueError(f"option {name} is not above 0")
        else:
            others[name] = str(value)
    return common, others


def read_options(store: str, options: Mapping[str, str], environment: Mapping[str, str] | None = None) -> Access:
    """The options of a store ("s3", "gs", "abfs" or "hdfs"); those given count before the environment's.

    Raises ValueError for an option that is not known or has no value of its type; the value is never in the message.
    """
    kind = _KINDS[store]
    known = {field.name: field.default for field in fields(kind)}
    found: dict[str, str | bool | float] = {}
    variables = os.environ if environment is None else environment
    for name, variable in reversed(_FROM_ENVIRONMENT[store]):
        if variables.get(variable):
            found[name] = _typed(variable, variables[variable], known[name])
    for given, value in options.items():
        name = _canonical(store, given)
        if name not in known:
            names = (*known, *COMMON)
            near = difflib.get_close_matches(name, (*names, *_SYNONYMS[store]), 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise ValueError(f"option {given} is not known (known: {', '.join(names)}){meant}")
        found[name] = _typed(given, value, known[name])
    return kind(**found)  # type: ignore[arg-type]


def is_option(store: str, name: str) -> bool:
    """Whether a store knows an option of this name."""
    return _canonical(store, name) in {field.name for field in fields(_KINDS[store])}


def _canonical(store: str, given: str) -> str:
    name = given.lower().replace(".", "_").replace("-", "_")
    if store == "abfs" and name.startswith("fs_azure_account_key"):  # fs.azure.account.key.<account>.dfs...
        return "account_key"
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return _SYNONYMS[store].get(name, name)


def _typed(name: str, value: str, default: object) -> str | bool | float:
    if isinstance(default, bool):
        if value.lower() not in _TRUE | _FALSE:
            raise ValueError(f"option {name} is neither true nor false")
        return value.lower() in _TRUE
    return _number(name, value) if isinstance(default, float) else value


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"option {name} is not a number") from None
