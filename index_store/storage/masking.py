"""Masks secrets: a credential never reaches an error, a repr, a report or a plan.

    s3://KEY:SECRET@bucket/t             ->  s3://***@bucket/t
    hdfs://ann:pw@nn/t                   ->  hdfs://ann:***@nn/t        a user or a container is no secret
    s3://bucket/t?secret_key=x&region=r  ->  s3://bucket/t?secret_key=***&region=r
    ... (SharedKey a:b=) sig=abc& ...    ->  the values of names that stand for secrets, anywhere in a text
    secret values of the options and of the environment                 anywhere in a text

A value that is not known to be harmless is masked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

__all__ = ["HIDDEN", "Mask", "is_secret", "masked_uri", "plain_path", "plain_uri"]

HIDDEN = "***"
#: In URIs of these schemes the part before "@" is a user or a container; in all others it may be a key.
_NAMED_USERS = frozenset({"abfs", "abfss", "wasb", "wasbs", "hdfs", "webhdfs", "viewfs", "sftp", "ssh", "ftp", "smb"})
_HARMLESS = frozenset(
    {
        *("region", "scheme", "anonymous", "user", "endpoint", "endpoint_override", "replication"),
        *("client", "kerberos_principal", "kerberos_keytab", "kerberos_ticket"),  # names of people and of files
    }
)
_TELLING = re.compile(r"(?i)key|secret|token|passw|credential|signature|(^|[._-])(sas|sig|pwd|auth)($|[._-])")
_ENVIRONMENT = ("AWS_", "AZURE_", "GOOGLE_", "GCS_")
_URI = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*)://([^\s'\"<>]*)")
_ASSIGNED = re.compile(
    r"(?ix) \b ((?: [\w.-]* (?: secret | token | passw(?:or)?d | signature | credential"
    r" | account_?key | access_?key (?:_?id)? ) [\w.-]* | sig | pwd) \s* [=:]\s* [\"']?)"
    r"([^\s\"'&,;)<>]+)"
)
_AUTHORIZATION = re.compile(r"(?i)\b(bearer|basic|sharedkey|aws4-hmac-sha256)(\s+)[^\s,'\"]+")
_AWS_KEY = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b")
_SHORTEST = 4


def is_secret(name: str) -> bool:
    """Whether an option or variable of this name holds a secret."""
    return bool(_TELLING.search(name))


def plain_uri(uri: str) -> str:
    """A URI without its query and its credentials; a user or a container before "@" stays."""
    return _rewritten(uri, keep=False)


def plain_path(uri: str) -> str:
    """A URI without its credentials, of which ``?`` and what follows is part of the path."""
    return "?".join((plain_uri(uri), *uri.split("?")[1:]))


def masked_uri(uri: str) -> str:
    """A URI whose secrets are replaced by ``***``; a text that is no URI stays as it is."""
    return _rewritten(uri, keep=True)


def _rewritten(uri: str, *, keep: bool) -> str:
    scheme, separator, rest = uri.partition("://")
    if not separator:
        return uri
    rest, _, query = rest.partition("?")
    userinfo, host = _split_userinfo(rest)
    shown = ""
    if userinfo:
        name, colon, _ = userinfo.partition(":")
        if scheme.lower() in _NAMED_USERS:
            shown = f"{name}:{HIDDEN}@" if colon and keep else f"{name}@" if name else ""
        elif keep:
            shown = f"{HIDDEN}@"
    tail = "?" + "&".join(map(_masked_parameter, query.split("&"))) if query and keep else ""
    return f"{scheme}://{shown}{host}{tail}"


def _split_userinfo(rest: str) -> tuple[str, str]:
    """The part before "@" and the rest; a key may hold "/" although it should be escaped."""
    authority = rest.partition("/")[0]
    if "@" in authority:
        place = rest.rindex("@", 0, len(authority))
    elif "@" in rest and ":" in authority and not authority.rpartition(":")[2].isdigit():
        place = rest.rindex("@")
    else:
        return "", rest
    return rest[:place], rest[place + 1 :]


def _masked_parameter(text: str) -> str:
    name, equals, value = text.partition("=")
    return text if name.lower() in _HARMLESS and "@" not in value else f"{name}{equals}{HIDDEN if value else ''}"


class Mask:
    """Masks texts for one storage, whose secrets it knows. Its repr shows none of them."""

    __slots__ = ("_values",)

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {value for value in secrets if len(value) >= _SHORTEST}
        known |= {quote(value, safe="") for value in known}
        self._values = tuple(sorted(known, key=len, reverse=True))

    @classmethod
    def of(cls, options: Mapping[str, object], environment: Mapping[str, str] | None = None) -> Mask:
        """A mask of every secret among the options and in the environment; paths of key files are not secret."""
        variables = os.environ if environment is None else environment
        found = [str(value) for name, value in options.items() if is_secret(name)]
        found += [value for name, value in variables.items() if name.startswith(_ENVIRONMENT) and is_secret(name)]
        return cls(value for value in found if not value.startswith("/"))

    def __repr__(self) -> str:
        return f"Mask({len(self._values)} secrets)"

    def values(self, text: str) -> str:
        """The text without the secrets that the mask knows; what only looks like one stays."""
        for value in self._values:
            text = text.replace(value, HIDDEN)
        return text

    def __call__(self, text: str) -> str:
        text = self.values(text)
        text = _URI.sub(lambda match: masked_uri(match[0]), text)
        text = _ASSIGNED.sub(rf"\1{HIDDEN}", text)
        text = _AUTHORIZATION.sub(rf"\1\2{HIDDEN}", text)
        return _AWS_KEY.sub(HIDDEN, text)
