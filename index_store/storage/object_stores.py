"""Opens buckets and containers through obstore; None where obstore has no way to the credentials, and pyarrow has one.

    S3      a role to take on (``role_arn``), and profiles that hold no keys (``aws_credentials``)
    Google  an account to impersonate, and credentials of another kind than a service account's or a user's
    Azure   a certificate (``AZURE_CLIENT_CERTIFICATE_PATH``)

Credentials that are given go in through a credential provider: obstore reads variables of the environment by itself,
and would add a session token of theirs to keys that have none.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from index_store.storage.aws_credentials import Keys, Provider, looked_up
from index_store.storage.object_client import ObjectClient, request_options
from index_store.storage.storage_options import AzureOptions, GcsOptions, S3Options

__all__ = ["azure_client", "gcs_client", "s3_client"]

_CONNECT_TIMEOUT, _REQUEST_TIMEOUT = 5.0, 30.0
#: Kinds of application default credentials that obstore reads. pyarrow knows the others, such as ``external_account``.
_READ_BY_OBSTORE = frozenset({"service_account", "authorized_user"})
_DEFAULT_CREDENTIALS = ".config/gcloud/application_default_credentials.json"
_MAX_KEY_FILE = 1 << 20
#: What a request to a server without a login carries: obstore writes nothing to Google's store without a token.
_NO_TOKEN = "anonymous"


def s3_client(bucket: str, endpoint: str, region: str | None, keys: Keys | None, options: S3Options) -> Any:
    """The bucket as an ObjectClient. ``keys``: those given; they and what ``options`` say are all that is looked at."""
    if options.role_arn:
        return None
    provider: Provider | None = None
    if not options.anonymous:
        provider = keys.provider() if keys else looked_up(options.profile)
        if provider is None:
            return None
    from obstore.store import S3Store

    settings: dict[str, Any] = {"virtual_hosted_style_request": not options.path_style}
    settings["skip_signature"] = options.anonymous
    if endpoint:
        scheme, _, host = endpoint.partition("://")
        settings["endpoint"] = endpoint if options.path_style else f"{scheme}://{bucket}.{host}"
    if region:
        settings["region"] = region
    if provider is not None and provider.provide is not None:
        settings["credential_provider"] = provider.provide
    if options.request_payer:
        settings["request_payer"] = True
    settings |= _encryption(options)
    more = request_options(options.request_timeout, options.connect_timeout, allows_http=endpoint.startswith("http:"))
    return ObjectClient(S3Store(bucket, **settings, **more), bucket, "s3")


def _encryption(options: S3Options) -> dict[str, Any]:
    """What S3 is told to encrypt with. Raises ValueError for what does not go together."""
    kind = options.server_side_encryption or (
        "sse-c" if options.sse_customer_key else "aws:kms" if options.sse_kms_key_id else ""
    )
    kind = {"sse-s3": "AES256", "aes256": "AES256", "sse-kms": "aws:kms", "sse-c": "sse-c"}.get(kind.lower(), kind)
    if kind not in ("", "AES256", "aws:kms", "aws:kms:dsse", "sse-c"):
        raise ValueError("server_side_encryption is none of AES256, aws:kms, aws:kms:dsse, sse-c")
    if (kind == "sse-c") != bool(options.sse_customer_key):
        raise ValueError("sse_customer_key and the encryption sse-c go together")
    if options.sse_kms_key_id and not kind.startswith("aws:kms"):
        raise ValueError("sse_kms_key_id and the encryption aws:kms go together")
    found: dict[str, Any] = {"server_side_encryption": kind} if kind else {}
    if options.sse_customer_key:
        _check_base64("sse_customer_key", options.sse_customer_key)
        found["sse_customer_key_base64"] = options.sse_customer_key
    if options.sse_kms_key_id:
        found["sse_kms_key_id"] = options.sse_kms_key_id
    if options.sse_bucket_key and kind.startswith("aws:kms"):
        found["sse_bucket_key_enabled"] = True
    return found


def gcs_client(bucket: str, endpoint: str, options: GcsOptions) -> Any:
    """The bucket as an ObjectClient, through the XML interface, which serves conditions and lists ETags."""
    settings: dict[str, Any] = {"skip_signature": False}
    if endpoint:
        settings["base_url"] = endpoint
    if options.service_account:
        return None
    if options.access_token:
        settings["credential_provider"] = _always({"token": options.access_token})
    elif options.anonymous or (endpoint and not _logs_in(endpoint, options.key_file)):
        settings["credential_provider"] = _always({"token": _NO_TOKEN})
        settings["skip_signature"] = True
    else:
        path = options.key_file or str(Path.home() / _DEFAULT_CREDENTIALS)
        if (options.key_file or os.path.exists(path)) and _kind_of(path) not in _READ_BY_OBSTORE:
            if options.key_file not in ("", os.environ.get("GOOGLE_APPLICATION_CREDENTIALS")):
                raise ValueError("the key file is of another kind: name it in GOOGLE_APPLICATION_CREDENTIALS")
            return None
        if options.key_file:
            settings["application_credentials"] = options.key_file
    from obstore.store import GCSStore

    more = request_options(_REQUEST_TIMEOUT, _CONNECT_TIMEOUT, allows_http=endpoint.startswith("http:"))
    if options.user_project:
        more["client_options"]["default_headers"] = {"x-goog-user-project": options.user_project}
    return ObjectClient(GCSStore(bucket, **settings, **more), bucket, "gcs")


def _logs_in(endpoint: str, key_file: str) -> bool:
    """Whether a server of another place is sent a login: not that of the environment to one without TLS."""
    of_environment = key_file == os.environ.get("GOOGLE_APPLICATION_CREDENTIALS")
    return bool(key_file) and not (of_environment and endpoint.startswith("http:"))


def _kind_of(path: str) -> str:
    """The ``type`` of a file with Google's credentials. Raises ValueError, which does not show what is in the file."""
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(_MAX_KEY_FILE))
    except OSError as error:
        raise ValueError(f"the file with credentials cannot be read: {path}: {error.strerror}") from None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"the file with credentials is no JSON: {path}")
    return str(found.get("type", ""))


