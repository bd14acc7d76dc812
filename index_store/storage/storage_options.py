"""Options of a store beside its path: region, endpoint, keys, role, under the names of pyarrow, Hadoop and the AWS CLI.

    option           also as                                                  environment
    region           fs.s3a.endpoint.region, aws_region                       AWS_REGION, AWS_DEFAULT_REGION
    endpoint         fs.s3a.endpoint, endpoint_override, aws_endpoint_url     AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL
    access_key ...   fs.s3a.access.key, aws_access_key_id                     AWS_ACCESS_KEY_ID, or what the SDK finds
    request_payer    fs.s3a.requester.pays.enabled, requester_pays            AWS_REQUEST_PAYER

Names are compared without case, dots and dashes read as underscores. An option that a store does not know is refused:
a typing error must not look like wrong credentials. Credentials that are given as options replace all those of the
environment. Source: pyarrow.fs, Hadoop's ``core-default.xml``, the AWS CLI, obstore, s3fs, gcsfs.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import fields

from evaluator.language.records import frozen

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
        "aws_profile": "profile",
        "aws_request_payer": "request_payer",
        "requester_pays": "request_payer",
        "requester_pays_enabled": "request_payer",
        "aws_server_side_encryption": "server_side_encryption",
        "serversideencryption": "server_side_encryption",
        "server_side_encryption_algorithm": "server_side_encryption",
        "encryption_algorithm": "server_side_encryption",
        "aws_sse_kms_key_id": "sse_kms_key_id",
        "ssekmskeyid": "sse_kms_key_id",
        "aws_sse_customer_key_base64": "sse_customer_key",
        "sse_customer_key_base64": "sse_customer_key",
        "aws_sse_bucket_key_enabled": "sse_bucket_key",
        "sse_bucket_key_enabled": "sse_bucket_key",
    },
    "gs": {
        "endpoint_override": "endpoint",
        "endpoint_url": "endpoint",
        "token": "access_token",
        "anon": "anonymous",
        "project": "project_id",
        "impersonate": "service_account",
        "target_service_account": "service_account",
        "auth_service_account_json_keyfile": "key_file",
        "cloud_auth_service_account_json_keyfile": "key_file",
        "application_credentials": "key_file",
        "requester_pays": "user_project",
        "requester_pays_project_id": "user_project",
        "skip_signature": "anonymous",
    },
    "abfs": {
        "account": "account_name",
        "key": "account_key",
        "sas": "sas_token",
        "storage_token": "access_token",
        "bearer_token": "access_token",
        "token": "access_token",
        "anon": "anonymous",
        "skip_signature": "anonymous",
        "endpoint_override": "endpoint",
        "endpoint_url": "endpoint",
    },
    "hdfs": {
        "kerb_ticket": "kerberos_ticket",
        "ticket": "kerberos_ticket",
        "kerberos_cache": "kerberos_ticket",
        "principal": "kerberos_principal",
        "keytab": "kerberos_keytab",
    },
}
_PREFIXES = ("fs_s3a_", "fs_s3n_", "fs_s3_", "fs_gs_", "fs_azure_", "google_")
_FROM_ENVIRONMENT: Mapping[str, tuple[tuple[str, str], ...]] = {
    "s3": (
        ("endpoint", "AWS_ENDPOINT_URL_S3"),
        ("endpoint", "AWS_ENDPOINT_URL"),
        ("region", "AWS_REGION"),
        ("region", "AWS_DEFAULT_REGION"),
        ("anonymous", "AWS_SKIP_SIGNATURE"),
        ("request_payer", "AWS_REQUEST_PAYER"),
        ("server_side_encryption", "AWS_SERVER_SIDE_ENCRYPTION"),
        ("sse_kms_key_id", "AWS_SSE_KMS_KEY_ID"),
        ("sse_customer_key", "AWS_SSE_CUSTOMER_KEY_BASE64"),
        ("sse_bucket_key", "AWS_SSE_BUCKET_KEY_ENABLED"),
    ),
    "gs": (
        ("endpoint", "STORAGE_EMULATOR_HOST"),
        ("endpoint", "CLOUD_STORAGE_EMULATOR_ENDPOINT"),
        ("key_file", "GOOGLE_APPLICATION_CREDENTIALS"),
        ("anonymous", "GOOGLE_SKIP_SIGNATURE"),
    ),
    "abfs": (
        ("account_name", "AZURE_STORAGE_ACCOUNT_NAME"),
        ("account_name", "AZURE_STORAGE_ACCOUNT"),
        ("account_key", "AZURE_STORAGE_ACCOUNT_KEY"),
        ("account_key", "AZURE_STORAGE_KEY"),
        ("sas_token", "AZURE_STORAGE_SAS_TOKEN"),
        ("anonymous", "AZURE_SKIP_SIGNATURE"),
        ("endpoint", "AZURE_STORAGE_ENDPOINT"),
    ),
    "hdfs": (),
}
#: Options of which one that is given replaces all those of the environment.
_CREDENTIALS: Mapping[str, frozenset[str]] = {
    "s3": frozenset({"access_key", "secret_key", "session_token", "anonymous", "profile", "role_arn"}),
    "gs": frozenset({"anonymous", "access_token", "key_file", "service_account"}),
    "abfs": frozenset(
        {"account_key", "sas_token", "access_token", "anonymous", "client_id", "client_secret", "tenant_id"}
    ),
    "hdfs": frozenset(),
}
#: ``requester`` is what S3 itself calls it (``x-amz-request-payer``).
_TRUE, _FALSE = frozenset({"true", "1", "yes", "on", "requester"}), frozenset({"false", "0", "no", "off"})


@frozen(shown=False, kw_only=True)
class S3Options:
    """S3 and compatible stores. Keys that are not given are looked up (``aws_credentials``).

    server_side_encryption   of what is written: AES256, aws:kms, aws:kms:dsse, sse-c
    sse_customer_key         base64 of the key of sse-c, which reading needs too
    """

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
    profile: str = ""
    request_payer: bool = False
    server_side_encryption: str = ""
    sse_kms_key_id: str = ""
    sse_customer_key: str = ""
    sse_bucket_key: bool = False
    ssl: bool = True
    path_style: bool = True
    connect_timeout: float = 5.0
    request_timeout: float = 30.0


@frozen(shown=False, kw_only=True)
class GcsOptions:
    """Google Cloud Storage. Without a token, application default credentials count.

    key_file          JSON of a service account, or application default credentials
    service_account   the account to impersonate
    user_project      the project that pays for requests
    """

    endpoint: str = ""
    scheme: str = ""
    anonymous: bool = False
    access_token: str = ""
    key_file: str = ""
    service_account: str = ""
    project_id: str = ""
    user_project: str = ""


@frozen(shown=False, kw_only=True)
class AzureOptions:
    """Azure Blob Storage and Data Lake. Without key and token, Azure's default credential counts."""

    account_name: str = ""
    account_key: str = ""
    sas_token: str = ""
    access_token: str = ""
    anonymous: bool = False
    tenant_id: str = ""
    client_id: str = ""
    client_secret: str = ""
    endpoint: str = ""


@frozen(shown=False)
class HdfsOptions:
    """HDFS. Hadoop's configuration files say the rest.

    client               "java": Hadoop's own; "native": hdfs-native; "": the first where it is there
    kerberos_ticket      a cache of tickets; with hdfs-native it needs ``kerberos_principal``
    kerberos_keytab      a file with keys of ``kerberos_principal``: tickets are got with it and renewed (hdfs-native)
    """

    user: str = ""
    kerberos_ticket: str = ""
    kerberos_principal: str = ""
    kerberos_keytab: str = ""
    client: str = ""


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
    credentials = _CREDENTIALS[store]
    replaced = credentials if any(_canonical(store, given) in credentials for given in options) else frozenset()
    for name, variable in reversed(_FROM_ENVIRONMENT[store]):
        if variables.get(variable) and name not in replaced:
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
    if isinstance(default, float):
        return _number(name, value)
    text = value.strip()  # a secret that was read from a file may end with a line break
    if not text.isprintable():
        raise ValueError(f"option {name} holds a character that cannot be sent")
    return text


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"option {name} is not a number") from None