def azure_client(container: str, account: str, endpoint: str, password: str, options: AzureOptions) -> Any:
    """The container as an ObjectClient, through the Blob interface. ``endpoint``: "" for Azure's public cloud."""
    settings: dict[str, Any] = {"skip_signature": options.anonymous}
    if endpoint:
        settings["endpoint"] = endpoint
    if options.anonymous:
        pass
    elif options.sas_token:
        settings["credential_provider"] = _always({"sas_token": options.sas_token.lstrip("?")})
    elif options.account_key or password:
        _check_base64("account_key", options.account_key or password)
        settings["credential_provider"] = _always({"access_key": options.account_key or password})
    elif options.access_token:
        settings["credential_provider"] = _always({"token": options.access_token})
    elif options.client_secret:
        if not (options.client_id and options.tenant_id):
            raise ValueError("client_id, client_secret and tenant_id go together")
        settings |= {"credential_type": "client_secret", "client_secret": options.client_secret}
        settings |= {"client_id": options.client_id, "tenant_id": options.tenant_id}
    else:
        found = _azure_credentials(options)
        if found is None:
            return None
        settings |= found
    from obstore.store import AzureStore

    more = request_options(_REQUEST_TIMEOUT, _CONNECT_TIMEOUT, allows_http=endpoint.startswith("http:"))
    store = AzureStore(container, account_name=account, **settings, **more)
    return ObjectClient(store, container, "abfs", has_suffixes=False)


def _azure_credentials(options: AzureOptions) -> dict[str, Any] | None:
    """What Azure's default credential would take, in its order: the environment, a workload, the CLI, the machine."""
    variables = os.environ
    known = {name: value for name in ("client_id", "tenant_id") if (value := getattr(options, name))}
    if not known:
        user = [variables.get(f"AZURE_{name}") for name in ("CLIENT_ID", "TENANT_ID", "CLIENT_SECRET")]
        if all(user):
            return {"credential_type": "client_secret"}
        if variables.get("AZURE_FEDERATED_TOKEN_FILE"):
            return {"credential_type": "workload_identity"}
        if variables.get("AZURE_CLIENT_CERTIFICATE_PATH"):
            return None
    if variables.get("AZURE_STORAGE_TOKEN"):
        return {"credential_type": "bearer_token"}
    if variables.get("IDENTITY_ENDPOINT"):
        return {"credential_type": "managed_identity", "msi_endpoint": variables["IDENTITY_ENDPOINT"], **known}
    profile = Path(variables.get("AZURE_CONFIG_DIR") or Path.home() / ".azure") / "azureProfile.json"
    if profile.exists() and shutil.which("az"):
        return {"credential_type": "azure_cli", "use_azure_cli": True}
    return {"credential_type": "managed_identity", **known}


def _check_base64(name: str, text: str) -> None:
    """Raises ValueError, which does not show the text."""
    try:
        base64.b64decode(text, validate=True)
    except ValueError:
        raise ValueError(f"{name} is not base64") from None


def _always(credential: Mapping[str, str]) -> Callable[[], dict[str, Any]]:
    """A provider of one credential for good."""
    return lambda: {**credential, "expires_at": None}
